//! Convolutions in f64 row by row, for the many that the exact course of a training takes: the definition visits memory
//! in an order that is ten times as slow. Knows packed tensors along two axes and one group; knows no bound.

use case::{Case, Operation, Role};

/// A convolution along two axes: extents of batch, channels, filters, image, window and response, padding, stride and
/// dilation.
#[derive(Clone, Copy, Debug)]
struct Shape {
    n: usize,
    c: usize,
    k: usize,
    image: [usize; 2],
    window: [usize; 2],
    response: [usize; 2],
    pad: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
}

impl Shape {
    /// `None` for what is not computed here.
    fn of(case: &Case) -> Option<Self> {
        let problem = &case.problem;
        let ([height, width], 1) = (&problem.axes[..], problem.g) else { return None };
        let geometry = problem.geometry();
        let size = |value: i64| usize::try_from(value).ok();
        let both = |one: i64, two: i64| Some([size(one)?, size(two)?]);
        let [_, _, response @ ..] = &geometry.extents(Role::Y)[..] else { return None };
        let [rows, columns] = response else { return None };
        Some(Self {
            n: size(problem.n)?,
            c: size(problem.c)?,
            k: size(problem.k)?,
            image: both(height.input, width.input)?,
            window: both(height.filter, width.filter)?,
            response: both(*rows, *columns)?,
            pad: both(height.pad_before, width.pad_before)?,
            stride: both(height.stride, width.stride)?,
            dilation: both(height.dilation, width.dilation)?,
        })
    }

    /// Where along an axis a tap reads of the image for a response; `None` in the padding.
    fn reads(&self, axis: usize, tap: usize, response: usize) -> Option<usize> {
        let at = (response * self.stride[axis] + tap * self.dilation[axis]).checked_sub(self.pad[axis])?;
        (at < self.image[axis]).then_some(at)
    }

    /// The responses along the width that a tap has something to read for.
    fn columns(&self, tap: usize) -> std::ops::Range<usize> {
        let all = 0..self.response[1];
        let reads = |response: &usize| self.reads(1, tap, *response).is_some();
        let start = all.clone().find(reads).unwrap_or(all.end);
        let end = all.rev().find(reads).map_or(start, |last| last + 1);
        start..end
    }

    /// Calls with the offsets of each row of a response and of what a tap makes of it: `(x, w, y, count)`.
    fn each_row(&self, mut row: impl FnMut([usize; 3], usize)) {
        let [height, width] = self.image;
        let [rows, columns] = self.response;
        let ranges: Vec<_> = (0..self.window[1]).map(|tap| self.columns(tap)).collect();
        for (n, k) in (0..self.n).flat_map(|n| (0..self.k).map(move |k| (n, k))) {
            for (c, r) in (0..self.c).flat_map(|c| (0..self.window[0]).map(move |r| (c, r))) {
                for at_row in 0..rows {
                    let Some(h) = self.reads(0, r, at_row) else { continue };
                    for (s, range) in ranges.iter().enumerate().filter(|(_, range)| !range.is_empty()) {
                        let Some(v) = self.reads(1, s, range.start) else { continue };
                        let x = ((n * self.c + c) * height + h) * width + v;
                        let w = ((k * self.c + c) * self.window[0] + r) * self.window[1] + s;
                        let y = ((n * self.k + k) * rows + at_row) * columns + range.start;
                        row([x, w, y], range.len());
                    }
                }
            }
        }
    }

    /// Most products of one result, were there no padding.
    fn products_max(&self, operation: Operation) -> usize {
        let taps = self.window[0] * self.window[1];
        match operation {
            Operation::Fprop => self.c * taps,
            Operation::Dgrad => self.k * taps,
            Operation::Wgrad => self.n * self.response[0] * self.response[1],
            Operation::MaxPool | Operation::AvgPool | Operation::MatMul | Operation::RmsNorm => 0,
        }
    }
}

/// A pass on packed tensors in logical order, its own output's entry not looked at, and the most products that one of
/// its results can have. `None` where the case is none of those, or a tensor is too short.
pub(crate) fn convolve(case: &Case, [x, w, y]: [&[f64]; 3]) -> Option<(Vec<f64>, u64)> {
    let shape = Shape::of(case)?;
    let operation = case.problem.operation;
    let lengths = [
        shape.n * shape.c * shape.image[0] * shape.image[1],
        shape.k * shape.c * shape.window[0] * shape.window[1],
        shape.n * shape.k * shape.response[0] * shape.response[1],
    ];
    let long_enough = |role: Role| [x, w, y][role.index()].len() >= lengths[role.index()];
    if !operation.inputs().iter().all(|role| long_enough(*role)) {
        return None;
    }
    let mut out = vec![0.0; lengths[operation.output().index()]];
    let step = shape.stride[1];
    match operation {
        Operation::Fprop => shape.each_row(|[from, weight, to], count| {
            let weight = w[weight];
            let read = x[from..].iter().step_by(step);
            out[to..to + count].iter_mut().zip(read).for_each(|(sum, value)| *sum += weight * value);
        }),
        Operation::Dgrad => shape.each_row(|[to, weight, from], count| {
            let weight = w[weight];
            let written = out[to..].iter_mut().step_by(step);
            written.zip(&y[from..from + count]).for_each(|(sum, value)| *sum += weight * value);
        }),
        Operation::Wgrad => shape.each_row(|[image, weight, response], count| {
            let read = x[image..].iter().step_by(step);
            let products = read.zip(&y[response..response + count]).map(|(one, other)| one * other);
            out[weight] += products.sum::<f64>();
        }),
        Operation::MaxPool | Operation::AvgPool | Operation::MatMul | Operation::RmsNorm => return None,
    }
    Some((out, shape.products_max(operation) as u64))
}

#[cfg(test)]
mod tests {
    use kernel::twin;
    use oracle::training::TRAINING_FILL;

    use super::*;

    #[test]
    fn rows_give_what_the_definition_gives() {
        for line in [
            "fprop f64 nchw n2 c3 k4 i5x7 f3x3 p1x1",
            "dgrad f64 nchw n2 c3 k4 i6x5 f3x2 p2:0x1:0 s2x2",
            "wgrad f64 nchw n3 c2 k3 i9x8 f3x3 p1x2 s2x3 d2x1",
            "dgrad f64 nchw n1 c2 k2 i9x11 f2x3 p0x4 s1x2 d3x2",
            "fprop f64 nchw n2 c3 k2 i4x4 f1x1 p1x1 s3x3",
        ] {
            let case: Case = line.parse().expect("a case");
            let geometry = case.problem.geometry();
            let tensors = Role::ALL.map(|role| {
                let count = geometry.elements(role) as u64;
                (0..count)
                    .map(|at| (kernel::mix(at ^ role.index() as u64) % 17) as f64 - 8.0)
                    .collect::<Vec<f64>>()
            });
            let mut params = oracle::reference_params(&case, TRAINING_FILL);
            params.lanes = 1;
            let [x, w, y] = [0, 1, 2].map(|at| bytemuck::cast_slice::<f64, u8>(&tensors[at]).to_vec());
            let right = twin::reference(&params, &x, &w, &y).expect("a reference");
            let (got, products) = convolve(&case, [0, 1, 2].map(|at| &tensors[at][..])).expect("two axes");
            // Small integers: every order of summation gives the same bits.
            assert_eq!(got, right.result, "{line}");
            assert!(products >= right.totals.products, "{line}");
        }
        let grouped: Case = "fprop f64 nchw n1 c2 k2 g2 i3x3 f1x1".parse().expect("a case");
        assert!(convolve(&grouped, [&[0.0; 18], &[0.0; 2], &[]]).is_none());
        let case: Case = "fprop f64 nchw n1 c1 k1 i3x3 f1x1".parse().expect("a case");
        assert!(convolve(&case, [&[0.0; 8], &[0.0; 1], &[]]).is_none());
    }
}
