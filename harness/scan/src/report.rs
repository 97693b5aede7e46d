//! What a scan gives: symptoms in order, with first lines, counts, patterns, causes, and what else the log shows. Knows
//! values only.

use std::collections::BTreeMap;

use import::Import;
use serde::Serialize;

use crate::change::Change;
use crate::command::Setting;
use crate::diagnosis::{self, Relation};
use crate::guide::{Cause, Group, Row, Severity, When};
use crate::status::{Named, Version};
use crate::tally::Occurrence;

/// A symptom, as the guide and the log tell of it.
#[derive(Clone, Debug, Serialize)]
pub struct Symptom {
    /// The guide's name for it.
    pub id: String,
    /// What it is, in a few words.
    pub title: String,
    /// What it has to do with.
    pub group: Group,
    /// How much it weighs.
    pub severity: Severity,
    /// What it has to do with the one that came first.
    pub relation: Relation,
    /// Where it was met first.
    pub first: Occurrence,
    /// Line where it was met last, and the file's number.
    pub last: (usize, u64),
    /// Lines that show it.
    pub count: u64,
    /// Moments that were told apart; a lower bound where `more` is true.
    pub incidents: usize,
    /// True where there were more moments than are remembered.
    pub more: bool,
    /// When it was met.
    pub pattern: When,
    /// Steps of a period, or the step of a fixed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<u64>,
    /// What changed right before it was met first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// Lines by rank, where the log names ranks.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ranks: BTreeMap<u32, u64>,
    /// Statuses of cuDNN that its lines name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<Named>,
    /// What it means.
    pub meaning: String,
    /// Likely causes, the likeliest first, each with the commands to run next.
    pub causes: Vec<Cause>,
    /// Where the guide has it from.
    pub sources: Vec<String>,
    /// True where every later CUDA call of the process fails too.
    pub sticky: bool,
}

impl Symptom {
    /// The symptom's row, without what the log tells.
    pub(crate) fn of(row: &Row, first: Occurrence) -> Self {
        Self {
            id: row.id.clone(),
            title: row.title.clone(),
            group: row.group,
            severity: row.severity,
            relation: Relation::Later,
            last: (first.file, first.line),
            first,
            count: 0,
            incidents: 0,
            more: false,
            pattern: When::Once,
            period: None,
            change: None,
            ranks: BTreeMap::new(),
            statuses: Vec::new(),
            meaning: row.meaning.clone(),
            causes: row.causes.clone(),
            sources: row.sources.clone(),
            sticky: row.sticky,
        }
    }

    /// Makes the commands of its causes fit the log.
    pub(crate) fn advise(&mut self, setting: &Setting) {
        let suspect = self.first.suspect.as_ref().map(|suspect| suspect.case.as_str());
        for cause in &mut self.causes {
            setting.fill(cause, suspect);
        }
    }

    /// When it was met, in words.
    #[must_use]
    pub fn when(&self) -> String {
        diagnosis::pattern(self)
    }
}

/// One file of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileRead {
    /// Bytes of text.
    pub bytes: u64,
    /// Lines, as editors count.
    pub lines: u64,
    /// What was done to it, or is to be known of it.
    pub notes: Vec<String>,
    /// Why it was not read to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// Everything that the logs gave.
#[derive(Debug, Serialize)]
pub struct Scan {
    /// The root first, then the others in the order of their first lines.
    pub symptoms: Vec<Symptom>,
    /// The files, in the order in which they were given.
    pub files: Vec<FileRead>,
    /// Versions of cuDNN that the logs show.
    pub versions: Vec<Version>,
    /// Convolutions that lines of cuDNN's own log describe.
    #[serde(skip)]
    pub import: Import,
}

impl Scan {
    /// True where something was found that is not ordinary by itself.
    #[must_use]
    pub fn has_symptoms(&self) -> bool {
        self.symptoms.iter().any(|symptom| symptom.severity != Severity::Notice)
    }

    /// True where a file was not read to its end.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        self.files.iter().any(|file| file.trouble.is_some())
    }

    /// One line: what came first, where, when, and why most likely.
    #[must_use]
    pub fn verdict(&self) -> String {
        diagnosis::verdict(self)
    }
}
