//! Files of what is really run, opened and read with `import`. Knows paths and whose trouble an error is; the forms are
//! `import`'s.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hunt::Weighted;
use import::{Format, Import, ImportError};

use crate::failure::Failure;
use crate::screen::errln;

/// What helps who has nothing to import.
const NEEDED: &str = "run the program with CUDNN_LOGLEVEL_DBG=3 CUDNN_LOGDEST_DBG=FILE and import FILE";

/// The path that means standard input.
const STDIN: &str = "-";

/// True for the name of standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// A reader of a file, or of standard input; `what` is what a folder should have been.
pub(crate) fn opened(path: &Path, what: &str) -> io::Result<Box<dyn Read>> {
    if is_standard_input(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::other(format!("is a folder; name a {what}")));
    }
    Ok(Box::new(file))
}

/// Reads a file, or standard input. Trouble with a part of it is within the result.
pub(crate) fn read(path: &Path, format: Option<Format>, batch: i64) -> Result<Import, Failure> {
    let told = |error: &dyn std::fmt::Display| Failure::Usage(format!("{}: {error}", path.display()));
    let reader = opened(path, "file").map_err(|error| told(&error))?;
    // A name says it where a beginning does not: fields of a message may come in any order.
    let is_model = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("onnx"));
    let format = format.or(is_model.then_some(Format::Onnx));
    import::import(reader, format, batch).map_err(|error| match error {
        ImportError::Io(error) => told(&error),
        ImportError::Form(why) => Failure::Usage(format!("{} {why}", path.display())),
    })
}

/// Says on standard error what was not imported and what else there is to know.
pub(crate) fn complain(import: &Import) {
    for note in &import.notes {
        errln!("note: {note}");
    }
    for refused in &import.refused {
        let lines: Vec<String> = refused.lines.iter().map(u64::to_string).collect();
        let (more, from) =
            (refused.count > lines.len() as u64, if lines.len() == 1 { "line" } else { "lines" });
        let more = if more { ", ..." } else { "" };
        errln!("not imported, {}: {} ({from} {}{more})", refused.reason, refused.count, lines.join(", "));
    }
}

/// That nothing was found, and what is needed.
pub(crate) fn nothing(what: &str) -> Failure {
    Failure::Unjudged(format!("{what}: holds nothing that can be imported; {NEEDED}"))
}

/// What `--around FILE` names, with counts: what `import` wrote, or anything that it reads.
pub(crate) fn weighted(path: &Path) -> Result<Vec<Weighted>, Failure> {
    let import = read(path, None, 1)?;
    complain(&import);
    if import.cases.is_empty() {
        return Err(nothing(&path.display().to_string()));
    }
    let weighted = |found: import::Imported| Weighted { case: found.case, count: found.count };
    Ok(import.cases.into_iter().map(weighted).collect())
}

/// The list that `hunt --cases-from` and `--around` read.
pub(crate) fn lines(files: &[PathBuf], import: &Import) -> String {
    let total = import.cases.iter().fold(0_u64, |sum, found| sum.saturating_add(found.count));
    let mut text = format!(
        "# {} cases, {total} {}, most frequent first\n",
        import.cases.len(),
        import.evidence.counted()
    );
    for found in &import.cases {
        let mut comment = format!("count {}, first at ", found.count);
        if files.len() > 1
            && let Some(path) = files.get(found.file)
        {
            // A comma or a line's end within a name would end what the comment says.
            let name = path.display().to_string();
            comment.extend(name.chars().filter(|letter| !letter.is_control() && *letter != ',').chain([' ']));
        }
        let _ = write!(comment, "line {}", found.first);
        if found.fused {
            comment.push_str(", fused");
        }
        if !found.engines.is_empty() {
            let engines: Vec<String> = found.engines.iter().map(i64::to_string).collect();
            let _ = write!(comment, ", engines {}", engines.join(" "));
        }
        let _ = write!(text, "\n# {comment}\n{}\n", found.case);
    }
    text
}
