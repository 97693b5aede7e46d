//! Single steps from a case to one beside it: sizes, passes, types, layouts, windows, groups. Knows a case's fields;
//! whether the result is a case is checked elsewhere.

use case::{Axis, Case, DType, DTypes, Layout, Layouts, Operation};
use rand::RngExt;
use rand::rngs::StdRng;

use crate::generator::{pick, pick_weighted};

type Edit = fn(&mut Case, &mut StdRng);

/// The steps with their weights; sizes lead, since tails of tiles are where kernels break.
const EDITS: [(Edit, u32); 9] = [
    (size, 40),
    (pass, 15),
    (dtype, 10),
    (layout, 10),
    (padding, 8),
    (stride, 6),
    (dilation, 3),
    (groups, 5),
    (filter, 6),
];

/// Makes one step.
pub(super) fn apply(case: &mut Case, rng: &mut StdRng) {
    pick_weighted(rng, &EDITS)(case, rng);
}

/// One more, one less, or twice as many.
fn beside(value: i64, rng: &mut StdRng) -> i64 {
    match rng.random_range(0..5) {
        0 | 1 => value.saturating_add(1),
        2 | 3 => (value - 1).max(1),
        _ => value.saturating_mul(2),
    }
}

fn size(case: &mut Case, rng: &mut StdRng) {
    let problem = &mut case.problem;
    let g = problem.g.max(1);
    match rng.random_range(0..5) {
        0 => problem.n = beside(problem.n, rng),
        1 => problem.c = beside(problem.c / g, rng).saturating_mul(g),
        2 => problem.k = beside(problem.k / g, rng).saturating_mul(g),
        _ => {
            let axis = axis(case, rng);
            axis.input = beside(axis.input, rng);
        }
    }
}

fn axis<'a>(case: &'a mut Case, rng: &mut StdRng) -> &'a mut Axis {
    let place = rng.random_range(0..case.problem.axes.len());
    &mut case.problem.axes[place]
}

fn pass(case: &mut Case, rng: &mut StdRng) {
    if case.problem.operation.is_convolution() {
        case.problem.operation = pick(rng, &Operation::CONVOLUTIONS);
    }
}

fn dtype(case: &mut Case, rng: &mut StdRng) {
    let dtype = pick_weighted(rng, &[(DType::F16, 35), (DType::Bf16, 35), (DType::F32, 25), (DType::F64, 5)]);
    case.problem.dtypes = DTypes::uniform(dtype);
}

fn layout(case: &mut Case, rng: &mut StdRng) {
    let layout = pick(rng, &Layout::PLAIN);
    let layouts = &mut case.problem.layouts;
    match rng.random_range(0..8) {
        0 => layouts.x = layout,
        1 => layouts.w = layout,
        2 => layouts.y = layout,
        _ => *layouts = Layouts::uniform(layout),
    }
}

fn padding(case: &mut Case, rng: &mut StdRng) {
    let axis = axis(case, rng);
    let step = pick(rng, &[-1, 1]);
    let both = rng.random_bool(0.7);
    axis.pad_before = (axis.pad_before + step).max(0);
    if both {
        axis.pad_after = (axis.pad_after + step).max(0);
    }
}

fn stride(case: &mut Case, rng: &mut StdRng) {
    let step = pick(rng, &[-1, 1]);
    for axis in &mut case.problem.axes {
        axis.stride = (axis.stride + step).max(1);
    }
}

fn dilation(case: &mut Case, rng: &mut StdRng) {
    let step = pick(rng, &[-1, 1]);
    for axis in &mut case.problem.axes {
        axis.dilation = (axis.dilation + step).max(1);
    }
}

fn filter(case: &mut Case, rng: &mut StdRng) {
    let axis = axis(case, rng);
    axis.filter = beside(axis.filter, rng);
}

/// No groups, as many as channels, or another count that divides the channels.
fn groups(case: &mut Case, rng: &mut StdRng) {
    let problem = &mut case.problem;
    let wanted = match rng.random_range(0..3) {
        0 => 1,
        1 => problem.c,
        _ => pick(rng, &[2, 4, 8, 16]),
    };
    if problem.c % wanted == 0 && problem.k % wanted == 0 {
        problem.g = wanted;
    }
}
