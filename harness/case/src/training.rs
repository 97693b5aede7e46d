//! A short training run: its layers, the convolutions of one step in their order, and what a worker tells of them.
//! Plain data; computes nothing and judges nothing.

use serde::{Deserialize, Serialize};

use crate::engine::{Config, HeuristicMode};
use crate::operation::Operation;
use crate::problem::Case;
use crate::trial::{Ended, Notes, Refusal};

/// A convolution of a network and what stands around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// The forward convolution. Its x is the layer's input.
    pub case: Case,
    /// True where negative responses become 0.
    pub relu: bool,
    /// True where the layer's input is the mean of each channel of the response before.
    pub averaged: bool,
}

/// A network, its data by a seed, and how it is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// The layers, first to last; the last one has no ReLU.
    pub layers: Vec<Layer>,
    /// Steps of one run.
    pub steps: u32,
    /// Times the same training is run: the first waits after each convolution, the later ones once a step, as
    /// frameworks do.
    pub runs: u32,
    /// Share of the gradient by which weights move.
    pub rate: f64,
    /// Seed of data and first weights.
    pub seed: u64,
    /// Steps of the first run, from 0, whose tensors are sent.
    pub shown: Vec<u32>,
    /// Plans that ask for more workspace than this, in bytes, are passed over.
    pub workspace_max: Option<i64>,
    /// True where the plans are sent as cuDNN's JSON.
    pub keeps_plans: bool,
}

/// One convolution of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The layer, from 0.
    pub layer: u32,
    /// The pass.
    pub operation: Operation,
}

impl std::fmt::Display for Call {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} of layer {}", self.operation.name(), self.layer + 1)
    }
}

/// Where in a training something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The run, from 0.
    pub run: u32,
    /// The step, from 0; absent while plans are built.
    pub step: Option<u32>,
    /// The convolution.
    pub call: Call,
}

impl std::fmt::Display for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.step {
            Some(step) => write!(formatter, "{}, step {} of run {}", self.call, step + 1, self.run + 1),
            None => write!(formatter, "{}, while its plan is built", self.call),
        }
    }
}

impl Training {
    /// The convolutions of one step in their order: forward through all layers, then the gradients of weights and
    /// input of each, last layer first. Nobody asks for the gradient of the data.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        let count = u32::try_from(self.layers.len()).unwrap_or(u32::MAX);
        let forward = (0..count).map(|layer| Call { layer, operation: Operation::Fprop });
        let backward = (0..count).rev().flat_map(|layer| {
            let passes =
                if layer > 0 { &[Operation::Wgrad, Operation::Dgrad][..] } else { &[Operation::Wgrad] };
            passes.iter().map(move |operation| Call { layer, operation: *operation })
        });
        forward.chain(backward).collect()
    }

    /// The case of a call; `None` where there is no such layer.
    #[must_use]
    pub fn case_of(&self, call: Call) -> Option<Case> {
        let mut case = self.layers.get(call.layer as usize)?.case.clone();
        case.problem.operation = call.operation;
        Some(case)
    }

    /// The number by which a worker announces a place.
    #[must_use]
    pub fn ordinal(&self, place: Place) -> u32 {
        let calls = self.calls();
        let call = calls.iter().position(|call| *call == place.call).unwrap_or(0) as u32;
        let steps = place.step.map_or(0, |step| 1 + step + place.run * self.steps);
        steps * calls.len() as u32 + call
    }

    /// The place of a number; `None` where it names none.
    #[must_use]
    pub fn place(&self, ordinal: u32) -> Option<Place> {
        let calls = self.calls();
        let count = u32::try_from(calls.len()).ok().filter(|count| *count > 0)?;
        let call = *calls.get((ordinal % count) as usize)?;
        match (ordinal / count).checked_sub(1) {
            None => Some(Place { run: 0, step: None, call }),
            Some(step) if step / self.steps.max(1) < self.runs => {
                Some(Place { run: step / self.steps.max(1), step: Some(step % self.steps.max(1)), call })
            }
            Some(_) => None,
        }
    }

    /// The convolution with the most work: what time limits are measured by.
    #[must_use]
    pub fn largest(&self) -> Option<&Case> {
        let cases = self.layers.iter().map(|layer| &layer.case);
        cases.max_by_key(|case| case.problem.geometry().multiply_adds())
    }
}

/// A special errand of a job, in place of configurations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drill {
    /// Train.
    Train(Training),
    /// Offer plans that were stored as text, and execute none.
    Offer(Vec<String>),
}

/// A tensor of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// What the layer reads.
    Input,
    /// Its weights.
    Weight,
    /// What its convolution gives.
    Output,
    /// The gradient of the input.
    InputGradient,
    /// The gradient of the weights.
    WeightGradient,
    /// The gradient of the output.
    OutputGradient,
}

/// The plan of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// The call.
    pub call: Call,
    /// Engine and knobs.
    pub config: Config,
    /// The list it was taken from.
    pub list: HeuristicMode,
    /// Its place there, from 0.
    pub rank: u32,
    /// What its engine declares.
    pub notes: Notes,
    /// Workspace that it asks for, bytes.
    pub workspace_bytes: i64,
    /// Why those ranked before were not taken.
    pub passed_over: Vec<String>,
    /// The plan as cuDNN's JSON, where it was asked for.
    pub json: Option<String>,
}

/// What one call left, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSeen {
    /// Hash of the bytes written.
    pub hash: u64,
    /// Elements that are NaN or infinite.
    pub odd: u64,
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepSeen {
    /// The run, from 0.
    pub run: u32,
    /// The step, from 0.
    pub step: u32,
    /// The loss before the step's update, an f64 by its bits: JSON has no NaN.
    pub loss_bits: u64,
    /// Every call, in order.
    pub calls: Vec<CallSeen>,
}

impl StepSeen {
    /// The loss.
    #[must_use]
    pub fn loss(&self) -> f64 {
        f64::from_bits(self.loss_bits)
    }
}

/// What a worker shows while it is on a special errand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// A call has its plan.
    Planned(Box<Planned>),
    /// A tensor of a step that was to be shown.
    Tensor {
        /// The step.
        step: u32,
        /// The layer.
        layer: u32,
        /// The tensor.
        part: Part,
        /// Its bytes in memory order, in hexadecimal.
        hex: String,
    },
    /// A step is done.
    Step(StepSeen),
    /// It went no further.
    Stopped {
        /// Where.
        place: Place,
        /// Why.
        ended: Ended,
    },
    /// A stored plan was offered.
    Offered {
        /// Its number, from 0.
        number: u32,
        /// How it was declined; absent where it was taken.
        refusal: Option<Refusal>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn training() -> Training {
        let layer = |line: &str, relu| Layer { case: line.parse().expect("a case"), relu, averaged: false };
        Training {
            layers: vec![
                layer("fprop f32 nchw n2 c3 k4 i6x6 f3x3", true),
                layer("fprop f32 nchw n2 c4 k5 i4x4 f3x3", false),
            ],
            steps: 3,
            runs: 2,
            rate: 0.1,
            seed: 1,
            shown: vec![0],
            workspace_max: None,
            keeps_plans: false,
        }
    }

    #[test]
    fn a_step_goes_forward_and_back_and_asks_for_no_gradient_of_the_data() {
        let calls: Vec<String> = training().calls().iter().map(Call::to_string).collect();
        let wanted = [
            "fprop of layer 1",
            "fprop of layer 2",
            "wgrad of layer 2",
            "dgrad of layer 2",
            "wgrad of layer 1",
        ];
        assert_eq!(calls, wanted);
    }

    #[test]
    fn every_place_has_a_number_of_its_own() {
        let training = training();
        let last = 5 * (1 + 2 * 3);
        for ordinal in 0..last {
            let place = training.place(ordinal).expect("a place");
            assert_eq!(training.ordinal(place), ordinal, "{place}");
        }
        assert_eq!(training.place(last), None);
        assert_eq!(
            training.place(17).map(|place| place.to_string()).as_deref(),
            Some("wgrad of layer 2, step 3 of run 1")
        );
    }
}
