//! Cases in which a quantity has a wanted value. Knows how fields bear on quantities by trying; asks nobody.

use case::{Case, Quantity};

use super::change::{is_extent, moved_to, numbers};
use crate::field::Field;

/// How far from its value a field is looked at one by one.
const NEAR: i64 = 70;

/// A step that shows in any output extent.
const FAR: i64 = 64;

/// Largest value of a field that is looked at.
const FIELD_MAX: i64 = 1 << 40;

/// Factors that one extent is set to while another one is solved for.
const FACTORS: [i64; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024];

/// The first case around some others in which the quantity has that value and that is accepted.
pub(super) fn solve(
    quantity: &Quantity,
    target: i64,
    around: &[Case],
    accept: &dyn Fn(&Case) -> bool,
) -> Option<Case> {
    let direct = around.iter().find_map(|base| solve_one(quantity, target, base, accept));
    direct.or_else(|| {
        let flat = around.first().map(flattened)?;
        factored(&flat, target).iter().find_map(|base| solve_one(quantity, target, base, accept))
    })
}

fn solve_one(quantity: &Quantity, target: i64, base: &Case, accept: &dyn Fn(&Case) -> bool) -> Option<Case> {
    let is_it = |case: &Case| quantity.of(case) == Some(target) && accept(case);
    let now = quantity.of(base);
    let fields = numbers(base).into_iter().filter(|field| bears(*field, quantity, base, now));
    fields.into_iter().find_map(|field| {
        let reached = |value: i64| moved_to(base, field, value);
        if grows(quantity) {
            return by_halving(quantity, target, base, field).and_then(reached).filter(is_it);
        }
        let value = field.get(base);
        (1..=NEAR).flat_map(|step| [value - step, value + step]).filter_map(reached).find(&is_it)
    })
}

/// True where a field has a part in a quantity.
fn bears(field: Field, quantity: &Quantity, base: &Case, now: Option<i64>) -> bool {
    let differs = |step: i64| {
        moved_to(base, field, field.get(base) + step).is_some_and(|case| quantity.of(&case) != now)
    };
    // Rounding in an output's extent hides a single step.
    differs(1) || differs(FAR)
}

/// True for quantities that no field makes smaller by growing.
fn grows(quantity: &Quantity) -> bool {
    match quantity {
        Quantity::Difference(..) | Quantity::Remainder(..) | Quantity::PadDifference(_) => false,
        Quantity::Largest(of) | Quantity::Smallest(of) => grows(of),
        Quantity::N
        | Quantity::C
        | Quantity::K
        | Quantity::Groups
        | Quantity::GroupC
        | Quantity::GroupK
        | Quantity::MatrixRows
        | Quantity::MatrixColumns
        | Quantity::MatrixProducts
        | Quantity::MatrixBatch
        | Quantity::Rank
        | Quantity::Input(_)
        | Quantity::Output(_)
        | Quantity::Filter(_)
        | Quantity::PadBefore(_)
        | Quantity::PadAfter(_)
        | Quantity::Stride(_)
        | Quantity::Dilation(_)
        | Quantity::Elements(_)
        | Quantity::Bytes(_)
        | Quantity::WorkspaceAlignment
        | Quantity::Outputs
        | Quantity::MultiplyAdds
        | Quantity::Product(_) => true,
    }
}

/// The least value of the field for which the quantity gets there, as far as it grows with the field.
fn by_halving(quantity: &Quantity, target: i64, base: &Case, field: Field) -> Option<i64> {
    let of = |value: i64| moved_to(base, field, value).and_then(|case| quantity.of(&case));
    let (mut low, mut high) = (field.least(), field.least().max(1));
    while high < FIELD_MAX && of(high)? < target {
        low = high;
        high = high.saturating_mul(2);
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if of(middle)? < target {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Some(high)
}

/// The case with every extent at its least.
fn flattened(case: &Case) -> Case {
    let extents = numbers(case).into_iter().filter(|field| is_extent(case, *field));
    extents.fold(case.clone(), |flat, field| moved_to(&flat, field, field.least()).unwrap_or(flat))
}

/// The flat case with one extent at a likely factor of the target.
fn factored(flat: &Case, target: i64) -> Vec<Case> {
    let root = target.max(1).isqrt();
    let divisor = (1..=root).rev().take(2000).find(|factor| target % factor == 0);
    let mut bases = Vec::new();
    for factor in divisor.into_iter().chain(FACTORS) {
        for field in numbers(flat).into_iter().filter(|field| is_extent(flat, *field)) {
            bases.extend(moved_to(flat, field, factor));
        }
    }
    bases
}
