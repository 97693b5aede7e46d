//! How a region does on random cases that nobody chose: inside it and just outside. Knows counts; changes no
//! condition.

use case::{Cell, Probes};

use super::fit::Fit;
use super::inquiry::Inquiry;
use super::learn::Learner;

/// Most cases on either side.
const CASES_MAX: u32 = 64;

/// Fewest cases on either side that make a trial.
const CASES_MIN: u32 = 8;

/// Random cases that are drawn for one that is wanted.
const DRAWS_MAX: usize = 300;

/// Counter-examples that are kept of a side.
const COUNTER_EXAMPLES_MAX: usize = 16;

/// What a trial came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Tried {
    pub(super) inside: Probes,
    pub(super) outside: Probes,
    /// False where calls ran out before a fair number of cases was judged.
    pub(super) complete: bool,
}

impl Tried {
    /// True where no case contradicts the region.
    pub(super) fn agrees(&self) -> bool {
        self.inside.counter_examples.is_empty() && self.outside.counter_examples.is_empty()
    }
}

/// Tries a fit on new random cases, half of them inside and half just outside; with `hasty` only up to the first one
/// that contradicts it.
pub(super) fn trial(learner: &mut Learner, inquiry: &mut Inquiry<'_>, fit: &Fit, hasty: bool) -> Tried {
    let planned = (inquiry.left() / 2).min(CASES_MAX);
    let mut tried = Tried::default();
    let mut dry = [false, fit.conditions.is_empty()];
    // Whether a side has had its number of questions, judged or not.
    let mut asked = [0, 0];
    while (!hasty || tried.agrees()) && (0..2).any(|side| !dry[side] && asked[side] < planned) {
        for side in 0..2 {
            if dry[side] || asked[side] >= planned {
                continue;
            }
            let Some(case) = draw(learner, inquiry, fit, side == 0) else {
                dry[side] = true;
                continue;
            };
            let Some(cell) = inquiry.ask(&case) else { return tried };
            asked[side] += 1;
            let probes = if side == 0 { &mut tried.inside } else { &mut tried.outside };
            let fails = match cell {
                Cell::Fails => true,
                Cell::Passes => false,
                Cell::Other | Cell::Unjudged => continue,
            };
            probes.tested += 1;
            probes.failed += u32::from(fails);
            if fails != (side == 0) && probes.counter_examples.len() < COUNTER_EXAMPLES_MAX {
                probes.counter_examples.push(case.to_string());
            }
        }
    }
    tried.complete = planned >= CASES_MIN;
    tried
}

fn draw(learner: &mut Learner, inquiry: &Inquiry<'_>, fit: &Fit, inside: bool) -> Option<case::Case> {
    for _ in 0..DRAWS_MAX {
        let Some((case, facts)) = learner.fresh(inquiry) else { continue };
        let fits = if inside { fit.contains(&facts) } else { fit.broken_alone(&facts).is_some() };
        if fits {
            return Some(case);
        }
    }
    None
}
