//! The log of an earlier reduction as answers that need not be asked for again. Knows JSON lines; reads no
//! file.
//!
//! A log begins with `{"began": CASE, "edit_list": VERSION}`, what it is about. Then it holds a line `{"running": CASE}` before each run and the answer after it: `{"answered": CASE, "answer":
//! ANSWER}`. A run without its answer was cut off, and its case may be what cut it off.

use std::collections::{HashMap, VecDeque};

use case::Case;
use serde::{Deserialize, Serialize};

use crate::edits::EDIT_LIST;
use crate::query::Answer;

/// Attempts that may be cut off before a case counts as what brings the machine down.
const CUT_OFF_MAX: u32 = 2;

/// Signature of a case that cut off two attempts.
const BROUGHT_DOWN: &str = "brings-the-machine-down";

/// A line of the log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Began { began: String, edit_list: String },
    Answered { answered: String, answer: Answer },
    Running { running: String },
}

/// What a log knows about one case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Earlier {
    answers: VecDeque<Answer>,
    /// Attempts in a row that were begun and have no answer.
    open: u32,
}

/// What an earlier reduction can say about a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Recall {
    /// The answer it got.
    Answer(Answer),
    /// It was cut off once over this case.
    CutOff,
    /// Nothing.
    Nothing,
}

/// Answers of an earlier reduction, by canonical case line, each to be used once in the order given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// The case that was to be reduced, and the version of the edit list.
    about: Option<(Case, String)>,
    cases: HashMap<String, Earlier>,
}

/// A log that cannot be gone on with.
#[derive(Debug, thiserror::Error)]
#[error("line {line} of the log is no entry: {reason}")]
pub struct ReplayError {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl Replay {
    /// The first line: which case is to be reduced.
    #[must_use]
    pub fn began(case: &Case) -> String {
        line(&Line::Began { began: case.to_string(), edit_list: EDIT_LIST.to_owned() })
    }

    /// The line to be written before a case is run.
    #[must_use]
    pub fn running(case: &Case) -> String {
        line(&Line::Running { running: case.to_string() })
    }

    /// The line to be written after it.
    #[must_use]
    pub fn answered(case: &Case, answer: &Answer) -> String {
        line(&Line::Answered { answered: case.to_string(), answer: answer.clone() })
    }

    /// Reads a log, oldest line first. Trouble of the machine is no answer: such a case is asked again. A last
    /// line without its end was being written when the reduction was cut off, and is passed over.
    ///
    /// # Errors
    /// The first line that is no entry.
    pub fn read(log: &str) -> Result<Self, ReplayError> {
        let mut replay = Self::default();
        for (number, text) in (1..).zip(log.split_inclusive('\n')) {
            if !text.ends_with('\n') {
                break;
            }
            if text.trim().is_empty() {
                continue;
            }
            let bad = |reason: String| ReplayError { line: number, reason };
            let parse = |of: &str| of.parse().map_err(|error: case::CaseError| bad(error.to_string()));
            match serde_json::from_str(text).map_err(|error| bad(error.to_string()))? {
                Line::Began { began, edit_list } => replay.about = Some((parse(&began)?, edit_list)),
                Line::Running { running } => replay.note(&parse(&running)?, None),
                Line::Answered { answered, answer } => replay.note(&parse(&answered)?, Some(answer)),
            }
        }
        Ok(replay)
    }

    /// True where the log is about that case and was written by a search with the present edit list, so that
    /// its answers are those to the questions that come.
    #[must_use]
    pub fn is_about(&self, case: &Case) -> bool {
        self.about.as_ref().is_some_and(|(of, list)| of == case && list == EDIT_LIST)
    }

    /// True where it knows no answer.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    fn note(&mut self, case: &Case, answer: Option<Answer>) {
        let earlier = self.cases.entry(case.to_string()).or_default();
        match answer {
            None => earlier.open += 1,
            Some(answer) => {
                earlier.open = 0;
                if !matches!(answer, Answer::Infra(_)) {
                    earlier.answers.push_back(answer);
                }
            }
        }
    }

    /// What is known about the next run of a case; an answer is used up.
    pub(crate) fn recall(&mut self, case: &Case) -> Recall {
        let Some(earlier) = self.cases.get_mut(&case.to_string()) else { return Recall::Nothing };
        match (earlier.answers.pop_front(), std::mem::take(&mut earlier.open)) {
            (Some(answer), open) => {
                earlier.open = open;
                Recall::Answer(answer)
            }
            (None, 0) => Recall::Nothing,
            (None, open) if open >= CUT_OFF_MAX => {
                earlier.open = open;
                Recall::Answer(Answer::Other(BROUGHT_DOWN.to_owned()))
            }
            (None, _) => Recall::CutOff,
        }
    }
}

/// A value made of strings alone always has a JSON form; an empty line, which reading passes over, would stand
/// for one that had not.
fn line(line: &Line) -> String {
    serde_json::to_string(line).unwrap_or_default()
}

#[cfg(test)]
mod tests;
