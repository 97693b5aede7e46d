//! One problem under all its configurations: counts what was judged, offers what fails, looks again where the
//! executions were too weak to tell. Knows nothing of other problems.

use std::collections::BTreeMap;
use std::time::Instant;

use case::{Case, Config, Ended, Execution, FillKind, Matrix, Outcome, Selection, Untrusted, Verdict};
use exec::Tally;

use super::Floor;
use crate::bench::Bench;
use crate::error::HuntError;
use crate::event::{Check, HuntEvent, ProblemTally, Suspect, VerdictKind, counted, provisional};
use crate::examine::{config_of, job, leaves_traces, selection_of, survey};

/// Runs a problem's configurations and tells what came of them.
///
/// # Errors
/// Those of the bench, and of whoever records events. The problem then counts as not finished.
pub(super) fn survey_problem<B: Bench>(
    floor: &Floor<'_>,
    bench: &mut B,
    index: u64,
    case: &Case,
) -> Result<(), HuntError> {
    floor.record.tell(HuntEvent::ProblemStarted { index, case: case.to_string() })?;
    let started = Instant::now();
    let selection = selection_of(case, floor.options.selection);
    let mut count = Count {
        floor,
        index,
        case,
        selection,
        tally: ProblemTally::default(),
        refusals: BTreeMap::new(),
        weak: Vec::new(),
        traces: false,
    };
    let sums = count.run(bench, case, selection, Matrix::Standard)?;
    count.add(sums);
    // Each engine's plan is still built in the worker, so looking again costs executions only.
    for config in std::mem::take(&mut count.weak) {
        if floor.is_over() {
            // Not finished: a resumed hunt does it again.
            return Ok(());
        }
        let sums = count.run(bench, &case.pinned(config), Selection::Single, Matrix::Full)?;
        count.add(sums);
    }
    let Count { mut tally, refusals, traces, .. } = count;
    if traces {
        bench.fresh();
    }
    tally.refusals = refusals.into_iter().collect();
    let took = started.elapsed();
    floor.pace().note(took);
    tally.seconds = took.as_secs_f64();
    floor.record.tell(HuntEvent::ProblemDone { index, tally })
}

/// What a problem came to so far.
struct Count<'a> {
    floor: &'a Floor<'a>,
    index: u64,
    case: &'a Case,
    selection: Selection,
    tally: ProblemTally,
    refusals: BTreeMap<String, u64>,
    /// Configurations whose standard executions could not have shown anything.
    weak: Vec<Config>,
    /// True once a failure was seen after which the worker's process is not to be trusted.
    traces: bool,
}

impl Count<'_> {
    fn run<B: Bench>(
        &mut self,
        bench: &mut B,
        case: &Case,
        selection: Selection,
        matrix: Matrix,
    ) -> Result<Tally, HuntError> {
        let mut job = job(case, selection, matrix);
        job.multiply_adds_max = self.floor.options.multiply_adds_max;
        let mut told = Ok(());
        let sums = survey(bench, &job, &mut |outcome, verdict| {
            if told.is_ok() {
                told = self.take(&outcome, verdict, matrix);
            }
        })?;
        told.map(|()| sums)
    }

    fn add(&mut self, sums: Tally) {
        self.tally.foreign_us += sums.foreign_us;
        self.tally.busy_us += sums.busy_us;
    }

    fn take(&mut self, outcome: &Outcome, verdict: Verdict, matrix: Matrix) -> Result<(), HuntError> {
        let config = config_of(outcome).cloned();
        if let (Matrix::Standard, Verdict::Untrusted(_), true, Some(config)) =
            (matrix, &verdict, oracle::is_odd(&verdict), &config)
        {
            self.weak.push(config.clone());
            return Ok(());
        }
        match reckon(self.index, outcome, &verdict) {
            Ok(check) => {
                self.tally.checks += 1;
                self.floor.record.tell(HuntEvent::Checked(check))?;
            }
            Err(reason) => *self.refusals.entry(reason).or_default() += 1,
        }
        let Verdict::Fault(fault) = verdict else { return Ok(()) };
        self.traces |= leaves_traces(fault.sameness.kind);
        self.floor.offer(Suspect {
            provisional: provisional(&fault.sameness, self.case),
            case: self.case.clone(),
            selection: self.selection,
            config,
            fault,
        })
    }
}

/// A check, or why an outcome is none.
fn reckon(index: u64, outcome: &Outcome, verdict: &Verdict) -> Result<Check, String> {
    let observation = outcome.observation.as_ref();
    match counted(verdict) {
        // A pass without executions is a refusal that was asked for, or a plan that was only listed.
        Some(VerdictKind::Pass) if !observation.is_some_and(|seen| seen.ended == Ended::Completed) => {
            Err("as expected".to_owned())
        }
        Some(verdict) => Ok(Check {
            index,
            config: config_of(outcome).cloned(),
            verdict,
            compiled: observation.is_some_and(|observation| observation.notes.compiles_at_run_time()),
            exact: observation.map_or_else(Vec::new, |observation| exactness(&observation.executions)),
        }),
        None => Err(reason(verdict)),
    }
}

/// Whether the executions on integers gave what exact sums give.
fn exactness(executions: &[Execution]) -> Vec<(FillKind, bool)> {
    executions
        .iter()
        .filter(|execution| execution.recipe.fill.kind.is_integer())
        .map(|execution| (execution.recipe.fill.kind, execution.census.differing == 0))
        .collect()
}

/// Why a configuration was not executed, without numbers that would make every case a reason of its own.
fn reason(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Unsupported(refusal) => format!("{} in {}", refusal.name, refusal.phase.name()),
        Verdict::Untrusted(Untrusted::Skipped(why)) => {
            let general = why.split(|character: char| character.is_ascii_digit() || character == ':').next();
            format!("skipped: {}", general.unwrap_or_default().trim_matches([' ', '(']))
        }
        Verdict::Untrusted(Untrusted::Vacuous { .. } | Untrusted::Reference { .. })
        | Verdict::Pass
        | Verdict::Fault(_) => "judged".to_owned(),
    }
}
