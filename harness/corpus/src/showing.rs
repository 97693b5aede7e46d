//! What one run of an entry showed, as far as expectations ask. Data only.

use case::{Fault, Kind, Problem, Signature, Tier, Untrusted, Verdict};
use serde::{Deserialize, Serialize};

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failing {
    /// What deduplicates it.
    pub signature: String,
    /// Its kind.
    pub kind: Kind,
    /// What was seen, one line.
    pub summary: String,
}

impl Failing {
    /// The failure of a problem.
    #[must_use]
    pub fn of(fault: &Fault, problem: &Problem) -> Self {
        Self {
            signature: Signature::new(&fault.sameness, problem).to_string(),
            kind: fault.sameness.kind,
            summary: fault.summary.clone(),
        }
    }
}

/// What one run showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Showing {
    /// A right result.
    Passed,
    /// A failure.
    Failed(Failing),
    /// The library declined; its status and where.
    Refused(String),
    /// The check says nothing, and why.
    Untrusted(String),
    /// Not run, and why.
    Skipped(String),
    /// The machine or convict failed, and how.
    Trouble(String),
}

impl Showing {
    /// What a verdict means. What is informative only is no failure. Data too weak to trust a library for, such as
    /// zeros, still tell whether a known failure shows: `looking_for_one` says that one is looked for.
    #[must_use]
    pub fn of(verdict: &Verdict, problem: &Problem, looking_for_one: bool) -> Self {
        match verdict {
            Verdict::Untrusted(Untrusted::Vacuous { .. }) if looking_for_one => Self::Passed,
            Verdict::Pass => Self::Passed,
            Verdict::Fault(fault) if fault.tier == Tier::C => Self::Passed,
            Verdict::Fault(fault) => Self::Failed(Failing::of(fault, problem)),
            Verdict::Unsupported(refusal) => {
                Self::Refused(format!("{} in {}", refusal.name, refusal.phase.name()))
            }
            Verdict::Untrusted(Untrusted::Skipped(reason)) => Self::Skipped(reason.clone()),
            Verdict::Untrusted(why) => Self::Untrusted(why.to_string()),
        }
    }

    /// Which of several showings speaks for all: a failure before anything else, then a right result.
    #[must_use]
    pub fn weight(&self) -> u32 {
        match self {
            Self::Trouble(_) => 5,
            Self::Failed(_) => 4,
            Self::Passed => 3,
            Self::Untrusted(_) => 2,
            Self::Skipped(_) => 1,
            Self::Refused(_) => 0,
        }
    }
}
