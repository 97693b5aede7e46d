//! A bench that follows a script, for tests. Knows no process and no library.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use case::{
    Candidate, Case, Census, Config, Ended, Environment, Execution, Exit, HeuristicMode, Job, Notes,
    Observation, Outcome, Phase, Ranks, ReferenceFacts, Refusal, SpotCheck,
};
use exec::{HarnessError, JobEvent, Tally};
use hunt::Bench;

/// What a scripted library does with a case.
#[derive(Clone, Copy)]
pub(crate) enum Showed {
    /// Right throughout.
    Right,
    /// Two elements are off.
    Wrong,
    /// The process dies while its one plan executes.
    Dies,
    /// The plan that heuristics recommend is declined with that status.
    Declines(i32, &'static str),
    /// The set turns out to be unfit.
    Unusable,
}

/// A bench without processes.
#[derive(Clone)]
pub(crate) struct Script {
    /// Given a case and the number of the run.
    pub(crate) library: fn(&Case, u32) -> Showed,
    /// Runs made on all benches.
    pub(crate) runs: Arc<AtomicU32>,
}

impl Script {
    pub(crate) fn new(library: fn(&Case, u32) -> Showed) -> Self {
        Self { library, runs: Arc::default() }
    }
}

fn executions(job: &Job, wrong: u64) -> Vec<Execution> {
    let execution = |recipe| Execution {
        recipe,
        reference: ReferenceFacts {
            outputs: 8,
            with_products: 8,
            non_zero: 8,
            products_max: 2,
            abs_sum_max: 8.0,
            abs_result_max: 8.0,
        },
        spot: SpotCheck { sampled: 8, disagreeing: 0 },
        census: Census {
            checked: 8,
            differing: wrong,
            over_element: wrong,
            over_norm: wrong,
            ..Census::default()
        },
        guards: Vec::new(),
        inputs_changed: Vec::new(),
        repeat_differing: None,
        excerpt: Vec::new(),
        execute_us: 3,
    };
    oracle::recipes(&job.case, job.matrix).into_iter().map(execution).collect()
}

impl Bench for Script {
    fn run(&mut self, job: &Job, sink: &mut dyn FnMut(JobEvent)) -> Result<Tally, HarnessError> {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let mut ranks = Ranks::default();
        ranks.note(HeuristicMode::A, 0);
        let candidate = Some(Candidate { config: Config { engine: 7, knobs: Vec::new() }, ranks });
        let answered = |ended, executions| {
            let observation = Observation {
                candidate: candidate.clone(),
                notes: Notes::default(),
                workspace_bytes: 0,
                plan_us: 1,
                ended,
                executions,
                planning: None,
            };
            Outcome {
                candidate: candidate.clone(),
                exit: Exit::Answered,
                phase: Phase::Judge,
                observation: Some(observation),
                stderr: String::new(),
            }
        };
        let outcome = match (self.library)(&job.case, number) {
            Showed::Right => answered(Ended::Completed, executions(job, 0)),
            Showed::Wrong => answered(Ended::Completed, executions(job, 2)),
            Showed::Dies => Outcome {
                candidate: candidate.clone(),
                exit: Exit::Signalled(11),
                phase: Phase::Execute,
                observation: None,
                stderr: String::new(),
            },
            Showed::Declines(status, name) => {
                let (phase, name, reason) = (Phase::Plan, name.to_owned(), String::new());
                answered(Ended::Status(Refusal { phase, status, name, reason }), Vec::new())
            }
            Showed::Unusable => return Err(HarnessError::Unusable { message: "a mixed set".to_owned() }),
        };
        sink(JobEvent::Outcome(outcome));
        Ok(Tally::default())
    }

    fn fresh(&mut self) {}

    fn environment(&mut self) -> Result<Environment, HarnessError> {
        Ok(Environment { cudnn: 91_900, ..Environment::default() })
    }

    fn inventory(&mut self) -> Result<Environment, HarnessError> {
        self.environment()
    }
}
