//! The search loop: asks, remembers, adopts what fails the same way and is smaller. Knows the predicate only
//! as something that answers.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use case::Case;

use crate::edits::{self, EDIT_LIST, Edit};
use crate::field::Field;
use crate::lowering::Lowering;
use crate::minimized::{MinimizeError, Minimized, Stop};
use crate::passes::{Pass, Proposals, SHORTCUT, STAGES};
use crate::query::{Answer, Event, Limits, Predicate, Step};
use crate::repair::admit;

/// Name of the closing sweep in logs.
const SWEEP: &str = "sweep";
/// Name of the first call in logs.
const ORIGINAL: &str = "original";
/// Cases in a row that may stay unanswered before the machine counts as lost.
const UNANSWERED_MAX: u32 = 3;

/// Reduces a case that fails, keeping how it fails.
///
/// The predicate is called in sequence; every call is announced to `observe` before and reported after.
///
/// # Errors
/// `MinimizeError` where the original breaks a rule, is not answered `Same`, or the limits allow no call.
pub fn minimize(
    original: &Case,
    predicate: &mut dyn Predicate,
    limits: &Limits,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<Minimized, MinimizeError> {
    original.validate()?;
    let mut search = Search::new(original, predicate, limits, observe);
    search.ask_original()?;
    let stop = search.run().err().unwrap_or(Stop::Fixpoint);
    Ok(search.finish(original, stop))
}

/// What became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    /// It is the new best.
    Adopted,
    /// It is not; no call was needed or the answer was no.
    Kept,
}

/// What is known about a case that was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// It fails the same way.
    Same,
    /// It does not.
    Different,
    /// The machine was in trouble twice; the case is left alone and keeps a sweep from being complete.
    Unanswered,
}

/// Where an integer field stood when its search ended.
type Settled = HashMap<Field, i64>;

struct Search<'a> {
    current: Case,
    predicate: &'a mut dyn Predicate,
    limits: &'a Limits,
    observe: &'a mut dyn FnMut(Event<'_>),
    started: Instant,
    /// By canonical text.
    known: HashMap<String, Known>,
    settled: Settled,
    calls: u32,
    cached: u32,
    unanswered_in_a_row: u32,
    others: Vec<(Case, String)>,
    accepted: Vec<Step>,
}

impl<'a> Search<'a> {
    fn new(
        original: &Case,
        predicate: &'a mut dyn Predicate,
        limits: &'a Limits,
        observe: &'a mut dyn FnMut(Event<'_>),
    ) -> Self {
        Self {
            current: original.clone(),
            predicate,
            limits,
            observe,
            started: Instant::now(),
            known: HashMap::new(),
            settled: Settled::new(),
            calls: 0,
            cached: 0,
            unanswered_in_a_row: 0,
            others: Vec::new(),
            accepted: Vec::new(),
        }
    }

    fn ask_original(&mut self) -> Result<(), MinimizeError> {
        let original = self.current.clone();
        match self.ask(ORIGINAL, &original) {
            Ok(Answer::Same) => Ok(()),
            Ok(Answer::Pass) => Err(MinimizeError::Passes),
            Ok(Answer::Other(signature)) => Err(MinimizeError::Other(signature)),
            Ok(Answer::Invalid(reason)) => Err(MinimizeError::Invalid(reason)),
            Ok(Answer::Infra(reason)) | Err(Stop::Lost(reason)) => Err(MinimizeError::Infra(reason)),
            Err(Stop::Calls | Stop::Seconds | Stop::Fixpoint) => Err(MinimizeError::NoBudget),
        }
    }

    fn run(&mut self) -> Result<(), Stop> {
        self.run_pass(SHORTCUT)?;
        loop {
            loop {
                let before = self.current.clone();
                for pass in STAGES {
                    self.run_pass(pass)?;
                }
                if self.current == before {
                    break;
                }
            }
            if self.sweep()? == Tried::Kept {
                return Ok(());
            }
        }
    }

    fn run_pass(&mut self, pass: Pass) -> Result<(), Stop> {
        match pass.proposals {
            Proposals::Listed(proposals) => self.run_listed(pass.name, proposals),
            Proposals::Integers => self.run_integers(pass.name),
        }
    }

    fn run_listed(&mut self, pass: &'static str, proposals: fn(&Case) -> Vec<Edit>) -> Result<(), Stop> {
        let mut tried = HashSet::new();
        // After an adoption the list is made anew from the new best; names already tried are passed over.
        while let Some(edit) = proposals(&self.current).into_iter().find(|edit| !tried.contains(&edit.name)) {
            tried.insert(edit.name);
            self.attempt(pass, edit.case)?;
        }
        Ok(())
    }

    fn run_integers(&mut self, pass: &'static str) -> Result<(), Stop> {
        for field in Field::all(&self.current) {
            let value = field.get(&self.current);
            let settled = self.settled.get(&field) == Some(&value);
            let mut lowering = Lowering::new(field.least(), value, settled);
            while let Some(probe) = lowering.probe() {
                if let Some(proposal) = field.set(&self.current, probe) {
                    self.attempt(pass, proposal)?;
                }
                lowering.learn(probe, field.get(&self.current));
            }
            self.settled.insert(field, field.get(&self.current));
        }
        Ok(())
    }

    fn sweep(&mut self) -> Result<Tried, Stop> {
        for edit in edits::list(&self.current) {
            if self.attempt(SWEEP, edit.case)? == Tried::Adopted {
                return Ok(Tried::Adopted);
            }
        }
        Ok(Tried::Kept)
    }

    /// Asks about a proposal where it is valid, smaller and new, and adopts it where it fails the same way.
    fn attempt(&mut self, pass: &'static str, proposal: Case) -> Result<Tried, Stop> {
        let Some(candidate) = admit(&self.current, proposal) else { return Ok(Tried::Kept) };
        // A case known to be `Same` was the best once, so the current one is smaller: a known case is never
        // adopted.
        if self.known.contains_key(&candidate.to_string()) {
            self.cached += 1;
            return Ok(Tried::Kept);
        }
        if self.ask(pass, &candidate)? != Answer::Same {
            return Ok(Tried::Kept);
        }
        self.current = candidate;
        Ok(Tried::Adopted)
    }

    /// One question. Trouble of the machine says nothing about a case: it is asked once more.
    fn ask(&mut self, pass: &'static str, case: &Case) -> Result<Answer, Stop> {
        let mut answer = self.call(pass, case)?;
        if matches!(answer, Answer::Infra(_)) {
            answer = self.call(pass, case)?;
        }
        let known = match &answer {
            Answer::Same => Known::Same,
            Answer::Other(_) | Answer::Pass | Answer::Invalid(_) => Known::Different,
            Answer::Infra(_) => Known::Unanswered,
        };
        self.known.insert(case.to_string(), known);
        self.unanswered_in_a_row = if known == Known::Unanswered { self.unanswered_in_a_row + 1 } else { 0 };
        if let Answer::Infra(reason) = &answer
            && self.unanswered_in_a_row >= UNANSWERED_MAX
        {
            return Err(Stop::Lost(reason.clone()));
        }
        Ok(answer)
    }

    fn call(&mut self, pass: &'static str, case: &Case) -> Result<Answer, Stop> {
        if self.calls >= self.limits.calls_max {
            return Err(Stop::Calls);
        }
        if self.started.elapsed().as_secs_f64() >= self.limits.seconds_max {
            return Err(Stop::Seconds);
        }
        self.calls += 1;
        let call = self.calls;
        (self.observe)(Event::Asking { call, pass, case });
        let answer = self.predicate.ask(case);
        let accepted = answer == Answer::Same && pass != ORIGINAL;
        let step = Step { call, pass, case: case.clone(), answer: answer.clone(), accepted };
        (self.observe)(Event::Answered(&step));
        if let Answer::Other(signature) = &answer {
            self.others.push((case.clone(), signature.clone()));
        }
        if accepted {
            self.accepted.push(step);
        }
        Ok(answer)
    }

    fn finish(self, original: &Case, stop: Stop) -> Minimized {
        let edits = edits::list(&self.current);
        let answered = |edit: &&Edit| {
            matches!(self.known.get(&edit.case.to_string()), Some(Known::Same | Known::Different))
        };
        let swept = edits.iter().filter(answered).count();
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        Minimized {
            one_minimal: swept == edits.len(),
            swept: count(swept),
            sweep_total: count(edits.len()),
            edit_list: EDIT_LIST,
            calls: self.calls,
            cached: self.cached,
            seconds: self.started.elapsed().as_secs_f64(),
            never_refused: self.calls > 1 && self.known.values().all(|known| *known == Known::Same),
            case: self.current,
            original: original.clone(),
            others: self.others,
            accepted: self.accepted,
            stop,
        }
    }
}
