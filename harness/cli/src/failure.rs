//! Every way a command can fail and its exit code, in one table. Knows codes; decides no verdict.

use std::path::Path;

use case::CaseError;
use exec::HarnessError;

/// Nothing wrong was found.
pub(crate) const CLEAN: u8 = 0;
/// Findings or regressions.
pub(crate) const FOUND: u8 = 1;
/// A bundle is not what it should be.
pub(crate) const REFUSED: u8 = 2;
/// This machine can't run it.
pub(crate) const MACHINE: u8 = 3;
/// The device is in trouble; another one may do.
pub(crate) const ELSEWHERE: u8 = 75;
/// Nothing could be judged.
pub(crate) const UNJUDGED: u8 = 77;

/// A command that could not do its work: one line for the user.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command line or a file it names asks for something impossible.
    #[error("{0}")]
    Usage(String),
    /// This machine can't run it.
    #[error("{0}")]
    Machine(String),
    /// convict itself failed.
    #[error("{0}")]
    Ours(String),
    /// The device is in trouble; another one may do.
    #[error("{0}")]
    Elsewhere(String),
    /// Somebody asked it to stop before there was an answer.
    #[error("interrupted")]
    Interrupted,
    /// What was asked about cannot be judged here.
    #[error("{0}")]
    Unjudged(String),
}

impl Failure {
    /// The documented exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => REFUSED,
            Self::Machine(_) => MACHINE,
            Self::Ours(_) => 4,
            Self::Elsewhere(_) => ELSEWHERE,
            Self::Unjudged(_) => UNJUDGED,
            Self::Interrupted => 130,
        }
    }

    /// A file or folder of ours that failed.
    pub(crate) fn file(what: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::Ours(format!("{what} {}: {error}", path.display()))
    }
}

impl From<CaseError> for Failure {
    fn from(error: CaseError) -> Self {
        Self::Usage(format!("bad case: {error}"))
    }
}

impl From<HarnessError> for Failure {
    fn from(error: HarnessError) -> Self {
        let message = error.to_string();
        if let HarnessError::Interrupted = error {
            Self::Interrupted
        } else if let HarnessError::Unhealthy { .. } = error {
            Self::Elsewhere(message)
        } else if error.machine() {
            Self::Machine(message)
        } else {
            Self::Ours(message)
        }
    }
}
