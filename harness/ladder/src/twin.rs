//! The same training in f64 on the CPU, and how far errors within the bound of each convolution may lead its loss
//! astray. Pure; knows no device.

use std::panic;
use std::thread;

use case::{Call, Case, Notes, Operation, ReferenceFacts, Role, Training};
use kernel::{CompareParams, CompareTotals, twin};
use oracle::training::{TRAINING_FILL, first_weights, images, loss, loss_factor, targets};

use crate::quick;

/// Trainings with errors that the tolerance is taken from.
const ASTRAY: u64 = 3;

/// Times their largest departure that the loss may depart: so few of them rarely show the worst.
const MARGIN: f64 = 4.0;

/// Share of the first loss that it may depart by in any case.
const FLOOR: f64 = 1e-6;

/// The losses that are right, and how far each may be off.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// The loss before each step's update.
    pub losses: Vec<f64>,
    /// How far it may be off, given what the engines declare.
    pub tolerances: Vec<f64>,
}

/// Trains exactly, and a few times more with every convolution off by random shares of the bound by which it is judged:
/// what that does to the loss is what an engine may do to it. `notes` are those of each call's engine, in order.
#[must_use]
pub fn course(training: &Training, notes: &[Notes]) -> Course {
    let (losses, astray) = thread::scope(|scope| {
        let others: Vec<_> =
            (1..=ASTRAY).map(|seed| scope.spawn(move || train(training, notes, Some(seed)))).collect();
        let losses = train(training, notes, None);
        let join = |thread: thread::ScopedJoinHandle<'_, Vec<f64>>| match thread.join() {
            Ok(losses) => losses,
            Err(panic) => panic::resume_unwind(panic),
        };
        (losses, others.into_iter().map(join).collect::<Vec<Vec<f64>>>())
    });
    let mut most = FLOOR * losses.first().copied().unwrap_or(0.0);
    let tolerances = (0..losses.len())
        .map(|step| {
            let departures = astray.iter().map(|other| MARGIN * (other[step] - losses[step]).abs());
            // What has gone astray once does not come back for sure.
            most = departures.fold(most, f64::max);
            most
        })
        .collect();
    Course { losses, tolerances }
}

/// How errors are laid over a convolution.
struct Noise<'run> {
    notes: &'run Notes,
    seed: u64,
}

/// One convolution in f64, off by shares of its bound where there is noise.
fn convolve(case: &Case, tensors: [&[f64]; 3], noise: Option<&Noise<'_>>) -> Vec<f64> {
    let Some((mut values, products_max)) = quick::convolve(case, tensors) else { return Vec::new() };
    let Some(noise) = noise else { return values };
    let absolute = tensors.map(|tensor| tensor.iter().map(|value| value.abs()).collect::<Vec<f64>>());
    let Some((abs_sums, _)) = quick::convolve(case, [0, 1, 2].map(|at| &absolute[at][..])) else {
        return Vec::new();
    };
    let count = values.len() as u64;
    let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let facts = ReferenceFacts {
        outputs: count,
        with_products: count,
        non_zero: count,
        products_max,
        abs_sum_max: largest(&abs_sums),
        abs_result_max: largest(&values),
    };
    let bounds = oracle::bounds_of_any_data(case, noise.notes, &facts);
    for (index, (value, abs_sum)) in (0_u64..).zip(values.iter_mut().zip(&abs_sums)) {
        let share = (kernel::mix(noise.seed ^ index) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        *value += share * (bounds.accumulate * abs_sum + bounds.output * value.abs() + bounds.absolute);
    }
    values
}

/// One training's losses.
fn train(training: &Training, notes: &[Notes], astray: Option<u64>) -> Vec<f64> {
    let layers = training.layers.len();
    let wanted = targets(training);
    let images = images(training);
    let mut weights: Vec<Vec<f64>> = (0..layers).map(|layer| first_weights(training, layer)).collect();
    let plain = Notes::default();
    let calls = training.calls();
    (0..training.steps)
        .map(|step| {
            let noisy = |call: Call| {
                let number = calls.iter().position(|other| *other == call).unwrap_or(0);
                let seed = astray
                    .map(|seed| kernel::mix(seed ^ (u64::from(step) << 32) ^ ((number as u64) << 16)))?;
                Some(Noise { notes: notes.get(number).unwrap_or(&plain), seed })
            };
            let pass = Pass { training, weights: &weights, noisy: &noisy };
            let (inputs, outputs) = pass.forward(&images);
            let last = outputs.last().map_or(&[][..], |output| output);
            let loss = loss(training, last, &wanted);
            let gradients = pass.backward(&inputs, &outputs, &wanted);
            for (weights, gradients) in weights.iter_mut().zip(&gradients) {
                for (weight, gradient) in weights.iter_mut().zip(gradients) {
                    *weight -= training.rate * gradient;
                }
            }
            loss
        })
        .collect()
}

/// One step of a training.
struct Pass<'run> {
    training: &'run Training,
    weights: &'run [Vec<f64>],
    noisy: &'run dyn Fn(Call) -> Option<Noise<'run>>,
}

impl Pass<'_> {
    fn call(&self, layer: usize, operation: Operation, tensors: [&[f64]; 3]) -> Vec<f64> {
        let call = Call { layer: layer as u32, operation };
        let Some(case) = self.training.case_of(call) else { return Vec::new() };
        convolve(&case, tensors, (self.noisy)(call).as_ref())
    }

    /// Inputs and responses of all layers.
    fn forward(&self, images: &[f64]) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let (mut inputs, mut outputs): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        for (index, layer) in self.training.layers.iter().enumerate() {
            let input = match outputs.last() {
                None => images.to_vec(),
                Some(before) => {
                    let relu = self.training.layers[index - 1].relu;
                    let active: Vec<f64> =
                        before.iter().map(|value| if relu && *value < 0.0 { 0.0 } else { *value }).collect();
                    if layer.averaged { averaged(&layer.case, &active) } else { active }
                }
            };
            outputs.push(self.call(index, Operation::Fprop, [&input, &self.weights[index], &[]]));
            inputs.push(input);
        }
        (inputs, outputs)
    }

    /// The gradients of all weights.
    fn backward(&self, inputs: &[Vec<f64>], outputs: &[Vec<f64>], wanted: &[f64]) -> Vec<Vec<f64>> {
        let layers = &self.training.layers;
        let factor = loss_factor(self.training);
        let last = outputs.last().map_or(&[][..], |output| output);
        let mut gradient: Vec<f64> =
            last.iter().zip(wanted).map(|(got, wanted)| factor * (got - wanted)).collect();
        let mut of_weights = vec![Vec::new(); layers.len()];
        for index in (0..layers.len()).rev() {
            of_weights[index] = self.call(index, Operation::Wgrad, [&inputs[index], &[], &gradient]);
            let Some(before) = index.checked_sub(1) else { break };
            let of_input = self.call(index, Operation::Dgrad, [&[], &self.weights[index], &gradient]);
            let inner = (outputs[before].len() / of_input.len().max(1)).max(1);
            let spread = |at: usize| {
                if layers[index].averaged { of_input[at / inner] / inner as f64 } else { of_input[at] }
            };
            let passes = |value: &f64| !layers[before].relu || *value > 0.0;
            let through = |(at, value): (usize, &f64)| if passes(value) { spread(at) } else { 0.0 };
            gradient = outputs[before].iter().enumerate().map(through).collect();
        }
        of_weights
    }
}

/// The mean of each channel of each item.
fn averaged(case: &Case, values: &[f64]) -> Vec<f64> {
    let means = usize::try_from(case.problem.geometry().elements(Role::X)).unwrap_or(1).max(1);
    let inner = (values.len() / means).max(1);
    values.chunks(inner).map(|channel| channel.iter().sum::<f64>() / inner as f64).collect()
}

/// How an output departs from what f64 makes of the very bytes that the call read. `None` where bytes are missing.
#[must_use]
pub(crate) fn compare(
    case: &Case,
    notes: &Notes,
    [x, w, y]: [&[u8]; 3],
) -> Option<(CompareTotals, CompareParams)> {
    let mut params = oracle::reference_params(case, TRAINING_FILL);
    params.lanes = 1;
    let right = twin::reference(&params, x, w, y).ok()?;
    let facts = oracle::facts(case, &right.totals);
    let bounds = oracle::bounds_of_any_data(case, notes, &facts);
    let output = case.problem.operation.output();
    let params = CompareParams {
        got: oracle::tensor_view(case, output),
        accumulate: bounds.accumulate,
        output: bounds.output,
        absolute: bounds.absolute,
        norm_bound: bounds.norm,
        ..CompareParams::default()
    };
    let got = [x, w, y][output.index()];
    let totals = twin::compare(&params, got, &right.result, &right.abs_sum).ok()?;
    Some((totals, params))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::training;

    #[test]
    fn the_loss_of_every_network_falls_and_its_tolerance_is_far_below_that() {
        for name in ["plain", "half"] {
            let losses = train(&training(name).expect("in the table"), &[], None);
            assert!(losses[losses.len() - 1] < 0.5 * losses[0], "{name}: {losses:?}");
        }
        let course = course(&training("small").expect("in the table"), &[]);
        let (first, last) = (course.losses[0], course.losses[course.losses.len() - 1]);
        assert!(last < 0.5 * first, "{course:?}");
        let widest = course.tolerances.last().expect("steps");
        assert!(*widest < 0.1 * (first - last), "{course:?}");
    }

    #[test]
    fn gradients_are_those_of_the_loss() {
        let mut training = training("small").expect("in the table");
        training.steps = 1;
        let wanted = targets(&training);
        let images = images(&training);
        let weights: Vec<Vec<f64>> = (0..4).map(|layer| first_weights(&training, layer)).collect();
        let loss_of = |weights: &[Vec<f64>]| {
            let (_, outputs) = Pass { training: &training, weights, noisy: &|_| None }.forward(&images);
            loss(&training, outputs.last().expect("layers"), &wanted)
        };
        let pass = Pass { training: &training, weights: &weights, noisy: &|_| None };
        let (inputs, outputs) = pass.forward(&images);
        let gradients = pass.backward(&inputs, &outputs, &wanted);
        for (layer, at) in [(0, 7), (1, 100), (2, 31), (3, 12)] {
            let mut moved = weights.clone();
            let small = 1e-6;
            moved[layer][at] += small;
            let slope = (loss_of(&moved) - loss_of(&weights)) / small;
            let told = gradients[layer][at];
            assert!((slope - told).abs() < 1e-5 + 1e-3 * told.abs(), "layer {layer}: {slope} {told}");
        }
    }
}
