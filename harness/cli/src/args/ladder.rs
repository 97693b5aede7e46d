//! Arguments of `convict ladder`. Names and help texts.

use std::path::PathBuf;

use clap::Args;

use super::values::bytes;
use super::{MachineArgs, OneDevice};

/// `convict ladder`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER)]
pub(crate) struct Ladder {
    /// Climb this rung alone, after rung 0.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    pub(crate) rung: Option<u8>,
    /// How long rung 2 may take; shapes that are left then are counted.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// Take device memory away until this much is left, such as 512MiB.
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Pressure")]
    pub(crate) memory_left: Option<u64>,
    /// Leave that memory in small holes.
    #[arg(long, requires = "memory_left", help_heading = "Pressure")]
    pub(crate) fragment: bool,
    /// Take no plan that asks for more workspace than this, such as 0 or 32MiB.
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Pressure")]
    pub(crate) workspace_limit: Option<u64>,
    /// Load the CUDA libraries of this folder first, as a program does that has two stacks.
    #[arg(long, value_name = "DIR", help_heading = "Pressure")]
    pub(crate) second_stack: Option<PathBuf>,
    /// Offer the plans of this file, which another version saved, as a program does that keeps a cache of them.
    #[arg(long, value_name = "FILE", help_heading = "Pressure")]
    pub(crate) stale_plans: Option<PathBuf>,
    /// Save the plans of the training, for --stale-plans of another version; they may hold machine code of the library.
    #[arg(long, value_name = "FILE")]
    pub(crate) save_plans: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) device: OneDevice,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

const AFTER: &str = "\
THE RUNGS
  0  the machine answers: driver and library set load in a worker
  1  one tiny convolution, by the plan that heuristics rank first
  2  convolution, pooling, matmul and normalization over awkward shapes, on every plan of the heuristic lists, each
     result against an exact reference
  3  a short training of a small network, forward, backward, update, in one worker through cuDNN, against the same
     training in f64; twice, with the same bits where no engine declares otherwise
  What breaks is tried again in fresh processes. Rungs 2 and 3 are both climbed, whatever breaks there.

EXIT CODES
  0 every rung held; 1 a rung broke; 2 usage; 3 this machine can't run it, pressure or not: no driver, no library, a
  companion missing, mixed library files; 4 convict itself failed; 75 the device is in trouble: try elsewhere; 77 a rung
  that was to be climbed could not be; 130 interrupted before the end";
