//! The known-good case that must pass after an abnormal end. Pure; knows what right looks like, starts
//! nothing.

use case::{
    Axis, Case, DType, DTypes, Ended, EngineChoice, Exit, Fill, FillKind, HeuristicMode, Job, Layout,
    Layouts, Operation, Outcome, Problem, Selection,
};

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
pub(crate) fn complaint(outcomes: &[Outcome], plans_only: bool) -> Option<String> {
    let [outcome] = outcomes else {
        return Some(format!("the known-good case had {} outcomes instead of 1", outcomes.len()));
    };
    let observation = match (&outcome.exit, &outcome.observation) {
        (Exit::Answered, Some(observation)) => observation,
        (exit, _) => {
            return Some(format!("the known-good case ended by {exit:?} in phase {}", outcome.phase.name()));
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
            return Some(format!("the known-good case was not completed: {other:?}"));
        }
    }
    let wrong = observation.executions.iter().filter(|execution| {
        execution.census.checked == 0 || execution.census.differing > 0 || !execution.guards.is_empty()
    });
    match (observation.executions.len(), wrong.count()) {
        (0, _) => Some("the known-good case was not executed".to_owned()),
        (_, 0) => None,
        (count, wrong) => Some(format!("{wrong} of {count} executions of the known-good case went wrong")),
    }
}

#[cfg(test)]
mod tests;
