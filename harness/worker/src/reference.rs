//! The right answers of a job's problem, one per fill, kept on the device for all its plans. Knows kernels and
//! buffers; the arithmetic and the sampled positions come from elsewhere.

use case::{Case, Fill, Phase, ReferenceFacts, SpotCheck};
use gpu::CallError;
use kernel::Kernel;

use crate::session::Device;
use crate::totals::Totals;

/// Outputs of a case that the CPU checks.
const SAMPLES: usize = 64;

/// One fill's answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    pub(crate) fill: Fill,
    /// One f64 per output: the result.
    pub(crate) result: u64,
    /// One f64 per output: the sum of absolute products.
    pub(crate) abs_sum: u64,
    pub(crate) facts: ReferenceFacts,
    pub(crate) spot: SpotCheck,
}

/// Answers whose kernel is queued and whose facts are not read yet.
pub(crate) struct Queued {
    fill: Fill,
    result: u64,
    abs_sum: u64,
}

/// Where the facts of several fills and the sampled answers lie, one behind the other, so that one wait fetches all.
struct Facts {
    base: u64,
    fills: usize,
}

impl Facts {
    fn new(device: &Device, fills: usize) -> Result<Self, CallError> {
        let bytes = fills * Totals::BYTES + SAMPLES * size_of::<f64>();
        Ok(Self { base: device.arena.plain("reference totals", bytes as u64)?, fills })
    }

    fn of(&self, position: usize) -> u64 {
        self.base + (position * Totals::BYTES) as u64
    }

    fn sample(&self, number: usize) -> u64 {
        self.of(self.fills) + (number * size_of::<f64>()) as u64
    }
}

/// Computes the answers for several fills on the device, `known` being how many the job has. `fill` brings the inputs
/// into the state of one; the first answers of a job are compared with the CPU's at sampled outputs.
///
/// All of it is queued and waited for once: on a device that other workers share each wait costs a turn.
pub(crate) fn compute(
    device: &Device,
    case: &Case,
    (fills, known): (&[Fill], usize),
    tensors: [u64; 3],
    fill: &mut dyn FnMut(Fill) -> Result<(), CallError>,
) -> Result<Vec<Reference>, CallError> {
    let facts = Facts::new(device, fills.len())?;
    let start = vec![Totals::START; fills.len()];
    device.driver.write(Phase::Allocate, facts.base, bytemuck::cast_slice(&start))?;
    let mut queued = Vec::new();
    for (position, kind) in fills.iter().enumerate() {
        fill(*kind)?;
        queued.push(Queued::launch(device, case, (*kind, known + position), tensors, facts.of(position))?);
    }
    let positions = if known == 0 { oracle::sample_positions(case, SAMPLES) } else { Vec::new() };
    for (number, position) in positions.iter().enumerate() {
        let from = queued[0].result + 8 * position;
        device.driver.copy(Phase::Allocate, facts.sample(number), from, 8)?;
    }
    let mut bytes = vec![0_u8; fills.len() * Totals::BYTES + positions.len() * size_of::<f64>()];
    device.driver.read(Phase::Allocate, facts.base, &mut bytes)?;
    let (totals, samples) = bytes.split_at(fills.len() * Totals::BYTES);
    let mut references: Vec<Reference> = queued
        .iter()
        .zip(totals.chunks_exact(Totals::BYTES))
        .map(|(queued, bytes)| queued.counted(case, &bytemuck::pod_read_unaligned::<Totals>(bytes)))
        .collect();
    if let Some(first) = references.first_mut() {
        let got = samples.chunks_exact(size_of::<f64>()).map(bytemuck::pod_read_unaligned::<f64>);
        first.spot = check_on_cpu(case, first.fill, positions.into_iter().zip(got));
    }
    Ok(references)
}

impl Queued {
    fn launch(
        device: &Device,
        case: &Case,
        (fill, position): (Fill, usize),
        [x, w, y]: [u64; 3],
        totals: u64,
    ) -> Result<Self, CallError> {
        let outputs = case.problem.geometry().elements(case.problem.operation.output()).max(0) as u64;
        let result = device.arena.plain(&format!("reference {position}"), 8 * outputs)?;
        let abs_sum = device.arena.plain(&format!("abs_sum {position}"), 8 * outputs)?;
        let mut parameters = oracle::reference_params(case, fill);
        (parameters.x.pointer, parameters.w.pointer, parameters.y.pointer) = (x, w, y);
        parameters.result = result;
        parameters.abs_sum = abs_sum;
        parameters.totals = Totals::reference_at(totals);
        let grid = [kernel::reference_grid(outputs, parameters.lanes), 1];
        let parameters = bytemuck::bytes_of(&parameters);
        device.kernels.launch(Phase::Allocate, Kernel::Reference, grid, parameters)?;
        Ok(Self { fill, result, abs_sum })
    }

    fn counted(&self, case: &Case, totals: &Totals) -> Reference {
        let facts = oracle::facts(case, &totals.reference);
        let Self { fill, result, abs_sum } = *self;
        Reference { fill, result, abs_sum, facts, spot: SpotCheck::default() }
    }
}

/// Sampled outputs of the device against the CPU's.
fn check_on_cpu(case: &Case, fill: Fill, samples: impl Iterator<Item = (u64, f64)>) -> SpotCheck {
    let mut spot = SpotCheck::default();
    for (position, got) in samples {
        spot.sampled += 1;
        if !oracle::agrees(&oracle::expected_at(case, fill, position), got) {
            spot.disagreeing += 1;
        }
    }
    spot
}
