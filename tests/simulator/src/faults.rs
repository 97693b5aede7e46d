//! Fault scripts: what goes wrong when. Knows predicates and effects as data; brings none of them about.

mod file;
mod planted;
mod predicate;
mod tamper;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

pub use planted::{Planted, planted, planted_in_plans, planted_others};
pub use predicate::{Atom, Facts};
pub(crate) use tamper::spoiled_input;
pub use tamper::{Outside, Tampered, tamper};

use crate::backend::VERSION;
use crate::stop::{Ending, Stop};

/// Name of the variable that names the script.
pub const VARIABLE: &str = "CONVICT_SIM_FAULTS";

/// One fault: a condition and an effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What it is called.
    pub name: String,
    /// Holds where every atom does.
    pub when: Vec<Atom>,
    /// Acts only once an execution in this process has met every one of these atoms; none asks for nothing.
    #[serde(default)]
    pub after: Vec<Atom>,
    /// Acts at each so manieth time that the condition holds in this process; 1 is every time.
    #[serde(default = "one")]
    pub nth: u64,
    /// The effect.
    pub what: Action,
}

fn one() -> u64 {
    1
}

/// Where in the library a fault acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Site {
    /// When a heuristic query is finalized.
    Heuristics,
    /// When a configuration is finalized.
    Config,
    /// When an execution plan is finalized.
    Plan,
    /// When an execution plan is read from JSON.
    Reload,
    /// When a plan is executed.
    Execute,
}

/// Outputs that a fault reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// The last channel of every item (filter: the last channel of every filter).
    LastChannel,
    /// The last item (filter: the last filter).
    LastItem,
    /// The very last element.
    Corner,
    /// Every seventh element, from the first.
    Scattered,
}

/// A buffer beside which a fault writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Buffer {
    /// The tensor that the pass writes.
    Output,
    /// The workspace.
    Workspace,
}

/// A side of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Below its first byte.
    Before,
    /// Beyond its last byte.
    After,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Outputs are off.
    Wrong {
        /// Which.
        at: Region,
    },
    /// Outputs are off in a share of the executions, by chance.
    Flaky {
        /// Which.
        at: Region,
        /// Share, 0 to 1.
        rate: f64,
    },
    /// Outputs are zero.
    Zero {
        /// Which.
        at: Region,
    },
    /// Outputs are never written.
    Unwritten {
        /// Which.
        at: Region,
    },
    /// Outputs are NaN.
    Nan {
        /// Which.
        at: Region,
    },
    /// Outputs differ in their last bit in a share of the executions, evenly spread.
    Nondeterministic {
        /// Share, 0 to 1.
        rate: f64,
    },
    /// What the workspace held before is added to the first output, as if it had been zero.
    ReadWorkspace,
    /// What the workspace held before is followed as an offset: where it is no multiple of 4, an error ends the
    /// device's context.
    FollowWorkspace {
        /// The `CUresult`.
        error: i32,
    },
    /// Bytes beside a buffer are overwritten.
    WriteOutside {
        /// The buffer.
        buffer: Buffer,
        /// The side.
        side: Side,
        /// How many.
        bytes: u64,
    },
    /// The first element of the first input is overwritten.
    WriteInput,
    /// The plan asks for less workspace than it writes.
    LyingWorkspace {
        /// Bytes too few.
        bytes: i64,
    },
    /// A configuration, or a plan read from JSON, tells of more workspace than the plan that was built asks for.
    Surplus {
        /// Which of the two.
        site: Site,
        /// Bytes too many.
        bytes: i64,
    },
    /// A plan that is read from JSON is one for other tensors.
    Garble,
    /// A call returns a status.
    Status {
        /// Which call.
        site: Site,
        /// The `cudnnStatus_t`.
        status: i32,
    },
    /// The process dies.
    Crash {
        /// In which call.
        site: Site,
        /// How.
        by: Death,
    },
    /// A call never returns.
    Hang {
        /// Which.
        site: Site,
    },
    /// The device meets an error that ends the context.
    Sticky {
        /// The `CUresult`.
        error: i32,
    },
    /// Host memory is lost at each execution.
    Leak {
        /// Bytes.
        bytes: usize,
    },
}

/// How a process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Death {
    /// A read of an unmapped address.
    Segfault,
    /// `abort()`.
    Abort,
    /// An illegal instruction.
    IllegalInstruction,
    /// `exit(code)`.
    Exit(i32),
}

impl Action {
    /// Where it acts.
    #[must_use]
    pub fn site(self) -> Site {
        match self {
            Self::Status { site, .. }
            | Self::Crash { site, .. }
            | Self::Hang { site }
            | Self::Surplus { site, .. } => site,
            Self::Garble => Site::Reload,
            Self::Wrong { .. }
            | Self::Flaky { .. }
            | Self::Zero { .. }
            | Self::Unwritten { .. }
            | Self::Nan { .. }
            | Self::Nondeterministic { .. }
            | Self::ReadWorkspace
            | Self::FollowWorkspace { .. }
            | Self::WriteOutside { .. }
            | Self::WriteInput
            | Self::LyingWorkspace { .. }
            | Self::Sticky { .. }
            | Self::Leak { .. } => Site::Execute,
        }
    }

    /// What a call returns or how the process ends, for the actions that come to that.
    #[must_use]
    pub fn stop(self) -> Option<Stop> {
        match self {
            Self::Status { status, .. } => Some(Stop::status(status, "the fault script says so")),
            Self::Crash { by, .. } => Some(Stop::End(match by {
                Death::Segfault => Ending::Segfault,
                Death::Abort => Ending::Abort,
                Death::IllegalInstruction => Ending::IllegalInstruction,
                Death::Exit(code) => Ending::Exit(code),
            })),
            Self::Hang { .. } => Some(Stop::End(Ending::Hang)),
            Self::Wrong { .. }
            | Self::Flaky { .. }
            | Self::Zero { .. }
            | Self::Unwritten { .. }
            | Self::Nan { .. }
            | Self::Nondeterministic { .. }
            | Self::ReadWorkspace
            | Self::FollowWorkspace { .. }
            | Self::WriteOutside { .. }
            | Self::WriteInput
            | Self::LyingWorkspace { .. }
            | Self::Surplus { .. }
            | Self::Garble
            | Self::Sticky { .. }
            | Self::Leak { .. } => None,
        }
    }
}

/// A script that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("fault script {0}: {1}")]
    File(String, std::io::Error),
    /// It is no script.
    #[error("fault script {0}: {1}")]
    Text(String, serde_json::Error),
}

/// The faults of a process, and the version that its library claims to be.
#[derive(Debug)]
pub struct Script {
    version: usize,
    faults: Vec<Armed>,
}

impl Default for Script {
    fn default() -> Self {
        Self::new([])
    }
}

/// A fault and what came of it so far.
#[derive(Debug)]
struct Armed {
    fault: Fault,
    /// How often its condition held.
    held: AtomicU64,
    /// True once what it needs before has happened.
    ready: AtomicBool,
}

impl Armed {
    fn new(fault: Fault) -> Self {
        let ready = AtomicBool::new(fault.after.is_empty());
        Self { fault, held: AtomicU64::new(0), ready }
    }

    /// How often the fault was due before, where it acts now.
    fn acts(&self, site: Site, facts: &Facts<'_>) -> Option<u64> {
        let ready = self.ready.load(Ordering::Relaxed);
        if site == Site::Execute && !ready && self.fault.after.iter().all(|atom| atom.holds(facts)) {
            self.ready.store(true, Ordering::Relaxed);
        }
        if !ready || self.fault.what.site() != site || !self.fault.holds(facts) {
            return None;
        }
        let earlier = self.held.fetch_add(1, Ordering::Relaxed);
        (earlier + 1).is_multiple_of(self.fault.nth.max(1)).then_some(earlier)
    }
}

/// A fault that acts now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acting {
    /// The effect.
    pub action: Action,
    /// How often the fault's condition held before, in this process.
    pub earlier: u64,
}

impl Script {
    /// A script of those faults.
    #[must_use]
    pub fn new(faults: impl IntoIterator<Item = Fault>) -> Self {
        Self { version: VERSION, faults: faults.into_iter().map(Armed::new).collect() }
    }

    /// What `cudnnGetVersion()` tells.
    #[must_use]
    pub fn version(&self) -> usize {
        self.version
    }

    /// The script that the variable's value asks for: absent the planted faults, `none` no fault, else a JSON file
    /// with a list of faults, or with an object of `version` and `faults`.
    ///
    /// # Errors
    /// A file that cannot be read, or that is no script.
    pub fn named(value: Option<&str>) -> Result<Self, ScriptError> {
        match value {
            None | Some("") => {
                let all = planted().into_iter().chain(planted_others()).chain(planted_in_plans());
                Ok(Self::new(all.map(|planted| planted.fault)))
            }
            Some("none") => Ok(Self::default()),
            Some(path) => {
                let text = std::fs::read_to_string(Path::new(path))
                    .map_err(|error| ScriptError::File(path.to_owned(), error))?;
                Self::parse(&text).map_err(|error| ScriptError::Text(path.to_owned(), error))
            }
        }
    }

    /// A script from its JSON text.
    ///
    /// # Errors
    /// Text that is neither of the two forms.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let file::Text { version, faults } = file::parse(text)?;
        Ok(Self { version, ..Self::new(faults) })
    }

    /// The faults that act at a site.
    pub fn at(&self, site: Site, facts: &Facts<'_>) -> Vec<Acting> {
        self.faults
            .iter()
            .filter_map(|armed| Some(Acting { earlier: armed.acts(site, facts)?, action: armed.fault.what }))
            .collect()
    }

    /// Bytes that are told of too many at a site.
    #[must_use]
    pub fn surplus(&self, facts: &Facts<'_>, at: Site) -> i64 {
        let bytes = |fault: &Fault| {
            if let Action::Surplus { site, bytes } = fault.what
                && site == at
            {
                bytes
            } else {
                0
            }
        };
        self.held(facts).map(bytes).sum()
    }

    /// True where a plan that is read from JSON becomes another.
    #[must_use]
    pub fn garbles(&self, facts: &Facts<'_>) -> bool {
        self.held(facts).any(|fault| fault.what == Action::Garble)
    }

    fn held(&self, facts: &Facts<'_>) -> impl Iterator<Item = &Fault> {
        self.faults.iter().map(|armed| &armed.fault).filter(|fault| fault.holds(facts))
    }

    /// Bytes by which a plan's stated workspace falls short.
    #[must_use]
    pub fn lie(&self, facts: &Facts<'_>) -> i64 {
        let bytes = |fault: &Fault| {
            if let Action::LyingWorkspace { bytes } = fault.what { bytes } else { 0 }
        };
        self.held(facts).map(bytes).sum()
    }
}

impl Fault {
    /// True where every atom of `when` holds.
    #[must_use]
    pub fn holds(&self, facts: &Facts<'_>) -> bool {
        self.when.iter().all(|atom| atom.holds(facts))
    }
}

#[cfg(test)]
pub(crate) mod tests;
