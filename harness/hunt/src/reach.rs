//! How a failing plan is reached and what could be used instead: every engine on the same problem, judged. Knows ranks
//! and times of one survey; follows no failure.

use case::{
    Alternative, Case, Config, Engines, Fault, Matrix, Outcome, Ranks, Reach, Selection, Severity, Verdict,
};

use crate::bench::Bench;
use crate::error::HuntError;
use crate::event::Finding;
use crate::examine::{config_of, examine, job, leaves_traces};

/// Looks at every engine on the minimized problem, and at the failing one on the problem as it was met, where
/// heuristics may rank it otherwise.
///
/// # Errors
/// Those of the bench.
pub fn reach<B: Bench + ?Sized>(bench: &mut B, finding: &Finding) -> Result<Reach, HuntError> {
    let plans = visit(bench, finding, &finding.case, Engines::All)?;
    let engine = finding.fault.sameness.engine;
    let only = engine.map_or(Engines::All, |engine| Engines::Only(vec![engine]));
    let ranks = failing_ranks(&plans, finding);
    let original_ranks = if finding.original.problem == finding.case.problem || engine.is_none() {
        ranks
    } else {
        failing_ranks(&visit(bench, finding, &finding.original, only)?, finding)
    };
    let right = plans.iter().filter(|plan| plan.right).count();
    let ran = plans.iter().filter(|plan| plan.right || plan.fault.is_some()).count();
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    Ok(Reach {
        ranks,
        original_ranks,
        severity: severity(ranks, original_ranks, engine),
        alternative: fastest(&plans, finding),
        right: count(right),
        ran: count(ran),
    })
}

/// What one plan of a survey came to.
struct Plan {
    config: Config,
    ranks: Ranks,
    right: bool,
    fault: Option<Fault>,
    /// Microseconds of one execution, the median of all.
    execute_us: Option<u64>,
}

/// Runs the plans of those engines on a problem, each on all standard contents.
fn visit<B: Bench + ?Sized>(
    bench: &mut B,
    finding: &Finding,
    case: &Case,
    engines: Engines,
) -> Result<Vec<Plan>, HuntError> {
    let mut survey = job(&free(case), Selection::All, Matrix::Standard);
    survey.engines = engines;
    let seen = examine(bench, &survey)?;
    if leaves_traces(finding.fault.sameness.kind) {
        bench.fresh();
    }
    Ok(seen.into_iter().filter_map(|(verdict, outcome)| plan(verdict, &outcome)).collect())
}

/// The case without an engine and without given contents, so that the standard executions are made.
fn free(case: &Case) -> Case {
    let mut free = case.clone();
    let options = &mut free.options;
    options.engine = case::EngineChoice::Any;
    options.set = None;
    (options.fill, options.output_fill, options.workspace.contents) = (None, None, None);
    options.keep = case::Keep::default();
    free
}

fn plan(verdict: Verdict, outcome: &Outcome) -> Option<Plan> {
    let config = config_of(outcome)?.clone();
    let ranks = outcome.candidate.as_ref().map_or_else(Ranks::default, |candidate| candidate.ranks);
    let (right, fault) = match verdict {
        Verdict::Pass => (true, None),
        Verdict::Fault(fault) => (false, Some(fault)),
        Verdict::Unsupported(_) | Verdict::Untrusted(_) => (false, None),
    };
    Some(Plan { config, ranks, right, fault, execute_us: median_us(outcome) })
}

fn median_us(outcome: &Outcome) -> Option<u64> {
    let executions = &outcome.observation.as_ref()?.executions;
    let mut times: Vec<u64> = executions.iter().map(|execution| execution.execute_us).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// True for the plan that the finding is about, and for others of its engine that fail in the same way.
fn is_accused(plan: &Plan, finding: &Finding) -> bool {
    let sameness = &finding.fault.sameness;
    let same = plan.fault.as_ref().is_some_and(|fault| fault.sameness == *sameness);
    same || config_of(&finding.outcome) == Some(&plan.config)
}

/// The best ranks of the plans that fail like the finding.
fn failing_ranks(plans: &[Plan], finding: &Finding) -> Ranks {
    let accused = plans.iter().filter(|plan| is_accused(plan, finding));
    accused.fold(Ranks::default(), |best, plan| better(best, plan.ranks))
}

fn better(one: Ranks, other: Ranks) -> Ranks {
    let least = |one: Option<u32>, other: Option<u32>| match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    Ranks {
        a: least(one.a, other.a),
        b: least(one.b, other.b),
        fallback: least(one.fallback, other.fallback),
    }
}

/// A failure that comes before any engine is chosen meets whoever asks.
fn severity(ranks: Ranks, original: Ranks, engine: Option<i64>) -> Severity {
    let best = better(ranks, original);
    if best.a == Some(0) || engine.is_none() {
        Severity::ByDefault
    } else if best.recommended() {
        Severity::UnderSearch
    } else {
        Severity::ByExplicitChoice
    }
}

fn fastest(plans: &[Plan], finding: &Finding) -> Option<Alternative> {
    let failing_us = plans.iter().find(|plan| is_accused(plan, finding)).and_then(|plan| plan.execute_us);
    let timed = plans.iter().filter(|plan| plan.right && !is_accused(plan, finding));
    let (plan, execute_us) =
        timed.filter_map(|plan| Some((plan, plan.execute_us?))).min_by_key(|(_, time)| *time)?;
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    let time_ratio = failing_us.filter(|time| *time > 0).map(|time| execute_us as f64 / time as f64);
    Some(Alternative { config: plan.config.clone(), time_ratio, execute_us })
}

#[cfg(test)]
mod tests;
