//! What a reduction ends with and what may be claimed about it. Knows counts; searches nothing.

use case::{Case, CaseError};
use serde::Serialize;

use crate::query::Step;
use crate::rate::Rate;

/// Why the search ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// No pass and no listed edit makes the case smaller.
    Fixpoint,
    /// The limit of calls was reached.
    Calls,
    /// The limit of seconds was reached.
    Seconds,
    /// The predicate could not answer about several cases in a row: the last reason.
    Lost(String),
    /// The failure shows in too few runs to be followed.
    TooRare,
    /// Not even the original fails any more.
    Vanished,
}

/// How a failure that comes and goes was followed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Flaky {
    /// Lower bound of the rate at the start: what a smaller case had to keep four fifths of.
    pub anchor: f64,
    /// Rate that no listed edit of the result keeps: four fifths of the share at the start.
    pub excluded: f64,
    /// Misses in a row after which a listed edit counts as tried: 99 % sure at a rate of `excluded`.
    pub dry_misses: u32,
    /// True where the search went on from a louder form of the original: more repeats, poisoned workspace.
    pub amplified: bool,
    /// Times that the best case stopped failing and the search went back.
    pub backtracks: u32,
}

/// A reduced case with the evidence for its smallness.
#[derive(Clone, Debug, Serialize)]
pub struct Minimized {
    /// The smallest case found that fails in the pinned way.
    pub case: Case,
    /// The case the search began with.
    pub original: Case,
    /// True where every listed edit was tried on the result and none kept the failure.
    pub one_minimal: bool,
    /// Listed edits that were tried on the result.
    pub swept: u32,
    /// Edits that the list holds for the result.
    pub sweep_total: u32,
    /// Version of the edit list.
    pub edit_list: &'static str,
    /// Calls of the predicate, the one about the original included.
    pub calls: u32,
    /// How many of those calls were answered by the log of an earlier reduction.
    pub recalled: u32,
    /// Runs on hints that no call asked for.
    pub speculative_calls: u32,
    /// Proposals that needed no call, because of an earlier one.
    pub cached: u32,
    /// Runs of the result and how many failed; where the failure comes and goes, only those made after the
    /// result was adopted.
    pub rate: Rate,
    /// How a failure that comes and goes was followed; absent for one that showed in every run of the original.
    pub flaky: Option<Flaky>,
    /// Seconds from start to end.
    pub seconds: f64,
    /// Cases that failed in another way, with the signature, in the order met: findings of their own.
    pub others: Vec<(Case, String)>,
    /// The calls that made the case smaller, in order.
    pub accepted: Vec<Step>,
    /// True where the predicate accepted every case it was asked about. A predicate that cannot say no is the
    /// commonest mistake, so the guarantee mentions it.
    pub never_refused: bool,
    /// Why the search ended.
    pub stop: Stop,
}

impl Minimized {
    /// What is claimed about the result and what is not, in one paragraph.
    #[must_use]
    pub fn guarantee(&self) -> String {
        let doubt = if self.never_refused {
            " The predicate accepted every smaller case it was asked about."
        } else {
            ""
        };
        format!(
            "{}.{} {} calls, {} answers from memory, {:.1} s.{doubt} Not claimed: globally smallest; the same \
             root cause.",
            self.claim(),
            self.rates(),
            self.calls,
            self.cached,
            self.seconds
        )
    }

    fn claim(&self) -> String {
        let (swept, total, list) = (self.swept, self.sweep_total, self.edit_list);
        let reason = match &self.stop {
            Stop::Fixpoint if self.one_minimal => {
                let tried = self.flaky.map_or_else(
                    || "was tried on it and none kept the failure".to_owned(),
                    |flaky| {
                        format!(
                            "failed more rarely or missed {} times in a row, which is 99 % sure at a rate of \
                             {:.0} % or more",
                            flaky.dry_misses,
                            100.0 * flaky.excluded
                        )
                    },
                );
                return format!(
                    "The result is 1-minimal with respect to edit list {list}: each of its {total} single edits \
                     {tried}"
                );
            }
            Stop::Fixpoint => "some edits could not be answered".to_owned(),
            Stop::Calls => "the limit of calls was reached".to_owned(),
            Stop::Seconds => "the limit of seconds was reached".to_owned(),
            Stop::Lost(why) => format!("the machine was lost: {why}"),
            Stop::TooRare => "the failure shows too rarely to be followed".to_owned(),
            Stop::Vanished => "not even the original fails any more".to_owned(),
        };
        format!(
            "The result is the best so far, sweep incomplete ({swept} of {total} edits of list {list} tried): \
             {reason}"
        )
    }

    fn rates(&self) -> String {
        if self.flaky.is_none() {
            return String::new();
        }
        let (low, high) = self.rate.interval();
        format!(
            " It fails in {} of {} runs ({:.0} to {:.0} % at 95 %).",
            self.rate.hits,
            self.rate.runs,
            100.0 * low,
            100.0 * high
        )
    }
}

/// Why a reduction cannot begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MinimizeError {
    /// The original does not fail.
    #[error("the case passes: there is nothing to minimize")]
    Passes,
    /// The original fails in another way than the pinned one.
    #[error("the case fails in another way: {0}")]
    Other(String),
    /// Nothing can be judged about the original.
    #[error("the case cannot be judged: {0}")]
    Invalid(String),
    /// The predicate calls a case the same failure that cannot be: it says yes to anything.
    #[error("a case that can't fail fails, as '{0}' does: the check accepts anything")]
    AcceptsAnything(String),
    /// The machine is in trouble.
    #[error("the case could not be run: {0}")]
    Infra(String),
    /// The limits leave no room for a single call.
    #[error("the limits allow no call of the predicate")]
    NoBudget,
    /// The original breaks a rule.
    #[error(transparent)]
    Case(#[from] CaseError),
}
