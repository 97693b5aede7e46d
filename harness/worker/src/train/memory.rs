//! The buffers of a training run and the small steps between its convolutions. Knows addresses and kernels; knows no
//! plan.

use case::{Case, Layer, Layout, Part, Phase, Role, Training};
use gpu::CallError;
use kernel::{ElementwiseParams, Kernel, Step};
use oracle::training::{first_weights, images, loss_factor, pack, targets};

use crate::session::Device;

/// The tensors of one layer. Where a layer has no step of a kind, two of them are one buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tensors {
    input: u64,
    weight: u64,
    master: u64,
    output: u64,
    activation: u64,
    input_gradient: u64,
    weight_gradient: u64,
    output_gradient: u64,
    activation_gradient: u64,
}

/// All buffers of a network.
pub(super) struct Memory<'run> {
    device: &'run Device,
    training: &'run Training,
    tensors: Vec<Tensors>,
    targets: u64,
}

/// The role of a part in its layer's convolutions.
pub(super) fn role(part: Part) -> Role {
    match part {
        Part::Input | Part::InputGradient => Role::X,
        Part::Weight | Part::WeightGradient => Role::W,
        Part::Output | Part::OutputGradient => Role::Y,
    }
}

fn bytes(case: &Case, role: Role) -> u64 {
    u64::try_from(case.problem.geometry().bytes(role)).unwrap_or(0)
}

fn elements(case: &Case, role: Role) -> u64 {
    u64::try_from(case.problem.geometry().elements(role)).unwrap_or(0)
}

impl<'run> Memory<'run> {
    /// Allocates everything; contents are undefined but for data that never changes.
    pub(super) fn new(device: &'run Device, training: &'run Training) -> Result<Self, CallError> {
        let mut tensors: Vec<Tensors> = Vec::new();
        for (index, layer) in training.layers.iter().enumerate() {
            let take = |name: &str, bytes: u64| device.arena.plain(&format!("train {name} {index}"), bytes);
            let case = &layer.case;
            let (x, w, y) = (bytes(case, Role::X), bytes(case, Role::W), bytes(case, Role::Y));
            let output = take("output", y)?;
            let input = match tensors.last() {
                Some(before) if !layer.averaged => before.activation,
                Some(_) | None => take("input", x)?,
            };
            let output_gradient = take("output gradient", y)?;
            let mut mine = Tensors {
                input,
                weight: take("weight", w)?,
                master: take("master", 4 * elements(case, Role::W))?,
                output,
                activation: if layer.relu { take("activation", y)? } else { output },
                input_gradient: take("input gradient", x)?,
                weight_gradient: take("weight gradient", w)?,
                output_gradient,
                activation_gradient: output_gradient,
            };
            if layer.relu {
                mine.activation_gradient = take("activation gradient", y)?;
            }
            if let Some(before) = tensors.last_mut()
                && !layer.averaged
            {
                // The gradient of this input is that of the response before; without a ReLU also that of its output.
                before.activation_gradient = mine.input_gradient;
                if !training.layers[index - 1].relu {
                    before.output_gradient = mine.input_gradient;
                }
            }
            tensors.push(mine);
        }
        let last = training.layers.last().map_or(0, |layer| bytes(&layer.case, Role::Y));
        let memory = Self { device, training, tensors, targets: device.arena.plain("train targets", last)? };
        memory.write_data()?;
        Ok(memory)
    }

    fn write_data(&self) -> Result<(), CallError> {
        let ends = self.training.layers.first().zip(self.training.layers.last());
        if let (Some((first, last)), Some(tensors)) = (ends, self.tensors.first()) {
            let write = |to, bytes: &[u8]| self.device.driver.write(Phase::Allocate, to, bytes);
            write(tensors.input, &pack(&first.case, Role::X, &images(self.training)))?;
            write(self.targets, &pack(&last.case, Role::Y, &targets(self.training)))?;
        }
        Ok(())
    }

    /// Writes the first weights of every layer.
    pub(super) fn reset(&self) -> Result<(), CallError> {
        for (index, (layer, tensors)) in self.training.layers.iter().zip(&self.tensors).enumerate() {
            let weights = first_weights(self.training, index);
            let packed = pack(&layer.case, Role::W, &weights);
            self.device.driver.write(Phase::Allocate, tensors.weight, &packed)?;
            // The f32 copy lies in the memory order of the weights.
            let view = oracle::tensor_view(&layer.case, Role::W);
            let width = kernel::element_bytes(view.dtype);
            let master: Vec<u8> = packed
                .chunks_exact(width.max(1))
                .flat_map(|bits| (kernel::decode(view.dtype, bits) as f32).to_le_bytes())
                .collect();
            self.device.driver.write(Phase::Allocate, tensors.master, &master)?;
        }
        Ok(())
    }

    /// Address of a tensor.
    pub(super) fn at(&self, layer: usize, part: Part) -> u64 {
        let tensors = self.tensors.get(layer).copied().unwrap_or_default();
        match part {
            Part::Input => tensors.input,
            Part::Weight => tensors.weight,
            Part::Output => tensors.output,
            Part::InputGradient => tensors.input_gradient,
            Part::WeightGradient => tensors.weight_gradient,
            Part::OutputGradient => tensors.output_gradient,
        }
    }

    /// A tensor's bytes, once everything before is done.
    pub(super) fn read(&self, layer: usize, part: Part) -> Result<Vec<u8>, CallError> {
        let length = self.training.layers.get(layer).map_or(0, |layer| bytes(&layer.case, role(part)));
        let mut read = vec![0; usize::try_from(length).unwrap_or(0)];
        self.device.driver.read(Phase::ReadBack, self.at(layer, part), &mut read)?;
        Ok(read)
    }

    /// What follows a layer's response: ReLU, and the mean where the next layer reads it.
    pub(super) fn after_forward(&self, layer: usize) -> Result<(), CallError> {
        let (mine, this) = (&self.training.layers[layer], self.tensors[layer]);
        let count = elements(&mine.case, Role::Y);
        if mine.relu {
            self.step(
                &mine.case,
                Step::Relu,
                ElementwiseParams { a: this.output, out: this.activation, count, ..PLAIN },
            )?;
        }
        match self.training.layers.get(layer + 1) {
            Some(next) if next.averaged => {
                let means = means(mine, elements(&next.case, Role::X));
                let out = self.tensors[layer + 1].input;
                let count = elements(&next.case, Role::X);
                self.step(
                    &mine.case,
                    Step::Average,
                    ElementwiseParams { a: this.activation, out, count, ..means },
                )
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The gradient of the last layer's response.
    pub(super) fn loss_gradient(&self) -> Result<(), CallError> {
        let Some((layer, tensors)) = self.training.layers.last().zip(self.tensors.last()) else {
            return Ok(());
        };
        let (a, b, out) = (tensors.output, self.targets, tensors.output_gradient);
        let (count, factor) = (elements(&layer.case, Role::Y), loss_factor(self.training));
        self.step(&layer.case, Step::LossBack, ElementwiseParams { a, b, out, count, factor, ..PLAIN })
    }

    /// From the gradient of a layer's input to that of the response before it.
    pub(super) fn after_backward(&self, layer: usize) -> Result<(), CallError> {
        let Some(before) = layer.checked_sub(1) else { return Ok(()) };
        let (mine, former) = (&self.training.layers[layer], &self.training.layers[before]);
        let (this, that) = (self.tensors[layer], self.tensors[before]);
        let count = elements(&former.case, Role::Y);
        if mine.averaged {
            let means = means(former, elements(&mine.case, Role::X));
            let (a, out) = (this.input_gradient, that.activation_gradient);
            self.step(&former.case, Step::AverageBack, ElementwiseParams { a, out, count, ..means })?;
        }
        if former.relu {
            let (a, b, out) = (that.output, that.activation_gradient, that.output_gradient);
            self.step(&former.case, Step::ReluBack, ElementwiseParams { a, b, out, count, ..PLAIN })?;
        }
        Ok(())
    }

    /// Moves the weights of every layer against their gradients.
    pub(super) fn update(&self) -> Result<(), CallError> {
        for (layer, tensors) in self.training.layers.iter().zip(&self.tensors) {
            let (a, out, master) = (tensors.weight_gradient, tensors.weight, tensors.master);
            let (count, factor) = (elements(&layer.case, Role::W), self.training.rate);
            self.step(
                &layer.case,
                Step::Update,
                ElementwiseParams { a, out, master, count, factor, ..PLAIN },
            )?;
        }
        Ok(())
    }

    fn step(&self, case: &Case, step: Step, params: ElementwiseParams) -> Result<(), CallError> {
        let dtype = oracle::dtype_code(case.problem.dtypes.y);
        let params = ElementwiseParams { op: step.into(), dtype, ..params };
        let grid = [kernel::grid_for(params.count), 1];
        self.device.kernels.launch(Phase::Execute, Kernel::Elementwise, grid, bytemuck::bytes_of(&params))
    }
}

const PLAIN: ElementwiseParams = ElementwiseParams {
    op: 0,
    dtype: 0,
    a: 0,
    b: 0,
    out: 0,
    master: 0,
    count: 0,
    inner: 0,
    channels: 0,
    channels_last: 0,
    reserved: 0,
    factor: 1.0,
};

/// What the steps about means need to know of the layer whose responses are averaged into so many elements.
fn means(layer: &Layer, averages: u64) -> ElementwiseParams {
    let inner = elements(&layer.case, Role::Y) / averages.max(1);
    let channels_last = u32::from(layer.case.problem.layouts.y == Layout::Nhwc);
    let channels = u64::try_from(layer.case.problem.k).unwrap_or(1);
    ElementwiseParams { inner, channels, channels_last, factor: 1.0 / inner.max(1) as f64, ..PLAIN }
}
