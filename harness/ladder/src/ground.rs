//! The two lowest rungs: the machine answers, and one tiny convolution is right. Knows one case; judges by the oracles.

use std::time::Instant;

use case::{Case, Drill, EngineChoice, Job, Selection, Verdict, WorkspaceAmount};
use exec::HarnessError;
use hunt::Bench;

use crate::judge::Break;
use crate::record::Record;
use crate::rung::{Rung, Seen};
use crate::stored::{Stored, offers};
use crate::trouble::{Trouble, told};

/// Small integers, which every engine computes exactly.
const TINY: &str = "fprop f32 nchw n2 c4 k4 i8x8 f3x3 p1x1 fill=int2:1";

/// Fresh processes in which a failure is tried again.
pub(crate) const AGAIN: u32 = 3;

/// Most bytes of workspace that any plan may have, laid upon a case that names no amount of its own.
#[must_use]
pub fn with_limit(case: &Case, workspace_max: Option<i64>) -> Case {
    let mut limited = case.clone();
    if let (Some(most), WorkspaceAmount::Exact) = (workspace_max, limited.options.workspace.amount) {
        limited.options.workspace.amount = WorkspaceAmount::Max(most);
    }
    limited
}

/// Trouble of the machine as a break; the rest is convict's own and passed on.
pub(crate) fn unusable(rung: Rung, error: HarnessError) -> Result<Break, HarnessError> {
    let trouble = match &error {
        HarnessError::Unhealthy { starved: true, .. } => Trouble::Memory,
        HarnessError::Unhealthy { starved: false, .. } => Trouble::Unhealthy,
        HarnessError::Unusable { .. } => Trouble::Unusable,
        HarnessError::Broken { .. } if rung == Rung::Answers => Trouble::Unusable,
        HarnessError::Broken { .. }
        | HarnessError::Spawn { .. }
        | HarnessError::Io { .. }
        | HarnessError::Frame(_)
        | HarnessError::OutOfTime
        | HarnessError::Interrupted => return Err(error),
    };
    Ok(Break::plain(trouble, rung.name(), error.to_string()))
}

/// Rung 0: a worker starts, opens driver and libraries, and says what it found. `described` words what that is;
/// `stressed` is a bench under the pressures that were asked for, where there are any.
///
/// # Errors
/// convict's own trouble.
pub fn answers<B: Bench + ?Sized>(
    bench: &mut B,
    stressed: Option<&mut B>,
    described: &dyn Fn(&case::Environment) -> String,
) -> Result<Seen, HarnessError> {
    let start = Instant::now();
    let rung = Rung::Answers;
    let mut seen = match bench.environment() {
        Ok(environment) => Seen::new(rung, described(&environment), Vec::new()),
        Err(error) => Seen::new(rung, "no worker could start".to_owned(), vec![unusable(rung, error)?]),
    };
    if let (true, Some(stressed)) = (seen.breaks.is_empty(), stressed)
        && let Err(error) = stressed.environment()
    {
        let found = Break { place: Break::UNDER_STRESS.to_owned(), ..unusable(rung, error)? };
        seen = Seen::new(rung, seen.words, vec![found]);
    }
    Ok(Seen { seconds: start.elapsed().as_secs_f64(), ..seen })
}

/// Rung 1: the plan that heuristics rank first computes one tiny convolution; stored plans, where there are any, are
/// offered as a program would that has kept them.
///
/// # Errors
/// convict's own trouble.
pub fn tiny<B: Bench + ?Sized>(
    bench: &mut B,
    workspace_max: Option<i64>,
    stored: Option<&Stored>,
) -> Result<Seen, HarnessError> {
    let start = Instant::now();
    let seen = match look(bench, workspace_max, stored) {
        Ok(seen) => seen,
        Err(error) => {
            let found = unusable(Rung::Tiny, error)?;
            Seen::new(Rung::Tiny, TINY.to_owned(), vec![found])
        }
    };
    Ok(Seen { seconds: start.elapsed().as_secs_f64(), ..seen })
}

fn look<B: Bench + ?Sized>(
    bench: &mut B,
    workspace_max: Option<i64>,
    stored: Option<&Stored>,
) -> Result<Seen, HarnessError> {
    let case: Case =
        TINY.parse().map_err(|error| HarnessError::Broken { message: format!("{TINY}: {error}") })?;
    let case = with_limit(&case, workspace_max);
    let (verdict, outcome) = hunt::check(bench, &case, case::Matrix::Standard)?;
    let engine = outcome.candidate.as_ref().map(|candidate| format!(", engine {}", candidate.config.engine));
    let ran = format!("{case}{}", engine.unwrap_or_default());
    let found = match verdict {
        Verdict::Pass => None,
        Verdict::Fault(fault) => {
            let mut pinned = case.clone();
            if let Some(candidate) = &outcome.candidate {
                pinned.options.engine = EngineChoice::Pinned(candidate.config.clone());
            }
            let mut hits = 0;
            for _ in 0..AGAIN {
                hits += u32::from(hunt::recheck(bench, &pinned, &fault.sameness)? == hunt::Recheck::Same);
            }
            let others = others(bench, &case)?;
            Some(Break {
                trouble: Trouble::of(fault.sameness.kind, &fault.sameness.cause),
                place: "the plan ranked first".to_owned(),
                summary: format!("{}; {others}", fault.summary),
                case: Some(pinned.to_string()),
                again: Some((hits, AGAIN)),
                alone: None,
            })
        }
        Verdict::Unsupported(refusal) => {
            Some(Break::plain(Trouble::Refused, "the plan ranked first", told(&refusal)))
        }
        Verdict::Untrusted(why) => {
            Some(Break::plain(Trouble::of_words(&why.to_string()), "the plan ranked first", why.to_string()))
        }
    };
    let mut seen = Seen::new(Rung::Tiny, ran, found.into_iter().collect());
    if let (true, Some(stored)) = (seen.breaks.is_empty(), stored) {
        let texts: Vec<String> = stored.plans.iter().map(|plan| plan.json.clone()).collect();
        let job = Job { drill: Some(Box::new(Drill::Offer(texts))), ..Job::new(0, case, Selection::Drill) };
        let mut record = Record::default();
        bench.fresh();
        bench.run(&job, &mut |event| record.take(event))?;
        bench.fresh();
        let offered = offers(stored, &record);
        seen = Seen { notes: vec![offered.words], ..Seen::new(Rung::Tiny, seen.words, offered.breaks) };
    }
    Ok(seen)
}

/// Whether the plans ranked below are right: what tells a bad plan from a bad machine.
fn others<B: Bench + ?Sized>(bench: &mut B, case: &Case) -> Result<String, HarnessError> {
    let (mut right, mut wrong) = (0, 0);
    hunt::survey(
        bench,
        &Job::new(0, case.clone(), Selection::Heuristics),
        &mut |_, verdict| match verdict {
            Verdict::Pass => right += 1,
            Verdict::Fault(_) => wrong += 1,
            Verdict::Unsupported(_) | Verdict::Untrusted(_) => {}
        },
    )?;
    Ok(match right {
        0 => format!("of {wrong} recommended plans none is right"),
        _ => format!("of {} recommended plans {right} are right, so the device computes", right + wrong),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_lacks_a_sick_device_and_want_of_memory_are_three_troubles() {
        let message = || String::from("words");
        for (rung, error, trouble) in [
            (Rung::Answers, HarnessError::Unusable { message: message() }, Some(Trouble::Unusable)),
            (Rung::Answers, HarnessError::Broken { message: message() }, Some(Trouble::Unusable)),
            (Rung::Shapes, HarnessError::Broken { message: message() }, None),
            (
                Rung::Shapes,
                HarnessError::Unhealthy { message: message(), starved: false },
                Some(Trouble::Unhealthy),
            ),
            (
                Rung::Training,
                HarnessError::Unhealthy { message: message(), starved: true },
                Some(Trouble::Memory),
            ),
            (Rung::Tiny, HarnessError::Interrupted, None),
        ] {
            assert_eq!(unusable(rung, error).ok().map(|found| found.trouble), trouble, "{rung:?}");
        }
    }
}
