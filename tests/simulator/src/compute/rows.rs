//! The convolution as rows: one filter tap against one run of outputs and the inputs it meets. Knows indices and
//! orders; each pass differs only in which of the three it adds to.

use case::{Operation, Role};

use super::Real;
use crate::problem::Shape;

/// What runs outermost, and so the order in which one output's products are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Filter taps.
    Taps,
    /// Outputs: all products of a row of outputs are added before the next row.
    Outputs,
    /// Outputs, with channels and taps from a position that the number gives: an order of chance.
    Shuffled(u64),
}

/// A part of the reduction: what is kept of one index modulo a count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Which part.
    pub(crate) index: usize,
    /// Of how many.
    pub(crate) count: usize,
}

impl Part {
    pub(crate) const WHOLE: Self = Self { index: 0, count: 1 };

    fn takes(self, index: usize) -> bool {
        self.count == 1 || index % self.count == self.index
    }
}

/// One tap against a run of outputs: positions in x (advancing by `step`), w and y.
struct Row {
    x: usize,
    w: usize,
    y: usize,
    count: usize,
    step: usize,
}

/// Image, filter, channel, tap and outer position of the output: what one row is for.
#[derive(Clone, Copy)]
struct At {
    n: usize,
    filter: usize,
    c: usize,
    tap: [usize; 3],
    position: usize,
}

/// Runs along the last axis for one tap: first output, and the number of outputs that meet the image.
#[derive(Clone, Copy)]
struct Run {
    first: usize,
    count: usize,
    x: usize,
}

struct Walk<'a> {
    shape: &'a Shape,
    runs: Vec<Run>,
}

impl<'a> Walk<'a> {
    fn new(shape: &'a Shape) -> Self {
        let (stride, pad) = (shape.stride[2], shape.pad[2]);
        let runs = (0..shape.w[2] as i64)
            .map(|tap| {
                let shift = tap * shape.dilation[2] - pad;
                // Outputs o with 0 <= o * stride + shift < extent of x.
                let first = (-shift).max(0).div_euclid(stride) + i64::from((-shift).max(0) % stride != 0);
                let reach = shape.x[2] as i64 - 1 - shift;
                let end = if reach < 0 { 0 } else { (reach / stride + 1).min(shape.y[2] as i64) };
                let count = (end - first).max(0) as usize;
                Run { first: first as usize, count, x: (first * stride + shift).max(0) as usize }
            })
            .collect();
        Self { shape, runs }
    }

    /// Position along an outer axis of x that an output and a tap meet.
    fn meet(&self, axis: usize, output: usize, tap: usize) -> Option<usize> {
        let shape = self.shape;
        let at = output as i64 * shape.stride[axis] + tap as i64 * shape.dilation[axis] - shape.pad[axis];
        usize::try_from(at).ok().filter(|at| *at < shape.x[axis])
    }

    fn row(&self, at: At) -> Option<Row> {
        let (shape, At { n, filter, c, tap, position }) = (self.shape, at);
        let out = [position / shape.y[1], position % shape.y[1]];
        let run = self.runs[tap[2]];
        if run.count == 0 {
            return None;
        }
        let d = self.meet(0, out[0], tap[0])?;
        let h = self.meet(1, out[1], tap[1])?;
        let channel = filter / shape.k * shape.c + c;
        let image = n * shape.groups * shape.c + channel;
        let response = n * shape.groups * shape.k + filter;
        let [_, xh, xw] = shape.x;
        let [wd, wh, ww] = shape.w;
        let [yd, yh, yw] = shape.y;
        Some(Row {
            x: ((image * shape.x[0] + d) * xh + h) * xw + run.x,
            w: (((filter * shape.c + c) * wd + tap[0]) * wh + tap[1]) * ww + tap[2],
            y: ((response * yd + out[0]) * yh + out[1]) * yw + run.first,
            count: run.count,
            step: shape.stride[2] as usize,
        })
    }
}

fn taps(shape: &Shape) -> Vec<[usize; 3]> {
    let [d, h, w] = shape.w;
    (0..d * h * w).map(|tap| [tap / (h * w), tap / w % h, tap % w]).collect()
}

/// Adds the products of a part of the reduction to `out`, in that order.
pub(crate) fn accumulate<R: Real>(
    (operation, shape): (Operation, &Shape),
    order: Order,
    part: Part,
    [a, b]: [&[R]; 2],
    out: &mut [R],
) {
    let walk = Walk::new(shape);
    let taps = taps(shape);
    let filters = shape.groups * shape.k;
    let outer = shape.y[0] * shape.y[1];
    let mut add = |at: At| {
        let reduced = match operation {
            Operation::Fprop => at.c,
            Operation::Dgrad => at.filter,
            Operation::Wgrad => at.n,
        };
        if part.takes(reduced)
            && let Some(row) = walk.row(at)
        {
            add_row(operation, &row, [a, b], out);
        }
    };
    if order == Order::Taps {
        for tap in &taps {
            for n in 0..shape.n {
                for filter in 0..filters {
                    for c in 0..shape.c {
                        (0..outer).for_each(|position| add(At { n, filter, c, tap: *tap, position }));
                    }
                }
            }
        }
        return;
    }
    let inner = shape.c * taps.len();
    for image in 0..shape.n {
        for filter in 0..filters {
            for position in 0..outer {
                let (first, n) = match order {
                    Order::Shuffled(seed) => {
                        let turn = kernel::mix(seed ^ (image * filters + filter) as u64) as usize;
                        (turn % inner, (image + seed as usize % shape.n) % shape.n)
                    }
                    Order::Taps | Order::Outputs => (0, image),
                };
                for step in 0..inner {
                    let index = (first + step) % inner;
                    let (c, tap) = (index / taps.len(), taps[index % taps.len()]);
                    add(At { n, filter, c, tap, position });
                }
            }
        }
    }
}

fn add_row<R: Real>(operation: Operation, row: &Row, [a, b]: [&[R]; 2], out: &mut [R]) {
    let reach = (row.count - 1) * row.step + 1;
    match operation {
        Operation::Fprop => {
            let (x, w) = (&a[row.x..row.x + reach], b[row.w]);
            let y = &mut out[row.y..row.y + row.count];
            if row.step == 1 {
                y.iter_mut().zip(x).for_each(|(y, x)| *y = y.plus(*x, w));
            } else {
                y.iter_mut().zip(x.iter().step_by(row.step)).for_each(|(y, x)| *y = y.plus(*x, w));
            }
        }
        Operation::Dgrad => {
            let (w, y) = (a[row.w], &b[row.y..row.y + row.count]);
            let x = out[row.x..row.x + reach].iter_mut().step_by(row.step);
            x.zip(y).for_each(|(x, y)| *x = x.plus(*y, w));
        }
        Operation::Wgrad => {
            let (x, y) = (&a[row.x..row.x + reach], &b[row.y..row.y + row.count]);
            let sum = out[row.w];
            out[row.w] = x.iter().step_by(row.step).zip(y).fold(sum, |sum, (x, y)| sum.plus(*x, *y));
        }
    }
}

/// Zeros for every element that a pass writes.
pub(crate) fn zeros<R: Real>(shape: &Shape, role: Role) -> Vec<R> {
    vec![R::default(); shape.elements(role)]
}
