//! A slot: one worker at a time, replaced when it dies, is spent or may be harmed, and jobs that outlive
//! their workers. Knows when to trust a process; judges no library.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use case::{Candidate, Environment, Job, Outcome, Reply, Request, Shown, WorkerOptions};

use crate::deadline::{Deadlines, Errand, PhaseTimes};
use crate::error::HarnessError;
use crate::health::{self, Complaint};
use crate::interrupt::Interrupt;
use crate::process::{End, Heard, Supervision, Worker};
use crate::progress::{Progress, Step};

/// Fresh workers that may fail the known-good case before the slot is in quarantine.
const PROBES_MAX: u32 = 2;

/// How the workers of a slot are started.
#[derive(Clone, Debug)]
pub struct SpawnOptions {
    /// The executable to start as a worker: our own binary.
    pub program: PathBuf,
    /// Its arguments before `--options JSON`.
    pub arguments: Vec<OsString>,
    /// What the worker is told; `board` is filled in for each worker.
    pub worker: WorkerOptions,
    /// Folder of the simulator's libraries, where they stand in for the real ones.
    pub simulator: Option<PathBuf>,
    /// The simulator's fault script.
    pub faults: Option<PathBuf>,
    /// Jobs after which a worker is replaced; `SpawnOptions::RETIRE_AFTER` unless there is a reason.
    pub retire_after: u32,
    /// Time limits.
    pub deadlines: Deadlines,
}

impl SpawnOptions {
    /// Jobs after which a worker is replaced, so that what libraries leak stays bounded.
    pub const RETIRE_AFTER: u32 = 2_000;
}

/// What a job shows while it runs.
#[expect(clippy::large_enum_variant, reason = "made once a visit and handed on, never kept in numbers")]
#[derive(Clone, Debug, PartialEq)]
pub enum JobEvent {
    /// A worker takes the job or the rest of it. The number tells the processes of a slot apart, so that what
    /// each of them did before can be known.
    Process(u64),
    /// The configurations that will be visited; once a job, although a death may end the visits early.
    Candidates(Vec<Candidate>),
    /// One visit ended. A configuration has a second one where its worker answered and then died over it.
    Outcome(Outcome),
    /// A special errand shows something.
    Drilled(Box<Shown>),
    /// The position that was announced before a death on a special errand, whose outcome comes next.
    Place(u32),
}

/// Sums over one job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Outcomes given to the sink.
    pub outcomes: u32,
    /// Workers that died or exceeded a deadline, the one that died idle before the job among them.
    pub deaths: u32,
    /// Microseconds inside cuDNN and CUDA calls, as the worker that ended the job reports.
    pub foreign_us: u64,
    /// Microseconds of work, as the same worker reports.
    pub busy_us: u64,
    /// Workers started.
    pub spawned: u32,
}

/// One worker process at a time, bound to one device and library set.
///
/// A worker asks the kernel to end it with the *thread* that started it, so a slot is used by one thread from
/// its first job to its drop; used from another thread it only loses its worker when the first thread ends.
#[derive(Debug)]
pub struct Slot {
    options: SpawnOptions,
    by: Supervision,
    worker: Option<Worker>,
    /// Workers that were started ahead and have not been heard yet.
    spares: VecDeque<Worker>,
    environment: Option<Environment>,
    /// Workers that were ever ready in this slot, the present one among them.
    processes: u64,
    /// Jobs that the present worker has done.
    jobs: u32,
    /// Number of the last job sent; never used twice in a slot.
    number: u64,
    /// True after an abnormal end, until a known-good case has passed.
    suspect: bool,
    /// Why the slot may not be used any more.
    quarantine: Option<Complaint>,
    /// Workers started and deaths seen since the last job.
    pending: Tally,
}

impl Slot {
    /// A slot with no worker yet. Times are shared by the slots of one device kind; the interrupt by the run.
    #[must_use]
    pub fn new(options: SpawnOptions, times: Arc<PhaseTimes>, interrupt: Interrupt) -> Self {
        let by = Supervision { deadlines: options.deadlines.clone(), times, interrupt, until: None };
        Self {
            options,
            by,
            worker: None,
            spares: VecDeque::new(),
            environment: None,
            processes: 0,
            jobs: 0,
            number: 0,
            suspect: false,
            quarantine: None,
            pending: Tally::default(),
        }
    }

    /// Machine and libraries as the last started worker found them; starts one where none was yet.
    ///
    /// # Errors
    /// `Unusable` where the machine or the set cannot be used, otherwise what kept a worker from starting.
    pub fn environment(&mut self) -> Result<&Environment, HarnessError> {
        if self.environment.is_none() {
            self.revive()?;
        }
        self.environment.as_ref().ok_or_else(|| broken("a worker started without an environment"))
    }

    /// The environment with every mapped file hashed.
    ///
    /// # Errors
    /// `Broken` where the worker dies over it, otherwise as for `environment`.
    pub fn inventory(&mut self) -> Result<Environment, HarnessError> {
        let reply = self.ask(&Request::Inventory)?;
        let Reply::Inventory(environment) = reply else { return Err(unexpected(&reply)) };
        Ok(*environment)
    }

    /// What the worker's self-test shows, as name, passed, detail.
    ///
    /// # Errors
    /// As for `inventory`.
    pub fn self_test(&mut self) -> Result<Vec<(String, bool, String)>, HarnessError> {
        let reply = self.ask(&Request::SelfTest)?;
        let Reply::SelfTest(rows) = reply else { return Err(unexpected(&reply)) };
        Ok(rows)
    }

    /// Runs a job to its end, over as many workers as it takes. A death is blamed on what was announced last;
    /// the rest of a survey goes on in a new worker. The job's own number is not used.
    ///
    /// # Errors
    /// Our own trouble only; outcomes given to the sink before stay valid. `Unhealthy` puts the slot in
    /// quarantine, and says something about an earlier job, not this one.
    pub fn run(&mut self, job: &Job, sink: &mut dyn FnMut(JobEvent)) -> Result<Tally, HarnessError> {
        let has_history = !job.case.history.is_empty();
        if has_history {
            // Its history is all that the process may have done before.
            self.fresh();
        }
        let mut progress = Progress::new(job);
        loop {
            self.number += 1;
            let Some(attempt) = progress.attempt(self.number) else { break };
            self.revive()?;
            sink(JobEvent::Process(self.processes));
            self.converse(attempt, &mut progress, sink)?;
        }
        self.jobs += 1;
        if has_history || self.jobs >= self.options.retire_after {
            self.fresh();
        }
        let (tally, pending) = (progress.tally, std::mem::take(&mut self.pending));
        Ok(Tally { deaths: tally.deaths + pending.deaths, spawned: pending.spawned, ..tally })
    }

    /// Ends the present worker, so that the next job gets a new process: after a fault, and before a run that
    /// confirms one.
    pub fn fresh(&mut self) {
        if let Some(worker) = self.worker.take() {
            worker.quit();
        }
    }

    /// Gives the jobs that follow an end: who reaches it loses its worker, and `OutOfTime` says so. Nothing is blamed
    /// for it.
    pub fn limit(&mut self, until: Option<Instant>) {
        self.by.until = until;
    }

    /// Starts that many workers ahead, in place of those started ahead before: their libraries load side by side while
    /// others run, where starting one after the other would take that many times as long.
    pub fn expect(&mut self, workers: u32) {
        self.spares.truncate(workers as usize);
        while self.spares.len() < workers as usize {
            // Who can't be started now is started when it is needed, and trouble told then.
            let Ok(worker) = Worker::spawn(&self.options) else { return };
            self.pending.spawned += 1;
            self.spares.push_back(worker);
        }
    }

    /// True while a worker process lives.
    pub fn is_live(&mut self) -> bool {
        self.worker.as_mut().is_some_and(|worker| !worker.has_ended())
    }

    /// The present worker's process id.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.worker.as_ref().map(Worker::pid)
    }

    /// Sees to it that there is a live worker that can be trusted.
    fn revive(&mut self) -> Result<(), HarnessError> {
        if let Some(complaint) = &self.quarantine {
            return Err(complaint.clone().into());
        }
        if self.worker.as_mut().is_some_and(Worker::has_ended) {
            // It ended idle, after its last job was answered for: nobody's fault, but a reason for a probe.
            self.pending.deaths += 1;
            self.suspect = true;
            self.hear_last_words()?;
        }
        if self.worker.is_some() {
            return Ok(());
        }
        if self.suspect {
            return self.recover();
        }
        self.start()
    }

    /// Reads what a worker that ended idle had still to say: perhaps that it found the machine unusable.
    fn hear_last_words(&mut self) -> Result<(), HarnessError> {
        let Some(mut worker) = self.worker.take() else { return Ok(()) };
        while let Heard::Reply(reply) = worker.hear(Errand::Question, &self.by)? {
            if let Reply::Unusable { message, machine } = *reply {
                return Err(HarnessError::reported(message, machine));
            }
        }
        Ok(())
    }

    /// Starts a worker and waits until it is ready.
    fn start(&mut self) -> Result<(), HarnessError> {
        let mut worker = match self.spares.pop_front() {
            Some(spare) => spare,
            None => {
                self.pending.spawned += 1;
                Worker::spawn(&self.options)?
            }
        };
        let reply = match worker.hear(Errand::Start, &self.by)? {
            Heard::Reply(reply) => *reply,
            Heard::Ended(end) => return Err(died(&end, "before it was ready", Errand::Start)),
        };
        let Reply::Ready(environment) = reply else { return Err(unexpected(&reply)) };
        self.environment = Some(*environment);
        worker.hide_board();
        self.worker = Some(worker);
        self.processes += 1;
        self.jobs = 0;
        Ok(())
    }

    /// After an abnormal end: a known-good case must pass in a fresh worker, which is then kept.
    fn recover(&mut self) -> Result<(), HarnessError> {
        let mut failure = Complaint::default();
        for _ in 0..PROBES_MAX {
            match self.start().and_then(|()| self.probe()) {
                Ok(None) => {
                    self.suspect = false;
                    return Ok(());
                }
                Ok(Some(reason)) => failure = reason,
                Err(
                    error @ (HarnessError::Spawn { .. }
                    | HarnessError::Io { .. }
                    | HarnessError::OutOfTime
                    | HarnessError::Interrupted),
                ) => return Err(error),
                Err(error) => failure = Complaint::of(error.to_string()),
            }
            self.abandon();
        }
        self.quarantine = Some(failure.clone());
        Err(failure.into())
    }

    /// Runs the known-good case; `Some` says what is wrong with it.
    fn probe(&mut self) -> Result<Option<Complaint>, HarnessError> {
        let plans_only = self.options.worker.properties.is_some();
        let mut progress = Progress::new(&health::job(plans_only));
        let mut outcomes = Vec::new();
        self.number += 1;
        if let Some(attempt) = progress.attempt(self.number) {
            self.converse(attempt, &mut progress, &mut |event| match event {
                JobEvent::Outcome(outcome) => outcomes.push(outcome),
                JobEvent::Candidates(_)
                | JobEvent::Process(_)
                | JobEvent::Drilled(_)
                | JobEvent::Place(_) => {}
            })?;
        }
        Ok(health::complaint(&outcomes, plans_only))
    }

    /// One worker's part of a job. Afterwards there is a worker only if it can be trusted.
    fn converse(
        &mut self,
        attempt: Job,
        progress: &mut Progress,
        sink: &mut dyn FnMut(JobEvent),
    ) -> Result<(), HarnessError> {
        // Taken out, so that every early return kills it.
        let mut worker = self.worker.take().ok_or_else(|| broken("a job without a worker"))?;
        self.suspect = true;
        worker.send(&Request::Run(Box::new(attempt)))?;
        loop {
            let reply = match worker.hear(progress.errand(), &self.by)? {
                Heard::Reply(reply) => *reply,
                Heard::Ended(end) => return progress.bury(end, sink),
            };
            if let Reply::Observed { observation, .. } = &reply {
                self.by.times.learn(observation);
            }
            match progress.hear(reply, sink)? {
                Step::Listen => {}
                Step::Retire => return Ok(()),
                Step::Done => break,
            }
        }
        self.suspect = false;
        self.worker = Some(worker);
        Ok(())
    }

    /// Asks a question that announces no phases.
    fn ask(&mut self, request: &Request) -> Result<Reply, HarnessError> {
        self.revive()?;
        let mut worker = self.worker.take().ok_or_else(|| broken("a question without a worker"))?;
        self.suspect = true;
        worker.send(request)?;
        match worker.hear(Errand::Question, &self.by)? {
            Heard::Reply(reply) => {
                self.suspect = false;
                self.worker = Some(worker);
                Ok(*reply)
            }
            Heard::Ended(end) => Err(died(&end, "over a question", Errand::Question)),
        }
    }

    /// Kills the present worker and asks for a probe of the next.
    fn abandon(&mut self) {
        self.worker = None;
        self.suspect = true;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.fresh();
    }
}

fn broken(message: &str) -> HarnessError {
    HarnessError::Broken { message: message.to_owned() }
}

fn unexpected(reply: &Reply) -> HarnessError {
    let name = match reply {
        Reply::Unusable { message, machine } => return HarnessError::reported(message.clone(), *machine),
        Reply::Ready(_) => "ready",
        Reply::Candidates { .. } => "candidates",
        Reply::Observed { .. } => "observed",
        Reply::Drilled { .. } => "drilled",
        Reply::Done { .. } => "done",
        Reply::Inventory(_) => "inventory",
        Reply::SelfTest(_) => "self_test",
    };
    HarnessError::Frame(format!("'{name}' is no answer to what was asked"))
}

/// One line on a worker that ended where no job can be blamed, with the end of what it printed.
fn died(end: &End, when: &str, errand: Errand) -> HarnessError {
    let phase = end.announcement.map_or(errand.first_phase(), |announcement| announcement.phase);
    let how = match end.exit {
        case::Exit::Answered => "ended".to_owned(),
        case::Exit::Exited(code) => format!("exited with code {code}"),
        case::Exit::Signalled(signal) => format!("was ended by signal {signal}"),
        case::Exit::TimedOut(limit_ms) | case::Exit::TooSlow(limit_ms) => {
            format!("took more than {limit_ms} ms and was killed")
        }
    };
    let mut message = format!("a worker {how} in phase {} {when}", phase.name());
    if !end.printed.trim().is_empty() {
        message = format!("{message}; it printed:\n{}", end.printed.trim());
    }
    HarnessError::Broken { message }
}
