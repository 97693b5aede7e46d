//! One run of one case, and what it showed. Knows which plans are asked; decides nothing about repetition.

use std::time::{Duration, Instant};

use case::{Case, EngineChoice, Job, Selection, Verdict};
use corpus::Showing;
use exec::HarnessError;
use hunt::Bench;

/// How a case is put to a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asking {
    /// Plans that are asked of a case that names none: one, those that heuristics recommend, or all.
    pub engines: Selection,
    /// Most multiply-adds for which anything is run; 0 sets no limit.
    pub multiply_adds_max: i64,
    /// Most time for one run.
    pub time: Option<Duration>,
    /// True where a known failure is looked for, which weak data show too.
    pub looking_for_one: bool,
}

/// What one run showed: of several plans the worst one speaks for all.
pub(crate) fn ask<B: Bench + ?Sized>(
    bench: &mut B,
    case: &Case,
    asking: &Asking,
    until: Option<Instant>,
) -> Result<Showing, HarnessError> {
    let work = case.problem.geometry().multiply_adds();
    if asking.multiply_adds_max > 0 && work > asking.multiply_adds_max {
        let limit = asking.multiply_adds_max;
        return Ok(Showing::Skipped(format!("more than the {limit} multiply-adds that are run here")));
    }
    let own = asking.time.and_then(|time| Instant::now().checked_add(time));
    bench.limit(own.into_iter().chain(until).min());
    let shown = run(bench, case, asking);
    bench.limit(None);
    match shown {
        Err(HarnessError::OutOfTime) => {
            let why = match asking.time {
                Some(time) if own.is_some_and(|own| own <= Instant::now()) => {
                    format!("not done within {} s", time.as_secs_f64())
                }
                Some(_) | None => "the time for all was over".to_owned(),
            };
            Ok(Showing::Skipped(why))
        }
        shown => shown,
    }
}

/// The plan that a case names, else those that are asked for.
fn selection(case: &Case, asking: &Asking) -> Selection {
    match case.options.engine {
        EngineChoice::Pinned(_) | EngineChoice::Ranked { .. } => Selection::Single,
        EngineChoice::Any => asking.engines,
    }
}

/// The same without limits of its own.
pub(crate) fn run<B: Bench + ?Sized>(
    bench: &mut B,
    case: &Case,
    asking: &Asking,
) -> Result<Showing, HarnessError> {
    let mut worst: Option<Showing> = None;
    // A slot numbers jobs itself.
    let job = Job::new(0, case.clone(), selection(case, asking));
    hunt::survey(bench, &job, &mut |_, verdict: Verdict| {
        let showing = Showing::of(&verdict, &case.problem, asking.looking_for_one);
        if worst.as_ref().is_none_or(|worst| showing.weight() > worst.weight()) {
            worst = Some(showing);
        }
    })?;
    // A survey of engines that are none has nothing to show.
    Ok(worst.unwrap_or_else(|| Showing::Refused("no plan at all".to_owned())))
}
