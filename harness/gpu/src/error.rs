//! What a foreign call can come back with. Keeps the number; turns nothing into text early.

use abi::Status;
use abi::cuda::CuResult;
use case::Phase;

/// A call of a running worker that did not succeed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    /// cuDNN returned a status.
    #[error("cuDNN returned status {} in {}: {reason}", status.0, phase.name())]
    Status {
        /// Where.
        phase: Phase,
        /// The status.
        status: Status,
        /// cuDNN's own words, empty where it had none.
        reason: String,
    },
    /// CUDA returned an error.
    #[error("CUDA returned {} in {}", result.name(), phase.name())]
    Device {
        /// Where.
        phase: Phase,
        /// The error.
        result: CuResult,
    },
}

/// A library or device that can't be used: one line for the user.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LoadError {
    /// The machine lacks something.
    #[error("{0}")]
    Machine(String),
    /// convict itself failed.
    #[error("{0}")]
    Ours(String),
}
