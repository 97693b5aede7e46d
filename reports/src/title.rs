//! The one line that names a finding, in the order that a triager reads. Knows the words of each kind.

use case::{Case, Kind};

use crate::finding::Finding;

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
    }
}

/// `[cuDNN 9.19.0] [dgrad] [wrong result] [engine 25] on sm_90: f16 nchw n2 c16 k32 i14x14 f3x3 p1x1`.
#[must_use]
pub fn title(finding: &Finding<'_>) -> String {
    let environment = finding.environment;
    let sameness = &finding.fault.sameness;
    let engine =
        sameness.engine.map_or_else(|| "before any engine".to_owned(), |index| format!("engine {index}"));
    let problem = Case::new(finding.case.problem.clone()).to_string();
    let operation = sameness.operation.name();
    let condition = problem.strip_prefix(operation).unwrap_or(&problem).trim_start();
    format!(
        "[cuDNN {}] [{operation}] [{}] [{engine}] on sm_{}: {condition}",
        environment.cudnn_text(),
        kind_words(sameness.kind),
        environment.compute_capability
    )
}
