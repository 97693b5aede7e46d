//! The reference's twin on pooling, matrices and normalization against their definitions. Knows a fixed list of small
//! geometries.

use kernel::{
    AVGPOOL, BF16, F16, F32, F64, FillKind, FillParams, MATMUL, MAXPOOL, RMSNORM, ReferenceParams, TENSOR_W,
    TENSOR_X, TENSOR_Y, TensorView, twin, value,
};

use crate::naive::{Problem, each};
use crate::{gapped, packed};

/// Extents of x, w and y.
type Extents = [[i64; 5]; 3];

const MATRICES: Extents = [[2, 3, 1, 1, 5], [2, 5, 1, 1, 4], [2, 3, 1, 1, 4]];
const ROWS: Extents = [[3, 7, 1, 1, 1], [1, 7, 1, 1, 1], [3, 7, 1, 1, 1]];
const WINDOWS: Extents = [[2, 3, 1, 6, 5], [3, 1, 1, 3, 2], [2, 3, 1, 3, 4]];

/// Every operation in each type, in both memory orders, with one lane and with several.
pub(crate) fn others() -> Vec<Problem> {
    let mut problems = Vec::new();
    for (op, extents) in [(MAXPOOL, WINDOWS), (AVGPOOL, WINDOWS), (MATMUL, MATRICES), (RMSNORM, ROWS)] {
        for (index, dtype) in [F32, F64, F16, BF16].into_iter().enumerate() {
            for (make, lanes) in [(packed as fn(u32, [i64; 5]) -> TensorView, 1), (gapped, 4)] {
                let kind = [FillKind::Int2, FillKind::Real, FillKind::Nan, FillKind::Ramp][index];
                let fill = |role: usize, tensor| FillParams {
                    view: make(dtype, extents[role]),
                    seed: 5 + index as u64,
                    tensor,
                    kind: kind.into(),
                    argument: 4,
                    ..FillParams::default()
                };
                let [x, w, y] = [fill(0, TENSOR_X), fill(1, TENSOR_W), fill(2, TENSOR_Y)];
                let params = ReferenceParams {
                    op,
                    lanes,
                    x: x.view,
                    w: w.view,
                    y: y.view,
                    groups: if op == MATMUL { 2 } else { extents[0][1] },
                    pad_before: [0, 1, 0],
                    conv_stride: [1, 2, 1],
                    dilation: [1; 3],
                    alpha: if op == AVGPOOL { 1.0 / 6.0 } else { 1.0 },
                    epsilon: 0.25,
                    ..ReferenceParams::default()
                };
                problems.push(Problem { params, x, w, y });
            }
        }
    }
    problems
}

/// One output by definition.
fn define(problem: &Problem, at: [i64; 5]) -> f64 {
    let params = &problem.params;
    let (x, w) = (|at: [i64; 5]| value(&problem.x, at), |at: [i64; 5]| value(&problem.w, at));
    match params.op {
        MATMUL => {
            (0..params.w.extent[1]).map(|k| x([at[0], at[1], 0, 0, k]) * w([at[0], k, 0, 0, at[4]])).sum()
        }
        RMSNORM => {
            let row = params.x.extent[1];
            let squares: f64 = (0..row).map(|c| x([at[0], c, 0, 0, 0]).powi(2)).sum();
            x(at) * w([0, at[1], 0, 0, 0]) / (squares / row as f64 + params.epsilon).sqrt()
        }
        _ => {
            let mut seen = Vec::new();
            each([1, 1, 1, params.w.extent[3], params.w.extent[4]], |tap| {
                let place = [at[0], at[1], 0, at[3] * 2 - 1 + tap[3], at[4] + tap[4]];
                if place.iter().zip(&params.x.extent).all(|(at, extent)| (0..*extent).contains(at)) {
                    seen.push(x(place));
                }
            });
            let nan = seen.iter().any(|value| value.is_nan());
            match params.op {
                _ if nan => f64::NAN,
                MAXPOOL => seen.into_iter().fold(f64::NEG_INFINITY, f64::max),
                _ => seen.iter().sum::<f64>() / 6.0,
            }
        }
    }
}

#[test]
fn the_twin_pools_multiplies_and_normalizes_as_defined() {
    for problem in others() {
        let outcome = problem.outcome();
        let mut index = 0;
        each(problem.params.y.extent, |at| {
            let (wanted, got) = (define(&problem, at), outcome.result[index]);
            let close = (wanted - got).abs() <= 1e-12 * wanted.abs();
            assert!(close || (wanted.is_nan() && got.is_nan()), "{problem:?} at {at:?}: {got}, not {wanted}");
            index += 1;
        });
        assert_eq!(index, outcome.result.len());
        assert_eq!(outcome.totals.with_products, index as u64);
    }
}

#[test]
fn extents_that_contradict_each_other_are_refused() {
    for mut problem in others() {
        let operands = problem.operands();
        let [x, w, y] = operands.each_ref().map(Vec::as_slice);
        let of = &mut problem.params;
        if of.op == MATMUL {
            of.w.extent[1] -= 1
        } else {
            of.y.extent[1] -= 1
        }
        assert_eq!(twin::reference(of, x, w, y), Err(kernel::Refusal::Geometry));
    }
}
