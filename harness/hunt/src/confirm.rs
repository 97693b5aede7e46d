//! Repeats a failure in fresh processes until it has shown itself often enough, or not. Knows how often is
//! enough; makes nothing smaller.

use std::time::Instant;

use case::{Case, Config, Fault, Kind, Matrix, Outcome, Phase, Recipe, Sameness, Selection, Tier};
use exec::HarnessError;

use crate::bench::Bench;
use crate::event::Suspect;
use crate::examine::{Repetition, job, repeat};

/// How often a failure has to come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rigor {
    /// Runs that have to fail the same way.
    hits_needed: u32,
    /// Most runs of one confirmation.
    runs_max: u32,
    /// Runs without a single hit after which the next form of a suspect is tried.
    patience: u32,
}

impl Rigor {
    /// For what accuses a library.
    pub(crate) const SERIOUS: Self = Self { hits_needed: 3, runs_max: 10, patience: 2 };

    /// For what is told for information: each run takes a new process, which is time that the hunt lacks.
    pub(crate) const INFORMATIVE: Self = Self { hits_needed: 1, runs_max: 3, patience: 1 };

    /// What a failure of that tier needs.
    pub(crate) fn of(tier: Tier) -> Self {
        match tier {
            Tier::A | Tier::B => Self::SERIOUS,
            Tier::C => Self::INFORMATIVE,
        }
    }
}

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
    rigor: Rigor,
    pub(crate) hits: u32,
    pub(crate) runs: u32,
    /// The last run that failed the same way.
    pub(crate) shown: Option<(Fault, Outcome)>,
}

impl Confirmation {
    /// The failure and its outcome, when it came back often enough.
    pub(crate) fn confirmed(&self) -> Option<&(Fault, Outcome)> {
        self.shown.as_ref().filter(|_| self.hits >= self.rigor.hits_needed)
    }
}

/// The forms in which a suspect may come back, the most specific first: with the buffer contents that showed
/// it or, where nobody saw which did, with those of each standard execution; with its plan alone; and without a
/// plan where it failed before there was one.
pub(crate) fn forms(suspect: &Suspect, set: &str) -> Vec<Form> {
    let Some(config) = &suspect.config else {
        let single = Form { case: suspect.case.clone(), selection: Selection::Single };
        let whole = Form { case: suspect.case.clone(), selection: suspect.selection };
        return if single == whole { vec![single] } else { vec![single, whole] };
    };
    let mut cases = pinned_forms(&suspect.case, config, &suspect.fault, set);
    cases.dedup();
    cases.into_iter().map(|case| Form { case, selection: Selection::Single }).collect()
}

/// The form for a single look: its plan, and of the contents only what the failure cannot do without.
pub(crate) fn glance(case: &Case, config: &Config, fault: &Fault, set: &str) -> Case {
    let mut forms = pinned_forms(case, config, fault, set);
    let position = if fault.sameness.kind == Kind::Nondet { 0 } else { forms.len() - 1 };
    forms.swap_remove(position)
}

/// A case with its plan pinned, and with more and less of the contents that showed the failure; never empty.
fn pinned_forms(case: &Case, config: &Config, fault: &Fault, set: &str) -> Vec<Case> {
    let mut plan = pin(case, config, set);
    plan.options.repeat = plan.options.repeat.max(repeats_needed(fault));
    let mut forms: Vec<Case> = match &fault.recipe {
        Some(recipe) => parts(fault).iter().map(|parts| with_contents(&plan, recipe, *parts)).collect(),
        None if hides_its_execution(&fault.sameness) => each_contents(&plan),
        None => Vec::new(),
    };
    forms.push(plan);
    forms
}

/// True for what ends a whole batch of executions: they are queued together and waited for once, so nobody saw
/// which of them, and hence which contents, brought it about.
fn hides_its_execution(sameness: &Sameness) -> bool {
    let ends_the_batch = match sameness.kind {
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
    };
    ends_the_batch && (Phase::Execute..=Phase::ReadBack).contains(&sameness.phase)
}

/// The plan with the contents of each standard execution in turn, every contents once.
fn each_contents(plan: &Case) -> Vec<Case> {
    let mut forms = Vec::new();
    for recipe in oracle::recipes(plan, Matrix::Standard) {
        let form = with_contents(plan, &Recipe { repeats: None, ..recipe }, Parts::ALL);
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    forms
}

/// Fewest repeats with which a failure shows itself: bits that differ though every buffer starts alike need
/// company. Other failures take what their case asks for.
pub(crate) fn repeats_needed(fault: &Fault) -> u32 {
    let Sameness { kind, cause, .. } = &fault.sameness;
    if *kind == Kind::Nondet && cause == "repeat" { REPEATS_FOR_NONDETERMINISM } else { 1 }
}

/// The case with its plan and the library set that the plan's number belongs to. The filter on notes goes: it
/// cannot join a pinned engine.
pub(crate) fn pin(case: &Case, config: &Config, set: &str) -> Case {
    let mut pinned = case.pinned(config.clone());
    pinned.options.tf32 = true;
    pinned.options.set = (!set.is_empty()).then(|| set.to_owned());
    pinned
}

/// Contents that a form pins beside the data.
#[derive(Clone, Copy)]
struct Parts {
    output: bool,
    workspace: bool,
    /// More repeats, where the execution that showed the failure was itself one.
    repeats: bool,
}

impl Parts {
    const ALL: Self = Self { output: true, workspace: true, repeats: true };
}

/// What to pin, the most specific first. Where two executions are compared, what differed between them stays
/// free: pinned, they would be one.
fn parts(fault: &Fault) -> &'static [Parts] {
    match (fault.sameness.kind, fault.sameness.cause.as_str()) {
        (Kind::Nondet, "workspace") => &[
            Parts { output: true, workspace: false, repeats: false },
            Parts { output: false, workspace: false, repeats: false },
        ],
        (Kind::Nondet, "output") => &[Parts { output: false, workspace: true, repeats: false }],
        _ => &[Parts::ALL],
    }
}

fn with_contents(plan: &Case, recipe: &Recipe, parts: Parts) -> Case {
    let mut pinned = plan.clone();
    let options = &mut pinned.options;
    options.fill = Some(recipe.fill);
    if parts.workspace {
        options.workspace.contents = Some(recipe.workspace);
    }
    if parts.output && options.beta.value() == 0.0 {
        options.output_fill = Some(recipe.output);
    }
    if parts.repeats && recipe.repeats.is_some() {
        options.repeat = options.repeat.max(REPEATS_FOR_NONDETERMINISM);
    }
    pinned
}

/// Until when, how often, and whether other workers are kept off the device meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    pub(crate) until: Option<Instant>,
    pub(crate) alone: bool,
    pub(crate) rigor: Rigor,
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
    confirm_patiently(bench, form, sameness, conditions, conditions.rigor.runs_max)
}

/// The first of the forms that comes back at all; the last one gets all its runs to do so.
///
/// Contents that nobody saw fail are guesses: each gets a single run to come back, since that costs a process and
/// most guesses miss, and one that then comes back too rarely gives way to the next form.
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
    let guessed = hides_its_execution(sameness);
    let patience = if guessed { 1 } else { conditions.rigor.patience };
    for form in specific {
        let confirmation = confirm_patiently(bench, form.clone(), sameness, conditions, patience)?;
        if confirmation.confirmed().is_some() || (confirmation.hits > 0 && !guessed) {
            return Ok(confirmation);
        }
    }
    confirm_patiently(bench, last.clone(), sameness, conditions, conditions.rigor.runs_max)
}

/// A failure that no form of its case alone brought back, after what its process executed before: in the form
/// that leaves most open, since it may need any of it.
///
/// # Errors
/// Those of the bench.
pub(crate) fn confirm_after<B: Bench + ?Sized>(
    bench: &mut B,
    (form, history): (&Form, &[Case]),
    sameness: &Sameness,
    conditions: Conditions,
) -> Result<Confirmation, HarnessError> {
    let case = Case { history: history.to_vec(), ..form.case.clone() };
    let form = Form { case, selection: form.selection };
    confirm_patiently(bench, form, sameness, conditions, conditions.rigor.patience)
}

fn confirm_patiently<B: Bench + ?Sized>(
    bench: &mut B,
    form: Form,
    sameness: &Sameness,
    conditions: Conditions,
    patience: u32,
) -> Result<Confirmation, HarnessError> {
    let mut confirmation = Confirmation { form, rigor: conditions.rigor, hits: 0, runs: 0, shown: None };
    while confirmation.hits < confirmation.rigor.hits_needed && can_still(&confirmation, patience) {
        if conditions.until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
        bench.expect(expected(&confirmation));
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

/// Processes that a confirmation will take beside the next run's, if all goes as the last run went.
fn expected(confirmation: &Confirmation) -> u32 {
    let due = confirmation.rigor.hits_needed.saturating_sub(confirmation.hits);
    // Before anything came back it is not worth more than one look.
    if confirmation.runs == 0 || confirmation.hits > 0 { due } else { 1 }
}

fn can_still(confirmation: &Confirmation, patience: u32) -> bool {
    let left = confirmation.rigor.runs_max - confirmation.runs;
    confirmation.hits + left >= confirmation.rigor.hits_needed
        && (confirmation.hits > 0 || confirmation.runs < patience)
}

#[cfg(test)]
mod tests;
