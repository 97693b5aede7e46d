//! Finds out where a failure lies: probes around a smallest case, fits conditions to the answers, tries them on
//! random cases. Knows cases and a predicate; knows nothing of GPUs, libraries or what a failure is.
//!
//! `inquiry` asks within the budget and remembers, `change` says which single changes a case has, `terms` which
//! quantities a condition may be about, `fit` finds the smallest conjunction that agrees with all answers,
//! `learn` asks what tells the fit from its rivals, `sample` draws random cases, `trial` counts how the result
//! does on them, `map` lays two fields out.

mod change;
mod fit;
mod inquiry;
mod learn;
mod map;
mod probe;
mod sample;
mod solve;
mod terms;
mod trial;

use case::{Case, CaseError, Cell, Explanation, Region};

use crate::query::{Answer, Limits, Predicate};
use inquiry::Inquiry;
use learn::Learner;

/// How a failure is explained.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainSettings {
    /// When to stop early.
    pub limits: Limits,
    /// Seed of the random cases.
    pub seed: u64,
    /// Answers that are known already, such as those of the minimization. Cases that run in another way than the
    /// one explained (engine, knobs, contents of buffers, repeats) are passed over.
    pub seen: Vec<(Case, Answer)>,
}

impl Default for ExplainSettings {
    fn default() -> Self {
        Self { limits: Limits { calls_max: 200, seconds_max: 600.0 }, seed: 1, seen: Vec::new() }
    }
}

/// Why a failure cannot be explained.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExplainError {
    /// The case does not fail.
    #[error("the case passes: there is nothing to explain")]
    Passes,
    /// It fails in another way than the pinned one.
    #[error("the case fails in another way")]
    Other,
    /// Nothing can be judged about it.
    #[error("the case cannot be judged")]
    Unjudged,
    /// The limits leave no room for a single call.
    #[error("the limits allow no call of the predicate")]
    NoBudget,
    /// The case breaks a rule.
    #[error(transparent)]
    Case(#[from] CaseError),
}

/// Share of the calls, or of the time, after which nothing more is learnt, in per cent.
const LEARNING_PERCENT: u32 = 55;

/// Share of the same after which the trial of the result ends; the rest is the map's.
const TRIAL_PERCENT: u32 = 85;

/// Times that a counter-example in the trial leads to another fit.
const ROUNDS_MAX: u32 = 3;

/// Says where the failure of a case lies: conditions that agree with every answer, the nearest passing cases, and how
/// the conditions did on random cases. The case should be a smallest one: conditions are looked for around it.
///
/// What the case says of its run (engine, knobs, contents of buffers, repeats) is kept throughout; the conditions
/// are about the problem, its scales and the alignment of the workspace.
///
/// # Errors
/// A case that is invalid or does not fail, or limits that allow no call.
pub fn explain(
    case: &Case,
    predicate: &mut dyn Predicate,
    settings: &ExplainSettings,
) -> Result<Explanation, ExplainError> {
    case.validate()?;
    let mut inquiry = Inquiry::new(case, predicate, settings.limits);
    match inquiry.ask(case) {
        Some(Cell::Fails) => {}
        Some(Cell::Passes) => return Err(ExplainError::Passes),
        Some(Cell::Other) => return Err(ExplainError::Other),
        Some(Cell::Unjudged) => return Err(ExplainError::Unjudged),
        None => return Err(ExplainError::NoBudget),
    }
    for (seen, answer) in &settings.seen {
        inquiry.remember(seen, answer);
    }
    inquiry.allow(LEARNING_PERCENT);
    let probed = probe::probe(case, &mut inquiry);
    let mut learner = Learner::new(case, &probed, settings.seed);
    let mut fit = learner.learn(&mut inquiry);
    let mut round = 0;
    let tried = loop {
        inquiry.allow(TRIAL_PERCENT);
        round += 1;
        let last = fit.narrowed || round > ROUNDS_MAX;
        let tried = trial::trial(&mut learner, &mut inquiry, &fit, !last);
        if last || tried.agrees() || inquiry.is_spent() {
            break tried;
        }
        // The better half of what is left goes to the next trial.
        inquiry.allow_half();
        fit = learner.learn(&mut inquiry);
    };
    inquiry.allow(100);
    let atoms: Vec<case::Atom> = fit.conditions.iter().map(|condition| condition.atom.clone()).collect();
    let complete = fit.settled && tried.complete;
    let region = Region { atoms, inside: tried.inside, outside: tried.outside };
    let map = map::map(case, &region, &mut inquiry);
    Ok(Explanation {
        twins: probed.twins(),
        any: probed.any(&region),
        map,
        calls: inquiry.calls(),
        complete,
        region,
    })
}
