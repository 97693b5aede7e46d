//! Pooling, products of matrices and normalization on dense arrays, each in two orders, neither of which is that of
//! convict's reference. Knows shapes; knows no bytes.

use case::Operation;

use super::{Algorithm, Real};
use crate::problem::{Problem, Shape};

/// One axis of a pooling: extents before and after, window, padding before, step.
#[derive(Clone, Copy)]
struct Line {
    input: usize,
    output: usize,
    window: i64,
    pad: i64,
    step: i64,
}

impl Line {
    fn of(shape: &Shape, axis: usize) -> Self {
        Self {
            input: shape.x[axis],
            output: shape.y[axis],
            window: shape.w[axis] as i64,
            pad: shape.pad[axis],
            step: shape.stride[axis],
        }
    }

    /// The elements that an output meets.
    fn reach(self, output: usize) -> std::ops::Range<usize> {
        let first = output as i64 * self.step - self.pad;
        let end = (first + self.window).clamp(0, self.input as i64);
        first.max(0) as usize..end as usize
    }
}

/// Largest element or sum of what was met so far and one more; nothing was met at first.
fn join<R: Real>(largest: bool, so_far: Option<R>, more: R) -> R {
    match so_far {
        None => more,
        Some(so_far) if !largest => so_far.add(more),
        Some(so_far) if so_far.value().is_nan() || so_far.value() > more.value() => so_far,
        Some(_) => more,
    }
}

/// The largest element or the mean of every window.
pub(super) fn pool<R: Real>(problem: &Problem, algorithm: Algorithm, x: &[R]) -> Vec<R> {
    let (shape, largest) = (problem.shape(), problem.operation == Operation::MaxPool);
    let values = match algorithm {
        Algorithm::Outputs => by_windows(&shape, largest, x),
        Algorithm::Gemm | Algorithm::Taps | Algorithm::Split | Algorithm::Shuffled => {
            by_axes(&shape, largest, x)
        }
    };
    if largest {
        return values;
    }
    let elements = shape.w.iter().product::<usize>() as f64;
    values.into_iter().map(|sum| R::of(sum.value() / elements)).collect()
}

/// Window by window, from its last element to its first.
fn by_windows<R: Real>(shape: &Shape, largest: bool, x: &[R]) -> Vec<R> {
    let [depth, height, width] = [0, 1, 2].map(|axis| Line::of(shape, axis));
    let mut values = Vec::new();
    for plane in x.chunks_exact(shape.x.iter().product()) {
        for d in 0..depth.output {
            for h in 0..height.output {
                for w in 0..width.output {
                    let mut met = None;
                    for at_d in depth.reach(d).rev() {
                        for at_h in height.reach(h).rev() {
                            for at_w in width.reach(w).rev() {
                                let place = (at_d * height.input + at_h) * width.input + at_w;
                                met = Some(join(largest, met, plane[place]));
                            }
                        }
                    }
                    values.push(met.unwrap_or_default());
                }
            }
        }
    }
    values
}

/// One axis after the other, the innermost first: each pass leaves what its windows made.
fn by_axes<R: Real>(shape: &Shape, largest: bool, x: &[R]) -> Vec<R> {
    let mut values = x.to_vec();
    let mut inner = 1;
    for axis in (0..3).rev() {
        let line = Line::of(shape, axis);
        let mut after = Vec::with_capacity(values.len() / line.input * line.output);
        for block in values.chunks_exact(line.input * inner) {
            for output in 0..line.output {
                for offset in 0..inner {
                    let met = line
                        .reach(output)
                        .fold(None, |met, at| Some(join(largest, met, block[at * inner + offset])));
                    after.push(met.unwrap_or_default());
                }
            }
        }
        values = after;
        inner *= line.output;
    }
    values
}

/// Every matrix of a batch times its other.
pub(super) fn multiply_matrices<R: Real>(
    problem: &Problem,
    algorithm: Algorithm,
    [x, w]: [&[R]; 2],
) -> Vec<R> {
    let extents = problem.tensors.each_ref().map(|tensor| tensor.extents.iter().map(|e| *e as usize));
    let [[_, rows, inner], [_, _, columns], _] =
        extents.map(|mut extents| std::array::from_fn(|_| extents.next().unwrap_or(1)));
    let pairs = x.chunks_exact(rows * inner).zip(w.chunks_exact(inner * columns));
    pairs
        .flat_map(|(x, w)| match algorithm {
            Algorithm::Outputs => by_dots((rows, inner, columns), x, w),
            Algorithm::Gemm | Algorithm::Taps | Algorithm::Split | Algorithm::Shuffled => {
                by_steps((rows, inner, columns), x, w)
            }
        })
        .collect()
}

/// Each output from its last product to its first.
fn by_dots<R: Real>((rows, inner, columns): (usize, usize, usize), x: &[R], w: &[R]) -> Vec<R> {
    let dot = |row: usize, column: usize| {
        (0..inner).rev().fold(R::default(), |sum, k| sum.plus(x[row * inner + k], w[k * columns + column]))
    };
    (0..rows * columns).map(|output| dot(output / columns, output % columns)).collect()
}

/// All outputs at once, one column of x and one row of w a step.
fn by_steps<R: Real>((rows, inner, columns): (usize, usize, usize), x: &[R], w: &[R]) -> Vec<R> {
    let mut y = vec![R::default(); rows * columns];
    for k in 0..inner {
        for (row, outputs) in y.chunks_exact_mut(columns).enumerate() {
            let left = x[row * inner + k];
            for (sum, right) in outputs.iter_mut().zip(&w[k * columns..]) {
                *sum = sum.plus(left, *right);
            }
        }
    }
    y
}

/// Every row over the root of its mean of squares, times the weights.
pub(super) fn normalize<R: Real>(algorithm: Algorithm, [x, w]: [&[R]; 2]) -> Vec<R> {
    x.chunks_exact(w.len())
        .flat_map(|row| {
            let squares = match algorithm {
                Algorithm::Outputs => {
                    row.iter().rev().fold(R::default(), |sum, value| sum.plus(*value, *value))
                }
                Algorithm::Gemm | Algorithm::Taps | Algorithm::Split | Algorithm::Shuffled => in_pairs(row),
            };
            let mean = R::of(squares.value() / row.len() as f64);
            let root = R::of(mean.add(R::of(Operation::EPSILON)).value().sqrt().recip());
            let scaled =
                |(value, weight): (&R, &R)| R::default().plus(R::default().plus(*value, root), *weight);
            row.iter().zip(w).map(scaled).collect::<Vec<R>>()
        })
        .collect()
}

/// A sum of squares, halves first.
fn in_pairs<R: Real>(row: &[R]) -> R {
    match row {
        [] => R::default(),
        [value] => R::default().plus(*value, *value),
        _ => {
            let (left, right) = row.split_at(row.len() / 2);
            in_pairs(left).add(in_pairs(right))
        }
    }
}
