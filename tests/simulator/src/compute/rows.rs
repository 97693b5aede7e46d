//! The convolution as rows: one filter tap against one run of outputs and the inputs it meets. Knows indices and
//! orders; each pass differs only in which of the three it adds to.

use case::Role;

use super::{PassKind, Real};
use crate::problem::Shape;

/// What runs outermost, and so the order in which one output's products are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Filter taps.
    Taps,
    /// Outputs: all products of a row of outputs are added before the next row.
    Outputs,
    /// Outputs, with images, filters and channels from places that the number gives: an order of chance.
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

    pub(crate) fn takes(self, index: usize) -> bool {
        self.count == 1 || index % self.count == self.index
    }
}

/// One tap against a run of outputs along the last axis, within one channel of x and one of y. Computed once for a
/// shape and used for every image, filter and channel.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) tap: usize,
    position: usize,
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) count: usize,
}

/// Every tap's spans, in order of taps.
pub(crate) fn spans(shape: &Shape) -> Vec<Span> {
    let [wd, wh, ww] = shape.w;
    let [yd, yh, yw] = shape.y;
    // Position along an outer axis of x that an output and a tap meet.
    let meet = |axis: usize, output: usize, tap: usize| {
        let at = output as i64 * shape.stride[axis] + tap as i64 * shape.dilation[axis] - shape.pad[axis];
        usize::try_from(at).ok().filter(|at| *at < shape.x[axis])
    };
    let mut spans = Vec::new();
    for tap in 0..wd * wh * ww {
        let (first, count, start) = run(shape, (tap % ww) as i64);
        if count == 0 {
            continue;
        }
        for position in 0..yd * yh {
            let depth = meet(0, position / yh, tap / (wh * ww));
            if let (Some(d), Some(h)) = (depth, meet(1, position % yh, tap / ww % wh)) {
                let x = (d * shape.x[1] + h) * shape.x[2] + start;
                spans.push(Span { tap, position, x, y: position * yw + first, count });
            }
        }
    }
    spans
}

/// The outputs along the last axis that meet the image through a tap: the first, how many, and where the first meets
/// it.
fn run(shape: &Shape, tap: i64) -> (usize, usize, usize) {
    let stride = shape.stride[2];
    let shift = tap * shape.dilation[2] - shape.pad[2];
    // Outputs o with 0 <= o * stride + shift < extent of x.
    let first = (-shift).max(0).div_euclid(stride) + i64::from((-shift).max(0) % stride != 0);
    let reach = shape.x[2] as i64 - 1 - shift;
    let end = if reach < 0 { 0 } else { (reach / stride + 1).min(shape.y[2] as i64) };
    (first as usize, (end - first).max(0) as usize, (first * stride + shift).max(0) as usize)
}

/// One image, filter and channel of the filter's group.
#[derive(Clone, Copy)]
struct Plane {
    n: usize,
    filter: usize,
    c: usize,
}

/// A pass over planes, each adding its products with some spans.
struct Pass<'a, R> {
    operation: PassKind,
    shape: &'a Shape,
    part: Part,
    inputs: [&'a [R]; 2],
    extents: [usize; 3],
}

/// Adds the products of a part of the reduction to `out`, in that order.
pub(crate) fn accumulate<R: Real>(
    (operation, shape): (PassKind, &Shape),
    order: Order,
    part: Part,
    inputs: [&[R]; 2],
    out: &mut [R],
) {
    let extents = [shape.x, shape.w, shape.y].map(|extents| extents.iter().product());
    let pass = Pass { operation, shape, part, inputs, extents };
    let mut spans = spans(shape);
    let filters = shape.groups * shape.k;
    let turn = |of: usize| match order {
        Order::Shuffled(seed) => kernel::mix(seed) as usize % of,
        Order::Taps | Order::Outputs => 0,
    };
    let turned = |of: usize| (0..of).map(move |index| (index + turn(of)) % of);
    if order == Order::Taps {
        for group in spans.chunk_by(|a, b| a.tap == b.tap) {
            for n in 0..shape.n {
                for filter in 0..filters {
                    (0..shape.c).for_each(|c| pass.add(Plane { n, filter, c }, group, out));
                }
            }
        }
        return;
    }
    spans.sort_by_key(|span| span.position);
    for n in turned(shape.n) {
        for filter in turned(filters) {
            for group in spans.chunk_by(|a, b| a.position == b.position) {
                turned(shape.c).for_each(|c| pass.add(Plane { n, filter, c }, group, out));
            }
        }
    }
}

impl<R: Real> Pass<'_, R> {
    fn add(&self, at: Plane, spans: &[Span], out: &mut [R]) {
        let (shape, Plane { n, filter, c }) = (self.shape, at);
        let reduced = match self.operation {
            PassKind::Fprop => c,
            PassKind::Dgrad => filter,
            PassKind::Wgrad => n,
        };
        if !self.part.takes(reduced) {
            return;
        }
        let channel = n * shape.groups * shape.c + filter / shape.k * shape.c + c;
        let response = n * shape.groups * shape.k + filter;
        let [x_extent, w_extent, y_extent] = self.extents;
        let x = channel * x_extent..(channel + 1) * x_extent;
        let w = (filter * shape.c + c) * w_extent..(filter * shape.c + c + 1) * w_extent;
        let y = response * y_extent..(response + 1) * y_extent;
        let (step, [a, b]) = (shape.stride[2] as usize, self.inputs);
        match self.operation {
            PassKind::Fprop => forward(step, spans, [&a[x], &b[w]], &mut out[y]),
            PassKind::Dgrad => backward_data(step, spans, [&a[w], &b[y]], &mut out[x]),
            PassKind::Wgrad => backward_filter(step, spans, [&a[x], &b[y]], &mut out[w]),
        }
    }
}

fn forward<R: Real>(step: usize, spans: &[Span], [x, w]: [&[R]; 2], y: &mut [R]) {
    for span in spans {
        let weight = w[span.tap];
        let outputs = &mut y[span.y..span.y + span.count];
        if step == 1 {
            outputs.iter_mut().zip(&x[span.x..]).for_each(|(y, x)| *y = y.plus(*x, weight));
        } else {
            outputs
                .iter_mut()
                .zip(x[span.x..].iter().step_by(step))
                .for_each(|(y, x)| *y = y.plus(*x, weight));
        }
    }
}

fn backward_data<R: Real>(step: usize, spans: &[Span], [w, y]: [&[R]; 2], x: &mut [R]) {
    for span in spans {
        let weight = w[span.tap];
        let responses = &y[span.y..span.y + span.count];
        if step == 1 {
            x[span.x..].iter_mut().zip(responses).for_each(|(x, y)| *x = x.plus(*y, weight));
        } else {
            x[span.x..].iter_mut().step_by(step).zip(responses).for_each(|(x, y)| *x = x.plus(*y, weight));
        }
    }
}

fn backward_filter<R: Real>(step: usize, spans: &[Span], [x, y]: [&[R]; 2], w: &mut [R]) {
    for span in spans {
        let responses = &y[span.y..span.y + span.count];
        let images = x[span.x..].iter().step_by(step).zip(responses);
        w[span.tap] = images.fold(w[span.tap], |sum, (x, y)| sum.plus(*x, *y));
    }
}

/// Zeros for every element that a pass writes.
pub(crate) fn zeros<R: Real>(shape: &Shape, role: Role) -> Vec<R> {
    vec![R::default(); shape.elements(role)]
}
