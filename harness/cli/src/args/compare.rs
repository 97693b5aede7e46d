//! Arguments of `convict compare`. Names and help texts.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values::duration;
use super::{EngineSet, MachineArgs, SeveralDevices};

/// `convict compare`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER)]
pub(crate) struct Compare {
    /// Entries of a corpus whose problems are compared first; without any the folder `corpus` where there is one.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The library set in use: a folder, or `wheel:VERSION`.
    #[arg(long, value_name = "SET")]
    pub(crate) baseline: String,
    /// The library set to upgrade to.
    #[arg(long, value_name = "SET")]
    pub(crate) candidate: String,
    /// How long to compare, such as 5m; a fresh hunt's problems fill what the corpus leaves.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5m")]
    pub(crate) time: Duration,
    /// Most problems of the fresh hunt; without it as many as the time allows.
    #[arg(long, value_name = "N")]
    pub(crate) cases: Option<u64>,
    /// Take the fresh problems from what is really run, and its neighbours: what `import` reads or wrote.
    #[arg(long, value_name = "FILE")]
    pub(crate) around: Option<PathBuf>,
    /// Seed of the fresh hunt.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Which configurations of each problem to run on both sets.
    #[arg(long, value_enum, default_value_t = EngineSet::All)]
    pub(crate) engines: EngineSet,
    /// Worker processes over all devices, half of them for each set; without it the number of cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1024))]
    pub(crate) workers: Option<u32>,
    /// Write the page as Markdown and HTML, the result as JSON and a JUnit file into this new folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write a JUnit file.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) devices: SeveralDevices,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

const AFTER: &str = "\
Problems are compared, not engines: engine numbers move between versions. A difference is told once it has come back
twice in fresh processes; times are compared in turns. With --simulate a set is a folder with a `faults.json`.

EXIT CODES
  0 nothing is worse; 1 the candidate is newly wrong or newly refuses; 2 usage, both sets the same; 3, 4, 75 as ever;
  77 nothing was judged";
