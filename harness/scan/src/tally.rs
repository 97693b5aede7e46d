//! What is remembered of one symptom while a log is read: its first line, counts, ranks, and the moments it was met at.
//! Knows limits; judges nothing.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::change::Change;
use crate::guide::When;
use crate::moment::{Moment, Stamp};

/// Most incidents, ranks and statuses that are remembered of one symptom.
const INCIDENTS_MAX: usize = 256;
const RANKS_MAX: usize = 1024;
const STATUSES_MAX: usize = 64;

/// A line that shows a symptom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Occurrence {
    /// The file, by number from 0.
    pub file: usize,
    /// Its line, from 1; carriage returns alone do not count.
    pub line: u64,
    /// Place of the line's first byte.
    pub offset: u64,
    /// The line, shortened, with nothing in it that a terminal obeys.
    pub text: String,
    /// The rank that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// How far training had come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moment: Option<Moment>,
    /// The time, as the line gives it, or else the nearest one before it that gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The convolution that the library was about, where cuDNN's own log stands between.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspect: Option<Suspect>,
}

/// A convolution that cuDNN's own log tells of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suspect {
    /// Its case line.
    pub case: String,
    /// True where it was described or planned last and nothing was executed since; else it was executed last.
    pub planned: bool,
}

/// A moment at which the symptom was met, however many lines tell of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Incident {
    file: usize,
    run: u32,
    moment: Moment,
    /// True where the moment before it, as the log shows them, was the incident before.
    follows: bool,
}

/// One symptom.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) first: Occurrence,
    pub(crate) change: Option<Change>,
    pub(crate) count: u64,
    pub(crate) last_line: u64,
    pub(crate) last_file: usize,
    /// Where the line begins that was counted last: further pieces of a long one are the same line.
    last_start: Option<u64>,
    pub(crate) ranks: BTreeMap<u32, u64>,
    pub(crate) statuses: BTreeMap<String, u64>,
    incidents: Vec<Incident>,
    is_full: bool,
}

impl Tally {
    pub(crate) fn new(first: Occurrence, change: Option<Change>) -> Self {
        Self {
            change,
            count: 0,
            last_line: 0,
            last_file: first.file,
            last_start: None,
            ranks: BTreeMap::new(),
            statuses: BTreeMap::new(),
            incidents: Vec::new(),
            is_full: false,
            first,
        }
    }

    /// Counts a line, of which this may be a further piece.
    pub(crate) fn add(&mut self, file: usize, line: (u64, u64), rank: Option<u32>, stamp: Option<Stamp>) {
        let (number, start) = line;
        if self.last_file == file && self.last_start == Some(start) {
            return;
        }
        self.count += 1;
        (self.last_file, self.last_line, self.last_start) = (file, number, Some(start));
        if let Some(rank) = rank
            && (self.ranks.len() < RANKS_MAX || self.ranks.contains_key(&rank))
        {
            *self.ranks.entry(rank).or_default() += 1;
        }
        let Some(Stamp { moment, previous, run }) = stamp else { return };
        let last = self.incidents.last();
        if last.is_some_and(|last| (last.file, last.run, last.moment) == (file, run, moment)) {
            return;
        }
        if self.incidents.len() >= INCIDENTS_MAX {
            self.is_full = true;
            return;
        }
        let follows = last.is_some_and(|last| last.file == file && previous == Some(last.moment));
        self.incidents.push(Incident { file, run, moment, follows });
    }

    /// False where no more moments are remembered, so that none need be looked for.
    pub(crate) fn wants_moments(&self) -> bool {
        !self.is_full
    }

    /// Counts a status that the line names.
    pub(crate) fn add_status(&mut self, name: &str) {
        if let Some(count) = self.statuses.get_mut(name) {
            *count += 1;
        } else if self.statuses.len() < STATUSES_MAX {
            self.statuses.insert(name.to_owned(), 1);
        }
    }

    /// The pattern, and the number of steps that goes with it.
    pub(crate) fn pattern(&self, shows_steps: bool) -> (When, Option<u64>) {
        let steps: Vec<u64> = self.incidents.iter().filter_map(|incident| incident.moment.step).collect();
        if self.is_fixed(&steps) {
            return (When::Fixed, steps.first().copied());
        }
        let is_throughout = self.incidents.len() > 2 && self.incidents.iter().skip(1).all(|one| one.follows);
        if let (Some(period), false) = (period(&steps, self.incidents.len()), is_throughout) {
            return (When::Period, Some(period));
        }
        if self.change.is_some() {
            return (When::Change, None);
        }
        if shows_steps && self.first.moment.is_none_or(Moment::is_start) {
            return (When::Start, None);
        }
        if is_throughout {
            return (When::Throughout, None);
        }
        match self.incidents.len() {
            0 if self.count > 1 => (When::Unplaced, None),
            0 | 1 => (When::Once, None),
            _ => (When::Irregular, None),
        }
    }

    /// Moments that are told apart; the number is a lower bound where more were met than are remembered.
    pub(crate) fn incidents(&self) -> (usize, bool) {
        (self.incidents.len(), self.is_full)
    }

    /// True for the same step of several runs or epochs.
    fn is_fixed(&self, steps: &[u64]) -> bool {
        let same = steps.windows(2).all(|pair| pair[0] == pair[1]);
        steps.len() > 1 && steps.len() == self.incidents.len() && same
    }
}

/// The number of steps between all that follow each other, where that is one number.
fn period(steps: &[u64], incidents: usize) -> Option<u64> {
    let first = steps.get(1)?.checked_sub(*steps.first()?).filter(|period| *period > 1)?;
    let is_even = steps.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(first));
    (steps.len() > 2 && steps.len() == incidents && is_even).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::{Occurrence, Tally};
    use crate::change::Change;
    use crate::guide::When;
    use crate::moment::{Moment, Stamp};

    fn tally(steps: &[(u32, u64, Option<u64>)]) -> Tally {
        let moment = |step| Moment { epoch: None, step: Some(step) };
        let first = steps.first().map(|first| moment(first.1));
        let first = Occurrence {
            file: 0,
            line: 1,
            offset: 0,
            text: String::new(),
            rank: None,
            moment: first,
            time: None,
            suspect: None,
        };
        let mut tally = Tally::new(first, None);
        for (number, (run, step, previous)) in (1..).zip(steps) {
            tally.add(
                0,
                (number, number),
                None,
                Some(Stamp { moment: moment(*step), previous: previous.map(moment), run: *run }),
            );
        }
        tally
    }

    #[test]
    fn each_pattern_is_told_from_the_others() {
        for (steps, when, number) in [
            (&[(0, 700, None)][..], When::Once, None),
            (&[(0, 700, None), (1, 700, None)], When::Fixed, Some(700)),
            (&[(0, 500, None), (0, 1000, Some(990)), (0, 1500, Some(1490))], When::Period, Some(500)),
            (&[(0, 500, None), (0, 550, Some(500)), (0, 600, Some(550))], When::Throughout, None),
            (&[(0, 500, None), (0, 777, Some(770)), (0, 1500, Some(1490))], When::Irregular, None),
            (&[(0, 1, None)], When::Start, None),
            (&[], When::Start, None),
        ] {
            assert_eq!(tally(steps).pattern(true), (when, number), "{steps:?}");
        }
        let mut changed = tally(&[(0, 500, None), (0, 550, Some(500)), (0, 600, Some(550))]);
        changed.change = Some(Change { kind: "resume".to_owned(), line: 1, text: String::new() });
        assert_eq!(changed.pattern(true).0, When::Change);
    }
}
