//! One question to the predicate: what is asked, what it says, what is logged. Knows no strategy.

use case::Case;
use serde::Serialize;

/// What the predicate says about a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It fails, and in the pinned way.
    Same,
    /// It fails in another way, whose signature this is. Never adopted.
    Other(String),
    /// It does not fail.
    Pass,
    /// Nothing could be judged, for the reason given: refused, untrusted, passed over. Never adopted.
    Invalid(String),
    /// The machine, not the case, is in trouble. Says nothing about the case and is asked again.
    Infra(String),
}

/// The judge of a reduction. Deterministic: asked again about the same case, it says the same, `Infra` apart.
pub trait Predicate {
    /// Runs the case and compares its failure with the pinned one.
    fn ask(&mut self, case: &Case) -> Answer;
}

impl<F: FnMut(&Case) -> Answer> Predicate for F {
    fn ask(&mut self, case: &Case) -> Answer {
        self(case)
    }
}

/// When to stop although smaller cases may exist. Checked before each call; a running call is never cut
/// short.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limits {
    /// Most calls of the predicate.
    pub calls_max: u32,
    /// Most seconds since the start.
    pub seconds_max: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { calls_max: 400, seconds_max: 1200.0 }
    }
}

/// One call of the predicate and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Number of the call, from 1.
    pub call: u32,
    /// The pass that proposed the case.
    pub pass: &'static str,
    /// The case asked about.
    pub case: Case,
    /// What the predicate said.
    pub answer: Answer,
    /// True where the case became the new best.
    pub accepted: bool,
}

/// What an observer is told, as it happens. `Asking` comes before the call, so that a log kept from events
/// names the case that brought a machine down.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The predicate is about to be called.
    Asking {
        /// Number of the call, from 1.
        call: u32,
        /// The pass that proposed the case.
        pass: &'static str,
        /// The case.
        case: &'a Case,
    },
    /// The predicate answered.
    Answered(&'a Step),
}
