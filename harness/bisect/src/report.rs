//! What a search came to: where the failure begins and ends, and what lies untried between. Knows positions alone.

use serde::Serialize;

use crate::search::Answer;

/// A stretch of versions of which every judged one fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Interval {
    /// The nearest judged version before it, which is good; none where the row begins with the stretch.
    pub last_good: Option<usize>,
    /// Its first judged version.
    pub first_bad: usize,
    /// Its last judged version.
    pub last_bad: usize,
    /// The nearest judged version after it, which is good; none where the row ends with the stretch.
    pub first_fixed: Option<usize>,
    /// Versions without a judgement between `last_good` (or the row's begin) and `first_bad`.
    pub unknown_before: Vec<usize>,
    /// Those between `first_bad` and `last_bad`.
    pub unknown_within: Vec<usize>,
    /// Those between `last_bad` and `first_fixed` (or the row's end).
    pub unknown_after: Vec<usize>,
}

/// Everything a search found out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Where it fails, oldest first.
    pub intervals: Vec<Interval>,
    /// Versions that are good.
    pub good: Vec<usize>,
    /// Versions that are bad.
    pub bad: Vec<usize>,
    /// Versions that were tried and of which nothing can be said.
    pub skipped: Vec<usize>,
    /// Versions that were not tried.
    pub untried: Vec<usize>,
}

impl Report {
    /// True where not a single version could be judged.
    #[must_use]
    pub fn judged_nothing(&self) -> bool {
        self.good.is_empty() && self.bad.is_empty()
    }

    pub(crate) fn of(answers: &[Option<Answer>]) -> Self {
        let mut report = Self::default();
        let mut last_good = None;
        let mut open: Option<Interval> = None;
        // Versions without a judgement since the last one with a judgement.
        let mut unknown = Vec::new();
        for (position, answer) in answers.iter().enumerate() {
            match answer {
                None | Some(Answer::Skip) => {
                    let list = if answer.is_none() { &mut report.untried } else { &mut report.skipped };
                    list.push(position);
                    unknown.push(position);
                }
                Some(Answer::Good) => {
                    report.good.push(position);
                    last_good = Some(position);
                    let between = std::mem::take(&mut unknown);
                    if let Some(interval) = open.take() {
                        let first_fixed = Some(position);
                        report.intervals.push(Interval { first_fixed, unknown_after: between, ..interval });
                    }
                }
                Some(Answer::Bad) => {
                    report.bad.push(position);
                    let between = std::mem::take(&mut unknown);
                    match &mut open {
                        Some(interval) => {
                            interval.last_bad = position;
                            interval.unknown_within.extend(between);
                        }
                        None => {
                            open = Some(Interval {
                                last_good,
                                first_bad: position,
                                last_bad: position,
                                first_fixed: None,
                                unknown_before: between,
                                unknown_within: Vec::new(),
                                unknown_after: Vec::new(),
                            })
                        }
                    }
                }
            }
        }
        if let Some(interval) = open {
            report.intervals.push(Interval { unknown_after: unknown, ..interval });
        }
        report
    }
}
