//! `regression.case.json`: what a finding asks of a corpus. Knows what was seen; runs nothing.

use std::path::Path;

use case::LibraryConfiguration;
use corpus::{Basis, Configuration, Entry, Expect, Expectation};

use crate::error::BundleError;
use crate::files::REGRESSION;
use crate::finding::Finding;
use crate::read::read;
use crate::renew;
use crate::simulated::is_simulated;

/// The entry of a finding: it is expected where it was seen, and from that version on.
pub(crate) fn entry(finding: &Finding<'_>) -> Result<Entry, BundleError> {
    let environment = finding.environment;
    let version = environment.cudnn_text().parse();
    let configuration = match environment.configuration {
        _ if is_simulated(environment) => Some(Configuration::Simulator),
        Some(LibraryConfiguration::Full) => Some(Configuration::Full),
        Some(LibraryConfiguration::GraphJitOnly) => Some(Configuration::Jit),
        None => None,
    };
    let expectation = Expectation {
        cudnn_from: Some(version.map_err(|error| BundleError::content(REGRESSION, error))?),
        cudnn_to: None,
        configuration,
        architectures: vec![format!("sm_{}", environment.compute_capability)],
        expect: if finding.hits == finding.runs { Expect::Fail } else { Expect::Flaky },
        basis: Basis::Observed,
        kinds: Vec::new(),
        rate: Some(f64::from(finding.hits.max(1)) / f64::from(finding.runs.max(1))),
        reason: one_line(&finding.fault.summary),
        ticket: None,
        resolution: None,
        owner: None,
        review_by: None,
    };
    Ok(Entry::new(finding.case, Some(finding.signature.to_string()), vec![expectation]))
}

/// What libraries wrote may be anything.
fn one_line(text: &str) -> String {
    let line: String = text.chars().map(|each| if each.is_control() { ' ' } else { each }).collect();
    let line = line.trim();
    if line.is_empty() { "seen by convict".to_owned() } else { line.to_owned() }
}

/// Puts another entry into a bundle, and its hash among the others.
///
/// # Errors
/// A bundle that does not read back, an entry of another case, or the file system's error.
pub fn record_entry(folder: &Path, entry: &Entry) -> Result<(), BundleError> {
    let bundle = read(folder)?;
    if entry.case != bundle.verdict.case {
        return Err(BundleError::content(REGRESSION, "the new entry is about another case"));
    }
    renew::put(folder, &bundle, &[(REGRESSION, entry.print())])
}
