//! The arguments of `convict doctor`. Knows names and help texts; opens nothing.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values::some_time;

/// `convict doctor`.
#[derive(Debug, Args)]
#[command(after_long_help = WHAT)]
pub(crate) struct Doctor {
    /// Start this Python, have it import PyTorch or else open cuDNN, and tell what it really maps; without it the
    /// Python at hand tells its folders alone.
    #[arg(long, value_name = "PYTHON", num_args = 0..=1, default_missing_value = "python3", conflicts_with = "root")]
    pub(crate) python: Option<PathBuf>,
    /// Most time for that Python; what it told until then counts, and it is killed.
    #[arg(long, value_name = "DURATION", value_parser = some_time, default_value = "30s")]
    pub(crate) time: Duration,
    /// Tell what the loader would map for this program or library, which is not run.
    #[arg(long, value_name = "FILE")]
    pub(crate) exe: Option<PathBuf>,
    /// Tell what this running process maps, with its own environment; one in a container is looked at within it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pid: Option<u32>,
    /// Look below this folder, such as the file system of an image, and start nothing. LD_LIBRARY_PATH and its like are
    /// those of this process and mean places within it.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Hash every library, and compare it with what its package installed.
    #[arg(long)]
    pub(crate) hash: bool,
    /// Tell places by their kind, so that no home, user or project is named: for a ticket.
    #[arg(long)]
    pub(crate) share: bool,
    /// Print the whole ledger as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

const WHAT: &str = "\
WHAT IS LOOKED AT
  driver and the highest CUDA that it serves, GPUs with memory, ECC, MIG and who holds memory, toolkits, every copy of
  cuDNN, cuBLAS, cudart, NVRTC and nvJitLink (LD_LIBRARY_PATH, the Python's packages, conda, toolkits, the loader's
  cache and configuration, system folders) with version, build-id and package, frameworks with what they were built for
  and what they pin, variables, and which copy programs map. Neither a GPU nor a driver nor a Python is needed.

WHAT MENDS IT
  Each finding ends with one command, or with a sentence where no command can. They agree with each other: what has to
  change in LD_LIBRARY_PATH is one command for all. With --root and --pid of a container they run inside.

Exit code 0: nothing but notes; 1: an error or a warning; 3: there is no cuDNN to look at.";
