//! Problems around the cases that somebody really runs: those cases first, then neighbours of them without end. Knows
//! weights and edits of a case; knows nothing of where the cases come from.

mod edits;

use case::{Case, Role};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::generator::{Limits, stream};

/// A case that is run somewhere, and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighted {
    /// The case.
    pub case: Case,
    /// How often it was met.
    pub count: u64,
}

/// Most edits that lead from a case to a neighbour at the beginning of the stream.
const EDITS_FIRST: u32 = 2;

/// Neighbours of each case after which they may lie an edit farther away, and again after four times as many.
const NEAR: u64 = 32;

/// Neighbours tried for one number before the case itself is taken.
const ATTEMPTS_MAX: u32 = 64;

/// Times the usual work that a case of the list may ask for: it is what somebody runs, and comes once.
const LISTED_WORK: i64 = 16;

/// Cases, most frequent first, and their neighbours by number: each number has its own random stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Around {
    seed: u64,
    limits: Limits,
    listed: Vec<Weighted>,
    /// Sums of the weights up to and with each case.
    sums: Vec<u64>,
}

impl Around {
    /// The stream of that seed around those cases. Without a case there is no problem.
    #[must_use]
    pub fn new(seed: u64, limits: Limits, mut listed: Vec<Weighted>) -> Self {
        listed.sort_by_key(|weighted| std::cmp::Reverse(weighted.count));
        // By its root: a layer that runs ten thousand times does not drown one that runs ten times.
        let sums = listed.iter().scan(0_u64, |sum, weighted| {
            *sum = sum.saturating_add(weighted.count.isqrt().max(1));
            Some(*sum)
        });
        Self { seed, limits, sums: sums.collect(), listed }
    }

    /// The seed of the neighbours.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The cases with their counts, most frequent first.
    #[must_use]
    pub fn listed(&self) -> &[Weighted] {
        &self.listed
    }

    /// The problem with that number, from 0; `None` only where no case is listed. Valid and within the limits: a case
    /// of the list that is too large for them comes with a smaller batch, then smaller extents.
    #[must_use]
    pub fn problem(&self, index: u64) -> Option<Case> {
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        if let Some(weighted) = self.listed.get(place) {
            return Some(self.affordable(&weighted.case));
        }
        let mut rng = StdRng::seed_from_u64(stream(self.seed, index));
        let base = &self.listed.get(self.draw(&mut rng)?)?.case;
        let listed = self.listed.len() as u64;
        // What is near is soon used up.
        let edits_max = EDITS_FIRST + (1 + (index - listed) / (NEAR * listed)).ilog2() / 2;
        let neighbour = (0..ATTEMPTS_MAX).find_map(|_| {
            let mut case = Case::new(base.problem.clone());
            case.problem.declared_output = None;
            (case.options.alpha, case.options.beta) = (base.options.alpha, base.options.beta);
            for _ in 0..rng.random_range(1..=edits_max) {
                edits::apply(&mut case, &mut rng);
            }
            let fitted = fit(&case, self.limits.usual())?;
            (fitted != *base).then_some(fitted)
        });
        Some(neighbour.unwrap_or_else(|| self.affordable(base)))
    }

    /// Place of a case by weight.
    fn draw(&self, rng: &mut StdRng) -> Option<usize> {
        let ticket = rng.random_range(0..*self.sums.last()?);
        Some(self.sums.partition_point(|sum| *sum <= ticket))
    }

    fn affordable(&self, case: &Case) -> Case {
        let work = self.limits.multiply_adds_max.saturating_mul(LISTED_WORK);
        let limits = Limits { multiply_adds_max: work, ..self.limits };
        let plain = || fit(&Case::new(case.problem.clone()), limits);
        fit(case, limits).or_else(plain).unwrap_or_else(|| case.clone())
    }
}

/// The case, made smaller until it is affordable: batch first, then extents and channels. `None` where it is no valid
/// case, or where nothing is left to shrink.
fn fit(case: &Case, limits: Limits) -> Option<Case> {
    let mut case = case.clone();
    loop {
        case.validate().ok()?;
        if limits.admit(&case) {
            return Some(case);
        }
        let geometry = case.problem.geometry();
        // Smaller images do not make a filter smaller.
        let filter = geometry.elements(Role::W) > limits.elements_max / 2
            || geometry.bytes(Role::W) > limits.bytes_max / 2;
        if !(filter && shrink_channels(&mut case)) {
            shrink(&mut case)?;
        }
    }
}

/// Times an extent outweighs a channel: channels are what makes a layer that layer.
const EXTENT_WEIGHT: i64 = 4;

/// Halves what says least about a layer and is above its least.
fn shrink(case: &mut Case) -> Option<()> {
    let problem = &mut case.problem;
    if problem.n > 1 {
        problem.n /= 2;
        return Some(());
    }
    let channels = problem.c.max(problem.k) / problem.g.max(1);
    let shrinkable = problem.axes.iter_mut().filter_map(|axis| {
        let span = (axis.filter - 1).checked_mul(axis.dilation)?.checked_add(1)?;
        let least = (span - axis.pad_before - axis.pad_after).max(1);
        (axis.input > least).then_some((axis, least))
    });
    if let Some((axis, least)) = shrinkable.max_by_key(|(axis, _)| axis.input)
        && axis.input.saturating_mul(EXTENT_WEIGHT) >= channels
    {
        axis.input = (axis.input / 2).max(least);
        return Some(());
    }
    if shrink_channels(case) {
        return Some(());
    }
    let axis = case.problem.axes.iter_mut().max_by_key(|axis| axis.filter)?;
    (axis.filter > 1).then(|| axis.filter /= 2)
}

/// Halves the channels of a group, or the groups; false where there is one of each.
fn shrink_channels(case: &mut Case) -> bool {
    let problem = &mut case.problem;
    // A case that is to be refused may have none.
    let g = problem.g.max(1);
    let (group_c, group_k) = (problem.c / g, problem.k / g);
    if group_c > 1 && group_c >= group_k {
        problem.c = group_c / 2 * g;
    } else if group_k > 1 {
        problem.k = group_k / 2 * g;
    } else if g > 1 {
        (problem.g, problem.c, problem.k) = (g / 2, g / 2 * group_c, g / 2 * group_k);
    } else {
        return false;
    }
    true
}

/// Text that identifies the list: each case with its count.
pub(crate) fn lines(around: &Around) -> impl Iterator<Item = String> {
    around.listed.iter().map(|weighted| format!("{} {}\n", weighted.count, weighted.case))
}

#[cfg(test)]
mod tests;
