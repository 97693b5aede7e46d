//! The arguments of `convict preflight`. Knows names and help texts; opens nothing.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use gate::{Asked, Bytes, Capability, Release, SetName, Thresholds};

use super::values::some_time;
use super::{MachineArgs, OneDevice};

/// `convict preflight`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER)]
pub(crate) struct Preflight {
    /// Read thresholds from this file, `-` for standard input; a flag wins over its line.
    #[arg(long, value_name = "FILE")]
    pub(crate) thresholds: Option<PathBuf>,
    /// Oldest driver release, such as 580 or 580.65.06.
    #[arg(long, value_name = "V")]
    min_driver: Option<Release>,
    /// Oldest CUDA that the driver has to serve, such as 12.8.
    #[arg(long, value_name = "V")]
    min_cuda: Option<Release>,
    /// Oldest cuDNN, such as 9.10.
    #[arg(long, value_name = "V")]
    min_cudnn: Option<Release>,
    /// Newest cuDNN; 9.19 takes in every 9.19.
    #[arg(long, value_name = "V")]
    max_cudnn: Option<Release>,
    /// Least compute capability, such as 8.0.
    #[arg(long, value_name = "X.Y")]
    min_capability: Option<Capability>,
    /// Least free device memory, such as 10GiB; without it a tenth of the device's.
    #[arg(long, value_name = "BYTES")]
    min_free_memory: Option<Bytes>,
    /// A library set that is allowed, such as 9.19 (with every engine), 9.19.0-full or 9.27-jit; may be repeated.
    /// Without it any is.
    #[arg(long, value_name = "NAME")]
    allow_set: Vec<SetName>,
    /// Most time for all of it; a device that hangs is told then.
    #[arg(long, value_name = "DURATION", value_parser = some_time, default_value = "20s")]
    pub(crate) time: Duration,
    /// Print one JSON object instead of the line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) device: OneDevice,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

impl Preflight {
    /// What the flags ask for.
    pub(crate) fn flags(&self) -> Thresholds {
        let release = |value: &Option<Release>, name| value.clone().map(|value| Asked::by_flag(value, name));
        let sets = self.allow_set.iter().cloned();
        Thresholds {
            min_driver: release(&self.min_driver, "min-driver"),
            min_cuda: release(&self.min_cuda, "min-cuda"),
            min_cudnn: release(&self.min_cudnn, "min-cudnn"),
            max_cudnn: release(&self.max_cudnn, "max-cudnn"),
            min_capability: self.min_capability.map(|value| Asked::by_flag(value, "min-capability")),
            min_free_memory: self.min_free_memory.map(|value| Asked::by_flag(value, "min-free-memory")),
            allow_set: sets.map(|value| Asked::by_flag(value, "allow-set")).collect(),
        }
    }
}

const AFTER: &str = "\
ONE DEVICE A CALL
  --device names one; a job of several calls it once for each, or each of its ranks for its own.

THE FILE
  TOML with the flags' names as keys, every value in quotes:

      min-driver = \"580.65\"
      min-cuda = \"13.0\"
      min-cudnn = \"9.10\"
      max-cudnn = \"9.19\"
      min-capability = \"8.0\"
      min-free-memory = \"10GiB\"
      allow-set = [\"9.19-full\", \"9.20-full\"]

EXIT CODES
  0 ready; 1 a threshold is not met, or the plan that frameworks try first is wrong while others are right;
  2 a bad flag or file; 3 the machine can't run it: no driver, no library, mixed library files; 4 convict failed;
  75 the device is in trouble: no plan of the known-good convolution is right, it died, or it did not end in time.
  Where a threshold is not met and the device is in trouble, 75.";
