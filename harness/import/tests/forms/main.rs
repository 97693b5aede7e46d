//! Files of every form, read as a user's would be: what cases come out, how often, and what is said of the rest. Knows
//! texts and bytes; what a case line means is `case`'s.

mod csv;
mod frontend;
mod log;
mod onnx;
mod streaming;

use import::{Format, Import, ImportError, import};

/// Imports bytes in that form, or in the one that they show.
fn read(bytes: &[u8], format: Option<Format>) -> Import {
    import(bytes, format, 1).unwrap_or_else(|error| panic!("{error}"))
}

/// Cases with their counts.
fn counted(import: &Import) -> Vec<(u64, String)> {
    import.cases.iter().map(|found| (found.count, found.case.to_string())).collect()
}

/// Reasons with their counts.
fn reasons(import: &Import) -> Vec<(u64, &str)> {
    import.refused.iter().map(|refused| (refused.count, refused.reason.as_str())).collect()
}

fn complaint(bytes: &[u8], format: Option<Format>) -> String {
    match import(bytes, format, 1) {
        Err(error @ ImportError::Form(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}
