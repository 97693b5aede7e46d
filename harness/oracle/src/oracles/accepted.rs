//! Something that had to be refused was accepted. Knows only cases that expect a refusal.

use case::{Ended, Expect, Kind, Phase, Verdict};

use crate::judge::{Evidence, Scene};

pub(crate) fn speak(scene: &Scene<'_>) -> Option<Verdict> {
    let observation = scene.observation()?;
    if scene.case.options.expect != Expect::Refuse {
        return None;
    }
    let (phase, how) = match &observation.ended {
        Ended::Completed => (Phase::Execute, "was executed"),
        Ended::Described => (Phase::Plan, "got a plan"),
        Ended::Status(_) | Ended::Device { .. } | Ended::Skipped(_) => return None,
    };
    Some(scene.fault(Evidence {
        kind: Kind::Accepted,
        phase,
        cause: "accepted",
        informative: false,
        summary: format!("an invalid problem {how} without a refusal"),
        recipe: None,
    }))
}
