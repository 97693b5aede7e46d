//! What changed shortly before a line: a checkpoint, validation, learning rate, batch or resolution. Knows the words of
//! such lines; knows no symptom.

use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

use crate::guide::compiled;
use crate::lines::{Line, backwards};
use crate::moment::{Moment, Reader};
use crate::text::{plain, shown};

const CHANGES: &str = include_str!("../data/changes.json");

/// Bytes of a line that are searched.
const SEARCHED: usize = 1 << 10;

/// Most lines that are gone back.
const LINES_MAX: usize = 400;

/// A change after which no step but the failing one is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What changed, in a word or two.
    pub kind: String,
    /// The line that says so, from 1.
    pub line: u64,
    /// That line, as it can be shown.
    pub text: String,
}

#[derive(Deserialize)]
struct Row {
    kind: String,
    pattern: String,
}

/// The expressions.
pub(crate) struct Changes {
    rows: Vec<(String, Regex)>,
}

impl Changes {
    pub(crate) fn new() -> Self {
        let rows: Vec<Row> = serde_json::from_str(CHANGES).expect("the embedded changes are read by a test");
        let compile =
            |row: Row| (row.kind, compiled(&row.pattern).expect("a test compiles every expression"));
        Self { rows: rows.into_iter().map(compile).collect() }
    }

    /// The nearest change before a line, if no other moment than the line's own is shown in between.
    pub(crate) fn before(&self, line: &Line<'_>, reader: &Reader, own: Option<Moment>) -> Option<Change> {
        let is_whole = line.offset == line.before.len() as u64;
        let mut own = own;
        for (earlier, feeds) in backwards(line.before, is_whole).take(LINES_MAX) {
            if let Some(kind) = self.kind(earlier) {
                return Some(Change {
                    kind,
                    line: line.number.saturating_sub(feeds),
                    text: shown(&plain(earlier), 0),
                });
            }
            let Some(moment) = reader.moment(earlier) else { continue };
            let same = |own: Moment| {
                (moment.step.is_none() || moment.step == own.step)
                    && (moment.epoch.is_none() || own.epoch.is_none() || moment.epoch == own.epoch)
            };
            match own {
                None => own = Some(moment),
                Some(own) if same(own) => {}
                Some(_) => return None,
            }
        }
        None
    }

    fn kind(&self, line: &[u8]) -> Option<String> {
        let line = plain(&line[..line.len().min(SEARCHED)]);
        // A line of a traceback names files, and files are named after what they do.
        if line.starts_with(b"  File \"") {
            return None;
        }
        self.rows.iter().find(|(_, pattern)| pattern.is_match(&line)).map(|(kind, _)| kind.clone())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{CHANGES, Changes};

    #[test]
    fn every_change_takes_its_examples_and_ordinary_lines_are_none() {
        let changes = Changes::new();
        let rows: Vec<Value> = serde_json::from_str(CHANGES).expect("JSON");
        for row in &rows {
            for example in row["examples"].as_array().expect("examples").iter().filter_map(Value::as_str) {
                assert_eq!(changes.kind(example.as_bytes()).as_deref(), row["kind"].as_str(), "{example}");
            }
        }
        for line in [
            "step 1200 loss 0.34 lr 1.0e-03 batch size 64",
            "  File \"torch/utils/checkpoint.py\", line 7, in saving checkpoint",
            "resume: False, image size: 224",
        ] {
            assert_eq!(changes.kind(line.as_bytes()), None, "{line}");
        }
    }
}
