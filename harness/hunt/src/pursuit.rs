//! Follows one failure from the first sight to a finding: absorb, confirm, minimize, confirm again, gather
//! evidence. Knows the order of these steps; knows nothing of queues or of other slots.

use std::time::{Duration, Instant};

use case::{Case, Fault, Kind, Matrix, Outcome, Problem, Selection, Tier, Verdict, Workspace};

use crate::bench::Bench;
use crate::confirm::{Conditions, Form, Rigor, confirm, confirm_after, confirm_any, forms, glance};
use crate::error::HuntError;
use crate::event::{Finding, HuntEvent, Reduction, Suspect, is_misaligned, provisional};
use crate::examine::{Repetition, config_of, examine, job, leaves_traces, repeat};
use crate::reduce::{Allowance, Desk, reduce};
use crate::suspects::Lead;

/// What following a lead came to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// A finding, new.
    Found(Box<Finding>),
    /// A known finding with that signature.
    Merged(String),
    /// It did not come back often enough: so many hits of so many runs.
    Dropped(u32, u32),
    /// There was no time left; a later run takes it up.
    OutOfTime,
}

/// Hands an event on.
pub(crate) type Tell<'a> = dyn Fn(HuntEvent) -> Result<(), HuntError> + 'a;

/// Hands another failure on, met on the way.
pub(crate) type Offer<'a> = dyn Fn(Suspect) -> Result<(), HuntError> + 'a;

/// Everything a pursuit needs from around it.
pub(crate) struct Pursuit<'a, 'd, B> {
    pub(crate) bench: &'a mut B,
    /// Name of the library set.
    pub(crate) set: &'a str,
    /// What the minimization of a finding of that tier may use, asked when it begins.
    pub(crate) allowance: &'a dyn Fn(Tier) -> Allowance,
    /// After this no further step is begun.
    pub(crate) until: Option<Instant>,
    /// Part of the time before that which minimization leaves to the last confirmation.
    pub(crate) reserve: Duration,
    pub(crate) tell: &'a Tell<'a>,
    pub(crate) offer: &'a Offer<'a>,
    /// The findings that are settled so far.
    pub(crate) known: &'a dyn Fn() -> Vec<Finding>,
    /// What minimization may lean on beside the bench.
    pub(crate) desk: &'a mut Desk<'d>,
}

impl<B: Bench> Pursuit<'_, '_, B> {
    /// Follows a lead to its end.
    ///
    /// # Errors
    /// Those of the bench, and of whoever records events.
    pub(crate) fn follow(&mut self, lead: &Lead) -> Result<End, HuntError> {
        let finding = match lead {
            Lead::Confirmed(finding) => (**finding).clone(),
            Lead::Suspect(suspect) => {
                let righted = self.right(suspect)?;
                let suspect = righted.as_ref().unwrap_or(suspect);
                if let Some(known) = self.absorb(suspect)? {
                    return self.merge(&suspect.provisional, known);
                }
                match self.confirm(suspect)? {
                    Ok(finding) => finding,
                    Err(end) => return Ok(end),
                }
            }
        };
        if self.is_late() {
            return Ok(End::OutOfTime);
        }
        let finding = self.minimize(finding)?;
        if (self.known)().iter().any(|known| known.signature == finding.signature) {
            return self.merge(&finding.provisional, finding.signature);
        }
        let finding = Box::new(finding);
        (self.tell)(HuntEvent::Found(finding.clone()))?;
        Ok(End::Found(finding))
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn merge(&self, provisional: &str, into: String) -> Result<End, HuntError> {
        (self.tell)(HuntEvent::Merged { provisional: provisional.to_owned(), into: into.clone() })?;
        Ok(End::Merged(into))
    }

    /// The same failure without its odd workspace, where it shows without one in a single run: then it is not
    /// for information only, and is followed in place of the suspect.
    fn right(&mut self, suspect: &Suspect) -> Result<Option<Suspect>, HuntError> {
        let Some(config) = &suspect.config else { return Ok(None) };
        let sameness = &suspect.fault.sameness;
        if !is_misaligned(&suspect.case) || sameness.kind == Kind::Inexact {
            return Ok(None);
        }
        let mut case = suspect.case.clone();
        case.options.workspace.alignment = Workspace::DEFAULT_ALIGNMENT;
        let pinned = glance(&case, config, &suspect.fault, self.set);
        let job = job(&pinned, Selection::Single, Matrix::Standard);
        let Repetition::Same(shown) = repeat(self.bench, &job, sameness)? else { return Ok(None) };
        if leaves_traces(sameness.kind) {
            self.bench.fresh();
        }
        let provisional = provisional(sameness, &case);
        let righted = Suspect { provisional, case, fault: shown.0, ..suspect.clone() };
        if righted.provisional != suspect.provisional {
            self.merge(&suspect.provisional, righted.provisional.clone())?;
        }
        (self.tell)(HuntEvent::FaultSeen(Box::new(righted.clone())))?;
        Ok(Some(righted))
    }

    /// The signature of a known finding that minimization would lead to: the same failure stays when types
    /// and layouts give way to that finding's plainer ones. One run instead of a whole minimization.
    fn absorb(&mut self, suspect: &Suspect) -> Result<Option<String>, HuntError> {
        let Some(config) = &suspect.config else { return Ok(None) };
        for known in (self.known)() {
            let hides = known.tier == Tier::C && suspect.fault.tier != Tier::C;
            if hides || known.fault.sameness != suspect.fault.sameness {
                continue;
            }
            let Some(case) = transplant(&suspect.case, &known.case.problem) else { continue };
            // What the known failure needs before it, this one most likely needs, too.
            let history = known.case.history.clone();
            let pinned = Case { history, ..glance(&case, config, &suspect.fault, self.set) };
            if pinned.validate().is_err() {
                continue;
            }
            let job = job(&pinned, Selection::Single, Matrix::Standard);
            if let Repetition::Same(_) = repeat(self.bench, &job, &suspect.fault.sameness)? {
                if leaves_traces(suspect.fault.sameness.kind) {
                    self.bench.fresh();
                }
                return Ok(Some(known.signature));
            }
        }
        Ok(None)
    }

    fn confirm(&mut self, suspect: &Suspect) -> Result<Result<Finding, End>, HuntError> {
        let forms = forms(suspect, self.set);
        let shown = forms.first().map(|form| form.case.to_string()).unwrap_or_default();
        (self.tell)(HuntEvent::Confirming { provisional: suspect.provisional.clone(), case: shown.clone() })?;
        let rigor = Rigor::of(suspect.fault.tier);
        let conditions = Conditions { until: self.until, alone: false, rigor };
        let sameness = &suspect.fault.sameness;
        let alone = confirm_any(self.bench, forms, sameness, conditions)?;
        let confirmation = if alone.hits == 0 && !suspect.history.is_empty() && !self.is_late() {
            let after = confirm_after(self.bench, (&alone.form, &suspect.history), sameness, conditions)?;
            if after.hits > 0 { after } else { alone }
        } else {
            alone
        };
        let Some((fault, outcome)) = confirmation.confirmed().cloned() else {
            if self.is_late() {
                return Ok(Err(End::OutOfTime));
            }
            let (hits, runs) = (confirmation.hits, confirmation.runs);
            (self.tell)(HuntEvent::Dropped {
                provisional: suspect.provisional.clone(),
                case: shown,
                fault: suspect.fault.clone(),
                hits,
                runs,
            })?;
            return Ok(Err(End::Dropped(hits, runs)));
        };
        let finding = Finding {
            signature: suspect.provisional.clone(),
            provisional: suspect.provisional.clone(),
            tier: best_tier(suspect.fault.tier, fault.tier),
            fault,
            original: confirmation.form.case.clone(),
            case: confirmation.form.case,
            selection: confirmation.form.selection,
            outcome,
            evidence: None,
            environment: self.bench.inventory()?,
            hits: confirmation.hits,
            runs: confirmation.runs,
            reduction: None,
            explained: None,
        };
        (self.tell)(HuntEvent::Confirmed(Box::new(finding.clone())))?;
        Ok(Ok(finding))
    }

    /// The finding with a case as small as time allows, confirmed again. A smaller case that does not confirm
    /// gives way to the one that did. Where company on the device could be what fails, it is alone there:
    /// processes share no memory, but time.
    fn minimize(&mut self, finding: Finding) -> Result<Finding, HuntError> {
        let allowance = (self.allowance)(finding.tier).ending(self.until.map(|until| until - self.reserve));
        let (smallest, reduction) =
            reduce(self.bench, &finding, allowance, self.desk, (self.tell, self.offer))?;
        // A failure that needs no odd workspace is no longer told for information only.
        let rigor = if is_misaligned(&finding.case) && !is_misaligned(&smallest) {
            Rigor::SERIOUS
        } else {
            Rigor::of(finding.tier)
        };
        let form = Form { case: smallest, selection: finding.selection };
        let conditions =
            Conditions { until: self.until, alone: matters_who_else(finding.fault.sameness.kind), rigor };
        let confirmation = confirm(self.bench, form, &finding.fault.sameness, conditions)?;
        let (fault, outcome) = match confirmation.confirmed() {
            Some(shown) => shown.clone(),
            None => return self.unminimized(finding, reduction),
        };
        let case = confirmation.form.case;
        Ok(Finding {
            signature: provisional(&fault.sameness, &case),
            tier: best_tier(finding.tier, fault.tier),
            evidence: self.evidence(&case, finding.selection, &fault)?,
            fault,
            outcome,
            case,
            hits: confirmation.hits,
            runs: confirmation.runs,
            reduction: Some(reduction),
            ..finding
        })
    }

    /// The finding as it was confirmed, because the smaller case does not come back reliably.
    fn unminimized(&mut self, finding: Finding, reduction: Reduction) -> Result<Finding, HuntError> {
        let guarantee = "Not minimized: the smaller case was not confirmed.".to_owned();
        let reduction = Reduction { one_minimal: false, guarantee, ..reduction };
        let evidence = self.evidence(&finding.case, finding.selection, &finding.fault)?;
        Ok(Finding { evidence, reduction: Some(reduction), ..finding })
    }

    /// The final case once more under every fill and workspace.
    fn evidence(
        &mut self,
        case: &Case,
        selection: Selection,
        fault: &Fault,
    ) -> Result<Option<Outcome>, HuntError> {
        if self.is_late() {
            return Ok(None);
        }
        let outcomes = examine(self.bench, &job(case, selection, Matrix::Full))?;
        if leaves_traces(fault.sameness.kind) {
            self.bench.fresh();
        }
        let engine = fault.sameness.engine;
        Ok(outcomes
            .into_iter()
            .filter(|(verdict, _)| matches!(verdict, Verdict::Fault(_)))
            .map(|(_, outcome)| outcome)
            .find(|outcome| config_of(outcome).map(|config| config.engine) == engine))
    }
}

/// True for failures that other workers' executions could bring about.
fn matters_who_else(kind: Kind) -> bool {
    match kind {
        Kind::Hang | Kind::Nondet | Kind::Device => true,
        Kind::Wrong
        | Kind::Inexact
        | Kind::Oob
        | Kind::Input
        | Kind::Status
        | Kind::Crash
        | Kind::Accepted
        | Kind::Workspace
        | Kind::Reload => false,
    }
}

/// The case with the types and layouts of a known problem, where that makes it plainer.
fn transplant(case: &Case, known: &Problem) -> Option<Case> {
    let mut changed = case.clone();
    changed.problem.dtypes = known.dtypes;
    changed.problem.layouts = known.layouts;
    (minimizer::Key::of(&changed) < minimizer::Key::of(case)).then_some(changed)
}

/// A recommended original makes a finding serious even where its smallest case is no longer recommended; what
/// is only informative when minimized stays so.
fn best_tier(original: Tier, minimized: Tier) -> Tier {
    match (original, minimized) {
        (_, Tier::C) => Tier::C,
        (Tier::A, _) | (_, Tier::A) => Tier::A,
        (Tier::B | Tier::C, Tier::B) => Tier::B,
    }
}
