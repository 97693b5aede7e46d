//! The known-good case that must pass after an abnormal end. Pure; knows what right looks like, starts
//! nothing.

use case::{
    Axis, Case, DType, DTypes, Ended, EngineChoice, Exit, Fill, FillKind, HeuristicMode, Job, Layout,
    Layouts, Operation, Outcome, Problem, Refusal, Selection,
};

use crate::error::HarnessError;

/// A convolution of four elements with one tap, on whatever engine the library prefers. Its data are small
/// integers throughout, so that every engine must be exact, one that rounds reals to TF32 too. Workers that only plan
/// are asked for that plan alone.
pub(crate) fn job(plans_only: bool) -> Job {
    let mut case = Case::new(Problem {
        operation: Operation::Fprop,
        dtypes: DTypes::uniform(DType::F32),
        layouts: Layouts::uniform(Layout::Nchw),
        n: 1,
        c: 1,
        k: 1,
        g: 1,
        axes: vec![Axis::plain(1, 1), Axis::plain(4, 1)],
        declared_output: None,
    });
    case.options.fill = Some(Fill { kind: FillKind::Int2, seed: 1 });
    if plans_only {
        case.options.engine = EngineChoice::Ranked { mode: HeuristicMode::A, rank: 0 };
        return Job::new(0, case, Selection::Describe);
    }
    Job::new(0, case, Selection::Single)
}

/// What is wrong with the outcomes of that job; `None` where the device can be trusted. Workers that only
/// plan have no device: a plan is all that they can show, and engines that have none for this problem are no illness.
pub(crate) fn complaint(outcomes: &[Outcome], plans_only: bool) -> Option<Complaint> {
    let said = |words: String| Some(Complaint::of(words));
    let [outcome] = outcomes else {
        return said(format!("the known-good case had {} outcomes instead of 1", outcomes.len()));
    };
    let observation = match (&outcome.exit, &outcome.observation) {
        (Exit::Answered, Some(observation)) => observation,
        (exit, _) => {
            let phase = outcome.phase.name();
            return said(format!("over the known-good case {} in {phase}", ended(*exit)));
        }
    };
    match &observation.ended {
        Ended::Completed if !plans_only => {}
        Ended::Described | Ended::Status(_) | Ended::Skipped(_) if plans_only => return None,
        other @ (Ended::Completed
        | Ended::Described
        | Ended::Status(_)
        | Ended::Device { .. }
        | Ended::Skipped(_)) => {
            let (words, starved) = incomplete(other);
            return Some(Complaint {
                words: format!("the known-good case was not completed: {words}"),
                starved,
            });
        }
    }
    let wrong = observation.executions.iter().filter(|execution| {
        execution.census.checked == 0 || execution.census.differing > 0 || !execution.guards.is_empty()
    });
    match (observation.executions.len(), wrong.count()) {
        (0, _) => said("the known-good case was not executed".to_owned()),
        (_, 0) => None,
        (count, wrong) => said(format!("{wrong} of {count} executions of the known-good case went wrong")),
    }
}

/// What is wrong with a device, as a probe showed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// One line.
    pub(crate) words: String,
    /// True where device memory alone was short.
    pub(crate) starved: bool,
}

impl Complaint {
    pub(crate) fn of(words: String) -> Self {
        Self { words, starved: false }
    }
}

impl From<Complaint> for HarnessError {
    fn from(Complaint { words: message, starved }: Complaint) -> Self {
        Self::Unhealthy { message, starved }
    }
}

/// `CUDA_ERROR_OUT_OF_MEMORY`.
const OUT_OF_MEMORY: i32 = 2;

/// cuDNN 8's ALLOC_FAILED, cuDNN 9's DEVICE_ALLOCATION_FAILED.
const ALLOCATION: [i32; 2] = [2, 4004];

/// Why the case was not completed, in words, and whether that was for want of device memory.
fn incomplete(ended: &Ended) -> (String, bool) {
    match ended {
        Ended::Device { phase, code, name, .. } => {
            (format!("CUDA returned {name} ({code}) in {}", phase.name()), *code == OUT_OF_MEMORY)
        }
        Ended::Status(Refusal { phase, status, name, reason }) => {
            let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            let words = format!("cuDNN returned {name} ({status}) in {}{reason}", phase.name());
            (words, ALLOCATION.contains(status))
        }
        // A worker declines a case for its size alone.
        Ended::Skipped(reason) => (reason.clone(), reason.contains("exceed this worker's share")),
        Ended::Completed | Ended::Described => ("it was planned and not executed".to_owned(), false),
    }
}

/// How a process ended, as what it did.
fn ended(exit: Exit) -> String {
    match exit {
        Exit::Answered => "no answer came".to_owned(),
        Exit::Exited(code) => format!("the process ended with code {code}"),
        Exit::Signalled(signal) => format!("the process was ended by signal {signal}"),
        Exit::TimedOut(limit_ms) | Exit::TooSlow(limit_ms) => format!("nothing came within {limit_ms} ms"),
    }
}

#[cfg(test)]
mod tests;
