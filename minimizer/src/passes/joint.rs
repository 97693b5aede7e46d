//! Edits of two fields at once, for failures that single edits cannot follow: swaps, folds, held
//! outputs.

use case::{Axis, Case};

use super::geometry::hold_output;
use crate::edits::Edit;
use crate::field::Field;

/// All joint moves, cheapest idea first.
pub(crate) fn moves(case: &Case) -> Vec<Edit> {
    let mut edits = swaps(case);
    edits.extend(folds(case));
    edits.extend(held_outputs(case));
    edits
}

/// Two axes swapped; c swapped with k.
pub(crate) fn swaps(case: &Case) -> Vec<Edit> {
    let rank = case.problem.axes.len();
    let mut edits = Vec::new();
    for second in 1..rank {
        for first in 0..second {
            edits.push(Edit::made(format!("axes {first} and {second} swapped"), case, |case| {
                case.problem.axes.swap(first, second);
                if let Some(declared) = &mut case.problem.declared_output {
                    declared.swap(first, second);
                }
            }));
        }
    }
    edits.push(Edit::made("c and k swapped", case, |case| {
        let problem = &mut case.problem;
        std::mem::swap(&mut problem.c, &mut problem.k);
    }));
    edits
}

/// One extent moved into another, whole or by half; a spatial extent by its outputs, so that products of
/// outputs hold where the filter is not trivial.
fn folds(case: &Case) -> Vec<Edit> {
    let extents = Field::extents(case);
    let mut edits = Vec::new();
    for from in &extents {
        for into in extents.iter().filter(|into| *into != from) {
            let (small, large) = (amount(*from, case), amount(*into, case));
            let spatial = matches!(into, Field::Input(_)) && !is_width(*from);
            if small <= 1 || (large <= 1 && !spatial) {
                continue;
            }
            let name = format!("{} into {}", from.name(), into.name());
            for (part, rest) in [(small, 1), (2, small.div_euclid(2) + small % 2)] {
                let folded = with_amount(*from, case, rest)
                    .and_then(|case| with_amount(*into, &case, large.saturating_mul(part)));
                edits.extend(folded.map(|case| Edit::new(format!("{name} by {part}"), case)));
            }
        }
    }
    edits
}

fn is_width(field: Field) -> bool {
    matches!(field, Field::ChannelsPerGroup | Field::FiltersPerGroup)
}

/// What a field contributes to a product of outputs.
fn amount(field: Field, case: &Case) -> i64 {
    match field_axis(field) {
        Some(index) => case.problem.axes.get(index).map_or(0, Axis::output),
        None => field.get(case),
    }
}

fn with_amount(field: Field, case: &Case, amount: i64) -> Option<Case> {
    match field_axis(field) {
        Some(index) => {
            let mut changed = case.clone();
            hold_output(changed.problem.axes.get_mut(index)?, amount);
            Some(changed)
        }
        None => field.set(case, amount),
    }
}

fn field_axis(field: Field) -> Option<usize> {
    if let Field::Input(index) = field { Some(index) } else { None }
}

/// A change of one axis.
type Row = (&'static str, fn(&mut Axis));

/// Geometry of one axis lowered while its output extent stays.
fn held_outputs(case: &Case) -> Vec<Edit> {
    let rows: [Row; 7] = [
        ("pads away", |axis| {
            axis.pad_before = 0;
            axis.pad_after = 0;
        }),
        ("stride to 1", |axis| axis.stride = 1),
        ("dilation to 1", |axis| axis.dilation = 1),
        ("filter to 1", |axis| axis.filter = 1),
        ("stride one less", |axis| axis.stride = (axis.stride - 1).max(1)),
        ("dilation one less", |axis| axis.dilation = (axis.dilation - 1).max(1)),
        ("filter one less", |axis| axis.filter = (axis.filter - 1).max(1)),
    ];
    let mut edits = Vec::new();
    for (index, axis) in case.problem.axes.iter().enumerate() {
        let outputs = axis.output();
        for (name, change) in rows {
            edits.push(Edit::made(format!("axis {index}: {name}, output held"), case, |case| {
                let axis = &mut case.problem.axes[index];
                change(axis);
                hold_output(axis, outputs);
            }));
        }
    }
    edits
}
