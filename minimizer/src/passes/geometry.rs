//! Axes away and geometry to its trivial values: everything, by family, by axis; groups to one.

use case::{Axis, Case, Expect};

use super::context;
use crate::edits::Edit;
use crate::repair::span;

/// One family of an axis to its trivial value.
type Row = (&'static str, fn(&mut Axis));

/// What bends a convolution away from the plain one.
const BENDS: [Row; 3] = [
    ("pad to 0", |axis| {
        axis.pad_before = 0;
        axis.pad_after = 0;
    }),
    ("stride to 1", |axis| axis.stride = 1),
    ("dilation to 1", |axis| axis.dilation = 1),
];

/// Filter extents.
const FILTER: Row = ("filter to 1", |axis| axis.filter = 1);

/// The two halves of padding, for the single edits.
const HALF_PADS: [Row; 2] =
    [("pad before to 0", |axis| axis.pad_before = 0), ("pad after to 0", |axis| axis.pad_after = 0)];

fn on_every_axis(case: &mut Case, row: Row) {
    for axis in &mut case.problem.axes {
        (row.1)(axis);
    }
}

/// The smallest case at the present number of axes: every extent 1, every option at its default. Types,
/// layouts and buffer contents stay, because an engine often takes only some of them.
pub(crate) fn everything_least(case: &Case) -> Vec<Edit> {
    if case.options.expect == Expect::Refuse {
        return Vec::new();
    }
    vec![Edit::made("everything least", case, |case| {
        context::all_default(case);
        let problem = &mut case.problem;
        (problem.n, problem.c, problem.k, problem.g) = (1, 1, 1, 1);
        problem.axes.fill(Axis::plain(1, 1));
    })]
}

/// Each axis away; the axis with the smallest input first.
pub(crate) fn axes_away(case: &Case) -> Vec<Edit> {
    let mut order: Vec<usize> = (0..case.problem.axes.len()).collect();
    order.sort_by_key(|index| case.problem.axes[*index].input);
    order.into_iter().map(|index| axis_away(case, index, format!("axis {index} away"))).collect()
}

fn axis_away(case: &Case, index: usize, name: String) -> Edit {
    Edit::made(name, case, |case| {
        case.problem.axes.remove(index);
        if let Some(declared) = &mut case.problem.declared_output
            && index < declared.len()
        {
            declared.remove(index);
        }
    })
}

/// Each axis away, then each axis away with its outputs moved to a neighbour.
pub(crate) fn ranks(case: &Case) -> Vec<Edit> {
    let mut edits = axes_away(case);
    for index in 0..case.problem.axes.len() {
        let output = case.problem.axes[index].output();
        let neighbour = usize::from(index == 0);
        let mut folded = axis_away(case, index, format!("axis {index} folded away"));
        if let Some(outputs) =
            case.problem.axes.get(neighbour).map(|axis| axis.output().saturating_mul(output))
            && let Some(axis) = folded.case.problem.axes.get_mut(neighbour.saturating_sub(1))
            && output > 1
        {
            hold_output(axis, outputs);
            edits.push(folded);
        }
    }
    edits
}

/// Sets the input to the least that gives so many outputs.
pub(crate) fn hold_output(axis: &mut Axis, outputs: i64) {
    let reach = outputs.saturating_sub(1).saturating_mul(axis.stride).saturating_add(span(axis));
    axis.input = reach.saturating_sub(axis.pad_before).saturating_sub(axis.pad_after).max(1);
}

/// All bends, each family, all filters, groups, then every family of every axis.
pub(crate) fn blocks_and_singles(case: &Case) -> Vec<Edit> {
    let mut edits = vec![Edit::made("all bends away", case, |case| {
        for row in BENDS {
            on_every_axis(case, row);
        }
    })];
    for row in BENDS.into_iter().chain([FILTER]) {
        edits.push(Edit::made(format!("every {}", row.0), case, |case| on_every_axis(case, row)));
    }
    edits.extend(groups_away(case));
    edits.extend(singles(case));
    edits
}

/// Groups to one, keeping totals or keeping widths.
pub(crate) fn groups_away(case: &Case) -> Vec<Edit> {
    vec![
        Edit::made("groups to 1, totals kept", case, |case| case.problem.g = 1),
        Edit::made("groups to 1, widths kept", case, |case| {
            let problem = &mut case.problem;
            let groups = problem.g.max(1);
            (problem.c, problem.k, problem.g) = (problem.c / groups, problem.k / groups, 1);
        }),
    ]
}

/// Every family of every axis, each alone.
pub(crate) fn singles(case: &Case) -> Vec<Edit> {
    let rows = BENDS.into_iter().chain(HALF_PADS).chain([FILTER]);
    let axes = 0..case.problem.axes.len();
    rows.flat_map(|row| {
        axes.clone().map(move |index| {
            Edit::made(format!("axis {index}: {}", row.0), case, |case| {
                (row.1)(&mut case.problem.axes[index]);
            })
        })
    })
    .collect()
}
