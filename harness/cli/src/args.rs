//! The command line as clap reads it. Knows names and help texts; opens nothing.

mod bisect;
mod compare;
mod doctor;
mod engines;
mod help;
mod import;
mod ladder;
mod planning;
mod preflight;
mod recipe;
mod replay;
mod scan;
mod sets;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use self::bisect::{Bisect, Configurations, Plans};
pub(crate) use self::doctor::Doctor;
pub(crate) use compare::Compare;
pub(crate) use engines::Engines;
pub(crate) use import::{Form, Import};
pub(crate) use ladder::Ladder;
pub(crate) use planning::{PlanOnly, Switch};
pub(crate) use preflight::Preflight;
pub(crate) use recipe::{Recipe, RecipeKind};
pub(crate) use replay::Replay;
pub(crate) use scan::Scan;
pub(crate) use sets::Sets;
pub(crate) use values::Devices;
use values::{devices, duration, folder_or_nothing, one_device, operations};

/// Puts cuDNN convolutions on trial: hunts wrong results, faults and hangs on real GPUs, minimizes each to a
/// smallest case, and bundles it with a program that proves it.
#[derive(Debug, Parser)]
#[command(name = "convict", version, max_term_width = 120, after_help = help::exit_codes())]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fuzz convolutions and other operations across engines, confirm, minimize and bundle what fails.
    Hunt(Hunt),
    /// Run one case and print its verdict with the numbers behind it.
    Check(Check),
    /// Shrink a failing case to a smallest one.
    Minimize(Minimize),
    /// Say where a minimized case fails: conditions, near cases that pass, how its plan is reached.
    Explain(Explain),
    /// Run the same problems on two library sets and say what an upgrade makes worse, better or slower.
    Compare(Compare),
    /// Run a corpus of cases and say whether each does what is expected of it.
    Replay(Replay),
    /// Print a case in canonical form with its derived sizes; needs no GPU.
    Show(Show),
    /// List the plans of a case, or all engines of a library set on an architecture: knobs, notes, what each takes.
    Engines(Engines),
    /// Check that a bundle is whole, run its case and its program again, and say what still holds on this machine.
    Verify(Verify),
    /// Render a bundle anew from its data: page, ticket, guards, vendor forms; needs no GPU.
    Report(Report),
    /// List the convolutions that a log, a graph, a model or a table holds, as case lines with counts; needs no GPU.
    Import(Import),
    /// Say what the logs of a training run tell of cuDNN, CUDA and the GPU, why, and what to run next; needs no GPU.
    Scan(Scan),
    /// Show that kernels, guards, watchdog and isolation work on this machine.
    Selftest(Selftest),
    /// Climb from a tiny convolution to a short training, and say at which rung it breaks and what that means.
    Ladder(Ladder),
    /// Say in which cuDNN versions a case fails: first bad, last good, first fixed.
    Bisect(Bisect),
    /// List the published wheels of cuDNN and those in the cache; fetch one.
    Sets(Sets),
    /// Say in one line whether this machine meets the thresholds of a job and gets a known-good convolution right.
    Preflight(Preflight),
    /// Write a Dockerfile, a conda environment, requirements with hashes or a text for a library set or a bundle's.
    Recipe(Recipe),
    /// Say what this machine has of drivers and libraries, which of it programs map, and what does not belong together.
    Doctor(Doctor),
    /// Serve jobs; started by convict itself.
    #[command(hide = true)]
    Worker(Worker),
    /// Become a program that ends with convict; started by convict itself.
    #[command(hide = true)]
    Kept(Kept),
}

/// Which libraries and devices.
#[derive(Clone, Debug, Args)]
pub(crate) struct MachineArgs {
    /// Folder of the cuDNN to test; without it the usual system folders are searched.
    #[arg(long, value_name = "DIR", help_heading = "Machine")]
    pub(crate) library: Option<PathBuf>,
    /// Folder that holds cuBLASLt or NVRTC; may be repeated.
    #[arg(long, value_name = "DIR", help_heading = "Machine")]
    pub(crate) companion: Vec<PathBuf>,
    /// Run on the simulator instead of a GPU; names its folder where it is not beside convict.
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "", require_equals = true,
          value_parser = folder_or_nothing, help_heading = "Machine")]
    pub(crate) simulate: Option<PathBuf>,
    /// The simulator's fault script: a file, or `none` for no faults; needs --simulate.
    #[arg(long, value_name = "FILE", help_heading = "Machine")]
    pub(crate) faults: Option<PathBuf>,
}

/// The one device of a command with a single worker.
#[derive(Clone, Debug, Args)]
pub(crate) struct OneDevice {
    /// Device ordinal, among those that CUDA_VISIBLE_DEVICES leaves visible.
    #[arg(long, value_name = "N", value_parser = one_device, default_value = "0", help_heading = "Machine")]
    pub(crate) device: Devices,
}

/// The devices that several workers share.
#[derive(Clone, Debug, Args)]
pub(crate) struct SeveralDevices {
    /// Device ordinals, separated by commas, among those that CUDA_VISIBLE_DEVICES leaves visible; or `all`. There
    /// must be a worker for each.
    #[arg(long, value_name = "N,...|all", value_parser = devices, default_value = "0", help_heading = "Machine")]
    pub(crate) device: Devices,
}

/// Configurations per problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineSet {
    /// What heuristics A, B and fallback recommend.
    Heuristics,
    /// Those, and every engine of the global count with default knobs.
    All,
}

/// `convict hunt`.
#[derive(Debug, Args)]
pub(crate) struct Hunt {
    /// How long to hunt, such as 90s, 10m, 1h30m; looking into findings and trying out their programs comes after it.
    /// With --resume it counts anew.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) time: Option<Duration>,
    /// Stop after this many problems.
    #[arg(long, value_name = "N")]
    pub(crate) cases: Option<u64>,
    /// Take the problems from a file of case lines (`convict check --help` explains them), one a line, or from a
    /// corpus: a folder of entries, or one (.json).
    #[arg(long, value_name = "PATH")]
    pub(crate) cases_from: Option<PathBuf>,
    /// Run what this file says is really run, then its neighbours without end: what `convict import` writes or reads.
    #[arg(long, value_name = "FILE", conflicts_with = "cases_from")]
    pub(crate) around: Option<PathBuf>,
    /// Operations to hunt over, separated by commas: fprop, dgrad, wgrad, maxpool, avgpool, matmul, rmsnorm; `conv` for
    /// the first three, which are the default; `all`.
    #[arg(long, value_name = "NAME,...", value_parser = operations, conflicts_with_all = ["cases_from", "around"])]
    pub(crate) operations: Option<hunt::Operations>,
    /// Seed of the generator, or of the neighbours of --around.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder for events, summary and bundles.
    #[arg(long, value_name = "DIR", default_value = "convict-out")]
    pub(crate) out: PathBuf,
    /// Go on with the hunt that the folder of --out holds.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Worker processes over all devices; without it the number of cores, or of devices where those are more.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) workers: Option<u32>,
    /// Which configurations of each problem to run.
    #[arg(long, value_enum, default_value_t = EngineSet::All)]
    pub(crate) engines: EngineSet,
    /// Print the summary as JSON on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) plans: PlanOnly,
    #[command(flatten)]
    pub(crate) devices: SeveralDevices,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// `convict check`.
#[derive(Debug, Args)]
#[command(after_long_help = help::CASE_LINE)]
pub(crate) struct Check {
    /// The case line; --help explains it.
    #[arg(value_name = "CASE LINE")]
    pub(crate) case: String,
    /// Run every fill, workspace and output contents and ten repeats instead of four executions.
    #[arg(long)]
    pub(crate) full: bool,
    /// Judge a case of another library set (`set=`) all the same.
    #[arg(long)]
    pub(crate) any_set: bool,
    /// Print verdict and outcome as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) plans: PlanOnly,
    #[command(flatten)]
    pub(crate) device: OneDevice,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// `convict minimize`.
#[derive(Debug, Args)]
#[command(after_long_help = help::CASE_LINE)]
pub(crate) struct Minimize {
    /// The failing case line; --help explains it.
    #[arg(value_name = "CASE LINE")]
    pub(crate) case: String,
    /// Write a bundle into this folder, which must not exist yet; until then it holds the log of the runs made.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with the interrupted minimization of the same case whose log is in the folder of --out.
    #[arg(long, requires = "out")]
    pub(crate) resume: bool,
    /// Workers that run the case at the same time; the result is the same for any number.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) workers: u32,
    /// Most runs of the case.
    #[arg(long, value_name = "N", default_value_t = 400)]
    pub(crate) calls: u32,
    /// Most time to spend, such as 20m.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "20m")]
    pub(crate) time: Duration,
    /// Minimize a case of another library set (`set=`) all the same.
    #[arg(long)]
    pub(crate) any_set: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) plans: PlanOnly,
    #[command(flatten)]
    pub(crate) devices: SeveralDevices,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// `convict explain`.
#[derive(Debug, Args)]
#[command(after_long_help = help::CASE_LINE)]
pub(crate) struct Explain {
    /// The failing case line, best a minimized one, or the folder of a bundle; --help explains the line.
    #[arg(value_name = "CASE LINE|BUNDLE")]
    pub(crate) target: String,
    /// Most runs of cases around it.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) calls: u32,
    /// Most time to spend on them, such as 10m.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "10m")]
    pub(crate) time: Duration,
    /// Put what was found into the bundle, in place of what it held.
    #[arg(long)]
    pub(crate) update: bool,
    /// Explain a case of another library set (`set=`) all the same.
    #[arg(long)]
    pub(crate) any_set: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) plans: PlanOnly,
    #[command(flatten)]
    pub(crate) device: OneDevice,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// `convict show`.
#[derive(Debug, Args)]
#[command(after_long_help = help::CASE_LINE)]
pub(crate) struct Show {
    /// The case line; --help explains it.
    #[arg(value_name = "CASE LINE")]
    pub(crate) case: String,
    /// Print the JSON form alone.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `convict verify`.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The bundle's folder.
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    /// Check the files alone and run nothing; needs no GPU.
    #[arg(long, conflicts_with_all = ["runs", "any_set", "run_program"])]
    pub(crate) files_only: bool,
    /// Runs of the case, each in a fresh process, and runs of the program.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) runs: u32,
    /// Run a bundle of another library set, or of the simulator where this is none, all the same.
    #[arg(long)]
    pub(crate) any_set: bool,
    /// Run repro.cpp also where this version of convict would write another one: it is foreign code then, which may do
    /// whatever you may.
    #[arg(long)]
    pub(crate) run_program: bool,
    /// Print what was found as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) device: OneDevice,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// `convict report`.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// The bundle's folder.
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
}

/// `convict selftest`.
#[derive(Debug, Args)]
pub(crate) struct Selftest {
    #[command(flatten)]
    pub(crate) device: OneDevice,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// `convict worker`.
#[derive(Debug, Args)]
pub(crate) struct Worker {
    /// How to serve, as JSON.
    #[arg(long)]
    pub(crate) options: String,
}

/// `convict kept`.
#[derive(Debug, Args)]
pub(crate) struct Kept {
    /// Process that it ends with.
    pub(crate) parent: u32,
    /// The program and its arguments.
    #[arg(last = true, required = true)]
    pub(crate) program: Vec<OsString>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
