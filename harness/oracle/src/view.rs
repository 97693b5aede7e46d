//! A case's tensors and geometry as the kernels take them: five dimensions, three axes, aligned on the right.
//! Knows shapes; knows no addresses.

use case::{Axis, Case, DType, Fill, Operation, Role};
use kernel::{ReferenceParams, TensorView};

use crate::data::fill_params;

/// The kernels' number of an element type.
#[must_use]
pub fn dtype_code(dtype: DType) -> u32 {
    match dtype {
        DType::F32 => kernel::F32,
        DType::F64 => kernel::F64,
        DType::F16 => kernel::F16,
        DType::Bf16 => kernel::BF16,
        // No kernel takes them: `beyond_reference` keeps such a case away.
        DType::I8 => 3,
        DType::I32 => 4,
    }
}

/// A tensor in logical order n, c, d, h, w (a filter: k, c / g, d, h, w), strides in elements. Axes that the
/// case lacks are extents of 1 before the ones it has. The pointer is 0: the caller knows it.
#[must_use]
pub fn tensor_view(case: &Case, role: Role) -> TensorView {
    let geometry = case.problem.geometry();
    let dtype = dtype_code(case.problem.dtypes.tensors()[role.index()]);
    TensorView {
        pointer: 0,
        dtype,
        reserved: 0,
        extent: five(&geometry.extents(role), 1),
        stride: five(&geometry.strides(role), 0),
    }
}

/// Extents, pads, strides and dilations have to be smaller for the reference kernel: it keeps coordinates in 31 bits.
const REFERENCE_MAX: i64 = 1 << 31;

/// Why the reference kernel cannot tell what is right, where it cannot.
#[must_use]
pub fn beyond_reference(case: &Case) -> Option<String> {
    if case.problem.dtypes.has_integers() {
        let reason = "convict has no kernels for i8 and i32 yet; their plans are judged by hunt --plan-only";
        return Some(reason.to_owned());
    }
    let axes = case.problem.axes.iter();
    let large = axes
        .flat_map(|axis| [axis.pad_before, axis.pad_after, axis.stride, axis.dilation])
        .chain([Role::X, Role::W, Role::Y].into_iter().flat_map(|role| case.problem.geometry().extents(role)))
        .find(|number| *number >= REFERENCE_MAX)?;
    Some(format!("{large} is beyond what convict's reference takes: numbers below 2^31"))
}

/// The operation with every address 0, and as many lanes as its size deserves.
#[must_use]
pub fn reference_params(case: &Case, fill: Fill) -> ReferenceParams {
    let problem = &case.problem;
    let output = problem.operation.output();
    let geometry = problem.geometry();
    let count = |number: i64| u64::try_from(number).unwrap_or(0);
    ReferenceParams {
        op: match problem.operation {
            Operation::Fprop => kernel::FPROP,
            Operation::Dgrad => kernel::DGRAD,
            Operation::Wgrad => kernel::WGRAD,
            Operation::MaxPool => kernel::MAXPOOL,
            Operation::AvgPool => kernel::AVGPOOL,
            Operation::MatMul => kernel::MATMUL,
            Operation::RmsNorm => kernel::RMSNORM,
        },
        lanes: kernel::lanes_for(count(geometry.elements(output)), count(geometry.reduction())),
        x: tensor_view(case, Role::X),
        w: tensor_view(case, Role::W),
        y: tensor_view(case, Role::Y),
        groups: problem.g,
        pad_before: three(&problem.axes, 0, |axis| axis.pad_before),
        conv_stride: three(&problem.axes, 1, |axis| axis.stride),
        dilation: three(&problem.axes, 1, |axis| axis.dilation),
        alpha: scale(case),
        beta: case.options.beta.value(),
        epsilon: Operation::EPSILON,
        prior: fill_params(case, output, fill),
        ..ReferenceParams::default()
    }
}

/// What the sum of products is multiplied by: alpha, or one over the elements of a window that is averaged.
pub(crate) fn scale(case: &Case) -> f64 {
    match case.problem.operation {
        // A window has fewer elements than 2^53.
        Operation::AvgPool => 1.0 / case.problem.geometry().reduction() as f64,
        Operation::Fprop
        | Operation::Dgrad
        | Operation::Wgrad
        | Operation::MaxPool
        | Operation::MatMul
        | Operation::RmsNorm => case.options.alpha.value(),
    }
}

/// Outer and inner extent stay in front; the axes move to the right end.
fn five(values: &[i64], missing: i64) -> [i64; 5] {
    let mut all = [missing; 5];
    for (slot, value) in all.iter_mut().zip(values.iter().take(2)) {
        *slot = *value;
    }
    let axes = values.iter().skip(2).rev();
    for (slot, value) in all[2..].iter_mut().rev().zip(axes) {
        *slot = *value;
    }
    all
}

fn three(axes: &[Axis], missing: i64, of: impl Fn(&Axis) -> i64) -> [i64; 3] {
    let mut all = [missing; 3];
    for (slot, axis) in all.iter_mut().rev().zip(axes.iter().rev()) {
        *slot = of(axis);
    }
    all
}
