//! What the hunt needs of a slot, so that its logic can be tried without processes. Knows jobs and outcomes
//! only.

use std::time::Instant;

use case::{Environment, Job};
use exec::{HarnessError, JobEvent, Slot, Tally};

/// Something that runs jobs: a slot with its worker process, or a script in a test.
pub trait Bench: Send {
    /// Runs a job and hands over what it shows as it comes.
    ///
    /// # Errors
    /// Our own trouble or the machine's; never what a library did.
    fn run(&mut self, job: &Job, sink: &mut dyn FnMut(JobEvent)) -> Result<Tally, HarnessError>;

    /// Sees to it that the next job gets a new process.
    fn fresh(&mut self);

    /// Says how many new processes will be asked for soon, so that they can start side by side; 0 takes it back.
    fn expect(&mut self, processes: u32) {
        let _ = processes;
    }

    /// Gives the jobs that follow an end, whose passing is `HarnessError::OutOfTime`.
    fn limit(&mut self, until: Option<Instant>) {
        let _ = until;
    }

    /// The machine and the libraries, files not hashed.
    ///
    /// # Errors
    /// As for `run`.
    fn environment(&mut self) -> Result<Environment, HarnessError>;

    /// The same with every mapped file hashed.
    ///
    /// # Errors
    /// As for `run`.
    fn inventory(&mut self) -> Result<Environment, HarnessError>;
}

impl Bench for Slot {
    fn run(&mut self, job: &Job, sink: &mut dyn FnMut(JobEvent)) -> Result<Tally, HarnessError> {
        Slot::run(self, job, sink)
    }

    fn fresh(&mut self) {
        Slot::fresh(self);
    }

    fn expect(&mut self, processes: u32) {
        Slot::expect(self, processes);
    }

    fn limit(&mut self, until: Option<Instant>) {
        Slot::limit(self, until);
    }

    fn environment(&mut self) -> Result<Environment, HarnessError> {
        Slot::environment(self).cloned()
    }

    fn inventory(&mut self) -> Result<Environment, HarnessError> {
        Slot::inventory(self)
    }
}

#[cfg(test)]
pub(crate) mod script;
