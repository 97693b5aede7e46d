//! How far a job has come, over as many workers as it takes: what was visited, whom a death is blamed on,
//! what is left. Pure; talks to no process.

use case::{
    Announcement, Candidate, Case, Config, Ended, Exit, Job, Notes, Observation, Outcome, Phase, Reply,
    Selection, Shown,
};

use crate::deadline::Errand;
use crate::error::HarnessError;
use crate::process::End;
use crate::slot::{JobEvent, Tally};

/// Workers that may die during one job before they announce anything of it. Such a death is nobody's, and a
/// job queued behind a dying worker deserves another, but not for ever.
const SILENT_DEATHS_MAX: u32 = 3;

/// What to do with the worker after a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Go on listening.
    Listen,
    /// The job is done and the worker as good as before.
    Done,
    /// CUDA reported an error: no later answer of this process can be trusted.
    Retire,
}

/// A job under way.
#[derive(Debug)]
pub(crate) struct Progress {
    /// The job as the next worker gets it: `skip` grows with each configuration that is settled.
    job: Job,
    /// The list that the current worker announced.
    candidates: Vec<Candidate>,
    /// True once a list was passed on; a later worker's is a part of it.
    listed: bool,
    /// Configurations that a death was blamed on.
    blamed: Vec<Config>,
    silent_deaths: u32,
    finished: bool,
    pub(crate) tally: Tally,
}

impl Progress {
    pub(crate) fn new(job: &Job) -> Self {
        Self {
            job: job.clone(),
            candidates: Vec::new(),
            listed: false,
            blamed: Vec::new(),
            silent_deaths: 0,
            finished: false,
            tally: Tally::default(),
        }
    }

    /// The job to send next under a number of its own, so that nothing of an earlier worker or job can be
    /// taken for an answer; `None` once nothing is left.
    pub(crate) fn attempt(&mut self, number: u64) -> Option<Job> {
        self.job.id = number;
        self.candidates.clear();
        (!self.finished).then(|| self.job.clone())
    }

    /// What the worker is busy with.
    pub(crate) fn errand(&self) -> Errand {
        let case = &self.job.case;
        let work = |case: &Case| case.problem.geometry().multiply_adds().unsigned_abs();
        let multiply_adds = case.history.iter().map(work).fold(work(case), u64::max);
        Errand::Job { id: self.job.id, multiply_adds }
    }

    /// Takes a worker's message.
    pub(crate) fn hear(
        &mut self,
        reply: Reply,
        sink: &mut dyn FnMut(JobEvent),
    ) -> Result<Step, HarnessError> {
        match reply {
            Reply::Candidates { job, candidates } => {
                self.check(job)?;
                if !self.listed {
                    self.listed = true;
                    sink(JobEvent::Candidates(candidates.clone()));
                }
                self.candidates = candidates;
                Ok(Step::Listen)
            }
            Reply::Observed { job, ordinal, observation } => {
                self.check(job)?;
                let listed = ordinal.and_then(|ordinal| self.candidate(ordinal)).cloned();
                let candidate = observation.candidate.clone().or_else(|| listed.clone());
                // Both names are settled: the one that was listed and the one that was really used.
                self.settle(listed.as_ref());
                self.settle(candidate.as_ref());
                let device_error = matches!(observation.ended, Ended::Device { .. });
                let phase = last_phase(&observation.ended);
                let observation = Some(*observation);
                let stderr = String::new();
                self.emit(Outcome { candidate, exit: Exit::Answered, phase, observation, stderr }, sink);
                if device_error {
                    self.finished = !self.has_more();
                }
                Ok(if device_error { Step::Retire } else { Step::Listen })
            }
            Reply::Drilled { job, shown } => {
                self.check(job)?;
                let lost = matches!(*shown, Shown::Stopped { ended: Ended::Device { .. }, .. });
                sink(JobEvent::Drilled(shown));
                self.finished |= lost;
                Ok(if lost { Step::Retire } else { Step::Listen })
            }
            Reply::Done { job, foreign_us, busy_us } => {
                self.check(job)?;
                self.tally.foreign_us += foreign_us;
                self.tally.busy_us += busy_us;
                self.finished = true;
                Ok(Step::Done)
            }
            Reply::Unusable { message, machine } => Err(HarnessError::reported(message, machine)),
            Reply::Ready(_) | Reply::Inventory(_) | Reply::SelfTest(_) => {
                Err(HarnessError::Frame("an answer to no job while one runs".to_owned()))
            }
        }
    }

    /// Takes a worker's death, and blames it on what was announced last.
    pub(crate) fn bury(&mut self, end: End, sink: &mut dyn FnMut(JobEvent)) -> Result<(), HarnessError> {
        self.tally.deaths += 1;
        let Some(announcement) = self.errand().own(end.announcement) else {
            self.silent_deaths += 1;
            return if self.silent_deaths < SILENT_DEATHS_MAX { Ok(()) } else { Err(silent(&end)) };
        };
        if announcement.ordinal == Announcement::HISTORY {
            self.finished = true;
            self.emit(died_before(&end, announcement.phase), sink);
            return Ok(());
        }
        let candidate = self.candidate(announcement.ordinal).cloned();
        if let Some(candidate) = &candidate {
            if self.blamed.contains(&candidate.config) {
                let message = "a worker visited a configuration that it was told to skip".to_owned();
                return Err(HarnessError::Broken { message });
            }
            self.blamed.push(candidate.config.clone());
        }
        self.settle(candidate.as_ref());
        self.finished = candidate.is_none() || !self.has_more();
        if self.job.selection == Selection::Drill {
            sink(JobEvent::Place(announcement.ordinal));
        }
        let (exit, phase, stderr) = (end.exit, announcement.phase, end.printed);
        self.emit(Outcome { candidate, exit, phase, observation: None, stderr }, sink);
        Ok(())
    }

    fn check(&self, job: u64) -> Result<(), HarnessError> {
        if job == self.job.id {
            return Ok(());
        }
        Err(HarnessError::Frame(format!("an answer to job {job} while job {} runs", self.job.id)))
    }

    /// The configuration at that position of the current list; none at one beyond it.
    fn candidate(&self, ordinal: u32) -> Option<&Candidate> {
        self.candidates.get(usize::try_from(ordinal).ok()?)
    }

    fn settle(&mut self, candidate: Option<&Candidate>) {
        if let Some(candidate) = candidate
            && !self.job.skip.contains(&candidate.config)
        {
            self.job.skip.push(candidate.config.clone());
        }
    }

    /// True where another worker has something to visit. A single configuration is never tried again.
    fn has_more(&self) -> bool {
        let survey = match self.job.selection {
            Selection::Single | Selection::Provoke(_) | Selection::Drill => false,
            Selection::Heuristics | Selection::All | Selection::Describe => true,
        };
        survey && self.candidates.iter().any(|candidate| !self.job.skip.contains(&candidate.config))
    }

    fn emit(&mut self, outcome: Outcome, sink: &mut dyn FnMut(JobEvent)) {
        self.tally.outcomes += 1;
        sink(JobEvent::Outcome(outcome));
    }
}

/// The phase that an answered visit came to. The board is not asked: by now it may speak of the next visit.
fn last_phase(ended: &Ended) -> Phase {
    match ended {
        Ended::Completed => Phase::Judge,
        Ended::Described => Phase::Plan,
        Ended::Status(refusal) => refusal.phase,
        Ended::Device { phase, .. } => *phase,
        Ended::Skipped(_) => Phase::Allocate,
    }
}

/// The judged case never ran, since its history ended the process: nothing that it could be accused of.
fn died_before(end: &End, phase: Phase) -> Outcome {
    let reason = format!("a case of the history ended the worker in phase {}", phase.name());
    let observation = Observation {
        candidate: None,
        notes: Notes::default(),
        workspace_bytes: 0,
        plan_us: 0,
        ended: Ended::Skipped(reason),
        executions: Vec::new(),
        planning: None,
    };
    let stderr = end.printed.clone();
    Outcome { candidate: None, exit: Exit::Answered, phase, observation: Some(observation), stderr }
}

fn silent(end: &End) -> HarnessError {
    HarnessError::Broken {
        message: format!(
            "{SILENT_DEATHS_MAX} workers ended before they announced any work, the last one by {:?}: {}",
            end.exit, end.printed
        ),
    }
}

#[cfg(test)]
mod tests;
