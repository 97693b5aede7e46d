//! A bench that follows a script, for tests. Knows no process and no library.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use case::{Case, Environment, Exit, Job, Outcome, Phase};
use exec::{HarnessError, Interrupt, JobEvent, Tally};
use hunt::Bench;

/// What a scripted library does with a case.
pub(crate) type Library = fn(&Case, u32) -> Showed;

/// How a run on it goes.
pub(crate) enum Showed {
    /// The process dies: the one failure that needs no measurements.
    Dies,
    /// The convolution is declined.
    Declines,
    /// The bench itself is in trouble.
    Trouble,
    /// As if somebody had pressed Ctrl-C.
    Interrupts,
    /// Nothing comes in time.
    Late,
}

/// A bench without processes.
pub(crate) struct Script {
    pub(crate) library: Library,
    /// Runs made on all benches.
    pub(crate) runs: Arc<AtomicU32>,
    /// Fresh processes asked for on all benches.
    pub(crate) fresh: Arc<AtomicU32>,
    pub(crate) limit: Option<Instant>,
    pub(crate) interrupt: Interrupt,
}

impl Bench for Script {
    fn run(&mut self, job: &Job, sink: &mut dyn FnMut(JobEvent)) -> Result<Tally, HarnessError> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let outcome = |exit, phase, ended: Option<case::Ended>| Outcome {
            candidate: None,
            exit,
            phase,
            observation: ended.map(|ended| case::Observation {
                candidate: None,
                notes: case::Notes::default(),
                workspace_bytes: 0,
                plan_us: 0,
                ended,
                executions: Vec::new(),
                planning: None,
            }),
            stderr: String::new(),
        };
        match (self.library)(&job.case, run) {
            Showed::Dies => sink(JobEvent::Outcome(outcome(Exit::Signalled(11), Phase::Heuristics, None))),
            Showed::Declines => {
                let refusal = case::Refusal {
                    phase: Phase::Describe,
                    status: 3000,
                    name: "CUDNN_STATUS_NOT_SUPPORTED".to_owned(),
                    reason: String::new(),
                };
                let ended = Some(case::Ended::Status(refusal));
                sink(JobEvent::Outcome(outcome(Exit::Answered, Phase::Describe, ended)));
            }
            Showed::Trouble => return Err(HarnessError::Broken { message: "a full disk".to_owned() }),
            Showed::Interrupts => {
                self.interrupt.set();
                return Err(HarnessError::Interrupted);
            }
            Showed::Late => {
                assert!(self.limit.is_some(), "nobody set a limit");
                return Err(HarnessError::OutOfTime);
            }
        }
        Ok(Tally::default())
    }

    fn fresh(&mut self) {
        self.fresh.fetch_add(1, Ordering::Relaxed);
    }

    fn limit(&mut self, until: Option<Instant>) {
        self.limit = until;
    }

    fn environment(&mut self) -> Result<Environment, HarnessError> {
        Ok(Environment::default())
    }

    fn inventory(&mut self) -> Result<Environment, HarnessError> {
        Ok(Environment::default())
    }
}
