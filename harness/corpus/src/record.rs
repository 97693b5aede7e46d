//! What became of one entry in a replay. Data only.

use serde::{Deserialize, Serialize};

use crate::folder::Listed;
use crate::showing::Showing;
use crate::state::{Standing, State};

/// One entry's part of a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Folder and name of the entry.
    pub id: String,
    /// Its file, as it was named.
    pub file: String,
    /// The case that was run.
    pub case: String,
    /// True where that is the engine-free form of a case that pins an engine.
    pub engine_free: bool,
    /// How it stands.
    pub state: State,
    /// Why, in one line.
    pub why: String,
    /// What each run showed.
    pub runs: Vec<Showing>,
    /// Seconds that its runs took.
    pub seconds: f64,
    /// Signature of its known failure.
    pub signature: Option<String>,
    /// Link of the expectation that was asked.
    pub ticket: Option<String>,
}

impl Record {
    /// An entry before it is run.
    #[must_use]
    pub fn new(listed: &Listed, case: String, engine_free: bool, ticket: Option<String>) -> Self {
        Self {
            id: listed.id.clone(),
            file: listed.path.display().to_string(),
            case,
            engine_free,
            state: State::Skipped,
            why: String::new(),
            runs: Vec::new(),
            seconds: 0.0,
            signature: listed.entry.signature.clone(),
            ticket,
        }
    }

    /// The same with how it stands after its runs.
    #[must_use]
    pub fn stands(self, standing: Standing) -> Self {
        Self { state: standing.state, why: standing.why, ..self }
    }
}
