//! What ends a hunt early. Knows whose trouble it is; a finding is never one of these.

use std::io;

use exec::HarnessError;

/// Why a hunt, a check or a minimization could not be carried through.
#[derive(Debug, thiserror::Error)]
pub enum HuntError {
    /// Slots failed, or the run was interrupted.
    #[error(transparent)]
    Harness(#[from] HarnessError),
    /// An event could not be recorded: going on would lose what comes next.
    #[error("cannot record the hunt: {0}")]
    Record(#[source] io::Error),
    /// A hunt needs at least one slot.
    #[error("there is no slot to hunt with")]
    NoSlots,
    /// Engine numbers of one library set mean nothing on another.
    #[error("the hunt to resume ran on library set {held}, but {present} is loaded")]
    OtherSet {
        /// Set of the earlier run.
        held: String,
        /// Set that is loaded now.
        present: String,
    },
    /// There is nothing to minimize.
    #[error("{0}")]
    Passes(String),
}

impl HuntError {
    /// True when the run was asked to stop, and nothing else is wrong.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        matches!(self, Self::Harness(HarnessError::Interrupted))
    }
}
