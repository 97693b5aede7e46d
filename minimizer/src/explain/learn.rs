//! Asks what tells the fit from its rivals until nothing does: the edges of thresholds, cases on which two readings of
//! the answers disagree, random cases unlike those seen. Knows fits and random cases; counts no trial.

use std::collections::BTreeSet;

use case::{Atom, Case, Cell, Quantity};

use super::fit::{Condition, Fit, Seen, cheapest, conditions, of_rank, rivals};
use super::inquiry::Inquiry;
use super::probe::Probed;
use super::sample::Sampler;
use super::solve::solve;
use super::terms::{Facts, Terms};

/// Random cases kept in store.
const POOL_MAX: usize = 900;

/// Cases that are drawn at a time.
const DRAWS: usize = 100;

/// Times that new cases are drawn for one question.
const FILLS_MAX: usize = 2;

/// Rivals of one condition that are told apart, and how much dearer than the condition they may be.
const RIVALS_MAX: usize = 40;
const RIVAL_PRICE: u32 = 130;

/// Random cases in a row without a surprise after which the fit stands.
const QUIET: u32 = 10;

/// Of so many random cases one is outside.
const OUTSIDE_EVERY: u32 = 4;

/// Edges looked into for one quantity.
const EDGES_MAX: usize = 24;

/// Price above which a fit is laboured: conditions that no one planted, found because none fits.
const LABOURED: u32 = 460;

/// Failing cases beside the case itself that a threshold is solved around.
const BASES: usize = 3;

/// What has been learnt about a failure.
pub(super) struct Learner {
    home: Case,
    terms: Terms,
    sampler: Sampler,
    /// The facts of the inquiry's evidence, in its order.
    facts: Vec<(Facts, bool)>,
    pool: Vec<(Case, Facts)>,
    /// Values of quantities that were looked into as edges.
    edges: Vec<(Quantity, i64)>,
}

impl Learner {
    pub(super) fn new(home: &Case, probed: &Probed, seed: u64) -> Self {
        Self {
            home: home.clone(),
            terms: Terms::around(home),
            sampler: Sampler::new(home, seed, probed.barred()),
            facts: Vec::new(),
            pool: Vec::new(),
            edges: Vec::new(),
        }
    }

    /// Learns until nothing tells the fit from its rivals, or the stage's calls are spent.
    pub(super) fn learn(&mut self, inquiry: &mut Inquiry<'_>) -> Fit {
        let mut quiet = 0;
        loop {
            let (fit, conditions) = self.fit(inquiry);
            if inquiry.is_spent() {
                return fit;
            }
            let telling = self
                .edge(&fit, inquiry)
                .or_else(|| self.floor(&fit, inquiry))
                .or_else(|| self.dividing(&fit, &conditions, inquiry));
            if let Some(case) = telling {
                inquiry.ask(&case);
                continue;
            }
            let unlike = if quiet < QUIET { self.unlike(&fit, quiet, inquiry) } else { None };
            let Some((case, inside)) = unlike else { return Fit { settled: true, ..fit } };
            let surprise = match inquiry.ask(&case) {
                Some(Cell::Fails) => !inside,
                Some(Cell::Passes) => inside,
                Some(Cell::Other | Cell::Unjudged) | None => false,
            };
            quiet = if surprise { 0 } else { quiet + 1 };
        }
    }

    /// The cheapest fit to the evidence, and the conditions it was chosen from.
    fn fit(&mut self, inquiry: &Inquiry<'_>) -> (Fit, Vec<Condition>) {
        for (case, fails) in &inquiry.evidence()[self.facts.len()..] {
            self.facts.push((self.terms.facts(case), *fails));
        }
        let of = |outcome: bool| {
            let matching = self.facts.iter().filter(move |(_, fails)| *fails == outcome);
            matching.map(|(facts, _)| facts).collect()
        };
        let seen = Seen { failing: of(true), passing: of(false) };
        let all = conditions(&self.terms, &seen);
        let fit = cheapest(&all);
        match self.narrowed(seen).filter(|_| fit.price() > LABOURED) {
            Some((narrow, conditions)) if narrow.price() < fit.price() => (narrow, conditions),
            Some(_) | None => (fit, all),
        }
    }

    /// The fit to failing cases with as many axes as the case alone: a failure that any one axis brings about is no
    /// conjunction over all numbers of axes.
    fn narrowed(&self, mut seen: Seen<'_>) -> Option<(Fit, Vec<Condition>)> {
        let rank = Quantity::Rank.of(&self.home)?;
        let condition = of_rank(&self.terms, rank, &seen)?;
        let whole = seen.failing.len();
        seen.failing.retain(|facts| condition.holds(facts));
        seen.passing.retain(|facts| condition.holds(facts));
        if seen.failing.len() == whole {
            return None;
        }
        let mut all = conditions(&self.terms, &seen);
        let mut fit = cheapest(&all);
        // Cases with other numbers of axes are left out of the sets, so the condition stands beside the others.
        let condition = of_rank(&self.terms, rank, &seen)?;
        fit.conditions.push(condition.clone());
        all.push(condition);
        Some((Fit { narrowed: true, ..fit }, all))
    }

    /// A case at the edge of a threshold: just beyond what fails, or between that and what passes.
    fn edge(&mut self, fit: &Fit, inquiry: &Inquiry<'_>) -> Option<Case> {
        for place in 0..fit.conditions.len() {
            let (quantity, bound, upwards) = match &fit.conditions[place].atom {
                Atom::AtLeast(quantity, least) => (quantity.clone(), *least, false),
                Atom::AtMost(quantity, most) => (quantity.clone(), *most, true),
                Atom::Equal(..)
                | Atom::Differs(..)
                | Atom::Residue(..)
                | Atom::NotResidue(..)
                | Atom::OneOf(..)
                | Atom::NoneOf(..) => continue,
            };
            let beyond = self.beyond(fit, place, (&quantity, bound, upwards));
            let Some(target) = self.target(&quantity, bound, (beyond, upwards)) else { continue };
            self.edges.push((quantity.clone(), target));
            if let Some(case) = self.solved(fit, place, (&quantity, target), inquiry) {
                return Some(case);
            }
        }
        None
    }

    /// The next smaller value with the remainder that a condition asks for: a remainder alone would have it fail too.
    fn floor(&mut self, fit: &Fit, inquiry: &Inquiry<'_>) -> Option<Case> {
        for condition in &fit.conditions {
            let Atom::Residue(quantity, modulus, _) = &condition.atom else { continue };
            let term = self.terms.numbers.iter().position(|term| term.quantity == *quantity)?;
            let failing = self.facts.iter().filter(|(_, fails)| *fails);
            let least = failing.filter_map(|(facts, _)| facts.numbers[term]).min()?;
            let target = least - modulus;
            if target < 1 || self.edges.contains(&(quantity.clone(), target)) {
                continue;
            }
            self.edges.push((quantity.clone(), target));
            let accept = |case: &Case| {
                fit.contains(&self.terms.facts(case))
                    && self.sampler.has_room(case)
                    && inquiry.known(case).is_none()
            };
            if let Some(case) = solve(quantity, target, &self.bases(inquiry), &accept) {
                return Some(case);
            }
        }
        None
    }

    /// Failing cases that others are solved around, the case itself first.
    fn bases(&self, inquiry: &Inquiry<'_>) -> Vec<Case> {
        let failing = inquiry.evidence().iter().filter(|(_, fails)| *fails).map(|(case, _)| case.clone());
        failing.take(1 + BASES).collect()
    }

    /// The nearest value beyond the bound that passes although all other conditions hold.
    fn beyond(
        &self,
        fit: &Fit,
        place: usize,
        (quantity, bound, upwards): (&Quantity, i64, bool),
    ) -> Option<i64> {
        let term = self.terms.numbers.iter().position(|term| term.quantity == *quantity)?;
        let alone =
            self.facts.iter().filter(|(facts, fails)| !fails && fit.broken_alone(facts) == Some(place));
        let values = alone.filter_map(|(facts, _)| facts.numbers[term]);
        if upwards {
            values.filter(|value| *value > bound).min()
        } else {
            values.filter(|value| *value < bound).max()
        }
    }

    /// The next value to look at between the bound and what is known to pass; `None` where the two touch.
    fn target(&self, quantity: &Quantity, bound: i64, (beyond, upwards): (Option<i64>, bool)) -> Option<i64> {
        let step = if upwards { 1 } else { -1 };
        let looked = |value: i64| self.edges.contains(&(quantity.clone(), value));
        if beyond == Some(bound + step)
            || self.edges.iter().filter(|(of, _)| of == quantity).count() >= EDGES_MAX
        {
            return None;
        }
        let mut targets = Vec::new();
        // First whether the case sits at the edge, as a smallest one does; then round numbers; then halves.
        if self.edges.iter().all(|(of, _)| of != quantity) || is_round(bound, upwards) {
            targets.push(bound + step);
        }
        if let Some(beyond) = beyond {
            let (low, high) = if upwards { (bound + 1, beyond - 1) } else { (beyond + 1, bound - 1) };
            targets.extend(round(low, high, upwards));
            targets.push(low + (high - low) / 2);
        }
        targets.push(bound + step);
        targets.into_iter().find(|target| !looked(*target))
    }

    /// An unasked case with that value of the quantity in which all conditions but one hold.
    fn solved(
        &self,
        fit: &Fit,
        place: usize,
        (quantity, target): (&Quantity, i64),
        inquiry: &Inquiry<'_>,
    ) -> Option<Case> {
        let accept = |case: &Case| {
            let facts = self.terms.facts(case);
            fit.broken_alone(&facts) == Some(place)
                && self.sampler.has_room(case)
                && inquiry.known(case).is_none()
        };
        solve(quantity, target, &self.bases(inquiry), &accept)
    }

    /// The unasked case of the store on which most rivals of the fit disagree with it.
    fn dividing(&mut self, fit: &Fit, conditions: &[Condition], inquiry: &Inquiry<'_>) -> Option<Case> {
        // The number of axes of a narrowed fit is beyond dispute; it comes last.
        let disputable = fit.conditions.len() - usize::from(fit.narrowed);
        let contested: Vec<(usize, Vec<&Condition>)> = (0..disputable)
            .map(|place| {
                let most = fit.conditions[place].price + RIVAL_PRICE;
                let rivals = rivals(fit, place, conditions);
                (place, rivals.into_iter().filter(|rival| rival.price <= most).take(RIVALS_MAX).collect())
            })
            .collect();
        let votes = |facts: &Facts| -> usize {
            let (alone, inside) = (fit.broken_alone(facts), fit.contains(facts));
            let disputed = contested.iter().filter(|(place, _)| inside || alone == Some(*place));
            disputed
                .map(|(_, rivals)| rivals.iter().filter(|rival| rival.holds(facts) != inside).count())
                .sum()
        };
        for _ in 0..FILLS_MAX {
            let counted = self.pool.iter().map(|(_, facts)| votes(facts)).enumerate();
            match counted.max_by_key(|(_, votes)| *votes) {
                Some((place, votes)) if votes > 0 => return Some(self.pool.swap_remove(place).0),
                Some(_) | None => self.fill(inquiry),
            }
        }
        None
    }

    /// An unasked random case: inside and as unlike the failing ones as can be, or now and then just outside.
    fn unlike(&mut self, fit: &Fit, turn: u32, inquiry: &Inquiry<'_>) -> Option<(Case, bool)> {
        let ranges = self.ranges();
        let rank = self.home.problem.axes.len();
        let same_rank = |case: &Case| case.problem.axes.len() == rank;
        let wants_outside = turn % OUTSIDE_EVERY == OUTSIDE_EVERY - 1 && !fit.conditions.is_empty();
        let matches = |(case, facts): &(Case, Facts)| {
            let side = if wants_outside { fit.broken_alone(facts).is_some() } else { fit.contains(facts) };
            side && (!fit.narrowed || same_rank(case))
        };
        if !self.pool.iter().any(matches) {
            self.fill(inquiry);
        }
        let strange = |facts: &Facts| {
            let outside = |(range, value): (&Option<(i64, i64)>, &Option<i64>)| {
                range.zip(*value).is_some_and(|((least, most), value)| value < least || value > most)
            };
            ranges.iter().zip(&facts.numbers).filter(|pair| outside(*pair)).count()
        };
        let matching = self.pool.iter().enumerate().filter(|(_, entry)| matches(entry));
        let (place, _) = matching.max_by_key(|(_, (_, facts))| strange(facts))?;
        Some((self.pool.swap_remove(place).0, !wants_outside))
    }

    /// The values that each plain quantity has had where it failed.
    fn ranges(&self) -> Vec<Option<(i64, i64)>> {
        let failing: Vec<&Facts> =
            self.facts.iter().filter(|(_, fails)| *fails).map(|(facts, _)| facts).collect();
        let range = |(place, term): (usize, &super::terms::Term)| {
            if term.price > super::terms::PLAIN {
                return None;
            }
            let values = || failing.iter().filter_map(|facts| facts.numbers[place]);
            values().min().zip(values().max())
        };
        self.terms.numbers.iter().enumerate().map(range).collect()
    }

    /// Draws cases around those that fail.
    fn fill(&mut self, inquiry: &Inquiry<'_>) {
        let excess = (self.pool.len() + DRAWS).saturating_sub(POOL_MAX);
        self.pool.drain(..excess);
        for _ in 0..DRAWS {
            if let Some((case, facts)) = self.fresh(inquiry) {
                self.pool.push((case, facts));
            }
        }
    }

    /// A random case that nobody asked about, with its facts.
    pub(super) fn fresh(&mut self, inquiry: &Inquiry<'_>) -> Option<(Case, Facts)> {
        let failing: Vec<&Case> =
            inquiry.evidence().iter().filter(|(_, fails)| *fails).map(|(case, _)| case).collect();
        let around = match self.sampler.random().below(2) {
            0 => &self.home,
            _ => failing[self.sampler.random().below(failing.len())],
        };
        let case = self.sampler.draw(around)?;
        let is_new = self.sampler.has_room(&case) && inquiry.known(&case).is_none();
        is_new.then(|| (self.terms.facts(&case), case)).map(|(facts, case)| (case, facts))
    }
}

/// True where the bound is a power of two, or for an upper one the number before it.
fn is_round(bound: i64, upwards: bool) -> bool {
    let edge = bound.saturating_add(i64::from(upwards));
    edge > 2 && edge.count_ones() == 1
}

/// The bound that is round and lies nearest to what passes.
fn round(low: i64, high: i64, upwards: bool) -> Option<i64> {
    let bounds: BTreeSet<i64> = (2..41)
        .map(|power| (1_i64 << power) - i64::from(upwards))
        .filter(|edge| (low..=high).contains(edge))
        .collect();
    if upwards { bounds.first().copied() } else { bounds.last().copied() }
}
