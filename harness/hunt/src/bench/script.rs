//! A bench without processes: engines that fail where a predicate says so. Knows how outcomes look; knows
//! nothing of what the hunt makes of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use case::{
    Candidate, Case, Census, Config, Ended, EngineChoice, Environment, Execution, Exit, HeuristicMode, Job,
    Matrix, Notes, Observation, Outcome, Phase, Ranks, Recipe, ReferenceFacts, Refusal, Selection, SpotCheck,
};
use exec::{HarnessError, Interrupt, JobEvent, Tally};

use super::Bench;

/// How a planted fault shows itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum How {
    /// A finite wrong value.
    Wrong,
    /// A segmentation fault while the plan executes, or where heuristics are asked when no engine is named.
    Crash,
    /// A sticky illegal address.
    Device,
    /// A differing value within every bound.
    Inexact,
    /// Other bits on the same data: where every buffer starts alike, or where only those contents differ.
    Differs(Varied),
    /// A status that a recommended configuration must not give.
    Refused,
}

/// What two executions whose bits differ did not have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Varied {
    Nothing,
    Workspace,
    Output,
}

impl Varied {
    fn between(self, one: Recipe, other: Recipe) -> bool {
        match self {
            Self::Nothing => (one.workspace, one.output) == (other.workspace, other.output),
            Self::Workspace => one.workspace != other.workspace,
            Self::Output => one.workspace == other.workspace && one.output != other.output,
        }
    }
}

/// A failure with its region.
#[derive(Clone, Copy)]
pub(crate) struct Planted {
    /// The engine, `None` for a failure before any.
    pub(crate) engine: Option<i64>,
    pub(crate) region: fn(&Case) -> bool,
    pub(crate) how: How,
    /// Shows itself in each run whose number among the runs within the region is a multiple of this.
    pub(crate) every: u64,
}

/// A fault that always shows itself.
pub(crate) fn planted(engine: Option<i64>, how: How, region: fn(&Case) -> bool) -> Planted {
    Planted { engine, region, how, every: 1 }
}

/// What all benches of a test share.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) planted: Vec<Planted>,
    /// Jobs run so far.
    pub(crate) jobs: AtomicU64,
    /// Runs within each planted region, by position.
    pub(crate) within: Mutex<Vec<u64>>,
    /// Lines of the surveyed cases, in order.
    pub(crate) surveyed: Mutex<Vec<String>>,
    /// Jobs that asked for the device alone.
    pub(crate) alone: AtomicU64,
    /// Jobs that began in a new process.
    pub(crate) fresh: AtomicU64,
    /// Time that each job takes.
    pub(crate) pace: Duration,
    /// True where a wrong output size is not refused.
    pub(crate) accepts: bool,
    /// True where the standard executions have nothing but zeros to compare.
    pub(crate) weak: bool,
}

impl World {
    pub(crate) fn new(planted: Vec<Planted>) -> Arc<Self> {
        Self::paced(planted, Duration::ZERO)
    }

    pub(crate) fn paced(planted: Vec<Planted>, pace: Duration) -> Arc<Self> {
        let within = Mutex::new(vec![0; planted.len()]);
        Arc::new(Self { planted, within, pace, ..Self::default() })
    }

    fn strikes(&self, case: &Case, engine: Option<i64>) -> Option<How> {
        self.planted.iter().enumerate().find_map(|(position, planted)| {
            if planted.engine != engine || !(planted.region)(case) {
                return None;
            }
            let mut within = self.within.lock().unwrap();
            within[position] += 1;
            within[position].is_multiple_of(planted.every).then_some(planted.how)
        })
    }
}

/// One scripted slot.
pub(crate) struct Script {
    pub(crate) world: Arc<World>,
    pub(crate) fresh: bool,
    /// Jobs after which the device is unhealthy.
    pub(crate) healthy_jobs: u64,
    /// Number of the job, from 1, whose answer is broken; the next ones are fine.
    pub(crate) broken_job: u64,
    /// Ends jobs as a slot does when the run is asked to stop.
    pub(crate) interrupt: Interrupt,
}

impl Script {
    pub(crate) fn new(world: &Arc<World>) -> Self {
        Self {
            world: Arc::clone(world),
            fresh: false,
            healthy_jobs: u64::MAX,
            broken_job: 0,
            interrupt: Interrupt::default(),
        }
    }
}

/// Engines that every problem is offered; the first is what heuristics recommend, the last always declines.
const ENGINES: [i64; 4] = [0, 1, 2, 9];

fn candidate(engine: i64) -> Candidate {
    let mut ranks = Ranks::default();
    if engine == 0 {
        ranks.note(HeuristicMode::A, 0);
    }
    Candidate { config: Config { engine, knobs: Vec::new() }, ranks }
}

fn candidates(job: &Job) -> Vec<Candidate> {
    match (&job.case.options.engine, job.selection) {
        (EngineChoice::Pinned(config), _) => vec![candidate(config.engine)],
        (EngineChoice::Any | EngineChoice::Ranked { .. }, Selection::All) => {
            ENGINES.into_iter().map(candidate).collect()
        }
        (EngineChoice::Any | EngineChoice::Ranked { .. }, _) => vec![candidate(0)],
    }
}

fn observed(candidate: &Candidate, ended: Ended, executions: Vec<Execution>) -> Outcome {
    // The even engines compile while their plan is built.
    let behavior = if candidate.config.engine % 2 == 0 { vec![0] } else { Vec::new() };
    Outcome {
        candidate: Some(candidate.clone()),
        exit: Exit::Answered,
        phase: Phase::Teardown,
        observation: Some(Observation {
            candidate: Some(candidate.clone()),
            notes: Notes { numerical: Vec::new(), behavior },
            workspace_bytes: 0,
            plan_us: 5,
            ended,
            executions,
            planning: None,
        }),
        stderr: String::new(),
    }
}

fn refusal(name: &str, status: i32) -> Ended {
    Ended::Status(Refusal { phase: Phase::Plan, status, name: name.to_owned(), reason: String::new() })
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

/// The executions of an engine whose bits depend on what they must not depend on.
fn unsteady(job: &Job, varied: Varied) -> Vec<Execution> {
    let mut made = executions(job, 0);
    let recipes: Vec<Recipe> = made.iter().map(|execution| execution.recipe).collect();
    for execution in &mut made {
        execution.repeat_differing = execution
            .recipe
            .repeats
            .map(|earlier| if varied.between(recipes[earlier], execution.recipe) { 3 } else { 0 });
    }
    made
}

/// The executions of an engine that rounds where sums are exact.
fn rounding(job: &Job) -> Vec<Execution> {
    let mut made = executions(job, 0);
    for execution in &mut made {
        execution.census.differing = 1;
    }
    made
}

fn died(candidate: Option<Candidate>, phase: Phase) -> Outcome {
    Outcome { candidate, exit: Exit::Signalled(11), phase, observation: None, stderr: String::new() }
}

fn weaken(execution: &mut Execution) {
    execution.reference.non_zero = 0;
}

/// The whole problem is declined.
fn declined() -> Outcome {
    let ended = Ended::Status(Refusal {
        phase: Phase::Describe,
        status: 2000,
        name: "BAD_PARAM".to_owned(),
        reason: String::new(),
    });
    let mut outcome = observed(&candidate(0), ended, Vec::new());
    outcome.candidate = None;
    outcome.observation = outcome.observation.map(|seen| Observation { candidate: None, ..seen });
    outcome
}

fn visit(job: &Job, candidate: &Candidate, how: Option<How>) -> Outcome {
    match how {
        _ if candidate.config.engine == 9 => observed(candidate, refusal("NOT_SUPPORTED", 3000), Vec::new()),
        None => observed(candidate, Ended::Completed, executions(job, 0)),
        Some(How::Wrong) => observed(candidate, Ended::Completed, executions(job, 2)),
        Some(How::Inexact) => observed(candidate, Ended::Completed, rounding(job)),
        Some(How::Differs(varied)) => observed(candidate, Ended::Completed, unsteady(job, varied)),
        Some(How::Crash) => died(Some(candidate.clone()), Phase::Execute),
        Some(How::Refused) => observed(candidate, refusal("INTERNAL_ERROR", 4000), Vec::new()),
        Some(How::Device) => {
            let name = "CUDA_ERROR_ILLEGAL_ADDRESS".to_owned();
            let ended = Ended::Device { phase: Phase::Sync, code: 700, name, sticky: true };
            observed(candidate, ended, Vec::new())
        }
    }
}

impl Bench for Script {
    fn run(&mut self, job: &Job, sink: &mut dyn FnMut(JobEvent)) -> Result<Tally, HarnessError> {
        let world = Arc::clone(&self.world);
        let number = world.jobs.fetch_add(1, Ordering::Relaxed) + 1;
        world.alone.fetch_add(u64::from(job.alone), Ordering::Relaxed);
        world.fresh.fetch_add(u64::from(std::mem::take(&mut self.fresh)), Ordering::Relaxed);
        let end = Instant::now() + world.pace;
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|_| !self.interrupt.is_set())
        {
            std::thread::sleep(left.min(Duration::from_millis(5)));
        }
        if self.interrupt.is_set() {
            return Err(HarnessError::Interrupted);
        }
        if number == self.broken_job {
            return Err(HarnessError::Frame("scripted".to_owned()));
        }
        if self.healthy_jobs == 0 {
            return Err(HarnessError::Unhealthy { message: "scripted".to_owned(), starved: false });
        }
        self.healthy_jobs -= 1;
        if job.case.options.engine == EngineChoice::Any {
            world.surveyed.lock().unwrap().push(job.case.to_string());
        }
        sink(JobEvent::Process(1));
        let mut tally = Tally { foreign_us: 9, busy_us: 10, ..Tally::default() };
        if world.strikes(&job.case, None).is_some() {
            sink(JobEvent::Outcome(died(None, Phase::Heuristics)));
            return Ok(tally);
        }
        if job.case.problem.declared_output.is_some() && !world.accepts {
            sink(JobEvent::Outcome(declined()));
            return Ok(tally);
        }
        let candidates = candidates(job);
        sink(JobEvent::Candidates(candidates.clone()));
        for candidate in candidates {
            tally.outcomes += 1;
            let how = world.strikes(&job.case, Some(candidate.config.engine));
            let mut outcome = visit(job, &candidate, how);
            if world.weak && job.matrix == Matrix::Standard {
                outcome.observation.iter_mut().flat_map(|seen| &mut seen.executions).for_each(weaken);
            }
            sink(JobEvent::Outcome(outcome));
        }
        Ok(tally)
    }

    fn fresh(&mut self) {
        self.fresh = true;
    }

    fn environment(&mut self) -> Result<Environment, HarnessError> {
        Ok(Environment { cudnn: 91_900, ..Environment::default() })
    }

    fn inventory(&mut self) -> Result<Environment, HarnessError> {
        let environment = self.environment()?;
        Ok(Environment { found: "inventory".to_owned(), ..environment })
    }
}
