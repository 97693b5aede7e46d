//! The reference's twin against a convolution straight from the definition. Knows small geometries only.

use kernel::{
    BF16, DGRAD, F16, F32, F64, FPROP, FillKind, FillParams, ReferenceParams, TENSOR_W, TENSOR_X, TENSOR_Y,
    TensorView, WGRAD, twin, value,
};
use proptest::prelude::*;

use crate::{gapped, memory, packed};

/// A whole problem: parameters without addresses, and what fills the operands.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) params: ReferenceParams,
    pub(crate) x: FillParams,
    pub(crate) w: FillParams,
    pub(crate) y: FillParams,
}

impl Problem {
    pub(crate) fn output(&self) -> &FillParams {
        match self.params.op {
            FPROP => &self.y,
            DGRAD => &self.x,
            _ => &self.w,
        }
    }

    pub(crate) fn operands(&self) -> [Vec<u8>; 3] {
        [&self.x, &self.w, &self.y].map(|fill| {
            let mut bytes = memory(&fill.view);
            twin::fill(fill, &mut bytes).expect("memory fits the view");
            bytes
        })
    }

    pub(crate) fn outcome(&self) -> twin::ReferenceOutcome {
        let [x, w, y] = self.operands();
        twin::reference(&self.params, &x, &w, &y).expect("problem is legal")
    }
}

prop_compose! {
    /// Groups, channels and filters of a group, batch, and per axis: x, filter, pad, stride, dilation, pad after.
    fn geometry()(
        counts in [1i64..4, 1..4, 1..4, 1..3],
        axes in prop::array::uniform3([1i64..6, 1..4, 0..4, 1..4, 1..4, 0..4]),
    ) -> ([i64; 4], [[i64; 6]; 3]) {
        (counts, axes)
    }
}

prop_compose! {
    pub(crate) fn problem()(
        ([groups, channels, filters, batch], axes) in geometry(),
        op in FPROP..=WGRAD,
        lanes in prop::sample::select(vec![1u32, 2, 8, 64, 256]),
        dtypes in prop::array::uniform3(prop::sample::select(vec![F32, F64, F16, BF16])),
        layout in prop::array::uniform3(any::<bool>()),
        kind in prop::sample::select(vec![FillKind::Int2, FillKind::Real, FillKind::Index, FillKind::Nan]),
        seed in any::<u64>(),
        scale in prop::sample::select(vec![(1.0, 0.0), (2.0, -0.5), (-0.25, 1.0), (0.3, 0.7)]),
    ) -> Problem {
        let y_extent = axes.map(|[x, w, pad, stride, dilation, after]| {
            ((x + pad + after - (w - 1) * dilation - 1) / stride + 1).max(1)
        });
        let view = |i: usize, n, c, [d, h, w]: [i64; 3]| {
            let make: fn(u32, [i64; 5]) -> TensorView = if layout[i] { packed } else { gapped };
            make(dtypes[i], [n, c, d, h, w])
        };
        let plain = FillParams { seed, kind: kind.into(), argument: seed, ..FillParams::default() };
        let fill = |view, tensor| FillParams { view, tensor, ..plain };
        let x = fill(view(0, batch, channels * groups, axes.map(|axis| axis[0])), TENSOR_X);
        let w = fill(view(1, filters * groups, channels, axes.map(|axis| axis[1])), TENSOR_W);
        let y = fill(view(2, batch, filters * groups, y_extent), TENSOR_Y);
        let prior = if op == FPROP { y } else if op == DGRAD { x } else { w };
        let params = ReferenceParams {
            op, lanes, x: x.view, w: w.view, y: y.view, groups, prior,
            pad_before: axes.map(|axis| axis[2]),
            conv_stride: axes.map(|axis| axis[3]),
            dilation: axes.map(|axis| axis[4]),
            alpha: scale.0, beta: scale.1,
            ..ReferenceParams::default()
        };
        Problem { params, x, w, y }
    }
}

/// Every (response, image, filter) triple of coordinates that the definition multiplies.
fn triples(params: &ReferenceParams) -> Vec<[[i64; 5]; 3]> {
    let filters = params.w.extent[0] / params.groups;
    let channels = params.w.extent[1];
    let mut found = Vec::new();
    each(params.y.extent, |y| {
        each([1, channels, params.w.extent[2], params.w.extent[3], params.w.extent[4]], |tap| {
            let at = |i: usize| {
                y[i + 2] * params.conv_stride[i] + tap[i + 2] * params.dilation[i] - params.pad_before[i]
            };
            let x = [y[0], y[1] / filters * channels + tap[1], at(0), at(1), at(2)];
            if x.iter().zip(&params.x.extent).all(|(at, extent)| (0..*extent).contains(at)) {
                found.push([y, x, [y[1], tap[1], tap[2], tap[3], tap[4]]]);
            }
        });
    });
    found
}

pub(crate) fn each(extent: [i64; 5], mut visit: impl FnMut([i64; 5])) {
    for linear in 0..extent.iter().product::<i64>() {
        let mut rest = linear;
        let mut at = [0; 5];
        for i in (0..5).rev() {
            at[i] = rest % extent[i];
            rest /= extent[i];
        }
        visit(at);
    }
}

fn linear(view: &TensorView, at: [i64; 5]) -> usize {
    at.iter().zip(&view.extent).fold(0, |linear, (at, extent)| linear * extent + at) as usize
}

/// Results, sums of absolute products, and counts of products, scattered from the triples.
fn naive(problem: &Problem) -> (Vec<f64>, Vec<f64>, Vec<u64>) {
    let (params, output) = (&problem.params, problem.output());
    let count = output.view.extent.iter().product::<i64>() as usize;
    let (mut sums, mut absolutes, mut products) = (vec![0.0; count], vec![0.0; count], vec![0; count]);
    for [y, x, w] in triples(params) {
        let (left, right, at) = match params.op {
            FPROP => (value(&problem.x, x), value(&problem.w, w), y),
            DGRAD => (value(&problem.y, y), value(&problem.w, w), x),
            _ => (value(&problem.x, x), value(&problem.y, y), w),
        };
        let index = linear(&output.view, at);
        sums[index] += left * right;
        absolutes[index] += (left * right).abs();
        products[index] += 1;
    }
    each(output.view.extent, |at| {
        let index = linear(&output.view, at);
        let prior = if params.beta == 0.0 { 0.0 } else { params.beta * value(output, at) };
        sums[index] = params.alpha * sums[index] + prior;
        absolutes[index] = params.alpha.abs() * absolutes[index] + prior.abs();
    });
    (sums, absolutes, products)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_twin_computes_what_the_definition_says(problem in problem()) {
        let outcome = problem.outcome();
        let (sums, absolutes, products) = naive(&problem);
        prop_assert_eq!(outcome.result.len(), sums.len());
        for i in 0..sums.len() {
            let close = |a: f64, b: f64| (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-13 * absolutes[i];
            let exact = u32::from(FillKind::Int2) == problem.x.kind && problem.params.alpha != 0.3;
            prop_assert!(close(outcome.result[i], sums[i]) || absolutes[i].is_nan());
            prop_assert!(close(outcome.abs_sum[i], absolutes[i]));
            prop_assert!(!exact || outcome.result[i] == sums[i]);
        }
        let totals = outcome.totals;
        let with_products = products.iter().filter(|&&count| count > 0).count() as u64;
        prop_assert_eq!(totals.products, products.iter().copied().max().unwrap());
        prop_assert_eq!(totals.with_products, with_products);
        let non_zero = products.iter().zip(&outcome.result).filter(|(n, result)| **n > 0 && **result != 0.0);
        prop_assert_eq!(totals.non_zero, non_zero.count() as u64);
        let largest = |values: &[f64]| values.iter().map(|value| value.abs().to_bits()).max().unwrap();
        prop_assert_eq!(totals.max_abs_result_bits, largest(&outcome.result));
        prop_assert_eq!(totals.max_abs_sum_bits, largest(&outcome.abs_sum));
    }

    #[test]
    fn lanes_do_not_show_where_every_sum_is_exact(mut problem in problem()) {
        for fill in [&mut problem.x, &mut problem.w, &mut problem.y, &mut problem.params.prior] {
            fill.kind = FillKind::Int2.into();
        }
        let first = problem.outcome();
        for lanes in [1, 4, 32, 256] {
            problem.params.lanes = lanes;
            prop_assert_eq!(&problem.outcome(), &first);
        }
    }
}
