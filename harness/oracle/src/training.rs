//! The data of a training run, by formula: images, targets, first weights, and tensors as bytes and back. Pure; knows
//! no device and no network beyond its cases.

use case::{Case, Fill, FillKind, Role, Training};
use kernel::{FillParams, TensorView};

use crate::view::tensor_view;

/// Seeds beside the training's own, so that no two tensors share their data.
const PATTERNS: u64 = 0x7061_7474;
const WEIGHTS: u64 = 0x7765_6967;

/// Share of an image that tells its class; the rest is its own.
const PATTERN_SHARE: f64 = 0.5;

/// A view's coordinates in logical order.
fn coordinates(view: &TensorView) -> impl Iterator<Item = [i64; 5]> + use<> {
    let [n, c, d, h, w] = view.extent;
    (0..n * c * d * h * w).map(move |linear| {
        let (rest, at_w) = (linear / w, linear % w);
        let (rest, at_h) = (rest / h, rest % h);
        let (rest, at_d) = (rest / d, rest % d);
        [rest / c, rest % c, at_d, at_h, at_w]
    })
}

fn real(view: &TensorView, role: Role, seed: u64, at: [i64; 5]) -> f64 {
    let fill = FillParams {
        // Values are rounded to their tensor's type later.
        view: TensorView { dtype: kernel::F64, ..*view },
        seed,
        tensor: role.index() as u32,
        kind: kernel::FillKind::Real.into(),
        ..FillParams::default()
    };
    kernel::value(&fill, at)
}

/// The class of an image.
fn class(training: &Training, item: i64) -> i64 {
    let classes = training.layers.last().map_or(1, |layer| layer.case.problem.k.max(1));
    item % classes
}

/// The images, in logical order: half a pattern of their class, half their own.
#[must_use]
pub fn images(training: &Training) -> Vec<f64> {
    let Some(first) = training.layers.first() else { return Vec::new() };
    let view = tensor_view(&first.case, Role::X);
    coordinates(&view)
        .map(|at| {
            let [item, rest @ ..] = at;
            let [c, d, h, w] = rest;
            let pattern = real(&view, Role::X, training.seed ^ PATTERNS, [class(training, item), c, d, h, w]);
            let own = real(&view, Role::X, training.seed, at);
            kernel::round_to(view.dtype, PATTERN_SHARE * pattern + (1.0 - PATTERN_SHARE) * own)
        })
        .collect()
}

/// What the last layer should give, in logical order: 1 for the class of an image, else 0.
#[must_use]
pub fn targets(training: &Training) -> Vec<f64> {
    let Some(last) = training.layers.last() else { return Vec::new() };
    let view = tensor_view(&last.case, Role::Y);
    coordinates(&view).map(|at| f64::from(u8::from(at[1] == class(training, at[0])))).collect()
}

/// The first weights of a layer, in logical order: uniform, with the variance 2 / fan-in that keeps ReLU networks alive
/// (He et al., arXiv 1502.01852).
#[must_use]
pub fn first_weights(training: &Training, layer: usize) -> Vec<f64> {
    let Some(found) = training.layers.get(layer) else { return Vec::new() };
    let view = tensor_view(&found.case, Role::W);
    let fan_in = view.extent[1..].iter().product::<i64>().max(1) as f64;
    let scale = (6.0 / fan_in).sqrt();
    let seed = training.seed ^ WEIGHTS ^ ((layer as u64) << 32);
    coordinates(&view)
        .map(|at| kernel::round_to(view.dtype, scale * real(&view, Role::W, seed, at)))
        .collect()
}

/// Factor of the loss's gradient: the loss is half the mean of squared differences.
#[must_use]
pub fn loss_factor(training: &Training) -> f64 {
    let elements = training.layers.last().map_or(1, |layer| layer.case.problem.geometry().elements(Role::Y));
    1.0 / elements.max(1) as f64
}

/// Half the mean of squared differences, summed in order.
#[must_use]
pub fn loss(training: &Training, got: &[f64], wanted: &[f64]) -> f64 {
    let squares =
        got.iter().zip(wanted).fold(0.0, |sum, (got, wanted)| sum + (got - wanted) * (got - wanted));
    0.5 * loss_factor(training) * squares
}

/// Logical values as the bytes of a packed tensor of the case.
#[must_use]
pub fn pack(case: &Case, role: Role, values: &[f64]) -> Vec<u8> {
    let view = tensor_view(case, role);
    let width = kernel::element_bytes(view.dtype);
    let mut bytes = vec![0; values.len() * width];
    for (at, value) in coordinates(&view).zip(values) {
        let start = offset(&view, at) * width;
        if let Some(slot) = bytes.get_mut(start..start + width) {
            slot.copy_from_slice(&kernel::encode(view.dtype, *value).to_le_bytes()[..width]);
        }
    }
    bytes
}

/// The logical values in the bytes of a packed tensor of the case; NaN where the bytes are too few.
#[must_use]
pub fn unpack(case: &Case, role: Role, bytes: &[u8]) -> Vec<f64> {
    let view = tensor_view(case, role);
    let width = kernel::element_bytes(view.dtype);
    let value =
        |at| bytes.get(offset(&view, at) * width..).map_or(f64::NAN, |rest| kernel::decode(view.dtype, rest));
    coordinates(&view).map(value).collect()
}

fn offset(view: &TensorView, at: [i64; 5]) -> usize {
    let sum: i64 = at.iter().zip(&view.stride).map(|(at, stride)| at * stride).sum();
    usize::try_from(sum).unwrap_or(usize::MAX / 16)
}

/// The fill by whose rules tensors of a training are judged: reals of no known sign.
pub const TRAINING_FILL: Fill = Fill { kind: FillKind::Real, seed: 0 };

#[cfg(test)]
mod tests {
    use case::Layer;

    use super::*;

    #[test]
    fn tensors_survive_their_bytes_in_any_layout() {
        for layout in ["nchw", "nhwc"] {
            let case: Case = format!("fprop f16 {layout} n2 c3 k4 i5x2 f1x1").parse().expect("a case");
            let values: Vec<f64> = (0..2 * 3 * 5 * 2).map(f64::from).collect();
            assert_eq!(unpack(&case, Role::X, &pack(&case, Role::X, &values)), values);
        }
        let case: Case = "fprop f32 nchw n1 c1 k1 i4 f1".parse().expect("a case");
        assert!(unpack(&case, Role::X, &[0; 6])[1].is_nan());
    }

    #[test]
    fn images_of_one_class_are_alike_and_weights_are_of_moderate_size() {
        let case: Case = "fprop f32 nchw n6 c2 k3 i4x4 f4x4".parse().expect("a case");
        let training = Training {
            layers: vec![Layer { case, relu: false, averaged: false }],
            steps: 1,
            runs: 1,
            rate: 0.1,
            seed: 7,
            shown: Vec::new(),
            workspace_max: None,
            keeps_plans: false,
        };
        let images = images(&training);
        let apart = |one: usize, other: usize| -> f64 {
            (0..32).map(|at| (images[32 * one + at] - images[32 * other + at]).abs()).sum()
        };
        assert!(apart(0, 3) < apart(0, 1), "{} {}", apart(0, 3), apart(0, 1));
        assert_eq!(targets(&training)[..6], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        let weights = first_weights(&training, 0);
        assert!(weights.iter().all(|weight| weight.abs() <= (6.0_f64 / 32.0).sqrt()));
        assert_eq!(loss(&training, &[1.0; 18], &[0.0; 18]), 0.5);
    }
}
