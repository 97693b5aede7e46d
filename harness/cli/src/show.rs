//! `convict show`: a case in canonical form and the sizes that follow from it. Needs no GPU and opens no library.

use case::{Case, Expect, Role};
use comfy_table::{Table, presets};

use crate::args::Show;
use crate::failure::{CLEAN, Failure};
use crate::words;

/// Prints the case.
pub(crate) fn run(arguments: &Show) -> Result<u8, Failure> {
    let case: Case = arguments.case.parse()?;
    let json = serde_json::to_string_pretty(&case).map_err(|error| Failure::Ours(error.to_string()))?;
    if arguments.json {
        println!("{json}");
        return Ok(CLEAN);
    }
    println!("{case}");
    println!("{}\n", words::problem(&case));
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
    println!("{table}\n");
    println!("products per output, at most  {}", geometry.reduction());
    println!("multiply-adds                 {}", geometry.multiply_adds());
    println!("bytes of x, w and y           {}", geometry.total_bytes());
    if case.options.expect == Expect::Refuse {
        println!("expected                      a clean refusal");
    }
    println!("\n{json}");
    Ok(CLEAN)
}

fn join(values: &[i64]) -> String {
    values.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}
