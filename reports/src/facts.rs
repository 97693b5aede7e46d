//! What the page and the evidence are made from: exactly what a bundle's data files hold, so that a page can
//! be made again from its bundle alone. Data only.

use case::{Case, Environment, Explanation};

use crate::finding::Finding;
use crate::read::Bundle;
use crate::vendor::Novelty;
use crate::verdict::VerdictRecord;

/// The data of one bundle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'a> {
    /// The case that fails.
    pub(crate) case: &'a Case,
    /// The case as it was met.
    pub(crate) original: &'a Case,
    /// Machine and libraries.
    pub(crate) environment: &'a Environment,
    /// What was seen.
    pub(crate) verdict: &'a VerdictRecord,
    /// Where the failure lies, where somebody has probed.
    pub(crate) explanation: Option<&'a Explanation>,
    /// Whether it was reported before; absent where nobody has compared.
    pub(crate) novelty: Option<&'a Novelty>,
    /// Text for an issue tracker.
    pub(crate) issue: &'a str,
    /// Questions of the minimization and their answers, JSON lines.
    pub(crate) minimize_log: &'a str,
    /// The library's own log.
    pub(crate) library_log: &'a str,
    /// What the libraries wrote on stderr.
    pub(crate) stderr: &'a str,
}

impl<'a> Facts<'a> {
    /// Those of a finding that is free of private words, as far as it holds them itself.
    pub(crate) fn of(finding: &Finding<'a>, verdict: &'a VerdictRecord, minimize_log: &'a str) -> Self {
        Self {
            case: finding.case,
            original: finding.original,
            environment: finding.environment,
            verdict,
            explanation: finding.explanation,
            novelty: None,
            issue: "",
            minimize_log,
            library_log: finding.library_log,
            stderr: &finding.outcome.stderr,
        }
    }

    /// Those of a bundle that was read.
    pub(crate) fn read(bundle: &'a Bundle) -> Self {
        Self {
            case: &bundle.case,
            original: &bundle.original,
            environment: &bundle.environment,
            verdict: &bundle.verdict,
            explanation: bundle.explanation.as_ref(),
            novelty: bundle.novelty.as_ref(),
            issue: &bundle.issue,
            minimize_log: &bundle.minimize_log,
            library_log: &bundle.library_log,
            stderr: &bundle.stderr,
        }
    }
}
