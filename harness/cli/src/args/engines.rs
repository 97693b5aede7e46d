//! Arguments of `convict engines`. Names and help texts.

use std::path::PathBuf;

use clap::Args;

use super::planning::{PlanOnly, Switch};
use super::{MachineArgs, OneDevice, help};

/// `convict engines`.
#[derive(Debug, Args)]
#[command(after_long_help = help::CASE_LINE)]
pub(crate) struct Engines {
    /// The case line whose plans are listed; --help explains it. Without it every engine of a library set is asked
    /// about the same list of problems, without a GPU, and a table says what it takes; that needs --arch or
    /// --device-json.
    #[arg(value_name = "CASE LINE")]
    pub(crate) case: Option<String>,
    /// Plan for this architecture, such as sm_90, or device, such as h200, instead of a device of this machine; a wrong
    /// word lists them. May be repeated for tables.
    #[arg(long, value_name = "sm_NN|DEVICE", help_heading = "Planning")]
    pub(crate) arch: Vec<String>,
    /// Plan for the device properties in this file: cuDNN's JSON, or a bundle's environment.json; keys that are missing
    /// are taken from --arch, and told as assumed.
    #[arg(long, visible_alias = "properties", value_name = "FILE", help_heading = "Planning")]
    pub(crate) device_json: Option<PathBuf>,
    /// Build plans that compile kernels at run time, too: each takes a core for half a second or longer. A table leaves
    /// them out, a case line does not.
    #[arg(long, value_enum, help_heading = "Planning")]
    pub(crate) rtc: Option<Switch>,
    /// Tables of this library set: a folder, or `wheel:VERSION`, which is fetched where it is not cached; may be
    /// repeated.
    #[arg(long, value_name = "SET", conflicts_with_all = ["case", "library"])]
    pub(crate) set: Vec<String>,
    /// Write the tables into this folder, each as Markdown, HTML and JSON, with an index and a page
    /// of them all on which sets, architectures and passes are picked.
    #[arg(long, value_name = "DIR", conflicts_with = "case")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON: one object a plan, or a table.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) device: OneDevice,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

impl Engines {
    /// What is planned for, once for each architecture; one that is not planned for where nothing names a device.
    pub(crate) fn plans(&self) -> Vec<PlanOnly> {
        let plans = |arch: Option<&String>| PlanOnly {
            plan_only: arch.is_some() || self.device_json.is_some(),
            arch: arch.cloned(),
            device_json: self.device_json.clone(),
            rtc: self.rtc,
        };
        if self.arch.is_empty() {
            vec![plans(None)]
        } else {
            self.arch.iter().map(|arch| plans(Some(arch))).collect()
        }
    }
}
