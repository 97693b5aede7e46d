//! Everything one run showed, as the supervisor saw it. Derives nothing and judges nothing.

use serde::{Deserialize, Serialize};

use crate::phase::Phase;
use crate::trial::{Candidate, Observation};

/// How the worker's part ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It answered and lives.
    Answered,
    /// The process ended by itself with that code.
    Exited(i32),
    /// A signal ended it.
    Signalled(i32),
    /// It exceeded the deadline of its phase, in milliseconds, and was killed.
    TimedOut(u64),
    /// The supervisor killed it after this many milliseconds, which is less than a slow engine may need for a problem
    /// of that size: no hang.
    TooSlow(u64),
}

/// One visit to one configuration, or to a problem that never came to configurations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The configuration, where one was announced.
    pub candidate: Option<Candidate>,
    /// How the worker's part ended.
    pub exit: Exit,
    /// The last phase announced.
    pub phase: Phase,
    /// What the worker reported, absent where it died first.
    pub observation: Option<Observation>,
    /// The end of what the libraries wrote on stderr, host details removed; filled in only at abnormal ends.
    pub stderr: String,
}
