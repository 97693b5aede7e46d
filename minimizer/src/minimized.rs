//! What a reduction ends with and what may be claimed about it. Knows counts; searches nothing.

use case::{Case, CaseError};
use serde::Serialize;

use crate::query::Step;

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
    /// Proposals answered from earlier calls.
    pub cached: u32,
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
        let (swept, total, list) = (self.swept, self.sweep_total, self.edit_list);
        let claim = if self.one_minimal {
            format!(
                "The result is 1-minimal with respect to edit list {list}: each of its {total} single edits \
                 was tried on it and none kept the failure"
            )
        } else {
            let reason = match &self.stop {
                Stop::Fixpoint => "some edits could not be answered".to_owned(),
                Stop::Calls => "the limit of calls was reached".to_owned(),
                Stop::Seconds => "the limit of seconds was reached".to_owned(),
                Stop::Lost(why) => format!("the machine was lost: {why}"),
            };
            format!(
                "The result is the best so far, sweep incomplete ({swept} of {total} edits of list {list} \
                 tried): {reason}"
            )
        };
        let doubt = if self.never_refused {
            " The predicate accepted every case it was asked about: make sure that it can say no."
        } else {
            ""
        };
        format!(
            "{claim}. {} calls, {} answers from memory, {:.1} s.{doubt} Not claimed: globally smallest; the \
             same root cause.",
            self.calls, self.cached, self.seconds
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
