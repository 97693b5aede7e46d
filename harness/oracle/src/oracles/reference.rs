//! Device and CPU reference disagree: our own trouble, so that nothing measured against them counts.

use case::{SpotCheck, Untrusted, Verdict};

use crate::judge::Scene;

pub(crate) fn speak(scene: &Scene<'_>) -> Option<Verdict> {
    let spot = scene.executions().iter().map(|execution| execution.spot).find(|spot| spot.disagreeing > 0)?;
    let SpotCheck { sampled, disagreeing } = spot;
    Some(Verdict::Untrusted(Untrusted::Reference { sampled, disagreeing }))
}
