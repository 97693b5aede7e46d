//! A plan that was built contradicts itself: two sizes of one workspace, or another plan after a way through its own
//! JSON. Knows what has to be equal; knows nothing of executions.

use case::{Ended, Kind, Phase, Planning, Refusal, Reload, Verdict};

use crate::contract::{Ruling, rule};
use crate::device_less::needs_device;
use crate::judge::{Evidence, Scene};

pub(crate) fn speak(scene: &Scene<'_>) -> Option<Verdict> {
    let observation = scene.observation()?;
    let (Ended::Described, Some(planning)) = (&observation.ended, &observation.planning) else { return None };
    let asked = observation.workspace_bytes;
    let (kind, cause, summary) = sizes(planning, asked).or_else(|| reload(scene, planning, asked))?;
    Some(scene.fault(Evidence {
        kind,
        phase: Phase::Plan,
        cause: &cause,
        informative: false,
        summary,
        recipe: None,
    }))
}

/// Kind, cause and words of a contradiction.
type Found = (Kind, String, String);

fn sizes(planning: &Planning, asked: i64) -> Option<Found> {
    let (cause, words) = match planning.config_workspace_bytes {
        _ if asked < 0 => ("negative", format!("the plan asks for {asked} bytes of workspace")),
        Some(announced) if announced != asked => (
            "config",
            format!("the configuration announces {announced} bytes of workspace, its plan asks for {asked}"),
        ),
        Some(_) | None => return None,
    };
    Some((Kind::Workspace, cause.to_owned(), words))
}

fn reload(scene: &Scene<'_>, planning: &Planning, asked: i64) -> Option<Found> {
    let planned = scene.candidate().map(|candidate| candidate.config.engine);
    let (kind, cause, words) = match &planning.reload {
        Reload::Untried => return None,
        Reload::Refused(refusal) => return refused(refusal),
        Reload::Read { workspace_bytes, .. } if *workspace_bytes != asked => (
            Kind::Workspace,
            "reloaded",
            format!(
                "the plan asks for {asked} bytes of workspace, read back from its JSON for {workspace_bytes}"
            ),
        ),
        Reload::Read { engine: Some(engine), .. } if Some(*engine) != planned => {
            (Kind::Reload, "engine", format!("the plan read back from its JSON is one of engine {engine}"))
        }
        Reload::Read { same: false, .. } => {
            (Kind::Reload, "text", "the plan read back from its JSON has another JSON".to_owned())
        }
        Reload::Read { .. } => return None,
    };
    Some((kind, cause.to_owned(), words))
}

/// A plan that was just built is taken back, unless memory or the missing device stands in the way.
fn refused(refusal: &Refusal) -> Option<Found> {
    if needs_device(refusal) || rule(refusal, true) == Ruling::Inconclusive {
        return None;
    }
    let Refusal { name, status, reason, .. } = refusal;
    let words = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    let summary = format!("{name} ({status}) for the JSON of a plan that was just built{words}");
    Some((Kind::Reload, name.clone(), summary))
}
