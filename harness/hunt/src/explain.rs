//! Says where a finding fails and how its plan is reached. Knows how a case is put to a bench; the conditions are the
//! minimizer's matter.

use std::time::Instant;

use case::{Case, Explanation, Keep, Kind, Matrix, Selection, Verdict};
use minimizer::{Answer, ExplainError, ExplainSettings};

use crate::bench::Bench;
use crate::error::HuntError;
use crate::event::{Explained, Finding, provisional};
use crate::examine::{check, config_of, leaves_traces};
use crate::reach::reach;
use crate::reduce::Allowance;
use crate::reduce::questions::Terms;

/// What looking into one finding may use where nobody says otherwise.
pub const EXPLANATION: Allowance = Allowance { calls_max: 200, seconds_max: 60.0 };

/// Probes around a finding's case, fits conditions, tries them on random cases, and looks how the plan is reached.
/// The allowance is for the probes; the survey of engines comes on top.
///
/// # Errors
/// `HuntError::Passes` where the case does not fail any more; otherwise those of the bench.
pub fn explain_finding<B: Bench + ?Sized>(
    bench: &mut B,
    finding: &Finding,
    allowance: Allowance,
    until: Option<Instant>,
) -> Result<Explained, HuntError> {
    let explanation = explanation(bench, finding, allowance.ending(until))?;
    let reach = reach(bench, finding)?;
    Ok(Explained { explanation, reach })
}

fn explanation<B: Bench + ?Sized>(
    bench: &mut B,
    finding: &Finding,
    allowance: Allowance,
) -> Result<Explanation, HuntError> {
    let terms = Terms::of(finding);
    let home = at_large(bench, finding, &terms)?;
    let mut trouble: Option<HuntError> = None;
    let mut ask = |case: &Case| {
        if let Some(trouble) = &trouble {
            return Answer::Infra(trouble.to_string());
        }
        if let Some(answer) = terms.foregone(case) {
            return answer;
        }
        // Failures of another kind met here are told as such and not followed.
        let answer = terms.put(bench, case, false).map(|reply| kin(finding, reply.answer));
        answer.unwrap_or_else(|error| {
            let answer = Answer::Infra(error.to_string());
            trouble = Some(error);
            answer
        })
    };
    let settings = ExplainSettings {
        limits: minimizer::Limits { calls_max: allowance.calls_max, seconds_max: allowance.seconds_max },
        seen: finding
            .reduction
            .iter()
            .flat_map(|reduction| &reduction.log)
            .filter_map(|line| step(line))
            .map(|(case, answer)| (case, kin(finding, answer)))
            // What fails with the contents of the finding fails at large; what passes with them may not.
            .map(
                |(case, answer)| {
                    if answer == Answer::Same { (like(&home, case), answer) } else { (case, answer) }
                },
            )
            .collect(),
        ..ExplainSettings::default()
    };
    let explained = minimizer::explain(&home, &mut ask, &settings);
    match trouble {
        Some(trouble) => Err(trouble),
        None => explained.map_err(|error: ExplainError| HuntError::Passes(error.to_string())),
    }
}

/// The case that is explained: the finding's, run with every kind of data and contents where the engine fails in that
/// way too, since people ask where an engine is wrong, not where it is wrong on zeros. Scales that matter keep the
/// output's contents. Where the few inputs that a case keeps are enough, all of them mostly are as well, and they have
/// a meaning in every geometry.
fn at_large<B: Bench + ?Sized>(bench: &mut B, finding: &Finding, terms: &Terms) -> Result<Case, HuntError> {
    let mut whole = finding.case.clone();
    whole.options.keep = Keep::default();
    let mut large = whole.clone();
    large.options.fill = None;
    large.options.output_fill = None;
    large.options.workspace.contents = None;
    let mut candidates = vec![whole];
    if has_value_classes(finding.fault.sameness.kind) {
        candidates.insert(0, large);
    }
    candidates.dedup();
    for candidate in candidates.into_iter().filter(|candidate| *candidate != finding.case) {
        let reply = terms.put(bench, &candidate, false)?;
        if kin(finding, reply.answer) == Answer::Same {
            return Ok(candidate);
        }
    }
    Ok(finding.case.clone())
}

/// The case with the data and contents of another.
fn like(home: &Case, mut case: Case) -> Case {
    case.options.fill = home.options.fill;
    case.options.keep = home.options.keep;
    case.options.output_fill = home.options.output_fill;
    case.options.workspace.contents = home.options.workspace.contents;
    case
}

/// An answer in the light of where an engine fails: results that are wrong in another way (NaN instead of zero, another
/// buffer written beside) lie in the same region.
fn kin(finding: &Finding, answer: Answer) -> Answer {
    let sameness = &finding.fault.sameness;
    let engine = sameness.engine.map_or_else(|| "none".to_owned(), |engine| format!("e{engine}"));
    let (operation, kind, phase) = (sameness.operation, sameness.kind, sameness.phase);
    let family = format!("{}-{engine}-{}-{}-", operation.name(), kind.name(), phase.name());
    match answer {
        Answer::Other(slug) if has_value_classes(kind) && slug.starts_with(&family) => Answer::Same,
        Answer::Same | Answer::Other(_) | Answer::Pass | Answer::Invalid(_) | Answer::Infra(_) => answer,
    }
}

/// True for kinds whose cause only says how a result is wrong.
fn has_value_classes(kind: Kind) -> bool {
    match kind {
        Kind::Wrong | Kind::Oob => true,
        Kind::Inexact
        | Kind::Nondet
        | Kind::Input
        | Kind::Status
        | Kind::Device
        | Kind::Crash
        | Kind::Hang
        | Kind::Accepted
        | Kind::Workspace
        | Kind::Reload => false,
    }
}

/// Case and answer of one line of a minimization's log.
fn step(line: &str) -> Option<(Case, Answer)> {
    let mut value: serde_json::Value = serde_json::from_str(line).ok()?;
    let case = serde_json::from_value(value.get_mut("case")?.take()).ok()?;
    let answer = serde_json::from_value(value.get_mut("answer")?.take()).ok()?;
    Some((case, answer))
}

/// A case that fails, as a finding that was neither confirmed nor minimized: run once, its plan pinned.
///
/// # Errors
/// `HuntError::Passes` where the case passes, is refused or cannot be judged; otherwise those of the bench.
pub fn accuse<B: Bench + ?Sized>(bench: &mut B, case: &Case) -> Result<Finding, HuntError> {
    let environment = bench.environment()?;
    let (verdict, outcome) = check(bench, case, Matrix::Standard)?;
    let fault = match verdict {
        Verdict::Fault(fault) => fault,
        Verdict::Pass => return Err(HuntError::Passes("the case passes: nothing to explain".to_owned())),
        Verdict::Unsupported(refusal) => {
            return Err(HuntError::Passes(format!(
                "the case is refused: {} in {}",
                refusal.name,
                refusal.phase.name()
            )));
        }
        Verdict::Untrusted(why) => {
            return Err(HuntError::Passes(format!("the check of the case says nothing: {why}")));
        }
    };
    if leaves_traces(fault.sameness.kind) {
        bench.fresh();
    }
    let mut pinned = config_of(&outcome).map_or_else(|| case.clone(), |config| case.pinned(config.clone()));
    // A filter on notes cannot join a pinned engine.
    pinned.options.tf32 |= config_of(&outcome).is_some();
    let slug = provisional(&fault.sameness, &pinned);
    Ok(Finding {
        signature: slug.clone(),
        provisional: slug,
        tier: fault.tier,
        original: case.clone(),
        case: pinned,
        selection: Selection::Single,
        evidence: None,
        environment,
        hits: 1,
        runs: 1,
        reduction: None,
        explained: None,
        fault,
        outcome,
    })
}

#[cfg(test)]
mod tests;
