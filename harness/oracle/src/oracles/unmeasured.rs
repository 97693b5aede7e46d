//! The run ended well, and yet there is nothing to measure. Knows why that may be.

use case::{Ended, Untrusted, Verdict};

use crate::judge::Scene;

pub(crate) fn speak(scene: &Scene<'_>) -> Option<Verdict> {
    let skipped = |reason: &str| Some(Verdict::Untrusted(Untrusted::Skipped(reason.to_owned())));
    let Some(observation) = scene.observation() else { return skipped("the worker reported nothing") };
    match &observation.ended {
        Ended::Skipped(reason) => skipped(reason),
        Ended::Described => Some(Verdict::Pass),
        Ended::Completed if observation.executions.is_empty() => skipped("nothing was executed"),
        Ended::Completed | Ended::Status(_) | Ended::Device { .. } => None,
    }
}
