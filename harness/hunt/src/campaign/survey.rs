//! One problem under all its configurations: counts what was judged, offers what fails, looks again where the
//! executions were too weak to tell. Knows nothing of other problems.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use case::{
    Case, Config, Ended, Engines, Execution, FillKind, Job, Matrix, Observation, Outcome, Selection, Tier,
    Untrusted, Verdict,
};

use exec::JobEvent;

use super::Floor;
use crate::bench::Bench;
use crate::error::HuntError;
use crate::event::{Check, HuntEvent, ProblemTally, Suspect, VerdictKind, counted, provisional};
use crate::examine::{config_of, job, leaves_traces, selection_of};
use crate::life::Life;
use crate::summary::AS_EXPECTED;

/// Other input extents that a problem is tried with, where engines compiled kernels for it: a kernel mostly serves
/// them too (measured: 0.05 s instead of 0.5 to 1 s), and what breaks at some sizes needs several to show.
const SIBLINGS: u64 = 32;

/// Runs a problem's configurations and tells what came of them.
///
/// # Errors
/// Those of the bench, and of whoever records events. The problem then counts as not finished.
pub(super) fn survey_problem<B: Bench>(
    floor: &Floor<'_>,
    (bench, life): (&mut B, &mut Life),
    index: u64,
    case: &Case,
) -> Result<(), HuntError> {
    let engines = floor.engines_of(index, case);
    let line = case.to_string();
    floor.record.tell(HuntEvent::ProblemStarted { index, case: line, engines: engines.clone() })?;
    let started = Instant::now();
    let selection = selection_of(case, floor.options.selection);
    let mut count = Count {
        floor,
        life,
        index,
        case: case.clone(),
        selection,
        tally: ProblemTally::default(),
        refusals: BTreeMap::new(),
        weak: Vec::new(),
        compiled: BTreeMap::new(),
        traces: false,
    };
    let focused = matches!(engines, Engines::Only(_));
    if !count.survey(bench, case, engines)? {
        // Not finished: a resumed hunt does it again.
        return Ok(());
    }
    if focused {
        count.survey_siblings(bench, case)?;
    }
    let Count { mut tally, refusals, traces, .. } = count;
    if traces {
        bench.fresh();
    }
    tally.refusals = refusals.into_iter().collect();
    let took = started.elapsed();
    floor.pace().note(took);
    floor.focus().note_busy(tally.busy_us);
    tally.seconds = took.as_secs_f64();
    floor.record.tell(HuntEvent::ProblemDone { index, tally })
}

/// What a problem came to so far.
struct Count<'a> {
    floor: &'a Floor<'a>,
    /// What the bench's process did before.
    life: &'a mut Life,
    index: u64,
    case: Case,
    selection: Selection,
    tally: ProblemTally,
    refusals: BTreeMap<String, u64>,
    /// Configurations whose standard executions could not have shown anything.
    weak: Vec<Config>,
    /// Engines that compiled kernels for the last case, and how many microseconds that took.
    compiled: BTreeMap<i64, u64>,
    /// True once a failure was seen after which the worker's process is not to be trusted.
    traces: bool,
}

impl Count<'_> {
    /// Runs a case under those engines, and once more fully what the standard executions were too weak for; false
    /// where the hunt ended before.
    fn survey<B: Bench>(&mut self, bench: &mut B, case: &Case, engines: Engines) -> Result<bool, HuntError> {
        self.case.clone_from(case);
        self.run(bench, Job { engines, ..job(case, self.selection, Matrix::Standard) })?;
        // Each engine's plan is still built in the worker, so looking again costs executions only.
        for config in std::mem::take(&mut self.weak) {
            if self.floor.is_over() {
                return Ok(false);
            }
            self.run(bench, job(&case.pinned(config), Selection::Single, Matrix::Full))?;
        }
        Ok(true)
    }

    /// Tries other input extents with the engines that compiled kernels for a problem, as long as those kernels serve.
    fn survey_siblings<B: Bench>(&mut self, bench: &mut B, case: &Case) -> Result<(), HuntError> {
        let operation = case.problem.operation;
        let compiled = std::mem::take(&mut self.compiled).into_keys();
        let mut due: BTreeSet<i64> =
            compiled.filter(|engine| self.floor.focus().may_serve(operation, *engine)).collect();
        for number in 0..SIBLINGS {
            if due.is_empty() || self.floor.is_late() {
                break;
            }
            let Some(sibling) = self.floor.sibling(self.index, number) else { break };
            if !self.survey(bench, &sibling, Engines::Only(due.iter().copied().collect()))? {
                break;
            }
            for (engine, plan_us) in std::mem::take(&mut self.compiled) {
                if !self.floor.focus().note_sibling(operation, engine, plan_us) {
                    due.remove(&engine);
                }
            }
        }
        Ok(())
    }

    fn run<B: Bench>(&mut self, bench: &mut B, mut job: Job) -> Result<(), HuntError> {
        job.multiply_adds_max = self.floor.options.multiply_adds_max;
        let matrix = job.matrix;
        let mut told = Ok(());
        let sums = bench.run(&job, &mut |event| match event {
            JobEvent::Process(process) => self.life.goes_on_in(process),
            JobEvent::Outcome(outcome) if told.is_ok() => {
                told = self.take(&outcome, oracle::judge(&job.case, &outcome), matrix);
                self.life.note(&job.case, &outcome);
            }
            JobEvent::Outcome(_) | JobEvent::Candidates(_) | JobEvent::Drilled(_) | JobEvent::Place(_) => {}
        })?;
        told?;
        self.tally.foreign_us += sums.foreign_us;
        self.tally.busy_us += sums.busy_us;
        Ok(())
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
                self.floor.focus().note(self.case.problem.operation, &check);
                if let (true, Some(config)) = (check.compiled, &check.config) {
                    self.compiled.insert(config.engine, check.plan_us);
                }
                self.floor.record.tell(HuntEvent::Checked(check))?;
            }
            Err(reason) => *self.refusals.entry(reason).or_default() += 1,
        }
        let Verdict::Fault(fault) = verdict else { return Ok(()) };
        self.traces |= leaves_traces(fault.sameness.kind);
        let before = if fault.tier == Tier::C { Vec::new() } else { self.life.history() };
        self.floor.offer(Suspect {
            provisional: provisional(&fault.sameness, &self.case),
            case: self.case.clone(),
            selection: self.selection,
            config,
            fault,
            history: before,
        })
    }
}

/// A check, or why an outcome is none.
fn reckon(index: u64, outcome: &Outcome, verdict: &Verdict) -> Result<Check, String> {
    let observation = outcome.observation.as_ref();
    match counted(verdict) {
        // A pass without executions is a refusal that was asked for, or a plan that was only listed.
        Some(VerdictKind::Pass) if !observation.is_some_and(is_checked) => Err(AS_EXPECTED.to_owned()),
        Some(verdict) => Ok(Check {
            index,
            config: config_of(outcome).cloned(),
            verdict,
            compiled: observation.is_some_and(|observation| observation.notes.compiles_at_run_time()),
            plan_us: observation.map_or(0, |observation| observation.plan_us),
            execute_us: observation.map_or(0, |observation| {
                observation.executions.iter().map(|execution| execution.execute_us).sum()
            }),
            exact: observation.map_or_else(Vec::new, |observation| exactness(&observation.executions)),
        }),
        None => Err(reason(verdict)),
    }
}

/// True where a run was measured, or a plan compared with what it tells of itself.
fn is_checked(observation: &Observation) -> bool {
    match &observation.ended {
        Ended::Completed => true,
        Ended::Described => observation.planning.is_some(),
        Ended::Status(_) | Ended::Device { .. } | Ended::Skipped(_) => false,
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

/// A text with N in place of each of its numbers.
fn without_numbers(text: &str) -> String {
    let mut general = String::new();
    for character in text.chars() {
        match (character.is_ascii_digit(), general.ends_with('N')) {
            (false, _) => general.push(character),
            (true, false) => general.push('N'),
            (true, true) => {}
        }
    }
    general
}

/// Why a configuration was not executed, without numbers that would make every case a reason of its own.
fn reason(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Unsupported(refusal) => format!("{} in {}", refusal.name, refusal.phase.name()),
        Verdict::Untrusted(Untrusted::Skipped(why)) => {
            format!("skipped: {}", without_numbers(why.split(':').next().unwrap_or_default()))
        }
        Verdict::Untrusted(Untrusted::Vacuous { .. } | Untrusted::Reference { .. })
        | Verdict::Pass
        | Verdict::Fault(_) => "judged".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_keeps_its_words_and_loses_its_numbers() {
        let skipped = |why: &str| reason(&Verdict::Untrusted(Untrusted::Skipped(why.to_owned())));
        for (why, general) in [
            ("engine=9999 is none of the 44 engines", "skipped: engine=N is none of the N engines"),
            (
                "the plan asks for 12 bytes, 3 are left: more",
                "skipped: the plan asks for N bytes, N are left",
            ),
            ("nothing was executed", "skipped: nothing was executed"),
        ] {
            assert_eq!(skipped(why), general);
        }
    }
}
