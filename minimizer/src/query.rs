//! One question to the predicate: what is asked, what it says, what is logged. Knows no strategy.

use case::Case;
use serde::{Deserialize, Serialize};

use crate::rate::Rate;
use crate::replay::Replay;

/// What the predicate says about a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// The judge of a reduction.
pub trait Predicate {
    /// Runs the case and compares its failure with the pinned one.
    fn ask(&mut self, case: &Case) -> Answer;

    /// The same in a process that did nothing before: for runs of the original, and where the last attempt was
    /// cut off, perhaps by this very case.
    fn ask_afresh(&mut self, case: &Case) -> Answer {
        self.ask(case)
    }

    /// Questions that can be worked on at the same time, the one that is asked among them. Above 1 the search
    /// tells what it is likely to ask next.
    fn width(&self) -> usize {
        1
    }

    /// The questions after the one about to be asked, the likeliest first, as often as they may be asked. What
    /// is made of them changes no answer and no result.
    fn hint(&mut self, likely: &[Case]) {
        let _ = likely;
    }

    /// Runs made on hints that no question asked for.
    fn speculative_calls(&self) -> u32 {
        0
    }
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

/// How a reduction is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// When to stop early.
    pub limits: Limits,
    /// Runs of the original that were made before, which count as the first ones.
    pub seen: Rate,
    /// Runs of the original, those seen before among them. Where one of them misses, the failure comes and goes,
    /// and is followed by rates.
    pub confirm_runs: u32,
    /// Answers of an earlier, interrupted reduction of the same case.
    pub earlier: Replay,
}

impl Settings {
    /// Runs that tell a steady failure from one that comes and goes.
    pub const CONFIRM_RUNS: u32 = 4;
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            seen: Rate::default(),
            confirm_runs: Self::CONFIRM_RUNS,
            earlier: Replay::default(),
        }
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
    /// An earlier reduction had the answer; `Asking` was not told.
    Recalled(&'a Step),
}
