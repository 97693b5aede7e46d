//! Rung three: short trainings, each in one worker, against the same training in f64. Knows when to look again; what a
//! run proves is told elsewhere.

use std::time::Instant;

use case::{Drill, Job, Matrix, Selection, StepSeen, Training, Verdict};
use exec::HarnessError;
use hunt::Bench;

use crate::ground::{unusable, with_limit};
use crate::judge::{Break, first_astray, judge};
use crate::record::Record;
use crate::rung::{Rung, Seen};
use crate::twin::{Course, course};

/// Fresh processes in which a training that broke is run again.
const AGAIN: u32 = 2;

/// Most breaks that are looked into one by one.
const LOOKED_INTO: usize = 4;

/// A rung that was climbed, and what each training showed the first time.
#[derive(Debug)]
pub struct Trained {
    /// The rung.
    pub seen: Seen,
    /// What each training showed.
    pub records: Vec<Record>,
}

/// Climbs rung three.
///
/// # Errors
/// convict's own trouble.
pub fn train<B: Bench + ?Sized>(
    bench: &mut B,
    trainings: &[(&str, Training)],
) -> Result<Trained, HarnessError> {
    let start = Instant::now();
    let (mut words, mut notes, mut breaks, mut records) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (name, training) in trainings {
        let climbed = climb(bench, training);
        let (record, found) = match climbed {
            Ok(both) => both,
            Err(error) => {
                breaks.push(unusable(Rung::Training, error)?);
                break;
            }
        };
        words.push(format!("{name}: {}", in_words(training, &record)));
        notes.extend(passed_over(name, training, &record));
        let many = trainings.len() > 1;
        let named =
            |one: Break| if many { Break { place: format!("{name}: {}", one.place), ..one } } else { one };
        breaks.extend(found.into_iter().map(named));
        records.push(record);
    }
    breaks.sort_by_key(|one| !one.is_fault());
    let seen = Seen::new(Rung::Training, words.join("; "), breaks);
    Ok(Trained { seen: Seen { notes, seconds: start.elapsed().as_secs_f64(), ..seen }, records })
}

/// One training, and again where it broke.
fn climb<B: Bench + ?Sized>(
    bench: &mut B,
    training: &Training,
) -> Result<(Record, Vec<Break>), HarnessError> {
    let record = run(bench, training)?;
    let course = course_of(training, &record);
    let mut breaks = judge(training, &record, &course);
    let Some(first) = breaks.first() else { return Ok((record, breaks)) };
    if !first.is_fault() {
        return Ok((record, breaks));
    }
    let mut looking = training.clone();
    if let (None, Some(step)) = (&first.case, first_astray(&record, &course)) {
        // A wrong gradient shows in the loss of the step after: there the tensors tell which one.
        looking.shown = vec![step.saturating_sub(1), step];
    }
    let mut hits = vec![0; breaks.len()];
    for _ in 0..AGAIN {
        bench.fresh();
        let again = judge(&looking, &run(bench, &looking)?, &course);
        for (hits, known) in hits.iter_mut().zip(&breaks) {
            *hits += u32::from(again.iter().any(|one| is_same(known, one)));
        }
        if looking.shown != training.shown
            && let Some(found) = again.into_iter().find(|one| one.case.is_some())
            && !breaks.iter().any(|known| is_same(known, &found) && known.case.is_some())
        {
            breaks.insert(0, found);
            hits.insert(0, 1);
        }
    }
    for (hits, found) in hits.iter().zip(&mut breaks) {
        found.again = Some((*hits, AGAIN));
    }
    bench.fresh();
    for found in breaks.iter_mut().take(LOOKED_INTO) {
        found.alone = fails_alone(bench, training, found)?;
    }
    Ok((record, breaks))
}

/// The same trouble with the same convolution, at whatever step. Where no convolution is to blame the trouble alone
/// decides: drift that has its cause found is told by that.
fn is_same(known: &Break, other: &Break) -> bool {
    match &known.case {
        Some(_) => known.trouble == other.trouble && known.case == other.case,
        None => other.is_fault(),
    }
}

/// Whether the convolution fails alone, with the data and contents of a check.
fn fails_alone<B: Bench + ?Sized>(
    bench: &mut B,
    training: &Training,
    found: &Break,
) -> Result<Option<bool>, HarnessError> {
    let Some(case) = found.case.as_ref().and_then(|line| line.parse().ok()) else { return Ok(None) };
    let case = with_limit(&case, training.workspace_max);
    let (verdict, _) = hunt::check(bench, &case, Matrix::Standard)?;
    Ok(match verdict {
        Verdict::Fault(_) => Some(true),
        Verdict::Pass => Some(false),
        Verdict::Unsupported(_) | Verdict::Untrusted(_) => None,
    })
}

fn run<B: Bench + ?Sized>(bench: &mut B, training: &Training) -> Result<Record, HarnessError> {
    let Some(largest) = training.largest() else { return Ok(Record::default()) };
    let drill = Some(Box::new(Drill::Train(training.clone())));
    let job = Job { drill, ..Job::new(0, largest.clone(), Selection::Drill) };
    let mut record = Record::default();
    bench.run(&job, &mut |event| record.take(event))?;
    Ok(record)
}

fn course_of(training: &Training, record: &Record) -> Course {
    if record.run(0).next().is_none() {
        // Nothing to compare with: it died before its first step was done.
        return Course { losses: Vec::new(), tolerances: Vec::new() };
    }
    let notes: Vec<case::Notes> = record.planned.iter().map(|planned| planned.notes.clone()).collect();
    course(training, &notes)
}

/// `24 steps twice, loss 0.101 to 0.012, the same bits in both`.
fn in_words(training: &Training, record: &Record) -> String {
    let losses: Vec<f64> = record.run(0).map(StepSeen::loss).collect();
    let times = if training.runs == 2 { "twice".to_owned() } else { format!("{} times", training.runs) };
    let (Some(first), Some(last)) = (losses.first(), losses.last()) else {
        return "no step was done".to_owned();
    };
    if !record.is_whole(training) {
        return format!(
            "{} of {} steps, loss {first:.4} to {last:.4}",
            record.steps.len(),
            training.steps * training.runs
        );
    }
    let promised = !record.planned.iter().any(|planned| planned.notes.nondeterministic());
    let same = (1..training.runs)
        .all(|run| record.run(0).zip(record.run(run)).all(|(one, two)| one.calls == two.calls));
    let bits = match (same, promised) {
        (true, _) => "the same bits each time",
        (false, true) => "other bits each time",
        (false, false) => "other bits each time, as an engine declares",
    };
    format!("{} steps {times}, loss {first:.4} to {last:.4}, {bits}", training.steps)
}

/// Plans that heuristics rank higher than those taken, and why they were not.
fn passed_over(name: &str, training: &Training, record: &Record) -> Vec<String> {
    let line = |planned: &case::Planned| {
        let reasons = planned.passed_over.join("; ");
        (!reasons.is_empty()).then(|| format!("{name}, {}: passed over {reasons}", planned.call))
    };
    let known = record.planned.iter().filter(|planned| training.case_of(planned.call).is_some());
    known.filter_map(line).collect()
}
