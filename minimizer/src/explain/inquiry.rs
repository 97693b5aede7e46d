//! Asks the predicate within a budget and remembers what it said. Knows counts and answers; decides nothing about
//! what to ask.

use std::collections::HashMap;
use std::time::Instant;

use case::{Case, Cell};

use crate::query::{Answer, Limits, Predicate};

/// Troubles of the machine in a row after which nothing more is asked.
const TROUBLES_MAX: u32 = 3;

/// Known answers that are taken over, so that a long log does not slow every fit down.
const REMEMBERED_MAX: usize = 300;

/// What was asked and answered so far.
pub(super) struct Inquiry<'a> {
    predicate: &'a mut dyn Predicate,
    /// The case that is explained.
    home: Case,
    started: Instant,
    limits: Limits,
    /// Calls and seconds after which the present stage has to end.
    allowed: Limits,
    calls: u32,
    troubles: u32,
    known: HashMap<String, Cell>,
    /// Judged cases in the order met; true where the failure is the same one.
    evidence: Vec<(Case, bool)>,
}

impl<'a> Inquiry<'a> {
    pub(super) fn new(home: &Case, predicate: &'a mut dyn Predicate, limits: Limits) -> Self {
        Self {
            predicate,
            home: home.clone(),
            started: Instant::now(),
            limits,
            allowed: limits,
            calls: 0,
            troubles: 0,
            known: HashMap::new(),
            evidence: Vec::new(),
        }
    }

    /// Lets the next stage go on until so many per cent of all calls or of all time are spent.
    pub(super) fn allow(&mut self, percent: u32) {
        let Limits { calls_max, seconds_max } = self.limits;
        let calls = u64::from(calls_max) * u64::from(percent) / 100;
        self.allowed = Limits {
            calls_max: u32::try_from(calls).unwrap_or(u32::MAX),
            seconds_max: seconds_max * f64::from(percent) / 100.0,
        };
    }

    /// Lets the next stage have half of what the present one left over.
    pub(super) fn allow_half(&mut self) {
        let seconds = self.started.elapsed().as_secs_f64();
        self.allowed = Limits {
            calls_max: self.calls + self.left() / 2,
            seconds_max: seconds + (self.allowed.seconds_max - seconds).max(0.0) / 2.0,
        };
    }

    /// Calls made.
    pub(super) fn calls(&self) -> u32 {
        self.calls
    }

    /// Calls left to the present stage; 0 where time or the machine ends it.
    pub(super) fn left(&self) -> u32 {
        let late = self.started.elapsed().as_secs_f64() >= self.allowed.seconds_max;
        if late || self.troubles >= TROUBLES_MAX {
            0
        } else {
            self.allowed.calls_max.saturating_sub(self.calls)
        }
    }

    /// True where the present stage may not ask any more.
    pub(super) fn is_spent(&self) -> bool {
        self.left() == 0
    }

    /// What is known about a case without a call.
    pub(super) fn known(&self, case: &Case) -> Option<Cell> {
        self.known.get(&case.to_string()).copied()
    }

    /// What the predicate says about a case; from memory where it was asked before. `None` where the stage's calls
    /// are spent.
    pub(super) fn ask(&mut self, case: &Case) -> Option<Cell> {
        if let Some(cell) = self.known(case) {
            return Some(cell);
        }
        if self.is_spent() {
            return None;
        }
        self.calls += 1;
        let answer = self.predicate.ask(case);
        self.troubles = if matches!(answer, Answer::Infra(_)) { self.troubles + 1 } else { 0 };
        Some(self.note(case, &answer))
    }

    /// Takes over an answer from elsewhere, where it is about a case that runs in the same way.
    pub(super) fn remember(&mut self, case: &Case, answer: &Answer) {
        let mut placed = case.clone();
        placed.problem.clone_from(&self.home.problem);
        placed.options.alpha = self.home.options.alpha;
        placed.options.beta = self.home.options.beta;
        placed.options.workspace.alignment = self.home.options.workspace.alignment;
        let fits = placed == self.home && case.problem.operation == self.home.problem.operation;
        if fits && self.evidence.len() < REMEMBERED_MAX && self.known(case).is_none() {
            self.note(case, answer);
        }
    }

    fn note(&mut self, case: &Case, answer: &Answer) -> Cell {
        let cell = match answer {
            Answer::Same => Cell::Fails,
            Answer::Pass => Cell::Passes,
            Answer::Other(_) => Cell::Other,
            Answer::Invalid(_) | Answer::Infra(_) => Cell::Unjudged,
        };
        self.known.insert(case.to_string(), cell);
        match cell {
            Cell::Fails => self.evidence.push((case.clone(), true)),
            Cell::Passes => self.evidence.push((case.clone(), false)),
            Cell::Other | Cell::Unjudged => {}
        }
        cell
    }

    /// Judged cases in the order met; true where the failure is the same one.
    pub(super) fn evidence(&self) -> &[(Case, bool)] {
        &self.evidence
    }
}
