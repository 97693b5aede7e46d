//! One output straight from the definition of its operation, on the CPU. Knows the fill formula and indices;
//! its walk is not the kernels' (each axis is solved first, then products are visited), so that the two can
//! check each other.

use case::{Case, Fill, Operation, Role};

use crate::data::fill_params;
use crate::position::coordinates;
use crate::view::scale;

/// What one output must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// alpha * sum of products + beta * prior, in f64; exact for integer fills. The largest element, the mean or the
    /// normalized element where that is the operation.
    pub result: f64,
    /// |alpha| * sum of absolute products + |beta * prior|. The largest magnitude in the window, or the magnitude of
    /// the normalized element.
    pub abs_sum: f64,
    /// Products summed: taps that fall on padding are none.
    pub products: u64,
}

/// The output at a row-major position over the output's logical extents. Costs as many steps as it has
/// products, and the extents of its axes.
#[must_use]
pub fn expected_at(case: &Case, fill: Fill, position: u64) -> Expected {
    let operation = case.problem.operation;
    let (mut sum, mut absolute, mut products) = (0.0, 0.0, 0);
    let mut most = (f64::NEG_INFINITY, 0.0);
    for_each_product(case, fill, position, |left, right| {
        let product = left * right;
        sum += product;
        absolute += product.abs();
        most = (larger(most.0, product), larger(most.1, product.abs()));
        products += 1;
    });
    match operation {
        Operation::MaxPool => return Expected { result: most.0, abs_sum: most.1, products },
        Operation::RmsNorm => {
            let result = normalized(case, fill, position, sum);
            return Expected { result, abs_sum: result.abs(), products };
        }
        Operation::Fprop | Operation::Dgrad | Operation::Wgrad | Operation::AvgPool | Operation::MatMul => {}
    }
    let (alpha, beta) = (scale(case), case.options.beta.value());
    let mut result = alpha * sum;
    let mut abs_sum = alpha.abs() * absolute;
    if beta != 0.0 {
        let scaled = beta * prior_at(case, fill, position);
        result += scaled;
        abs_sum += scaled.abs();
    }
    Expected { result, abs_sum, products }
}

/// The larger of two, or NaN where one is.
fn larger(one: f64, other: f64) -> f64 {
    if one.is_nan() || other.is_nan() { f64::NAN } else { one.max(other) }
}

/// An element over the root of its row's mean of squares, times its weight.
fn normalized(case: &Case, fill: Fill, position: u64, squares: f64) -> f64 {
    let at = coordinates(case, position);
    let [x, w] = [Role::X, Role::W].map(|role| fill_params(case, role, fill));
    let mean = squares / case.problem.c as f64;
    let weight = kernel::value(&w, [0, at[1], 0, 0, 0]);
    kernel::value(&x, five(&at)) * weight * (mean + Operation::EPSILON).sqrt().recip()
}

/// What the output held before, where beta scales it.
pub(crate) fn prior_at(case: &Case, fill: Fill, position: u64) -> f64 {
    let output = case.problem.operation.output();
    kernel::value(&fill_params(case, output, fill), five(&coordinates(case, position)))
}

/// A pair along one axis that the output's coordinate allows: where the first and the second operand are
/// read.
type Pair = (i64, i64);

/// Visits the two factors of every product of one output; operands in role order. Pooling multiplies by 1,
/// normalization by itself.
pub(crate) fn for_each_product(case: &Case, fill: Fill, position: u64, mut visit: impl FnMut(f64, f64)) {
    let problem = &case.problem;
    let at = coordinates(case, position);
    let inputs: Vec<_> =
        problem.operation.inputs().iter().map(|role| fill_params(case, *role, fill)).collect();
    let x = |at: [i64; 5]| kernel::value(&inputs[0], at);
    match problem.operation {
        Operation::Fprop | Operation::Dgrad | Operation::Wgrad => {
            convolve(case, &at, [&inputs[0], &inputs[1]], visit);
        }
        Operation::MaxPool | Operation::AvgPool => {
            let [depth, height, width] = along_axes(case, &at);
            for &(d, _) in &depth {
                for &(h, _) in &height {
                    for &(w, _) in &width {
                        visit(x([at[0], at[1], d, h, w]), 1.0);
                    }
                }
            }
        }
        Operation::MatMul => {
            for inner in 0..problem.geometry().extents(Role::W)[1] {
                let w = kernel::value(&inputs[1], five(&[at[0], inner, at[2]]));
                visit(x(five(&[at[0], at[1], inner])), w);
            }
        }
        Operation::RmsNorm => {
            for channel in 0..problem.c {
                let value = x([at[0], channel, 0, 0, 0]);
                visit(value, value);
            }
        }
    }
}

/// Along d, h and w, what the output's coordinate allows; axes that the case lacks are one position.
fn along_axes(case: &Case, at: &[i64]) -> [Vec<Pair>; 3] {
    let mut axes: [Vec<Pair>; 3] = std::array::from_fn(|_| vec![(0, 0)]);
    let missing = 3 - case.problem.axes.len().min(3);
    for (slot, (axis, coordinate)) in axes[missing..].iter_mut().zip((0..).zip(at.iter().skip(2))) {
        *slot = pairs(case, axis, *coordinate);
    }
    axes
}

/// The products of one output of a convolution.
fn convolve(
    case: &Case,
    at: &[i64],
    [first, second]: [&kernel::FillParams; 2],
    mut visit: impl FnMut(f64, f64),
) {
    let axes = along_axes(case, at);
    for (left, right) in outer_pairs(case, at[0], at[1]) {
        for &(left_d, right_d) in &axes[0] {
            for &(left_h, right_h) in &axes[1] {
                for &(left_w, right_w) in &axes[2] {
                    let one = kernel::value(first, [left[0], left[1], left_d, left_h, left_w]);
                    let other = kernel::value(second, [right[0], right[1], right_d, right_h, right_w]);
                    visit(one, other);
                }
            }
        }
    }
}

/// The first two coordinates of both operands, over what the pass sums beside the axes.
fn outer_pairs(case: &Case, first: i64, second: i64) -> Vec<([i64; 2], [i64; 2])> {
    let problem = &case.problem;
    let groups = problem.g.max(1);
    let (channels, filters) = ((problem.c / groups).max(1), (problem.k / groups).max(1));
    match problem.operation {
        // y[n, k] sums x[n, c] w[k, c'] over the channels of k's group.
        Operation::Fprop => (0..channels)
            .map(|inner| ([first, second / filters * channels + inner], [second, inner]))
            .collect(),
        // x[n, c] sums w[k, c'] y[n, k] over the filters of c's group.
        Operation::Dgrad => (0..filters)
            .map(|inner| {
                let filter = second / channels * filters + inner;
                ([filter, second % channels], [first, filter])
            })
            .collect(),
        // w[k, c'] sums x[n, c] y[n, k] over the batch.
        Operation::Wgrad => (0..problem.n)
            .map(|image| ([image, first / filters * channels + second], [image, first]))
            .collect(),
        Operation::MaxPool | Operation::AvgPool | Operation::MatMul | Operation::RmsNorm => Vec::new(),
    }
}

/// Every (first operand, second operand) position along one axis, from the one relation of cross-correlation:
/// input = output * stride - pad_before + tap * dilation, each within its extent.
fn pairs(case: &Case, axis: usize, coordinate: i64) -> Vec<Pair> {
    let geometry = &case.problem.axes[axis];
    let output = case.problem.geometry().extents(Role::Y)[axis + 2];
    let (stride, dilation, pad) = (geometry.stride.max(1), geometry.dilation.max(1), geometry.pad_before);
    let input_of = |response: i64, tap: i64| {
        let input = response * stride - pad + tap * dilation;
        (0..geometry.input).contains(&input).then_some(input)
    };
    match case.problem.operation {
        Operation::Fprop | Operation::MaxPool | Operation::AvgPool => (0..geometry.filter)
            .filter_map(|tap| input_of(coordinate, tap).map(|input| (input, tap)))
            .collect(),
        Operation::Wgrad => (0..output)
            .filter_map(|response| input_of(response, coordinate).map(|input| (input, response)))
            .collect(),
        Operation::Dgrad => (0..output)
            .filter_map(|response| {
                let reach = coordinate + pad - response * stride;
                let tap = reach.div_euclid(dilation);
                let meets = reach.rem_euclid(dilation) == 0 && (0..geometry.filter).contains(&tap);
                meets.then_some((tap, response))
            })
            .collect(),
        Operation::MatMul | Operation::RmsNorm => Vec::new(),
    }
}

/// Coordinates as the fill formula takes them, aligned on the right.
fn five(coordinates: &[i64]) -> [i64; 5] {
    let mut all = [0; 5];
    for (slot, value) in all.iter_mut().zip(coordinates.iter().take(2)) {
        *slot = *value;
    }
    for (slot, value) in all[2..].iter_mut().rev().zip(coordinates.iter().skip(2).rev()) {
        *slot = *value;
    }
    all
}
