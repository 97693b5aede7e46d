//! A visit without a device: the plan is built, asked twice for what it needs, and read back from its own JSON. Knows
//! what to ask; judges nothing.

use std::time::Instant;

use case::{Candidate, Ended, Job, Observation, Planning, Reload, Selection};
use gpu::{CallError, Graph, Plan};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::session::Session;
use crate::survey::ended;

/// Why an engine is passed over where run-time compilation is left out. A hunt counts by these words.
const COMPILES: &str = "the engine compiles at run time, and --rtc is off";

/// Why it is passed over where others of the problem were compiled.
const SHARED: &str =
    "the engine compiles at run time, and another plan of the problem was taken; --rtc all takes each";

/// A visit to come: the place of its candidate, and whether it shares what the plans of a problem may compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) place: usize,
    pub(crate) shares: bool,
}

/// Most plans of the survey that are compiled.
pub(crate) fn compiled_max(session: &Session) -> usize {
    session.options.compiled_max.filter(|most| *most > 0).unwrap_or(usize::MAX)
}

/// In which order the candidates are visited. Where some that compile are left out, those come last, in an order that
/// follows from the case alone and puts each in front as often as any other.
pub(crate) fn turns(session: &Session, graph: &Graph, job: &Job, candidates: &[Candidate]) -> Vec<Turn> {
    let surveyed = match job.selection {
        Selection::All | Selection::Heuristics => true,
        Selection::Single | Selection::Describe | Selection::Provoke(_) | Selection::Drill => false,
    };
    let limited = surveyed && session.device.is_none() && compiled_max(session) < usize::MAX;
    // An engine that declines is not compiled either; the visit finds out why.
    let compiles = |candidate: &Candidate| {
        graph.engine(candidate.config.engine).is_ok_and(|engine| engine.notes().compiles_at_run_time())
    };
    let turn = |(place, each): (usize, &Candidate)| Turn { place, shares: limited && compiles(each) };
    let mut turns: Vec<Turn> = candidates.iter().enumerate().map(turn).collect();
    if limited {
        let case = job.case.to_string();
        turns.sort_by_cached_key(|turn| match turn.shares {
            false => (false, turn.place, Vec::new()),
            true => (true, 0, Sha256::digest(format!("{} {case}", turn.place)).to_vec()),
        });
    }
    turns
}

/// How the visit to such a candidate ends.
pub(crate) fn passed_over() -> Ended {
    Ended::Skipped(SHARED.to_owned())
}

/// Builds the plan of a configuration and fills the observation, also where it ends early.
///
/// # Errors
/// cuDNN's status.
pub(crate) fn visit(
    session: &Session,
    (graph, selection): (&Graph, Selection),
    candidate: &Candidate,
    observation: &mut Observation,
) -> Result<(), CallError> {
    let planning = observation.planning.insert(Planning::default());
    let start = Instant::now();
    let engine = graph.engine(candidate.config.engine)?;
    observation.notes = engine.notes().clone();
    let lists = selection == Selection::Describe;
    if lists {
        // An engine without knobs may answer with a status instead of a count of 0; both mean none.
        planning.knobs = engine.knobs().unwrap_or_default();
    }
    if session.options.compiled_max == Some(0) && observation.notes.compiles_at_run_time() {
        observation.ended = Ended::Skipped(COMPILES.to_owned());
        return Ok(());
    }
    let plan = engine.plan(&candidate.config.knobs)?;
    observation.plan_us = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    observation.workspace_bytes = plan.workspace_bytes();
    planning.config_workspace_bytes = plan.announced_bytes();
    observation.ended = Ended::Described;
    if !lists {
        planning.reload = reload(session, graph, &plan);
    }
    Ok(())
}

fn reload(session: &Session, graph: &Graph, plan: &Plan) -> Reload {
    match read_back(graph, plan) {
        Ok(read) => read,
        Err(error) => match ended(&error, session.library.version()) {
            Ended::Status(refusal) => Reload::Refused(refusal),
            Ended::Completed | Ended::Described | Ended::Device { .. } | Ended::Skipped(_) => Reload::Untried,
        },
    }
}

fn read_back(graph: &Graph, plan: &Plan) -> Result<Reload, CallError> {
    let written = plan.to_json()?;
    let read = Plan::from_json(graph, &written)?;
    let again = read.to_json()?;
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    let second = value(&again);
    Ok(Reload::Read {
        workspace_bytes: read.workspace_bytes(),
        engine: second.as_ref().and_then(|value| value["engine"]["engineId"].as_i64()),
        // The order of keys means nothing, and text that is no JSON is the same where its bytes are.
        same: written == again || (second.is_some() && value(&written) == second),
    })
}
