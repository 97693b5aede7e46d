//! The backend API in safe Rust: descriptors, their attributes, what finalizing checks and execution does. Knows
//! numbers and rules of the real library; raw pointers stay in the crate that exports it.

mod descriptor;
mod device;
mod execution;
mod finalize;
mod get;
mod json;
mod others;
mod set;

use std::rc::Rc;

use case::{Config, Knob};

pub use descriptor::{CUDART_VERSION, Data, Descriptor, Finished, VERSION};
pub use execution::{Execution, Memory, execute};

use crate::engine::{Engine, KnobRange};
use crate::problem::Problem;

/// An execution plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What it computes.
    pub problem: Rc<Problem>,
    /// Engine and knobs.
    pub config: Config,
    /// Workspace that it asks for, bytes.
    pub workspace_bytes: i64,
    /// Version of the library that built it.
    pub version: usize,
}

/// Pointers of one execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pack {
    /// Tensor names.
    pub ids: Vec<i64>,
    /// Their device addresses.
    pub pointers: Vec<u64>,
    /// The workspace's.
    pub workspace: u64,
}

/// A finalized engine.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundEngine {
    /// What it is for.
    pub problem: Rc<Problem>,
    /// Global index.
    pub index: i64,
    /// The engine.
    pub engine: &'static Engine,
}

/// What a knob may be.
pub type KnobInfo = KnobRange;

/// A knob's choice.
pub type KnobChoice = Knob;

#[cfg(test)]
mod tests;
