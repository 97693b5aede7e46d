//! The right answers of a job's problem, one per fill, kept on the device for all its plans. Knows kernels and
//! buffers; the arithmetic and the sampled positions come from elsewhere.

use case::{Case, Fill, Phase, ReferenceFacts, SpotCheck};
use gpu::CallError;
use kernel::{Kernel, ReferenceTotals};

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

impl Reference {
    /// Computes the answers on the device from inputs that already hold `fill`. The first one of a job is compared
    /// with the CPU's at sampled outputs.
    pub(crate) fn compute(
        device: &Device,
        case: &Case,
        fill: Fill,
        position: usize,
        tensors: [u64; 3],
    ) -> Result<Self, CallError> {
        let outputs = case.problem.geometry().elements(case.problem.operation.output()).max(0) as u64;
        let result = device.arena.plain(&format!("reference {position}"), 8 * outputs)?;
        let abs_sum = device.arena.plain(&format!("abs_sum {position}"), 8 * outputs)?;
        let totals = device.arena.plain("totals", Totals::BYTES as u64)?;
        let driver = &device.driver;
        driver.write(Phase::Allocate, totals, bytemuck::bytes_of(&Totals::START))?;
        let mut parameters = oracle::reference_params(case, fill);
        let [x, w, y] = tensors;
        (parameters.x.pointer, parameters.w.pointer, parameters.y.pointer) = (x, w, y);
        parameters.result = result;
        parameters.abs_sum = abs_sum;
        parameters.totals = Totals::reference_at(totals);
        let grid = kernel::reference_grid(outputs, parameters.lanes);
        device.kernels.launch(
            Phase::Allocate,
            Kernel::Reference,
            [grid, 1],
            bytemuck::bytes_of(&parameters),
        )?;
        let mut counted = ReferenceTotals::START;
        driver.read(Phase::Allocate, Totals::reference_at(totals), bytemuck::bytes_of_mut(&mut counted))?;
        let facts = oracle::facts(case, &counted);
        let mut reference = Self { fill, result, abs_sum, facts, spot: SpotCheck::default() };
        if position == 0 {
            reference.spot = reference.check_on_cpu(device, case)?;
        }
        Ok(reference)
    }

    fn check_on_cpu(&self, device: &Device, case: &Case) -> Result<SpotCheck, CallError> {
        let mut spot = SpotCheck::default();
        for position in oracle::sample_positions(case, SAMPLES) {
            let mut got = [0_u8; 8];
            device.driver.read(Phase::Allocate, self.result + 8 * position, &mut got)?;
            spot.sampled += 1;
            let expected = oracle::expected_at(case, self.fill, position);
            if !oracle::agrees(&expected, f64::from_le_bytes(got)) {
                spot.disagreeing += 1;
            }
        }
        Ok(spot)
    }
}
