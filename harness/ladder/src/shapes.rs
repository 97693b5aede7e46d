//! Rung two: a table of awkward shapes, each on every plan that a heuristic list recommends, against the exact
//! reference. Counts what is right, tries again in fresh processes what is not; the oracles judge.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use case::{
    Case, Config, EngineChoice, Fault, Job, Kind, Operation, Outcome, Phase, Sameness, Selection, Signature,
    Tier, Verdict,
};
use exec::HarnessError;
use gate::{Allowed, share};
use hunt::{Bench, Recheck};

use crate::ground::{AGAIN, unusable, with_limit};
use crate::judge::Break;
use crate::rung::{Rung, Seen};
use crate::trouble::Trouble;

/// The table.
const SHAPES: &str = include_str!("../data/shapes.txt");

/// The word of the table for the three passes of a convolution.
const EVERY: &str = "every ";

/// Breaks that are tried again and told in full; of more only the number is told.
const BREAKS_MAX: usize = 12;

/// Executions that must agree where a result that varies is tried again.
const REPEATS: u32 = 10;

/// The cases of the table with at most that many multiply-adds; 0 sets no limit.
///
/// # Errors
/// A line that is no case, which a test excludes.
pub fn cases(multiply_adds_max: i64) -> Result<Vec<Case>, String> {
    let lines = SHAPES.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let spelled = lines.flat_map(|line| match line.strip_prefix(EVERY) {
        Some(rest) => Operation::CONVOLUTIONS.map(|pass| format!("{} {rest}", pass.name())).to_vec(),
        None => vec![line.to_owned()],
    });
    let mut cases = spelled
        .map(|line| line.parse().map_err(|error| format!("{line}: {error}")))
        .collect::<Result<Vec<Case>, String>>()?;
    let fits =
        |case: &Case| multiply_adds_max == 0 || case.problem.geometry().multiply_adds() <= multiply_adds_max;
    cases.retain(fits);
    Ok(cases)
}

/// What rung two is asked to do.
pub struct Shapes<'run> {
    /// The cases.
    pub cases: &'run [Case],
    /// Most bytes of workspace of a plan.
    pub workspace_max: Option<i64>,
    /// What bounds it.
    pub allowed: Allowed,
}

/// How often something was seen of one operation.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    shapes: u32,
    right: u32,
    declined: u32,
    unjudged: u32,
}

/// A failure as it was first met.
struct Suspect {
    case: Case,
    config: Option<Config>,
    fault: Fault,
    shapes: u32,
}

#[derive(Default)]
struct Board {
    counts: BTreeMap<Operation, Count>,
    suspects: Vec<Suspect>,
    /// Plans that a list recommends and that could not be built, by status.
    unbuilt: BTreeMap<String, u32>,
    /// Why configurations could not be judged: by the words without their numbers, how often and the words met first.
    reasons: BTreeMap<String, (u32, String)>,
    informative: u32,
    trouble: Option<HarnessError>,
}

impl Board {
    fn count(&mut self, case: &Case) -> &mut Count {
        self.counts.entry(case.problem.operation).or_default()
    }

    fn note(&mut self, case: &Case, outcome: &Outcome, verdict: Verdict) {
        match verdict {
            Verdict::Pass => self.count(case).right += 1,
            Verdict::Unsupported(_) => self.count(case).declined += 1,
            Verdict::Untrusted(why) => {
                self.count(case).unjudged += 1;
                let words = why.to_string();
                self.reasons.entry(numberless(&words)).or_insert((0, words)).0 += 1;
            }
            Verdict::Fault(fault) if fault.tier == Tier::C => self.informative += 1,
            Verdict::Fault(fault) if is_declined(&fault) => {
                self.count(case).declined += 1;
                *self.unbuilt.entry(fault.sameness.cause).or_default() += 1;
            }
            Verdict::Fault(fault) => self.suspect(case, outcome, fault),
        }
    }

    fn suspect(&mut self, case: &Case, outcome: &Outcome, fault: Fault) {
        let key = Signature::new(&fault.sameness, &case.problem);
        let known =
            |suspect: &&mut Suspect| Signature::new(&suspect.fault.sameness, &suspect.case.problem) == key;
        if let Some(known) = self.suspects.iter_mut().find(known) {
            known.shapes += 1;
            return;
        }
        let observed = outcome.observation.as_ref().and_then(|observation| observation.candidate.as_ref());
        let config = observed.or(outcome.candidate.as_ref()).map(|candidate| candidate.config.clone());
        self.suspects.push(Suspect { case: case.clone(), config, fault, shapes: 1 });
    }
}

/// The words with each number as one sign, so that what differs in numbers alone is counted as one.
fn numberless(words: &str) -> String {
    let mut plain = String::new();
    for character in words.chars().map(|character| if character.is_ascii_digit() { '#' } else { character }) {
        if character != '#' || !plain.ends_with('#') {
            plain.push(character);
        }
    }
    plain
}

/// True where a recommended plan is declined before it exists: whoever asked takes the next one.
fn is_declined(fault: &Fault) -> bool {
    let Sameness { kind, phase, cause, .. } = &fault.sameness;
    *kind == Kind::Status && *phase <= Phase::Plan && cause.starts_with("not_supported")
}

/// Climbs rung two on benches that share a device; `alone` gives one that has it for itself, once they are gone.
///
/// # Errors
/// convict's own trouble.
pub fn shapes<B: Bench>(
    asked: &Shapes<'_>,
    benches: Vec<B>,
    alone: impl FnOnce() -> B,
) -> Result<Seen, HarnessError> {
    let start = Instant::now();
    let board = Mutex::new(Board::default());
    let cases: Vec<Case> = asked.cases.iter().map(|case| with_limit(case, asked.workspace_max)).collect();
    let (usable, untaken) =
        share(benches, &cases, &asked.allowed, |bench, case| survey(bench, case, &board, asked));
    drop(usable);
    let mut board = board.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(HarnessError::Interrupted) = board.trouble {
        return Err(HarnessError::Interrupted);
    }
    let mut breaks = again(&mut board, alone)?;
    let mut ours = None;
    if let Some(trouble) = board.trouble.take() {
        match unusable(Rung::Shapes, trouble) {
            Ok(found) => breaks.push(found),
            Err(error) if breaks.is_empty() => return Err(error),
            Err(error) => ours = Some(error.to_string()),
        }
    }
    breaks.sort_by_key(|one| one.trouble);
    let mut seen = told(&board, cases.len(), untaken, breaks);
    seen.notes.extend(ours);
    Ok(Seen { seconds: start.elapsed().as_secs_f64(), ..seen })
}

fn lock(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

fn survey<B: Bench>(
    bench: &mut B,
    case: &Case,
    board: &Mutex<Board>,
    asked: &Shapes<'_>,
) -> Result<(), HarnessError> {
    bench.limit(asked.allowed.until);
    let job = Job::new(0, case.clone(), Selection::Heuristics);
    let ended = hunt::survey(bench, &job, &mut |outcome, verdict| lock(board).note(case, &outcome, verdict));
    bench.limit(None);
    match ended {
        Ok(_) => {
            lock(board).count(case).shapes += 1;
            Ok(())
        }
        Err(HarnessError::OutOfTime) => Ok(()),
        Err(error) => {
            let copy = HarnessError::Broken { message: error.to_string() };
            lock(board).trouble.get_or_insert(error);
            Err(copy)
        }
    }
}

/// Each failure in fresh processes.
fn again<B: Bench>(board: &mut Board, alone: impl FnOnce() -> B) -> Result<Vec<Break>, HarnessError> {
    if board.suspects.is_empty() {
        return Ok(Vec::new());
    }
    let mut bench = alone();
    board
        .suspects
        .sort_by_key(|suspect| Trouble::of(suspect.fault.sameness.kind, &suspect.fault.sameness.cause));
    let mut breaks = Vec::new();
    for suspect in board.suspects.iter().take(BREAKS_MAX) {
        let case = pinned(suspect);
        let mut hits = 0;
        for _ in 0..AGAIN {
            match hunt::recheck(&mut bench, &case, &suspect.fault.sameness) {
                Ok(Recheck::Same) => hits += 1,
                Ok(Recheck::Other(_) | Recheck::Passed | Recheck::Unjudged(_)) => {}
                Err(HarnessError::Interrupted) => return Err(HarnessError::Interrupted),
                // A device that died of it is told once, below.
                Err(error) => {
                    board.trouble.get_or_insert(error);
                    break;
                }
            }
        }
        breaks.push(broken(suspect, &case, hits));
    }
    Ok(breaks)
}

/// The case with what shows the failure.
fn pinned(suspect: &Suspect) -> Case {
    let mut case = suspect.case.clone();
    if let Some(config) = &suspect.config {
        case.options.engine = EngineChoice::Pinned(config.clone());
    }
    if suspect.fault.sameness.kind == Kind::Nondet {
        case.options.repeat = case.options.repeat.max(REPEATS);
    }
    case
}

fn broken(suspect: &Suspect, case: &Case, hits: u32) -> Break {
    let sameness = &suspect.fault.sameness;
    let engine = sameness.engine.map_or(String::new(), |engine| format!(", engine {engine}"));
    let more =
        if suspect.shapes > 1 { format!(" (on {} plans alike)", suspect.shapes) } else { String::new() };
    Break {
        trouble: Trouble::of(sameness.kind, &sameness.cause),
        place: format!("{}{engine}", sameness.operation.name()),
        summary: format!("{}{more}", suspect.fault.summary),
        case: Some(case.to_string()),
        again: Some((hits, AGAIN)),
        alone: None,
    }
}

fn told(board: &Board, cases: usize, untaken: usize, mut breaks: Vec<Break>) -> Seen {
    let sum = |of: fn(&Count) -> u32| board.counts.values().map(of).sum::<u32>();
    let (right, judged) = (sum(|count| count.right), sum(|count| count.shapes));
    let words = format!("{right} plans of {judged} shapes right, {} declined", sum(|count| count.declined));
    if right == 0 && breaks.is_empty() {
        if judged == 0 {
            return Seen::unclimbed(Rung::Shapes, "the time was over before anything was judged");
        }
        let why = board
            .reasons
            .values()
            .next()
            .map_or_else(|| "every plan was declined".to_owned(), |(_, words)| words.clone());
        breaks.push(Break::plain(Trouble::of_words(&why), "all shapes", why));
    }
    let mut notes: Vec<String> = board
        .counts
        .iter()
        .map(|(operation, count)| {
            let Count { shapes, right, declined, unjudged } = count;
            let unjudged = if *unjudged > 0 { format!(", {unjudged} not judged") } else { String::new() };
            format!(
                "{}: {right} plans of {shapes} shapes right, {declined} declined{unjudged}",
                operation.name()
            )
        })
        .collect();
    for (status, count) in &board.unbuilt {
        notes.push(format!("{count} plans that a list recommends were declined: {}", status.to_uppercase()));
    }
    notes.extend(board.reasons.values().map(|(count, words)| match count {
        1 => format!("1 not judged: {words}"),
        _ => format!("{count} not judged, such as: {words}"),
    }));
    if board.informative > 0 {
        notes.push(format!("{} observations that no documentation excludes (tier C)", board.informative));
    }
    let left = board.suspects.len().saturating_sub(BREAKS_MAX);
    if left > 0 {
        notes.push(format!(
            "{left} failures more, not tried again; `convict hunt --library DIR --time 10m --out found` finds and sorts them"
        ));
    }
    if untaken > 0 {
        notes.push(format!("{untaken} of {cases} shapes were left when the time was over"));
    }
    Seen { notes, ..Seen::new(Rung::Shapes, words, breaks) }
}

#[cfg(test)]
mod tests;
