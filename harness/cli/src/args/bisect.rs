//! The arguments of `convict bisect`. Knows names and help texts; opens nothing.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{MachineArgs, OneDevice, help};

/// Which library sets of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Configurations {
    /// Those with every engine.
    Full,
    /// Those with the engines alone that are compiled at run time.
    Jit,
    /// Each of the two by itself.
    Both,
}

/// Which plans of the problem count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Plans {
    /// The one that the case names; rank 0 of heuristics A where it names none.
    Own,
    /// Whatever heuristics recommend.
    Heuristics,
    /// Those, and every engine.
    All,
}

/// `convict bisect`.
#[derive(Debug, Args)]
#[command(after_long_help = help::CASE_LINE)]
pub(crate) struct Bisect {
    /// The case line; --help explains it. A pinned engine is taken on its own library set alone, since numbers mean
    /// other engines elsewhere; on any other set every engine of the problem counts.
    #[arg(value_name = "CASE LINE")]
    pub(crate) case: String,
    /// Versions to search, both ends included, either left out for no limit: `9.12..9.19`, `9.14.0.64..`.
    #[arg(long, value_name = "A..B", required_unless_present = "sets")]
    pub(crate) versions: Option<String>,
    /// Search the library sets in this folder, each in a folder of its own, instead of published wheels; needs no
    /// network.
    #[arg(long, value_name = "DIR", conflicts_with = "cuda")]
    pub(crate) sets: Option<PathBuf>,
    /// Which sets of each version; without it full wheels, or everything in the folder of --sets.
    #[arg(long, value_enum)]
    pub(crate) configuration: Option<Configurations>,
    /// CUDA major of the wheels; without it what the driver runs, 13 without a driver.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(12..=13))]
    pub(crate) cuda: Option<u32>,
    /// Which plans have to be right.
    #[arg(long, value_enum, default_value_t = Plans::Own)]
    pub(crate) engines: Plans,
    /// Failure to look for: wrong, inexact, nondet, oob, input, status, device, crash, hang, accepted, or refused;
    /// without it the first that is met.
    #[arg(long, value_name = "KIND", value_parser = kind)]
    pub(crate) kind: Option<String>,
    /// Only build plans, for the device properties in this file (cuDNN's JSON); needs no GPU. A version is bad too
    /// where it builds none.
    #[arg(long, value_name = "FILE")]
    pub(crate) properties: Option<PathBuf>,
    /// Runs without the failure, each in a fresh process, that make a version good; more where the failure comes and
    /// goes.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(crate) runs: u32,
    /// Most library sets to try.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) runs_max: usize,
    /// Keep a log of all runs in this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with the search whose log is in the folder of --out.
    #[arg(long, requires = "out")]
    pub(crate) resume: bool,
    /// Print what was found as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) device: OneDevice,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// Names of failures that can be looked for.
const KINDS: [&str; 11] = [
    "wrong", "inexact", "nondet", "oob", "input", "status", "device", "crash", "hang", "accepted", "refused",
];

fn kind(text: &str) -> Result<String, String> {
    if KINDS.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!("no such failure; one of {}", KINDS.join(", ")))
}
