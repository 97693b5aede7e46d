//! Runs jobs on a bench and has their outcomes judged. Knows how a job is put and answered; decides nothing
//! about what to try next.

use std::sync::atomic::{AtomicU64, Ordering};

use case::{Case, EngineChoice, Fault, Job, Kind, Matrix, Outcome, Sameness, Selection, Untrusted, Verdict};
use exec::{HarnessError, JobEvent, Tally};

use crate::bench::Bench;

/// Numbers jobs across all slots of this process, so that a late answer is never taken for another's.
static NEXT_JOB: AtomicU64 = AtomicU64::new(1);

/// The job of surveying a case.
#[must_use]
pub(crate) fn job(case: &Case, selection: Selection, matrix: Matrix) -> Job {
    let id = NEXT_JOB.fetch_add(1, Ordering::Relaxed);
    Job { matrix, ..Job::new(id, case.clone(), selection) }
}

/// The configuration that an outcome is about, where it got to one.
pub(crate) fn config_of(outcome: &Outcome) -> Option<&case::Config> {
    let observed = outcome.observation.as_ref().and_then(|observation| observation.candidate.as_ref());
    observed.or(outcome.candidate.as_ref()).map(|candidate| &candidate.config)
}

/// Runs a job and judges every outcome as it comes.
///
/// # Errors
/// Those of the bench.
pub fn survey<B: Bench + ?Sized>(
    bench: &mut B,
    job: &Job,
    each: &mut dyn FnMut(Outcome, Verdict),
) -> Result<Tally, HarnessError> {
    bench.run(job, &mut |event| {
        if let JobEvent::Outcome(outcome) = event {
            let verdict = oracle::judge(&job.case, &outcome);
            each(outcome, verdict);
        }
    })
}

/// Checks one case: the plan that it names, or rank 0 of heuristics A where it names none.
///
/// # Errors
/// Those of the bench; a job without any outcome is a broken protocol.
pub fn check<B: Bench + ?Sized>(
    bench: &mut B,
    case: &Case,
    matrix: Matrix,
) -> Result<(Verdict, Outcome), HarnessError> {
    let mut seen = examine(bench, &job(case, Selection::Single, matrix))?;
    let worst = seen.iter().position(|(verdict, _)| matches!(verdict, Verdict::Fault(_))).unwrap_or(0);
    if seen.is_empty() {
        return Err(HarnessError::Frame("a check ended without an outcome".to_owned()));
    }
    Ok(seen.swap_remove(worst))
}

/// Every outcome of a job with its verdict.
pub(crate) fn examine<B: Bench + ?Sized>(
    bench: &mut B,
    job: &Job,
) -> Result<Vec<(Verdict, Outcome)>, HarnessError> {
    let mut seen = Vec::new();
    survey(bench, job, &mut |outcome, verdict| seen.push((verdict, outcome)))?;
    Ok(seen)
}

/// What a repetition showed in the light of one failure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Repetition {
    /// The same failure.
    Same(Box<(Fault, Outcome)>),
    /// Another one.
    Other(Box<(Fault, Outcome)>),
    /// A right answer.
    Passed,
    /// Nothing that could be judged, and why.
    Unjudged(String),
}

/// Runs a job and looks for one failure among what it shows.
pub(crate) fn repeat<B: Bench + ?Sized>(
    bench: &mut B,
    job: &Job,
    sameness: &Sameness,
) -> Result<Repetition, HarnessError> {
    let mut other = None;
    let mut passed = false;
    let mut why = None;
    for (verdict, outcome) in examine(bench, job)? {
        match verdict {
            Verdict::Fault(fault) if fault.sameness == *sameness => {
                return Ok(Repetition::Same(Box::new((fault, outcome))));
            }
            Verdict::Fault(fault) => other = Some(Box::new((fault, outcome))),
            // Too weak to trust a library for, but what was looked for did not show: all-zero data, whose right output
            // is zero, still tell NaN from zero.
            Verdict::Pass | Verdict::Untrusted(Untrusted::Vacuous { .. }) => passed = true,
            Verdict::Unsupported(refusal) => {
                let words = format!("refused: {} in {}", refusal.name, refusal.phase.name());
                why.get_or_insert(words);
            }
            Verdict::Untrusted(untrusted) => {
                why.get_or_insert(untrusted.to_string());
            }
        }
    }
    Ok(match other {
        Some(other) => Repetition::Other(other),
        None if passed => Repetition::Passed,
        None => Repetition::Unjudged(why.unwrap_or_else(|| "nothing was run".to_owned())),
    })
}

/// The selection that runs a case again: its own plan where it names one.
pub(crate) fn selection_of(case: &Case, survey: Selection) -> Selection {
    match case.options.engine {
        EngineChoice::Pinned(_) | EngineChoice::Ranked { .. } => Selection::Single,
        EngineChoice::Any => survey,
    }
}

/// True for failures after which a process is no clean place to go on in. Writes that stay within guards and inputs
/// are none of them: the worker renews what they can have touched, and a new process costs seconds.
pub(crate) fn leaves_traces(kind: Kind) -> bool {
    match kind {
        Kind::Device | Kind::Crash | Kind::Hang => true,
        Kind::Wrong
        | Kind::Inexact
        | Kind::Nondet
        | Kind::Oob
        | Kind::Input
        | Kind::Status
        | Kind::Accepted
        | Kind::Workspace
        | Kind::Reload => false,
    }
}
