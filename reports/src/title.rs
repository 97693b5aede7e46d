//! The one line that names a finding, in the order that a triager reads. Knows the words of each kind.

use std::fmt;

use case::{Case, Environment, Kind, Sameness};

use crate::finding::Finding;
use crate::simulated::{TAG, is_simulated};

/// What a person calls a kind of failure.
#[must_use]
pub fn kind_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Wrong => "wrong result",
        Kind::Inexact => "undeclared inexact result",
        Kind::Nondet => "undeclared nondeterminism",
        Kind::Oob => "out-of-bounds write",
        Kind::Input => "input overwritten",
        Kind::Status => "unexpected status",
        Kind::Device => "device fault",
        Kind::Crash => "crash",
        Kind::Hang => "hang",
        Kind::Accepted => "invalid case accepted",
        Kind::Workspace => "contradictory workspace",
        Kind::Reload => "plan changed by its JSON",
    }
}

/// The line in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Title {
    /// True where no GPU was there: then the line begins with that.
    pub(crate) simulated: bool,
    /// Version, pass, kind and engine.
    pub(crate) tags: [String; 4],
    /// The architecture.
    pub(crate) architecture: String,
    /// The problem, without its pass, and how many others have to run before it.
    pub(crate) condition: String,
}

impl Title {
    pub(crate) fn new(environment: &Environment, sameness: &Sameness, case: &Case) -> Self {
        let engine =
            sameness.engine.map_or_else(|| "before any engine".to_owned(), |index| format!("engine {index}"));
        let problem = Case::new(case.problem.clone()).to_string();
        let operation = sameness.operation.name();
        let condition = problem.strip_prefix(operation).unwrap_or(&problem).trim_start();
        Self {
            simulated: is_simulated(environment),
            tags: [
                format!("cuDNN {}", environment.cudnn_text()),
                operation.to_owned(),
                kind_words(sameness.kind).to_owned(),
                engine,
            ],
            architecture: format!("sm_{}", environment.compute_capability),
            condition: match case.history.len() {
                0 => condition.to_owned(),
                1 => format!("{condition}, after another convolution in the same process"),
                count => format!("{condition}, after {count} other convolutions in the same process"),
            },
        }
    }
}

impl fmt::Display for Title {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.simulated {
            write!(formatter, "[{TAG}] ")?;
        }
        for tag in &self.tags {
            write!(formatter, "[{tag}] ")?;
        }
        write!(formatter, "on {}: {}", self.architecture, self.condition)
    }
}

/// `[cuDNN 9.19.0] [dgrad] [wrong result] [engine 25] on sm_90: f16 nchw n2 c16 k32 i14x14 f3x3 p1x1`.
#[must_use]
pub fn title(finding: &Finding<'_>) -> String {
    Title::new(finding.environment, &finding.fault.sameness, finding.case).to_string()
}
