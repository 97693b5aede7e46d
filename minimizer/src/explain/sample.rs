//! Random cases around a case: a few fields moved at once, small values preferred, sizes kept within a box. Knows
//! fields and a seed; judges nothing.

use std::collections::BTreeSet;

use case::Case;

use super::change::{KINDS, exchanges_of, is_extent, moved, numbers, settled, turned};
use crate::field::Field;

/// Elements of all tensors that a random case may have beside a small one.
const ELEMENTS_MAX: i64 = 1 << 22;

/// Multiply-adds of the same.
const WORK_MAX: i64 = 1 << 22;

/// How many times the size of the case itself a random case may have.
const GROWTH_MAX: i64 = 4;

/// Extents at which something often changes.
const WIDTHS: [i64; 24] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 33, 40, 48, 63, 64, 65, 96];

/// SplitMix64: small, fixed for ever, good enough to pick cases.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below the bound, 0 where the bound is 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        // Less than a usize, since the bound was one.
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        of.get(self.below(of.len())).copied()
    }

    fn number(&mut self, bound: i64) -> i64 {
        i64::try_from(self.below(usize::try_from(bound.max(1)).unwrap_or(1))).unwrap_or(0)
    }
}

/// Draws cases around the one that is explained.
pub(super) struct Sampler {
    random: Random,
    elements_max: i64,
    work_max: i64,
    /// Changes (field and value) that the library refuses.
    barred: BTreeSet<(String, String)>,
}

impl Sampler {
    pub(super) fn new(home: &Case, seed: u64, barred: BTreeSet<(String, String)>) -> Self {
        Self {
            random: Random::new(seed),
            elements_max: ELEMENTS_MAX.max(elements(home).saturating_mul(GROWTH_MAX)),
            work_max: WORK_MAX.max(home.problem.geometry().multiply_adds().saturating_mul(GROWTH_MAX)),
            barred,
        }
    }

    /// The generator itself, for choices beside cases.
    pub(super) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// True where a case keeps to the box.
    pub(super) fn has_room(&self, case: &Case) -> bool {
        elements(case) <= self.elements_max && case.problem.geometry().multiply_adds() <= self.work_max
    }

    /// A random case around one; `None` where the draw came to nothing.
    pub(super) fn draw(&mut self, around: &Case) -> Option<Case> {
        let mut case = around.clone();
        let mut edits = 1;
        while edits < 8 && self.random.below(3) > 0 {
            edits += 1;
        }
        for _ in 0..edits {
            let next = match self.random.below(10) {
                0..=5 => self.move_one(&case),
                6 | 7 => self.exchange(&case),
                _ => self.move_two(&case),
            };
            if let Some(next) = next.filter(|next| self.has_room(next)) {
                case = next;
            }
        }
        (case != *around).then_some(case)
    }

    fn move_one(&mut self, case: &Case) -> Option<Case> {
        let field = self.random.pick(&numbers(case))?;
        let value = self.value(case, field);
        let change = moved(case, field, value)?;
        (!self.is_barred(&change.field, &change.to)).then_some(change.case)
    }

    fn value(&mut self, case: &Case, field: Field) -> i64 {
        let (now, least) = (field.get(case), field.least());
        if !is_extent(case, field) {
            return match self.random.below(4) {
                0 => least,
                1 => now + 1,
                _ => least + self.random.number(5),
            };
        }
        match self.random.below(9) {
            0 => now - 1,
            1 => now + 1 + self.random.number(4),
            2 => least,
            3 => least + self.random.number(8),
            4 => now.saturating_mul(2),
            5 => now + (1 << self.random.number(7)),
            6 => (1 << self.random.number(7)) * (1 + self.random.number(4)),
            7 => least + self.random.number((2 * now).max(8)),
            _ => self.random.pick(&WIDTHS).unwrap_or(least),
        }
    }

    fn exchange(&mut self, case: &Case) -> Option<Case> {
        if self.random.below(6) == 0 {
            let mut cases = turned(case);
            let place = self.random.below(cases.len());
            return (place < cases.len()).then(|| cases.swap_remove(place));
        }
        let kind = self.random.pick(&KINDS)?;
        let mut changes = exchanges_of(case, kind);
        changes.retain(|change| !self.is_barred(&change.field, &change.to));
        let place = self.random.below(changes.len());
        (place < changes.len()).then(|| changes.swap_remove(place).case)
    }

    /// Two numbers by the same step or factor, or groups at fixed totals: what ties between fields need.
    fn move_two(&mut self, case: &Case) -> Option<Case> {
        let fields = numbers(case);
        if self.random.below(4) == 0 {
            let groups = self.random.pick(&[1, 2, 3, 4, 8])?;
            let mut changed = case.clone();
            changed.problem.g = groups;
            return settled(case, changed);
        }
        if self.random.below(6) == 0 {
            let inputs = fields.iter().filter(|field| matches!(field, Field::Input(_)));
            let step = 1 + self.random.number(8);
            let moved = inputs
                .copied()
                .try_fold(case.clone(), |case, field| field.set(&case, field.get(&case) + step))?;
            return settled(case, moved);
        }
        let (one, other) = (self.random.pick(&fields)?, self.random.pick(&fields)?);
        let step = 1 + self.random.number(8);
        let value = |field: Field, factor: bool| {
            if factor { field.get(case).saturating_mul(step) } else { field.get(case) + step }
        };
        let factor = self.random.below(2) == 0;
        let first = one.set(case, value(one, factor))?;
        let both = other.set(&first, value(other, factor))?;
        settled(case, both)
    }

    fn is_barred(&self, field: &str, to: &str) -> bool {
        self.barred.iter().any(|(known, value)| known == field && value == to)
    }
}

fn elements(case: &Case) -> i64 {
    let geometry = case.problem.geometry();
    case::Role::ALL.into_iter().fold(0, |sum: i64, role| sum.saturating_add(geometry.elements(role)))
}
