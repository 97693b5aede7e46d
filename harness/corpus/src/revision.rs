//! The edit that an unexpected right result asks for: the range of an expectation is closed, or the expectation goes.
//! Knows entries; writes no file.

use crate::entry::Entry;
use crate::facts::SetFacts;

/// An entry as it should be, and what changes, in one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Revision {
    /// The entry with the change.
    pub entry: Entry,
    /// The change.
    pub words: String,
}

impl Revision {
    /// What is right on that set although the entry expects otherwise. `None` where it expects nothing there.
    #[must_use]
    pub fn close(entry: &Entry, set: &SetFacts) -> Option<Self> {
        let position = entry.expectations.iter().position(|one| one.applies(set))?;
        let mut revised = entry.clone();
        let number = position + 1;
        let version = set.version.to_string();
        let expectation = revised.expectations.get_mut(position)?;
        // A range that began with this version would be empty.
        if expectation.cudnn_from.as_ref().is_some_and(|from| *from >= set.version) {
            revised.expectations.remove(position);
            let words = format!(
                "expectation {number}: remove it, it is right on the first version that it holds for, {version}"
            );
            return Some(Self { entry: revised, words });
        }
        let old = expectation.cudnn_to.replace(set.version.clone());
        let mut words = format!(
            "expectation {number}: \"cudnn_to\": {} -> \"{version}\"",
            quoted(old.map(|to| to.to_string()))
        );
        if expectation.resolution.is_none() {
            let resolution = format!("right on {version}");
            words.push_str(&format!(", \"resolution\": null -> \"{resolution}\""));
            expectation.resolution = Some(resolution);
        }
        Some(Self { entry: revised, words })
    }
}

fn quoted(value: Option<String>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| format!("\"{value}\""))
}
