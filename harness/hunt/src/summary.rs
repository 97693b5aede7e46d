//! The sums of a hunt as `summary.json` holds them. Data only; the fold that fills them lives in `ledger`.

use std::collections::BTreeMap;

use case::{FillKind, Tier};
use serde::{Deserialize, Serialize};

use crate::event::{Finding, Reduction};

/// What a hunt came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The library set, such as `9.19.0-full`.
    pub set: String,
    /// Seconds of hunting, confirmation and minimization included.
    pub seconds: f64,
    /// Problems surveyed to the end.
    pub problems: u64,
    /// Of those, the ones that ended without any verdict: every plan was refused or left out.
    #[serde(default)]
    pub problems_unjudged: u64,
    /// Plans built, executed and judged; refusals are none.
    pub checks: u64,
    /// The same per second.
    pub checks_per_second: f64,
    /// Checks of engines whose kernels are compiled while the plan is built.
    pub run_time_compiled: u64,
    /// Checks of all other engines.
    pub precompiled: u64,
    /// Distinct engines judged, counted for each pass.
    pub engines: u64,
    /// Verdicts by kind; failures go by the kind of failure, configurations not executed by `unsupported`.
    pub verdicts: BTreeMap<String, u64>,
    /// Configurations that were not executed, by reason.
    pub refusals: BTreeMap<String, u64>,
    /// Confirmed failures, the most serious tier first.
    pub findings: Vec<FoundSummary>,
    /// Failures that did not come back often enough.
    pub flaky: Vec<FlakySummary>,
    /// Failures that there was no time to confirm; a resumed hunt takes them up.
    pub unsettled: u64,
    /// Problems of a list that were surveyed to the end without any verdict, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<Unjudged>,
    /// Share of the workers' time that was spent inside cuDNN and CUDA.
    pub foreign_share: Option<f64>,
    /// How often engines gave exact sums on integers, by pass and engine such as `fprop e4`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exactness: BTreeMap<String, Exactness>,
    /// What engines cost, by pass and engine such as `fprop e4`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub costs: BTreeMap<String, Cost>,
    /// When the first failure was confirmed.
    pub first_finding_seconds: Option<f64>,
    /// Slots that ended in quarantine or could not start a worker.
    pub slots_lost: u64,
    /// True when the run was asked to stop.
    pub interrupted: bool,
}

/// Reason of a refusal that was asked for: the one that is a verdict, and a good one.
pub(crate) const AS_EXPECTED: &str = "as expected";

impl Summary {
    /// True where nothing at all was proved, neither by a check nor by a refusal that was asked for.
    #[must_use]
    pub fn judged_nothing(&self) -> bool {
        self.checks == 0 && self.findings.is_empty() && !self.refusals.contains_key(AS_EXPECTED)
    }
}

/// A problem of a list of which no configuration was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unjudged {
    /// Its number in the list, from 0.
    pub index: u64,
    /// Its line.
    pub case: String,
    /// Why, and of how many configurations.
    pub reasons: Vec<(String, u64)>,
}

/// What one engine cost in one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Checks.
    pub checks: u64,
    /// Of those, the ones whose kernels were compiled while the plan was built.
    pub compiled: u64,
    /// Microseconds of building plans.
    pub plan_us: u64,
    /// Microseconds of executions with their measurements.
    pub execute_us: u64,
}

/// How exact one engine is in one pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exactness {
    /// Checks with at least one execution on integers.
    pub checks: u64,
    /// Executions by kind of data.
    pub fills: BTreeMap<String, ExactCount>,
}

/// Executions on one kind of integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExactCount {
    /// Executions made.
    pub executions: u64,
    /// Of those, the ones whose every output was its reference rounded once.
    pub exact: u64,
}

impl Exactness {
    /// Counts the executions of a check; one without any on integers counts for nothing.
    pub(crate) fn count(&mut self, executions: &[(FillKind, bool)]) {
        self.checks += u64::from(!executions.is_empty());
        for (kind, exact) in executions {
            let count = self.fills.entry(kind.name().to_owned()).or_default();
            count.executions += 1;
            count.exact += u64::from(*exact);
        }
    }
}

/// One finding in a summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundSummary {
    /// Its slug.
    pub signature: String,
    /// How it is reached.
    pub tier: Tier,
    /// Line of the problem as it was met.
    pub original: String,
    /// Line of the minimized case.
    pub case: String,
    /// One line: what is seen.
    pub summary: String,
    /// Confirming runs that failed the same way.
    pub hits: u32,
    /// Confirming runs made.
    pub runs: u32,
    /// True when no single listed edit makes the case smaller.
    pub one_minimal: bool,
    /// Runs that the minimization needed.
    pub predicate_calls: u64,
    /// Why the case may not be the smallest; absent where no single listed edit makes it smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
    /// Folder of the bundle, relative to the summary; absent where no bundle was written.
    pub bundle: Option<String>,
}

impl FoundSummary {
    /// The short form of a finding.
    #[must_use]
    pub fn of(finding: &Finding) -> Self {
        let reduction = finding.reduction.as_ref();
        Self {
            signature: finding.signature.clone(),
            tier: finding.tier,
            original: finding.original.to_string(),
            case: finding.case.to_string(),
            summary: finding.fault.summary.clone(),
            hits: finding.hits,
            runs: finding.runs,
            one_minimal: reduction.is_some_and(|reduction| reduction.one_minimal),
            predicate_calls: reduction.map_or(0, |reduction| reduction.predicate_calls),
            shortfall: shortfall(reduction),
            bundle: None,
        }
    }
}

/// What a reduction lacks.
fn shortfall(reduction: Option<&Reduction>) -> Option<String> {
    let Some(reduction) = reduction else { return Some("not minimized: the hunt ended first".to_owned()) };
    if reduction.one_minimal {
        return None;
    }
    Some(match reduction.guarantee.strip_prefix("Not minimized: ") {
        Some(why) => format!("not minimized: {}", why.trim_end_matches('.')),
        None => format!(
            "not minimized to the end: {} of {} last edits tried",
            reduction.sweep_tried, reduction.sweep_listed
        ),
    })
}

/// A failure on the flaky shelf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlakySummary {
    /// Its slug before minimization.
    pub provisional: String,
    /// Line of the case that was repeated.
    pub case: String,
    /// One line: what had been seen.
    pub summary: String,
    /// Runs that failed the same way.
    pub hits: u32,
    /// Runs made.
    pub runs: u32,
}
