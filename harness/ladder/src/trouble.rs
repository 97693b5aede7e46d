//! What can be wrong on a rung, in one word each, and how that follows from what was seen. Knows words and numbers of
//! statuses; knows no remedy.

use case::{Ended, Kind, Refusal};
use serde::{Deserialize, Serialize};

/// The kind of a break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// Driver, device or library set is missing or cannot be opened, or the set is mixed.
    Unusable,
    /// The device fails what is known to be good.
    Unhealthy,
    /// A result beyond every bound.
    Wrong,
    /// NaN or infinity where there should be none.
    NotANumber,
    /// Different bits on the same data without the note that allows it.
    Nondeterministic,
    /// The loss left the course of the exact training.
    Drift,
    /// Bytes outside a buffer, or an input, were overwritten.
    Stray,
    /// A status that the contract excludes.
    Status,
    /// A CUDA error after cuDNN reported success.
    Device,
    /// The process died.
    Crash,
    /// A call did not come back.
    Hang,
    /// Memory could not be had.
    Memory,
    /// The library declined, cleanly.
    Refused,
    /// A plan stored by another version was taken.
    StaleTaken,
}

impl Trouble {
    /// Every trouble.
    pub const ALL: [Self; 14] = [
        Self::Unusable,
        Self::Unhealthy,
        Self::Wrong,
        Self::NotANumber,
        Self::Nondeterministic,
        Self::Drift,
        Self::Stray,
        Self::Status,
        Self::Device,
        Self::Crash,
        Self::Hang,
        Self::Memory,
        Self::Refused,
        Self::StaleTaken,
    ];

    /// What went wrong, in a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Unusable => "driver, device or libraries cannot be used",
            Self::Unhealthy => "the device is in trouble",
            Self::Wrong => "a result is wrong",
            Self::NotANumber => "a result is NaN or infinite",
            Self::Nondeterministic => "the same work gives other bits",
            Self::Drift => "the loss does not follow the exact training",
            Self::Stray => "memory was overwritten",
            Self::Status => "a call fails that should not",
            Self::Device => "the device fails",
            Self::Crash => "the process dies",
            Self::Hang => "a call does not come back",
            Self::Memory => "memory is not enough",
            Self::Refused => "there is no plan",
            Self::StaleTaken => "a stale plan is taken",
        }
    }

    /// True where something is wrong with what was tested; what is merely missing or declined is none.
    #[must_use]
    pub fn is_fault(self) -> bool {
        match self {
            Self::Unusable | Self::Unhealthy | Self::Memory | Self::Refused => false,
            Self::Wrong
            | Self::NotANumber
            | Self::Nondeterministic
            | Self::Drift
            | Self::Stray
            | Self::Status
            | Self::Device
            | Self::Crash
            | Self::Hang
            | Self::StaleTaken => true,
        }
    }

    /// The trouble of a judged failure.
    #[must_use]
    pub fn of(kind: Kind, cause: &str) -> Self {
        match kind {
            Kind::Wrong if cause == "nan" => Self::NotANumber,
            Kind::Wrong | Kind::Inexact => Self::Wrong,
            Kind::Nondet => Self::Nondeterministic,
            Kind::Oob | Kind::Input => Self::Stray,
            Kind::Status | Kind::Accepted | Kind::Workspace | Kind::Reload => Self::Status,
            Kind::Device => Self::Device,
            Kind::Crash => Self::Crash,
            Kind::Hang => Self::Hang,
        }
    }

    /// The trouble of what could not be judged, by the words for it.
    #[must_use]
    pub(crate) fn of_words(words: &str) -> Self {
        let lower = words.to_lowercase();
        let memory = ["alloc", "memory", "worker's share"].iter().any(|word| lower.contains(word));
        if memory { Self::Memory } else { Self::Refused }
    }

    /// The trouble of a call that ended early, with the words for it.
    #[must_use]
    pub(crate) fn of_end(ended: &Ended) -> (Self, String) {
        match ended {
            Ended::Status(refusal) => (Self::of_status(refusal), told(refusal)),
            Ended::Device { code, name, phase, .. } => {
                let trouble = if *code == OUT_OF_MEMORY { Self::Memory } else { Self::Device };
                (trouble, format!("CUDA returned {name} ({code}) in {}", phase.name()))
            }
            Ended::Skipped(reason) => (Self::Refused, reason.clone()),
            Ended::Completed | Ended::Described => (Self::Refused, "it ended early".to_owned()),
        }
    }

    fn of_status(refusal: &Refusal) -> Self {
        if ALLOCATION.contains(&refusal.status) { Self::Memory } else { Self::Status }
    }
}

/// `CUDA_ERROR_OUT_OF_MEMORY`.
const OUT_OF_MEMORY: i32 = 2;

/// cuDNN 8's ALLOC_FAILED, cuDNN 9's HOST_ALLOCATION_FAILED and DEVICE_ALLOCATION_FAILED.
const ALLOCATION: [i32; 3] = [2, 4003, 4004];

/// `NOT_SUPPORTED (3000) in plan: the library's words`.
pub(crate) fn told(refusal: &Refusal) -> String {
    let head = format!("{} ({}) in {}", refusal.name, refusal.status, refusal.phase.name());
    if refusal.reason.is_empty() { head } else { format!("{head}: {}", refusal.reason) }
}
