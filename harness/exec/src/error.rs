//! What can go wrong on our own side. Knows causes and whose they are; a finding is never one of these.

use std::io;
use std::path::PathBuf;

const UNHEALTHY: &str = "the device is unhealthy";
const STARVED: &str = "too little device memory is left for a known-good convolution of four elements";

/// Our own trouble or the machine's. Never says anything about a library's answers.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// A process could not be started.
    #[error("cannot start {}: {source}", program.display())]
    Spawn {
        /// The executable.
        program: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file or socket of ours failed.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// A worker sent bytes that are no answer to what it was asked.
    #[error("a worker broke the protocol: {0}")]
    Frame(String),
    /// The machine or the library set cannot be used.
    #[error("{message}")]
    Unusable {
        /// One line for the user.
        message: String,
    },
    /// A worker cannot be brought to work, for a reason on our side.
    #[error("{message}")]
    Broken {
        /// One line for the user, then the end of what the worker printed.
        message: String,
    },
    /// After an abnormal end a known-good case failed twice on fresh workers: the slot is in quarantine.
    #[error("{}: {message}", if *starved { STARVED } else { UNHEALTHY })]
    Unhealthy {
        /// What the last probe showed.
        message: String,
        /// True where device memory was not enough even for that case, which says nothing of the device's health.
        starved: bool,
    },
    /// The job did not end within the time that whoever gave it allows.
    #[error("the time for it was over")]
    OutOfTime,
    /// The run was asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl HarnessError {
    /// What a worker says of itself, by whose fault it is.
    pub(crate) fn reported(message: String, machine: bool) -> Self {
        if machine { Self::Unusable { message } } else { Self::Broken { message } }
    }

    /// True where the machine or its libraries are the cause (exit code 3), false where convict is (4).
    #[must_use]
    pub fn machine(&self) -> bool {
        match self {
            Self::Unusable { .. } | Self::Unhealthy { .. } => true,
            Self::Spawn { .. }
            | Self::Io { .. }
            | Self::Frame(_)
            | Self::Broken { .. }
            | Self::OutOfTime
            | Self::Interrupted => false,
        }
    }
}
