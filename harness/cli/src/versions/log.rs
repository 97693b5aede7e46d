//! The log of a search in its folder: a line for what is searched, one for each run, read to go on. Knows files and
//! lines; what a run means is read elsewhere.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Shown;
use crate::failure::Failure;
use crate::log::lock;

/// Name of the log within its folder.
const LOG: &str = "bisect.jsonl";

/// Largest log that is read, bytes.
const BYTES_MAX: u64 = 64 << 20;

/// What is searched; another search can't go on with the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Terms {
    /// Form of the log.
    pub(crate) bisect: u32,
    /// The case line.
    pub(crate) case: String,
    /// The options that decide what a run shows and which sets there are, as text.
    pub(crate) options: String,
    /// Every set of every row.
    pub(crate) sets: Vec<String>,
}

/// A run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    set: String,
    shown: Shown,
}

/// A log that grows.
pub(crate) struct Log {
    path: PathBuf,
    file: RefCell<File>,
    earlier: HashMap<String, Vec<Shown>>,
}

impl Log {
    /// The log in a folder: a new one in a new or empty folder, or with `resume` the one of the same terms.
    pub(crate) fn open(folder: &Path, terms: &Terms, resume: bool) -> Result<Self, Failure> {
        if resume { Self::reopen(folder, terms) } else { Self::create(folder, terms) }
    }

    fn create(folder: &Path, terms: &Terms) -> Result<Self, Failure> {
        let refuse = |why: &str| Failure::Usage(format!("--out {}: {why}", folder.display()));
        match fs::create_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mut entries = fs::read_dir(folder).map_err(|error| refuse(&error.to_string()))?;
                if entries.next().is_some() {
                    return Err(refuse(
                        "is not empty; go on with its search by --resume, or name another folder",
                    ));
                }
            }
            made => made.map_err(|error| refuse(&error.to_string()))?,
        }
        let path = folder.join(LOG);
        let opened = OpenOptions::new().append(true).create_new(true).open(&path);
        let file = opened.map_err(|error| refuse(&error.to_string()))?;
        lock(&file).map_err(|_| refuse("another search is at work in this folder"))?;
        let log = Self { path, file: RefCell::new(file), earlier: HashMap::new() };
        log.append(terms)?;
        Ok(log)
    }

    fn reopen(folder: &Path, terms: &Terms) -> Result<Self, Failure> {
        let path = folder.join(LOG);
        let refuse = |why: &str| Failure::Usage(format!("--resume: {}: {why}", path.display()));
        let found = fs::symlink_metadata(&path).map_err(|error| refuse(&error.to_string()))?;
        if !found.is_file() || found.len() > BYTES_MAX {
            return Err(refuse("is no plain file of a sensible size"));
        }
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(&path)
            .map_err(|error| refuse(&error.to_string()))?;
        lock(&file).map_err(|_| refuse("another search is at work in this folder"))?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| refuse(&error.to_string()))?;
        // A last line that was being written is cut off.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines();
        let held: Terms = serde_json::from_str(lines.next().unwrap_or_default())
            .map_err(|error| refuse(&format!("line 1: {error}")))?;
        if held != *terms {
            return Err(refuse(&difference(&held, terms)));
        }
        let mut earlier: HashMap<String, Vec<Shown>> = HashMap::new();
        for (number, line) in lines.enumerate() {
            let Line { set, shown } = serde_json::from_str(line)
                .map_err(|error| refuse(&format!("line {}: {error}", number + 2)))?;
            earlier.entry(set).or_default().push(shown);
        }
        file.set_len(whole as u64).map_err(|error| Failure::file("log", &path, &error))?;
        Ok(Self { path, file: RefCell::new(file), earlier })
    }

    /// What an earlier run on a set showed, by its number from 0.
    pub(crate) fn recorded(&self, set: &str, run: u32) -> Option<Shown> {
        self.earlier.get(set)?.get(run as usize).cloned()
    }

    /// Adds a run, and sees to it that it outlives the machine's next moment.
    pub(crate) fn write(&self, set: &str, shown: &Shown) -> Result<(), Failure> {
        self.append(&Line { set: set.to_owned(), shown: shown.clone() })
    }

    fn append(&self, line: &impl Serialize) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::file("log", &self.path, &error);
        let text = serde_json::to_string(line).map_err(|error| Failure::Ours(error.to_string()))?;
        let mut file = self.file.borrow_mut();
        file.write_all(format!("{text}\n").as_bytes()).map_err(failed)?;
        file.sync_data().map_err(failed)
    }
}

/// Why a log can't be gone on with.
fn difference(held: &Terms, asked: &Terms) -> String {
    if held.bisect != asked.bisect {
        return "is a log of another version of convict".to_owned();
    }
    if held.case != asked.case {
        return format!("is about another case: {}", held.case);
    }
    if held.options != asked.options {
        return format!("is a search with other options: {}", held.options);
    }
    "is a search over other library sets".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(case: &str) -> Terms {
        Terms { bisect: 1, case: case.to_owned(), options: "own".to_owned(), sets: vec!["a".to_owned()] }
    }

    #[test]
    fn a_log_is_gone_on_with_after_its_last_whole_line() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("out");
        let shown = Shown { passed: 1, ..Shown::default() };
        let log = Log::open(&folder, &terms("x"), false).expect("a new folder");
        log.write("a", &shown).expect("written");
        assert!(Log::open(&folder, &terms("x"), true).is_err(), "the other one is at work");
        drop(log);
        let mut file = OpenOptions::new().append(true).open(folder.join(LOG)).expect("the log");
        file.write_all(b"{\"set\":\"a\",").expect("written");
        drop(file);
        let log = Log::open(&folder, &terms("x"), true).expect("the same search");
        assert_eq!(
            (log.recorded("a", 0), log.recorded("a", 1), log.recorded("b", 0)),
            (Some(shown), None, None)
        );
        let text = fs::read_to_string(folder.join(LOG)).expect("the log");
        assert_eq!(text.lines().count(), 2, "{text}");
    }

    #[test]
    fn another_search_no_log_and_a_folder_in_use_are_refused() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("out");
        let refused = |case: &str, resume: bool| {
            Log::open(&folder, &terms(case), resume)
                .err()
                .map(|failure| failure.to_string())
                .expect("refused")
        };
        assert!(refused("x", true).contains("No such file"));
        drop(Log::open(&folder, &terms("x"), false).expect("a new folder"));
        assert!(refused("x", false).contains("--resume"));
        assert!(refused("y", true).contains("is about another case: x"));
        let other = Terms { sets: Vec::new(), ..terms("x") };
        let words = Log::open(&folder, &other, true).err().map(|failure| failure.to_string());
        assert!(words.is_some_and(|words| words.contains("other library sets")));
        fs::write(folder.join(LOG), "no JSON\n").expect("written");
        assert!(refused("x", true).contains("line 1"));
    }
}
