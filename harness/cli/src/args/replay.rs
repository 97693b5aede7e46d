//! Arguments of `convict replay`. Names and help texts.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use corpus::Shard;

use super::values::duration;
use super::{MachineArgs, PlanOnly, Plans, SeveralDevices};

/// `convict replay`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER)]
pub(crate) struct Replay {
    /// Entries, bundles, or folders of them; without any the folder `corpus`.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Have entries that are right although they are expected to fail, and those that fail in another way, count as
    /// regressions too.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Close the range of each expectation that is no longer true, in its file.
    #[arg(long)]
    pub(crate) update: bool,
    /// Run part I of N alone, counted from 0; without it the variables of a test runner are looked at.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Run only entries whose name or case line contains this text; several: one of them.
    #[arg(long, value_name = "TEXT")]
    pub(crate) r#match: Vec<String>,
    /// Print the names of the entries that would be run, one a line, and run nothing.
    #[arg(long)]
    pub(crate) list: bool,
    /// Most time for all of it; what is left then is skipped.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) time: Option<Duration>,
    /// Most time for one run of an entry; what takes longer is skipped.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) case_time: Option<Duration>,
    /// Plans to run of an entry that pins none.
    #[arg(long, value_enum, default_value_t = Plans::Own)]
    pub(crate) engines: Plans,
    /// Worker processes over all devices; without it the number of cores, or of devices where those are more.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) workers: Option<u32>,
    /// Write a JUnit file.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print GitHub's annotations and add to its summary of the job; of itself where GITHUB_ACTIONS is set.
    #[arg(long)]
    pub(crate) github: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) devices: SeveralDevices,
    #[command(flatten)]
    pub(crate) plans: PlanOnly,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

const AFTER: &str = "\
STATES
  PASS         right, or refused where that is right
  FAIL         fails and should not: a regression, after three runs
  XFAIL        fails as expected
  XPASS        expected to fail or to be refused, and right; --update closes the range
  CHANGED      fails in another way than expected
  FLAKY        fails at times, as expected
  UNSUPPORTED  refused, which nobody expected and nobody minds
  UNTRUSTED    the check is too weak to say anything; --plan-only: the plan was built, which says nothing of results
  SKIPPED      not run: memory, time, too much work for the simulator
  INFRA        the machine or convict failed

SHARDS
  --shard I/N, or one of: CONVICT_SHARD=I/N; GTEST_SHARD_INDEX and GTEST_TOTAL_SHARDS; TEST_SHARD_INDEX and
  TEST_TOTAL_SHARDS (Bazel); SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT.

EXIT CODES
  0 as expected; 1 regressions; 2 an entry that can't be read, the others as expected; 3, 4 as ever;
  75 the device is in trouble, or an entry could not be run; 77 nothing was judged";
