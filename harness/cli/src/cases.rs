//! What `hunt --cases-from` names: a file of case lines, or a corpus. Knows which of them a library set can answer for;
//! runs none.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use case::{Case, Environment};
use corpus::{Corpus, Listed, SetFacts};

use crate::failure::Failure;
use crate::screen::errln;

/// Largest list of case lines that is read, bytes: some half a million cases.
const LIST_MAX: u64 = 64 << 20;

/// Ending of a file that is an entry of a corpus.
const ENTRY: &str = "json";

/// Cases that somebody wrote.
pub(crate) struct Written {
    path: PathBuf,
    held: Held,
}

/// As they were written.
enum Held {
    Lines(Vec<Case>),
    Entries(Vec<Listed>),
}

impl Written {
    /// Reads a folder of entries, an entry, or case lines, of which blank ones and those that begin with # are passed
    /// over.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let is_corpus = path.is_dir() || path.extension().is_some_and(|ending| ending == ENTRY);
        let held = if is_corpus { Held::Entries(entries(path)?) } else { Held::Lines(lines(path)?) };
        Ok(Self { path: path.to_owned(), held })
    }

    /// The cases to run on a set. A line is somebody's word for this set and is kept; what an entry pins to the engines
    /// of another set is passed over and counted.
    pub(crate) fn on(self, environment: &Environment, simulated: bool) -> Result<Vec<Case>, Failure> {
        let listed = match self.held {
            Held::Lines(cases) => return Ok(cases),
            Held::Entries(listed) => listed,
        };
        let set = SetFacts::of(environment, simulated).map_err(Failure::Ours)?;
        let here = |listed: &Listed| {
            let (case, weakened) = listed.entry.case_on(&set)?;
            (!weakened && case.other_set(&set.name).is_none()).then_some(case)
        };
        let cases: Vec<Case> = listed.iter().filter_map(here).collect();
        let passed_over = listed.len() - cases.len();
        if cases.is_empty() {
            let path = self.path.display();
            return Err(Failure::Unjudged(format!(
                "--cases-from {path}: every case is pinned to another library set than {}",
                set.name
            )));
        }
        if passed_over > 0 {
            errln!("passed over, pinned to engines of another library set than {}: {passed_over}", set.name);
        }
        Ok(cases)
    }
}

fn wrong(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::Usage(format!("--cases-from {}: {why}", path.display()))
}

/// A list is taken as a whole, or not at all.
fn entries(path: &Path) -> Result<Vec<Listed>, Failure> {
    let corpus = Corpus::read(&[path.to_owned()]);
    match corpus.troubles.first() {
        Some(trouble) => Err(Failure::Usage(format!("--cases-from {trouble}"))),
        None => Ok(corpus.listed),
    }
}

fn lines(path: &Path) -> Result<Vec<Case>, Failure> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| wrong(path, &error))?;
    file.take(LIST_MAX + 1).read_to_end(&mut bytes).map_err(|error| wrong(path, &error))?;
    if bytes.len() as u64 > LIST_MAX {
        return Err(wrong(path, &format!("is larger than the {} MiB of a list; split it", LIST_MAX >> 20)));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let whole = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..whole].iter().filter(|byte| **byte == b'\n').count() + 1;
        wrong(path, &format!("is no UTF-8 text, from line {line} on"))
    })?;
    let mut cases = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let case = line.parse().map_err(|error| {
            Failure::Usage(format!("--cases-from {}, line {}: {error}", path.display(), number + 1))
        })?;
        cases.push(case);
    }
    if cases.is_empty() {
        return Err(wrong(path, &"holds no case line"));
    }
    Ok(cases)
}
