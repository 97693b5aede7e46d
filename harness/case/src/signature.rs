//! When two failures are the same. Knows keys, never sizes.

use serde::{Deserialize, Serialize};

use crate::operation::Operation;
use crate::phase::Phase;
use crate::problem::Problem;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A result outside every bound.
    Wrong,
    /// Inexact arithmetic that no note declares, inside a bound.
    Inexact,
    /// Different bits on the same input without the note that allows it.
    Nondet,
    /// Bytes outside a buffer changed.
    Oob,
    /// An input changed.
    Input,
    /// A status that the contract excludes.
    Status,
    /// A CUDA error after cuDNN reported success.
    Device,
    /// The process died.
    Crash,
    /// A phase exceeded its deadline.
    Hang,
    /// Something that had to be refused was not.
    Accepted,
    /// Two answers to how much workspace a plan needs contradict each other, or one is impossible.
    Workspace,
    /// A plan's JSON does not give the same plan back.
    Reload,
}

impl Kind {
    /// Lower-case name, as in slugs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Inexact => "inexact",
            Self::Nondet => "nondet",
            Self::Oob => "oob",
            Self::Input => "input",
            Self::Status => "status",
            Self::Device => "device",
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::Accepted => "accepted",
            Self::Workspace => "workspace",
            Self::Reload => "reload",
        }
    }
}

/// What a reduction must keep for the failure to stay the same one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sameness {
    /// The kind.
    pub kind: Kind,
    /// The pass.
    pub operation: Operation,
    /// Where it showed.
    pub phase: Phase,
    /// Status name, signal name, CUDA error name, guarded buffer and side, or the value class of the first failing
    /// check (nan, stale, zero, finite). Lower-case letters, digits and underscores.
    pub cause: String,
    /// Global engine index, absent where the failure came before any engine.
    pub engine: Option<i64>,
}

impl Sameness {
    /// A sameness whose cause is brought to lower-case letters, digits and underscores.
    #[must_use]
    pub fn new(kind: Kind, operation: Operation, phase: Phase, cause: &str, engine: Option<i64>) -> Self {
        let plain = |character: char| {
            if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '_' }
        };
        Self { kind, operation, phase, cause: cause.chars().take(64).map(plain).collect(), engine }
    }
}

/// What deduplicates findings: sameness of the minimized case, its types and its layout class. Prints as a slug
/// that is safe as a file name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature(String);

impl Signature {
    /// The signature of a failure on a problem.
    #[must_use]
    pub fn new(sameness: &Sameness, problem: &Problem) -> Self {
        let dtypes = problem.dtypes;
        let types = if dtypes.is_uniform() {
            dtypes.x.name().to_owned()
        } else {
            dtypes.tensors().map(crate::DType::name).join(".")
        };
        let compute = if dtypes.compute == crate::DTypes::default_compute(dtypes.tensors()) {
            String::new()
        } else {
            format!("_{}", dtypes.compute.name())
        };
        let engine = sameness.engine.map_or_else(|| "none".to_owned(), |index| format!("e{index}"));
        Self(format!(
            "{}-{engine}-{}-{}-{}-{types}{compute}-{}",
            sameness.operation.name(),
            sameness.kind.name(),
            sameness.phase.name(),
            sameness.cause,
            problem.layouts.class()
        ))
    }

    /// The slug.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Signature {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}
