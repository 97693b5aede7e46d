//! Which refusals say nothing about a library but that no device is there. Knows numbers and words that a stand-in
//! driver brings about; knows nothing of plans.

use case::Refusal;

/// Statuses that blame the driver, the CUDA runtime, cuBLAS or cuRAND: without a GPU stand-ins answer for them.
/// INCOMPATIBLE_CUDA_DRIVER, INCOMPATIBLE_CUDART, RUNTIME_PREREQUISITE_MISSING, and EXECUTION_FAILED with a suffix.
const BLAME_STAND_INS: [i32; 7] = [3005, 3006, 3008, 5001, 5002, 5003, 5004];

/// Words of an engine that asks the driver how many clusters fit (measured on 9.19: an engine that a GPU has).
const ASKS_THE_DRIVER: &str = "No GPC available";

/// True where a device might have answered otherwise.
pub(crate) fn needs_device(refusal: &Refusal) -> bool {
    BLAME_STAND_INS.contains(&refusal.status) || refusal.reason.contains(ASKS_THE_DRIVER)
}
