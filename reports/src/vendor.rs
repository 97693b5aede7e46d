//! A finding in the forms that vendors and frameworks read: graph, programs, issue text, library lists,
//! guards. Pure text from data; a form that cannot hold the case says why in its file.

mod condition;
mod forms;
mod fuzzer;
mod graph;
mod guards;
mod issue;
mod novelty;
mod python;
mod recreate;

pub(crate) use forms::forms;
pub use novelty::{KnownList, Match, Novelty, Seen, Standing, novelty};
pub(crate) use recreate::{dispatcher_build, wheel_place};

use crate::error::BundleError;
use crate::finding::Finding;

/// The case as cudnn-frontend's graph JSON.
pub(crate) const GRAPH: &str = "graph.json";
/// The line for NVIDIA's own convolution fuzzer.
pub(crate) const FUZZER: &str = "conv_fuzzer_cmd.txt";
/// A PyTorch program.
pub(crate) const TORCH: &str = "repro_torch.py";
/// A program on cudnn-frontend's Python interface.
pub(crate) const FRONTEND: &str = "repro_fe.py";
/// Text of an issue.
pub(crate) const ISSUE: &str = "issue.md";
/// Reports that tell of the same or of something close.
pub(crate) const NOVELTY: &str = "novelty.json";
/// The wheels of the library set.
pub(crate) const REQUIREMENTS: &str = "requirements.lock";
/// Hashes of the set's files as the wheels unpack them.
pub(crate) const LIBRARY_SUMS: &str = "libraries.sha256";
/// A container with the set.
pub(crate) const DOCKERFILE: &str = "Dockerfile";
/// A conda environment with the set.
pub(crate) const CONDA: &str = "environment.yml";
/// A rule for cudnn-frontend's errata file.
pub(crate) const ERRATA: &str = "guards/errata.json";
/// A guard for C++.
pub(crate) const GUARD_CPP: &str = "guards/guard.hpp";
/// A guard for Python.
pub(crate) const GUARD_PYTHON: &str = "guards/guard.py";
/// What the guards do and what they can't.
pub(crate) const GUARD_README: &str = "guards/README.md";

/// Every file of this room.
pub(crate) const FILES: [&str; 14] = [
    GRAPH,
    FUZZER,
    TORCH,
    FRONTEND,
    ISSUE,
    NOVELTY,
    REQUIREMENTS,
    LIBRARY_SUMS,
    DOCKERFILE,
    CONDA,
    ERRATA,
    GUARD_CPP,
    GUARD_PYTHON,
    GUARD_README,
];

/// Name and text of every file in [`FILES`], in that order. The finding must be free of private words.
///
/// # Errors
/// A template that does not render: our own trouble.
pub(crate) fn files(finding: &Finding<'_>) -> Result<[(&'static str, String); 14], BundleError> {
    let novelty = of(finding);
    let answer =
        serde_json::to_string_pretty(&novelty).map_err(|error| BundleError::content(NOVELTY, error))?;
    Ok([
        (GRAPH, graph::render(finding)),
        (FUZZER, fuzzer::render(finding)),
        (TORCH, python::torch(finding)?),
        (FRONTEND, python::frontend(finding)?),
        (ISSUE, issue::render(finding, &compared(finding, &KnownList::built_in().public()))),
        (NOVELTY, answer + "\n"),
        (REQUIREMENTS, recreate::requirements(finding)),
        (LIBRARY_SUMS, recreate::library_sums(finding.environment)),
        (DOCKERFILE, recreate::dockerfile(finding)),
        (CONDA, recreate::conda(finding)),
        (ERRATA, guards::errata(finding)),
        (GUARD_CPP, guards::cpp(finding)?),
        (GUARD_PYTHON, guards::python(finding)?),
        (GUARD_README, guards::readme(finding)),
    ])
}

/// Why a form that holds a single convolution cannot hold the case.
fn alone_obstacle(case: &case::Case) -> Option<String> {
    if case.problem.dtypes.has_integers() {
        return Some(
            "the program's reference computes in floating point, and the case has integers".to_owned(),
        );
    }
    let count = case.history.len();
    (count > 0).then(|| format!("the failure needs {count} convolutions before it in the same process"))
}

/// How a finding stands to the reports that this program knows.
pub(crate) fn of(finding: &Finding<'_>) -> Novelty {
    compared(finding, &KnownList::built_in())
}

fn compared(finding: &Finding<'_>, list: &KnownList) -> Novelty {
    let cudnn = finding.environment.cudnn_text();
    let seen = Seen { case: finding.case, sameness: &finding.fault.sameness, cudnn: &cudnn };
    novelty(&seen, list)
}

#[cfg(test)]
mod tests;
