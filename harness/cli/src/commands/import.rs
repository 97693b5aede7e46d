//! `convict import`: what is really run as case lines with counts, most frequent first. Knows how they are written; how
//! they are read is `import`'s.

use std::path::PathBuf;

use import::{Format, Imported};
use serde_json::{Value, json};

use crate::args::{Form, Import};
use crate::failure::{CLEAN, Failure};
use crate::screen::{errln, outln};
use crate::side::Side;
use crate::traffic;

/// Reads the files, tells what was not imported, and writes the cases.
pub(crate) fn run(arguments: &Import) -> Result<u8, Failure> {
    let format = match arguments.format {
        Form::Auto => None,
        Form::Log => Some(Format::Log),
        Form::Frontend => Some(Format::Frontend),
        Form::Onnx => Some(Format::Onnx),
        Form::Csv => Some(Format::Csv),
    };
    let inputs = || arguments.files.iter().map(PathBuf::as_path);
    let out = arguments.out.as_deref().map(|path| Side::claim("--out", path, inputs())).transpose()?;
    let read = |path: &PathBuf| traffic::read(path, format, arguments.batch);
    let imports = arguments.files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let import = import::Import::merged(imports);
    traffic::complain(&import);
    if import.cases.is_empty() {
        let names: Vec<String> = arguments.files.iter().map(|path| path.display().to_string()).collect();
        return Err(traffic::nothing(&names.join(", ")));
    }
    let text = if arguments.json {
        format!("{}\n", json(&import))
    } else {
        traffic::lines(&arguments.files, &import)
    };
    match &out {
        None => outln!("{}", text.trim_end()),
        Some(out) => {
            out.put(&text)?;
            errln!("{} cases in {}", import.cases.len(), out.path().display());
        }
    }
    Ok(CLEAN)
}

fn json(import: &import::Import) -> Value {
    let cases = import.cases.iter().map(|found| {
        let Imported { case, count, first, fused, engines, .. } = found;
        json!({ "case": case.to_string(), "count": count, "first": first, "fused": fused, "engines": engines })
    });
    let refused = import
        .refused
        .iter()
        .map(|refused| json!({ "reason": refused.reason, "count": refused.count, "lines": refused.lines }));
    json!({
        "cases": cases.collect::<Vec<_>>(),
        "counted": import.evidence.counted(),
        "refused": refused.collect::<Vec<_>>(),
        "notes": import.notes,
    })
}
