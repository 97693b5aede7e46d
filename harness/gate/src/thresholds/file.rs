//! A file of thresholds: TOML with the names of the flags as keys. Knows keys and lines; reads no disk.

use std::str::FromStr;

use toml::de::{DeTable, DeValue};

use super::values::shown;
use super::{Asked, Source, Thresholds};

/// Names of the thresholds, which are those of the flags too.
const KEYS: [&str; 7] =
    ["min-driver", "min-cuda", "min-cudnn", "max-cudnn", "min-capability", "min-free-memory", "allow-set"];

/// A file that says nothing clear.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file} line {line}: {why}")]
pub struct ThresholdError {
    file: String,
    line: usize,
    why: String,
}

/// Reads the text of a file; `file` is what it is called.
///
/// # Errors
/// The first line that is wrong, and why.
pub fn parse(file: &str, text: &str) -> Result<Thresholds, ThresholdError> {
    let wrong = |position: usize, why: String| ThresholdError {
        file: file.to_owned(),
        line: line_at(text, position),
        why,
    };
    let table = DeTable::parse(text).map_err(|error| {
        let position = error.span().map_or(0, |span| span.start);
        wrong(position, format!("is no TOML: {}", error.message().replace('\n', " ")))
    })?;
    let mut thresholds = Thresholds::default();
    // A table is ordered by its keys; the first wrong line of the file is what is told.
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in entries {
        let source = Source::Line { file: file.to_owned(), line: line_at(text, key.span().start) };
        let entry = Entry { key: key.get_ref(), value: value.get_ref(), source };
        entry.put_into(&mut thresholds).map_err(|why| wrong(key.span().start, why))?;
    }
    Ok(thresholds)
}

/// A key with its value.
struct Entry<'a> {
    key: &'a str,
    value: &'a DeValue<'a>,
    source: Source,
}

impl Entry<'_> {
    fn put_into(&self, into: &mut Thresholds) -> Result<(), String> {
        match self.key {
            "min-driver" => into.min_driver = Some(self.one()?),
            "min-cuda" => into.min_cuda = Some(self.one()?),
            "min-cudnn" => into.min_cudnn = Some(self.one()?),
            "max-cudnn" => into.max_cudnn = Some(self.one()?),
            "min-capability" => into.min_capability = Some(self.one()?),
            "min-free-memory" => into.min_free_memory = Some(self.one()?),
            "allow-set" => into.allow_set = self.several()?,
            other => {
                return Err(format!("'{}' is no threshold; there are {}", shown(other), KEYS.join(", ")));
            }
        }
        Ok(())
    }

    fn one<T: FromStr<Err = String>>(&self) -> Result<Asked<T>, String> {
        self.read(self.value)
    }

    fn several<T: FromStr<Err = String>>(&self) -> Result<Vec<Asked<T>>, String> {
        let DeValue::Array(values) = self.value else { return Ok(vec![self.read(self.value)?]) };
        if values.is_empty() {
            return Err(format!(
                "{}: an empty list allows nothing; leave it out to allow everything",
                self.key
            ));
        }
        values.iter().map(|value| self.read(value.get_ref())).collect()
    }

    fn read<T: FromStr<Err = String>>(&self, value: &DeValue<'_>) -> Result<Asked<T>, String> {
        // As a number 9.10 is 9.1.
        let DeValue::String(text) = value else {
            let kind = value.type_str();
            let article = if kind.starts_with(['a', 'i']) { "an" } else { "a" };
            return Err(format!("{}: a value stands in quotes; this is {article} {kind}", self.key));
        };
        let value = text.parse().map_err(|why| format!("{}: {why}", self.key))?;
        Ok(Asked { value, source: self.source.clone() })
    }
}

fn line_at(text: &str, position: usize) -> usize {
    text.bytes().take(position).filter(|byte| *byte == b'\n').count() + 1
}
