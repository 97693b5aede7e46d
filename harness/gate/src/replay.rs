//! The replay of a corpus: every entry once, what surprises again in fresh processes. Knows when one more run is worth
//! it; what a run means for an entry is the corpus's own matter.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use case::{Case, Expect as CaseExpect, Keep, Kind, Phase, Selection};
use corpus::{Expect, Listed, Question, Record, SetFacts, Showing, Standing, State};
use exec::HarnessError;
use hunt::Bench;

use crate::ask::{Asking, ask};
use crate::floor::{Allowed, share};

/// Phases whose failures a plan shows that nobody executes.
const PLANNED: [Phase; 3] = [Phase::Describe, Phase::Heuristics, Phase::Plan];

/// What a replay is asked to do.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    /// Entries to run.
    pub listed: &'a [Listed],
    /// The library set and the device.
    pub set: &'a SetFacts,
    /// How cases are put.
    pub asking: Asking,
    /// What bounds it.
    pub allowed: Allowed,
    /// True where the benches plan for a device that is not there, so that nothing is executed.
    pub plans_only: bool,
}

/// How a replay ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Every entry, in the order of the list.
    pub records: Vec<Record>,
    /// True where somebody asked it to stop.
    pub interrupted: bool,
}

/// One entry on its way.
struct Piece<'a> {
    position: usize,
    case: Case,
    question: Question<'a>,
}

impl Piece<'_> {
    /// True where a plan that is built says all: its absence is what is wanted, or what is known to fail.
    fn is_shown_by_plans(&self) -> bool {
        let Question { expectation, signature, engine_free, every_engine, must_refuse } = self.question;
        let fails = expectation.is_some_and(|one| matches!(one.expect, Expect::Fail | Expect::Flaky));
        let phase = signature.and_then(|signature| signature.split('-').nth(3));
        let planned = PLANNED.into_iter().any(|planned| phase == Some(planned.name()));
        must_refuse || (fails && planned && (!engine_free || every_engine))
    }
}

/// Runs every entry. `each` hears of an entry as soon as it is known how it stands.
///
/// `alone` gives a bench with the whole device: for what needs more memory than a share of it, and for failures that
/// company could be to blame for. It is made once all others are gone.
pub fn replay<B: Bench>(
    replay: &Replay<'_>,
    benches: Vec<B>,
    alone: impl FnOnce() -> B,
    each: &(dyn Fn(&Record) + Sync),
) -> Ended {
    let board = Board { records: Mutex::new(blank(replay)), replay, each };
    let pieces: Vec<Piece<'_>> = replay
        .listed
        .iter()
        .enumerate()
        .filter_map(|(position, listed)| piece(replay, position, listed))
        .collect();
    let (usable, _) =
        share(benches, &pieces, &replay.allowed, |bench, piece| board.run(bench, piece, Round::First));
    let again: Vec<&Piece<'_>> = pieces.iter().filter(|piece| board.is_open(piece, Round::Again)).collect();
    let (usable, _) =
        share(usable, &again, &replay.allowed, |bench, piece| board.run(bench, piece, Round::Again));
    drop(usable);
    let rest: Vec<&Piece<'_>> = pieces.iter().filter(|piece| board.is_open(piece, Round::Alone)).collect();
    if !rest.is_empty() && !replay.allowed.is_over() {
        share(vec![alone()], &rest, &replay.allowed, |bench, piece| board.run(bench, piece, Round::Alone));
    }
    let interrupted = replay.allowed.interrupt.is_set();
    for piece in &pieces {
        board.close(piece, interrupted);
    }
    Ended { records: board.records.into_inner().unwrap_or_else(PoisonError::into_inner), interrupted }
}

fn blank(replay: &Replay<'_>) -> Vec<Record> {
    let record = |listed: &Listed| {
        let ticket = listed.entry.expectation_on(replay.set).and_then(|one| one.ticket.clone());
        let (case, engine_free) = match listed.entry.case_on(replay.set) {
            Some((case, engine_free)) => (case.to_string(), engine_free),
            None => (listed.entry.case.clone(), false),
        };
        Record::new(listed, case, engine_free, ticket)
    };
    replay.listed.iter().map(record).collect()
}

fn piece<'a>(replay: &Replay<'a>, position: usize, listed: &'a Listed) -> Option<Piece<'a>> {
    let (case, engine_free) = listed.entry.case_on(replay.set)?;
    let question = Question {
        expectation: listed.entry.expectation_on(replay.set),
        signature: listed.entry.signature.as_deref(),
        engine_free,
        every_engine: replay.asking.engines == Selection::All,
        must_refuse: case.options.expect == CaseExpect::Refuse,
    };
    Some(Piece { position, case, question })
}

/// Which look at an entry this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Round {
    /// The first, beside others.
    First,
    /// What surprised, in fresh processes.
    Again,
    /// With the device alone.
    Alone,
}

/// What is known of all entries.
struct Board<'a> {
    records: Mutex<Vec<Record>>,
    replay: &'a Replay<'a>,
    each: &'a (dyn Fn(&Record) + Sync),
}

impl Board<'_> {
    fn records(&self) -> MutexGuard<'_, Vec<Record>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, piece: &Piece<'_>) -> Option<Record> {
        self.records().get(piece.position).cloned()
    }

    /// True where a later round has something to do for an entry.
    fn is_open(&self, piece: &Piece<'_>, round: Round) -> bool {
        let Some(record) = self.record(piece) else { return false };
        let Some(last) = record.runs.last() else { return round == Round::Alone };
        match last {
            // Too large for a share of the memory, or a bench that died over it.
            Showing::Skipped(_) => round == Round::Alone && !self.is_too_much(piece),
            Showing::Trouble(_) => round == Round::Alone,
            Showing::Failed(failing) => {
                let alone = needs_the_device(failing.kind);
                piece.question.wants_more(&record.runs) && alone == (round == Round::Alone)
            }
            Showing::Passed | Showing::Refused(_) | Showing::Untrusted(_) => {
                round == Round::Again && piece.question.wants_more(&record.runs)
            }
        }
    }

    fn is_too_much(&self, piece: &Piece<'_>) -> bool {
        let most = self.replay.asking.multiply_adds_max;
        most > 0 && piece.case.problem.geometry().multiply_adds() > most
    }

    /// Runs an entry as often as this round does.
    fn run<B: Bench>(&self, bench: &mut B, piece: &Piece<'_>, round: Round) -> Result<(), HarnessError> {
        let start = Instant::now();
        let Some(mut record) = self.record(piece) else { return Ok(()) };
        // What could not be run before says nothing about the runs to come.
        record.runs.retain(|run| !matches!(run, Showing::Skipped(_) | Showing::Trouble(_)));
        let mut trouble = Ok(());
        loop {
            if round != Round::First {
                bench.fresh();
            }
            match self.look(bench, piece) {
                Ok(showing) => record.runs.push(self.weighed(piece, showing)),
                Err(HarnessError::Interrupted) => break,
                Err(error) => {
                    record.runs.push(Showing::Trouble(error.to_string()));
                    bench.fresh();
                    trouble = Err(error);
                    break;
                }
            }
            let more = piece.question.wants_more(&record.runs) && !self.replay.allowed.is_over();
            if round == Round::First || !more {
                break;
            }
        }
        record.seconds += start.elapsed().as_secs_f64();
        if let Some(place) = self.records().get_mut(piece.position) {
            *place = record;
        }
        let later =
            [Round::Again, Round::Alone].into_iter().any(|later| later > round && self.is_open(piece, later));
        if !later {
            self.close(piece, false);
        }
        trouble
    }

    /// One run, wider where that is what the entry is about.
    fn look<B: Bench>(&self, bench: &mut B, piece: &Piece<'_>) -> Result<Showing, HarnessError> {
        let until = self.replay.allowed.until;
        let expects_failure =
            piece.question.expectation.is_some_and(|one| matches!(one.expect, Expect::Fail | Expect::Flaky));
        let engine_free = piece.question.engine_free;
        let asking = Asking { looking_for_one: expects_failure && !engine_free, ..self.replay.asking };
        let first = ask(bench, &piece.case, &asking, until)?;
        // What fails before there is a plan may do so in any of the heuristic lists.
        let before_any_plan = piece.question.signature.is_some_and(|signature| signature.contains("-none-"));
        let single = asking.engines == Selection::Single;
        if expects_failure && before_any_plan && single && !matches!(first, Showing::Failed(_)) {
            let wider = Asking { engines: Selection::Heuristics, ..asking };
            let second = ask(bench, &piece.case, &wider, until)?;
            return Ok(if matches!(second, Showing::Failed(_)) { second } else { first });
        }
        // The data that suit one engine's failure may be too weak to trust any other for.
        if engine_free && matches!(first, Showing::Untrusted(_)) {
            return ask(bench, &with_usual_contents(&piece.case), &asking, until);
        }
        Ok(first)
    }

    /// The same; but a plan that was built and not executed proves right only what is known to fail before.
    fn weighed(&self, piece: &Piece<'_>, showing: Showing) -> Showing {
        if showing != Showing::Passed || !self.replay.plans_only || piece.is_shown_by_plans() {
            return showing;
        }
        Showing::Untrusted("the plan was built, and nothing was executed".to_owned())
    }

    /// Tells how an entry stands, once.
    fn close(&self, piece: &Piece<'_>, interrupted: bool) {
        let closed = {
            let mut records = self.records();
            let Some(place) = records.get_mut(piece.position) else { return };
            if !place.why.is_empty() {
                return;
            }
            let standing = if place.runs.is_empty() {
                unrun(interrupted, self.replay.allowed.is_late())
            } else {
                piece.question.standing(&place.runs)
            };
            *place = place.clone().stands(standing);
            place.clone()
        };
        (self.each)(&closed);
    }
}

/// The case with the data and contents that every check uses.
fn with_usual_contents(case: &Case) -> Case {
    let mut usual = case.clone();
    usual.options.fill = None;
    usual.options.keep = Keep::default();
    usual.options.output_fill = None;
    usual.options.workspace.contents = None;
    usual
}

/// An entry that nobody came to.
fn unrun(interrupted: bool, late: bool) -> Standing {
    let (state, why) = match (interrupted, late) {
        (true, _) => (State::Skipped, "interrupted"),
        (false, true) => (State::Skipped, "the time for all was over"),
        (false, false) => (State::Infra, "no worker was left to run it"),
    };
    Standing { state, why: why.to_owned() }
}

/// Failures that another process on the same device can bring about.
fn needs_the_device(kind: Kind) -> bool {
    match kind {
        Kind::Device | Kind::Crash | Kind::Hang | Kind::Nondet => true,
        Kind::Wrong
        | Kind::Inexact
        | Kind::Oob
        | Kind::Input
        | Kind::Status
        | Kind::Accepted
        | Kind::Workspace
        | Kind::Reload => false,
    }
}

#[cfg(test)]
mod tests;
