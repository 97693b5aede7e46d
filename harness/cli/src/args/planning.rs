//! Arguments of what plans without a GPU. Knows names and help texts; opens nothing.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// With it.
    On,
    /// Without it.
    Off,
}

/// Which device to plan for, and how much of it.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlanOnly {
    /// Judge plans alone, on a machine without a GPU or a driver: the library describes, recommends and plans for a
    /// device that is not there; int8 and int32 are tried too. Needs --arch or --device-json.
    #[arg(long, help_heading = "Planning")]
    pub(crate) plan_only: bool,
    /// The device to plan for: an architecture such as sm_90, or a device such as h200; a wrong word lists them.
    #[arg(long, value_name = "sm_NN|DEVICE", help_heading = "Planning")]
    pub(crate) arch: Option<String>,
    /// The device's properties as cuDNN's JSON; keys that it lacks are taken from --arch, and told as assumed.
    #[arg(long, value_name = "FILE", help_heading = "Planning")]
    pub(crate) device_json: Option<PathBuf>,
    /// Build plans that compile kernels at run time, too: about ten times slower.
    #[arg(long, value_enum, default_value_t = Switch::Off, help_heading = "Planning")]
    pub(crate) rtc: Switch,
}
