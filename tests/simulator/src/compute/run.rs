//! One operation by an algorithm in an arithmetic, from bytes to unscaled and scaled values. Knows how the two
//! combine; faults are laid over its results elsewhere.

use case::{Operation, Role};

use super::gemm::multiply;
use super::others::{multiply_matrices, normalize, pool};
use super::rows::{Order, Part, accumulate, zeros};
use super::{Chopped, PassKind, Real, to_tf32};
use crate::element::decode;
use crate::problem::{Problem, Shape};

/// How products are brought together. What is no convolution knows two ways: output by output, and all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Unfolded images times filters. Pooling goes axis by axis, matrices step by step, normalization in pairs.
    Gemm,
    /// Tap by tap over all outputs.
    Taps,
    /// Output by output.
    Outputs,
    /// Parts of the reduction, each summed in the workspace and then together.
    Split,
    /// Output by output, the order left to chance.
    Shuffled,
}

/// What sums are kept in, and what is done to operands or results besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// f32, rounded to nearest.
    Single,
    /// f64.
    Double,
    /// Cut off instead of rounded.
    Chopped,
    /// Operands rounded to TF32, sums in f32.
    Tf32,
    /// f32, then off by up to so many tenths of a millionth, as transforms are.
    Transformed(u32),
}

/// What one execution has at hand beside the problem.
pub struct Work<'a> {
    /// Bytes of x, w and y, each covering its tensor's span.
    pub tensors: [&'a [u8]; 3],
    /// The workspace.
    pub workspace: &'a mut [u8],
    /// Parts of a split reduction.
    pub parts: usize,
    /// Source of chance for orders that are left to it.
    pub chance: u64,
}

/// Every output in logical order: alpha times the sum of products, plus beta times what was there.
pub fn operate(problem: &Problem, way: (Algorithm, Arithmetic), work: &mut Work<'_>) -> Vec<f64> {
    let (algorithm, arithmetic) = way;
    match arithmetic {
        Arithmetic::Single => compute::<f32>(problem, algorithm, work, |value| value),
        Arithmetic::Double => compute::<f64>(problem, algorithm, work, |value| value),
        Arithmetic::Chopped => compute::<Chopped>(problem, algorithm, work, |value| value),
        Arithmetic::Tf32 => compute::<f32>(problem, algorithm, work, to_tf32),
        Arithmetic::Transformed(tenths) => {
            let mut values = compute::<f32>(problem, algorithm, work, |value| value);
            for (index, value) in (0_u64..).zip(&mut values) {
                let noise = (kernel::mix(index) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
                *value = f64::from((*value * (1.0 + noise * f64::from(tenths) * 1e-7)) as f32);
            }
            values
        }
    }
}

fn compute<R: Real>(
    problem: &Problem,
    algorithm: Algorithm,
    work: &mut Work<'_>,
    narrow: impl Fn(R) -> R,
) -> Vec<f64> {
    let operation = problem.operation;
    let inputs: Vec<Vec<R>> = operation
        .inputs()
        .iter()
        .map(|role| {
            let values = decode::<R>(problem.tensor(*role), work.tensors[role.index()]);
            values.into_iter().map(&narrow).collect()
        })
        .collect();
    let inputs: Vec<&[R]> = inputs.iter().map(Vec::as_slice).collect();
    let values = match (PassKind::of(operation), inputs.as_slice()) {
        (Some(pass), [first, second]) => {
            let sums = convolve((pass, &problem.shape()), algorithm, work, [first, second]);
            return scale(problem, work.tensors[operation.output().index()], sums);
        }
        (None, [x]) => pool(problem, algorithm, x),
        (None, [x, w]) if operation == Operation::MatMul => multiply_matrices(problem, algorithm, [x, w]),
        (None, [x, w]) => normalize(algorithm, [x, w]),
        // Every operation reads one tensor or two.
        _ => Vec::new(),
    };
    values.into_iter().map(Real::value).collect()
}

/// The sums of a pass of a convolution.
fn convolve<R: Real>(
    (pass, shape): (PassKind, &Shape),
    algorithm: Algorithm,
    work: &mut Work<'_>,
    inputs: [&[R]; 2],
) -> Vec<R> {
    match algorithm {
        Algorithm::Gemm => multiply(pass, shape, inputs),
        Algorithm::Taps => by_rows(pass, shape, Order::Taps, inputs),
        Algorithm::Outputs => by_rows(pass, shape, Order::Outputs, inputs),
        Algorithm::Shuffled => by_rows(pass, shape, Order::Shuffled(work.chance), inputs),
        Algorithm::Split => split(pass, shape, work, inputs),
    }
}

fn by_rows<R: Real>(operation: PassKind, shape: &Shape, order: Order, inputs: [&[R]; 2]) -> Vec<R> {
    sum_part((operation, shape), order, Part::WHOLE, inputs)
}

/// Row lengths below this, on problems of more multiply-adds than that, go through matrices whatever the algorithm:
/// row by row they would take longer than a watchdog's patience.
const SHORT_ROW: usize = 4;
const SHORT_ROWS_WORK: usize = 1 << 17;

/// The sums of a part of the reduction.
fn sum_part<R: Real>(
    (operation, shape): (PassKind, &Shape),
    order: Order,
    part: Part,
    inputs: [&[R]; 2],
) -> Vec<R> {
    let work = shape.elements(Role::Y) * shape.c * shape.w.iter().product::<usize>();
    if shape.y[2] < SHORT_ROW && work > SHORT_ROWS_WORK {
        let masked = mask(operation, shape, part, inputs[0]);
        return multiply(operation, shape, [&masked, inputs[1]]);
    }
    let mut out = zeros(shape, operation.output());
    accumulate((operation, shape), order, part, inputs, &mut out);
    out
}

/// The first input with zeros where the reduction leaves the part: channels of x, filters of w, or images of x.
fn mask<R: Real>(operation: PassKind, shape: &Shape, part: Part, input: &[R]) -> Vec<R> {
    let filter = shape.c * shape.w.iter().product::<usize>();
    let channel: usize = shape.x.iter().product();
    let reduced = |index: usize| match operation {
        PassKind::Fprop => index / channel % shape.c,
        PassKind::Dgrad => index / filter,
        PassKind::Wgrad => index / (channel * shape.c * shape.groups),
    };
    let kept = |(index, value): (usize, &R)| if part.takes(reduced(index)) { *value } else { R::default() };
    input.iter().enumerate().map(kept).collect()
}

/// Bytes of one partial sum in the workspace.
pub(crate) const PARTIAL_BYTES: usize = 4;

/// Sums each part into the workspace, then the parts in order.
fn split<R: Real>(operation: PassKind, shape: &Shape, work: &mut Work<'_>, inputs: [&[R]; 2]) -> Vec<R> {
    let outputs = shape.elements(operation.output());
    for (index, slab) in work.workspace.chunks_exact_mut(outputs * PARTIAL_BYTES).take(work.parts).enumerate()
    {
        let part = Part { index, count: work.parts };
        let sums = sum_part((operation, shape), Order::Taps, part, inputs);
        for (slot, sum) in slab.chunks_exact_mut(PARTIAL_BYTES).zip(sums) {
            slot.copy_from_slice(&(sum.value() as f32).to_le_bytes());
        }
    }
    let mut total = zeros::<R>(shape, operation.output());
    for slab in work.workspace.chunks_exact(outputs * PARTIAL_BYTES).take(work.parts) {
        for (total, slot) in total.iter_mut().zip(slab.chunks_exact(PARTIAL_BYTES)) {
            let partial = f32::from_le_bytes([slot[0], slot[1], slot[2], slot[3]]);
            *total = total.add(R::of(f64::from(partial)));
        }
    }
    total
}

fn scale<R: Real>(problem: &Problem, output: &[u8], sums: Vec<R>) -> Vec<f64> {
    let (alpha, beta) = (R::of(problem.alpha), R::of(problem.beta));
    if problem.beta == 0.0 {
        let scaled = |sum: R| if problem.alpha == 1.0 { sum } else { R::default().plus(alpha, sum) };
        return sums.into_iter().map(|sum| scaled(sum).value()).collect();
    }
    let prior = decode::<R>(problem.tensor(problem.operation.output()), output);
    let scaled = |(sum, prior): (R, R)| R::default().plus(alpha, sum).plus(beta, prior).value();
    sums.into_iter().zip(prior).map(scaled).collect()
}

/// Bytes of workspace that so many parts of a split reduction take.
pub(crate) fn split_bytes(problem: &Problem, parts: usize) -> i64 {
    let output: Role = problem.operation.output();
    let outputs: i64 = problem.tensor(output).extents.iter().product();
    outputs * PARTIAL_BYTES as i64 * parts as i64
}
