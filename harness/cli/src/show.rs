//! `convict show`: a case in canonical form and the sizes that follow from it. Needs no GPU and opens no library.

use case::{Case, Expect, Role};
use comfy_table::{Table, presets};

use crate::args::Show;
use crate::failure::{CLEAN, Failure};
use crate::screen::outln;
use crate::words;

/// Prints the case.
pub(crate) fn run(arguments: &Show) -> Result<u8, Failure> {
    let case: Case = arguments.case.parse()?;
    let json = serde_json::to_string_pretty(&case).map_err(|error| Failure::Ours(error.to_string()))?;
    if arguments.json {
        outln!("{json}");
        return Ok(CLEAN);
    }
    outln!("{case}");
    outln!("{}\n", words::problem(&case));
    let geometry = case.problem.geometry();
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(["tensor", "type", "layout", "extents", "strides", "bytes"]);
    for role in Role::ALL {
        let written = if role == case.problem.operation.output() { " (written)" } else { "" };
        table.add_row([
            format!("{}{written}", role.name()),
            case.problem.dtypes.tensors()[role.index()].name().to_owned(),
            case.problem.layouts.tensors()[role.index()].name().to_owned(),
            join(&geometry.extents(role)),
            join(&geometry.strides(role)),
            geometry.bytes(role).to_string(),
        ]);
    }
    outln!("{table}\n");
    outln!("products per output, at most  {}", geometry.reduction());
    outln!("multiply-adds                 {}", geometry.multiply_adds());
    outln!("bytes of x, w and y           {}", geometry.total_bytes());
    if case.options.expect == Expect::Refuse {
        outln!("expected                      a clean refusal");
    }
    outln!("\n{json}");
    Ok(CLEAN)
}

fn join(values: &[i64]) -> String {
    values.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}
