//! Repeats a failure in fresh processes until it has shown itself often enough, or not. Knows how often is
//! enough; makes nothing smaller.

use std::time::Instant;

use case::{Case, Config, Fault, Matrix, Outcome, Sameness, Selection};
use exec::HarnessError;

use crate::bench::Bench;
use crate::event::Suspect;
use crate::examine::{Repetition, job, repeat};

/// Most runs of one confirmation.
pub(crate) const RUNS_MAX: u32 = 10;

/// Runs that have to fail the same way.
pub(crate) const HITS_NEEDED: u32 = 3;

/// Runs without a single hit after which the next form of a suspect is tried.
const PATIENCE: u32 = 2;

/// Repetitions that a failure which differs from run to run gets within one process.
const REPEATS_FOR_NONDETERMINISM: u32 = 10;

/// A case and how it is to be run again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Form {
    pub(crate) case: Case,
    pub(crate) selection: Selection,
}

/// What a confirmation came to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Confirmation {
    pub(crate) form: Form,
    pub(crate) hits: u32,
    pub(crate) runs: u32,
    /// The last run that failed the same way.
    pub(crate) shown: Option<(Fault, Outcome)>,
}

impl Confirmation {
    /// The failure and its outcome, when it came back often enough.
    pub(crate) fn confirmed(&self) -> Option<&(Fault, Outcome)> {
        self.shown.as_ref().filter(|_| self.hits >= HITS_NEEDED)
    }
}

/// The forms in which a suspect may come back, the most specific first: with the buffer contents that showed
/// it, with its plan alone, and without a plan where it failed before there was one.
pub(crate) fn forms(suspect: &Suspect, set: &str) -> Vec<Form> {
    let Some(config) = &suspect.config else {
        let single = Form { case: suspect.case.clone(), selection: Selection::Single };
        let whole = Form { case: suspect.case.clone(), selection: suspect.selection };
        return if single == whole { vec![single] } else { vec![single, whole] };
    };
    let plan = Form { case: pin(&suspect.case, config, set), selection: Selection::Single };
    let contents = Form { case: with_contents(&plan.case, &suspect.fault), selection: Selection::Single };
    if contents == plan { vec![plan] } else { vec![contents, plan] }
}

/// The case with its plan and the library set that the plan's number belongs to. The filter on notes goes: it
/// cannot join a pinned engine.
pub(crate) fn pin(case: &Case, config: &Config, set: &str) -> Case {
    let mut pinned = case.pinned(config.clone());
    pinned.options.tf32 = true;
    pinned.options.set = (!set.is_empty()).then(|| set.to_owned());
    pinned
}

fn with_contents(case: &Case, fault: &Fault) -> Case {
    let mut pinned = case.clone();
    let Some(recipe) = &fault.recipe else { return pinned };
    let options = &mut pinned.options;
    options.fill = Some(recipe.fill);
    options.workspace.contents = Some(recipe.workspace);
    if options.beta.value() == 0.0 {
        options.output_fill = Some(recipe.output);
    }
    if recipe.repeats.is_some() {
        options.repeat = options.repeat.max(REPEATS_FOR_NONDETERMINISM);
    }
    pinned
}

/// Until when, and whether other workers are kept off the device meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    pub(crate) until: Option<Instant>,
    pub(crate) alone: bool,
}

/// Runs a form in fresh processes until the failure came back often enough or cannot any more.
///
/// # Errors
/// Those of the bench.
pub(crate) fn confirm<B: Bench + ?Sized>(
    bench: &mut B,
    form: Form,
    sameness: &Sameness,
    conditions: Conditions,
) -> Result<Confirmation, HarnessError> {
    confirm_patiently(bench, form, sameness, conditions, RUNS_MAX)
}

/// The first of the forms that comes back at all; the last one gets all its runs to do so.
///
/// # Errors
/// Those of the bench.
pub(crate) fn confirm_any<B: Bench + ?Sized>(
    bench: &mut B,
    forms: Vec<Form>,
    sameness: &Sameness,
    conditions: Conditions,
) -> Result<Confirmation, HarnessError> {
    let [specific @ .., last] = forms.as_slice() else {
        return Err(HarnessError::Frame("a suspect without any form to repeat".to_owned()));
    };
    for form in specific {
        let confirmation = confirm_patiently(bench, form.clone(), sameness, conditions, PATIENCE)?;
        if confirmation.hits > 0 {
            return Ok(confirmation);
        }
    }
    confirm_patiently(bench, last.clone(), sameness, conditions, RUNS_MAX)
}

fn confirm_patiently<B: Bench + ?Sized>(
    bench: &mut B,
    form: Form,
    sameness: &Sameness,
    conditions: Conditions,
    patience: u32,
) -> Result<Confirmation, HarnessError> {
    let mut confirmation = Confirmation { form, hits: 0, runs: 0, shown: None };
    while confirmation.hits < HITS_NEEDED && can_still(&confirmation, patience) {
        if conditions.until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
        bench.fresh();
        let mut job = job(&confirmation.form.case, confirmation.form.selection, Matrix::Standard);
        job.alone = conditions.alone;
        confirmation.runs += 1;
        if let Repetition::Same(shown) = repeat(bench, &job, sameness)? {
            confirmation.hits += 1;
            confirmation.shown = Some(*shown);
        }
    }
    Ok(confirmation)
}

fn can_still(confirmation: &Confirmation, patience: u32) -> bool {
    let left = RUNS_MAX - confirmation.runs;
    confirmation.hits + left >= HITS_NEEDED && (confirmation.hits > 0 || confirmation.runs < patience)
}
