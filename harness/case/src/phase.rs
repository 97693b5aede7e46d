//! The stages a worker announces before it acts. Knows their order; knows nothing of what happens in them.

use serde::{Deserialize, Serialize};

/// Where a run was when something happened. The worker announces each phase before it enters it, so that the
/// last announcement names the place of a death or a stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Phase {
    /// Libraries are opened.
    Load = 0,
    /// Driver, context and cuDNN handle are made.
    Init = 1,
    /// Tensor, convolution, operation and graph descriptors are finalized.
    Describe = 2,
    /// Heuristics are asked and engines enumerated.
    Heuristics = 3,
    /// Engine, configuration and execution plan are finalized.
    Plan = 4,
    /// Buffers are allocated, filled and guarded.
    Allocate = 5,
    /// The plan is launched.
    Execute = 6,
    /// The device is waited for.
    Sync = 7,
    /// Results are measured and copied back.
    ReadBack = 8,
    /// The measurements are judged.
    Judge = 9,
    /// Descriptors and buffers are released.
    Teardown = 10,
}

impl Phase {
    /// All phases in the order in which a run enters them.
    pub const ALL: [Self; 11] = [
        Self::Load,
        Self::Init,
        Self::Describe,
        Self::Heuristics,
        Self::Plan,
        Self::Allocate,
        Self::Execute,
        Self::Sync,
        Self::ReadBack,
        Self::Judge,
        Self::Teardown,
    ];

    /// Lower-case name, as in JSON and slugs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Init => "init",
            Self::Describe => "describe",
            Self::Heuristics => "heuristics",
            Self::Plan => "plan",
            Self::Allocate => "allocate",
            Self::Execute => "execute",
            Self::Sync => "sync",
            Self::ReadBack => "readback",
            Self::Judge => "judge",
            Self::Teardown => "teardown",
        }
    }

    /// The phase with that announcement number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}
