//! What was learned about each case that was asked about. Knows counts by canonical text; decides nothing about
//! what to ask.

use std::collections::HashMap;

use case::Case;

use crate::query::Answer;
use crate::rate::Rate;

/// Misses after which the passes leave a case alone where failures come and go; the closing sweep goes on.
const PATIENCE: u32 = 2;

/// Times that a case has to fall short of the rate before the closing sweep is done with it.
const RARER: u32 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// It was the best case once.
    Adopted,
    /// It missed so many times and never hit.
    Missed(u32),
    /// It fails too, but more rarely than it has to, so many times. Once may be bad luck.
    Rarer(u32),
    /// It cannot be judged.
    Unjudged,
    /// The machine was in trouble twice; the case is left alone and keeps a sweep from being complete.
    Unanswered,
}

/// Every case asked about and what came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    entries: HashMap<String, Entry>,
    recalled: u32,
}

impl Ledger {
    pub(crate) fn adopted(&mut self, case: &Case) {
        self.entries.insert(case.to_string(), Entry::Adopted);
    }

    pub(crate) fn unanswered(&mut self, case: &Case) {
        self.entries.insert(case.to_string(), Entry::Unanswered);
    }

    pub(crate) fn rejected(&mut self, case: &Case, rate: Rate, answer: &Answer) {
        let entry = if rate.hits > 0 {
            Entry::Rarer(match self.entries.get(&case.to_string()) {
                Some(Entry::Rarer(times)) => times + 1,
                _ => 1,
            })
        } else if let Answer::Invalid(_) = answer {
            Entry::Unjudged
        } else {
            Entry::Missed(self.misses(case) + rate.misses())
        };
        self.entries.insert(case.to_string(), entry);
    }

    /// Misses of a case that never hit.
    pub(crate) fn misses(&self, case: &Case) -> u32 {
        match self.entries.get(&case.to_string()) {
            Some(Entry::Missed(misses)) => *misses,
            _ => 0,
        }
    }

    /// True where nothing more is to be asked about a case; counted, because it saves a question. `dry` is
    /// the number of misses that settle a case where failures come and go.
    pub(crate) fn settled(&mut self, case: &Case, sweeping: bool, dry: Option<u32>) -> bool {
        let settled = match (self.entries.get(&case.to_string()), dry) {
            (None, _) => false,
            (Some(Entry::Missed(misses)), Some(dry)) => {
                *misses >= if sweeping { dry } else { PATIENCE.min(dry) }
            }
            (Some(Entry::Rarer(times)), _) => *times >= if sweeping { RARER } else { 1 },
            (Some(Entry::Adopted | Entry::Missed(_) | Entry::Unjudged | Entry::Unanswered), _) => true,
        };
        self.recalled += u32::from(settled);
        settled
    }

    /// True where the closing sweep is done with a case.
    pub(crate) fn swept(&self, case: &Case, dry: Option<u32>) -> bool {
        match self.entries.get(&case.to_string()) {
            None | Some(Entry::Unanswered) => false,
            Some(Entry::Missed(misses)) => dry.is_none_or(|dry| *misses >= dry),
            Some(Entry::Rarer(times)) => *times >= RARER,
            Some(Entry::Adopted | Entry::Unjudged) => true,
        }
    }

    /// Questions that were not needed.
    pub(crate) fn recalled(&self) -> u32 {
        self.recalled
    }

    /// True where every case asked about was taken.
    pub(crate) fn never_refused(&self) -> bool {
        self.entries.values().all(|entry| *entry == Entry::Adopted)
    }
}
