//! The search over a row of versions: which to try next. Assumes no monotony; knows positions and answers alone.

use serde::{Deserialize, Serialize};

use crate::report::Report;

/// What trying a version showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The failure is not there.
    Good,
    /// It is.
    Bad,
    /// Nothing can be said of this version.
    Skip,
}

/// Answers so far, by position from the oldest to the newest version.
#[derive(Clone, Debug)]
pub struct Search {
    answers: Vec<Option<Answer>>,
    tries_max: usize,
}

impl Search {
    /// A search over that many versions, which tries at most `tries_max` of them.
    #[must_use]
    pub fn new(versions: usize, tries_max: usize) -> Self {
        Self { answers: vec![None; versions], tries_max }
    }

    /// Takes an answer, also in place of an earlier one. A position beyond the row is none of its versions.
    pub fn learn(&mut self, position: usize, answer: Answer) {
        if let Some(known) = self.answers.get_mut(position) {
            *known = Some(answer);
        }
    }

    /// The answer at a position, once there is one.
    #[must_use]
    pub fn answer(&self, position: usize) -> Option<Answer> {
        self.answers.get(position).copied().flatten()
    }

    /// The version to try next; `None` where nothing more would be found out, or no more may be tried.
    ///
    /// First both ends, each as far inward as needed to judge it. Then between neighbours that differ, until they are
    /// next to each other but for versions that say nothing. Where all agree, the middle of the widest gap: the middle,
    /// the quarters, and on until one differs or all were tried.
    #[must_use]
    pub fn next(&self) -> Option<usize> {
        if self.answers.iter().flatten().count() >= self.tries_max {
            return None;
        }
        self.end().or_else(|| self.between_unlike()).or_else(|| self.in_widest_gap())
    }

    /// What is known.
    #[must_use]
    pub fn report(&self) -> Report {
        Report::of(&self.answers)
    }

    fn is_judged(&self, position: usize) -> bool {
        matches!(self.answers.get(position), Some(Some(Answer::Good | Answer::Bad)))
    }

    /// The first untried version from an end that is not judged yet.
    fn end(&self) -> Option<usize> {
        let first = |mut positions: Box<dyn Iterator<Item = usize>>| {
            // Whatever comes first, a judged or an untried version, decides.
            let met = positions.find(|position| self.answer(*position) != Some(Answer::Skip));
            met.filter(|position| !self.is_judged(*position))
        };
        let count = self.answers.len();
        first(Box::new(0..count)).or_else(|| first(Box::new((0..count).rev())))
    }

    /// Judged positions with their answers, in order.
    fn judged(&self) -> Vec<(usize, Answer)> {
        let known = self.answers.iter().enumerate();
        known
            .filter_map(|(position, answer)| Some((position, (*answer)?)))
            .filter(|(_, answer)| *answer != Answer::Skip)
            .collect()
    }

    fn between_unlike(&self) -> Option<usize> {
        let judged = self.judged();
        let unlike = judged.windows(2).filter(|pair| pair[0].1 != pair[1].1);
        unlike.filter_map(|pair| self.middle(pair[0].0, pair[1].0)).next()
    }

    /// The untried version nearest to the middle between two positions.
    fn middle(&self, low: usize, high: usize) -> Option<usize> {
        let middle = usize::midpoint(low, high);
        let untried = (low + 1..high).filter(|position| self.answer(*position).is_none());
        untried.min_by_key(|position| position.abs_diff(middle))
    }

    /// Only while all judged versions agree: a difference that was found is what was looked for.
    fn in_widest_gap(&self) -> Option<usize> {
        let judged = self.judged();
        if judged.windows(2).any(|pair| pair[0].1 != pair[1].1) {
            return None;
        }
        let tried: Vec<usize> =
            (0..self.answers.len()).filter(|position| self.answer(*position).is_some()).collect();
        let gaps = tried.windows(2).filter(|pair| pair[1] - pair[0] > 1);
        // Of gaps of the same width the oldest.
        let widest = gaps.max_by_key(|pair| (pair[1] - pair[0], std::cmp::Reverse(pair[0])))?;
        self.middle(widest[0], widest[1])
    }
}
