//! Arguments of what plans without a GPU. Knows names and help texts; opens nothing.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// How many of the plans that compile kernels at run time are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// One of each problem's, by turns.
    On,
    /// None.
    Off,
    /// Every one.
    All,
}

/// Which device to plan for, and how much of it.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlanOnly {
    /// Judge plans alone, on a machine without a GPU or a driver: the library describes, recommends and plans for a
    /// device that is not there, int8 and int32 too. Needs --arch or --device-json.
    #[arg(long, help_heading = "Planning")]
    pub(crate) plan_only: bool,
    /// The device to plan for: an architecture such as sm_90, or a device such as h200; a wrong word lists them.
    #[arg(long, value_name = "sm_NN|DEVICE", help_heading = "Planning")]
    pub(crate) arch: Option<String>,
    /// The device's properties as cuDNN's JSON, or a bundle's environment.json; keys that are missing are taken from
    /// --arch, and told as assumed.
    #[arg(long, value_name = "FILE", help_heading = "Planning")]
    pub(crate) device_json: Option<PathBuf>,
    /// Build plans that compile kernels at run time, too: each takes a core for half a second or longer. A hunt of
    /// convolutions leaves them out, one of other operations takes one of each problem's, a single case takes all.
    #[arg(long, value_enum, help_heading = "Planning")]
    pub(crate) rtc: Option<Switch>,
}

impl PlanOnly {
    /// The same arguments as a command line has them, with a space before each; nothing where a device executes.
    pub(crate) fn words(&self) -> String {
        if !self.plan_only {
            return String::new();
        }
        let arch = self.arch.as_ref().map(|arch| format!(" --arch {arch}"));
        let json = self.device_json.as_ref().map(|path| format!(" --device-json {}", path.display()));
        format!(" --plan-only{}{}", arch.unwrap_or_default(), json.unwrap_or_default())
    }
}
