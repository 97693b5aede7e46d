//! What a worker process has done so far: the plans that it executed, oldest first. Knows which events tell of it;
//! tries nothing again.

use std::collections::VecDeque;

use case::{Case, Ended, Outcome};

use crate::confirm::pin;
use crate::examine::config_of;

/// The visits of the present process of one slot, as far as its surveys made them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Life {
    process: Option<u64>,
    visits: VecDeque<Case>,
}

impl Life {
    /// The process with that number goes on, or begins.
    pub(crate) fn goes_on_in(&mut self, process: u64) {
        if self.process.replace(process) != Some(process) {
            self.visits.clear();
        }
    }

    /// Takes a visit in. One that executed nothing left little behind, and a history has to stay short.
    pub(crate) fn note(&mut self, case: &Case, outcome: &Outcome) {
        let executed = outcome.observation.as_ref().is_some_and(|seen| seen.ended == Ended::Completed);
        let Some(config) = config_of(outcome).filter(|_| executed) else { return };
        if self.visits.len() == Case::HISTORY_MAX {
            self.visits.pop_front();
        }
        self.visits.push_back(pin(&case.alone(), config, ""));
    }

    /// The latest visits, oldest first: what a case that fails now may need before it.
    pub(crate) fn history(&self) -> Vec<Case> {
        self.visits.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests;
