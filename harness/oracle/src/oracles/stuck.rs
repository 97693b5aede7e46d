//! CUDA returned an error after cuDNN reported success. Knows error numbers; knows nothing of kernels.

use case::{Ended, Kind, Untrusted, Verdict};

use super::died::is_ours;
use crate::judge::{Evidence, Scene};

/// `CUDA_ERROR_OUT_OF_MEMORY`: other workers share the device, so it proves nothing.
const OUT_OF_MEMORY: i32 = 2;

pub(crate) fn speak(scene: &Scene<'_>) -> Option<Verdict> {
    let observation = scene.observation()?;
    let Ended::Device { phase, code, name, sticky } = &observation.ended else { return None };
    if *code == OUT_OF_MEMORY {
        let reason = format!("{name} ({code}) in {}", phase.name());
        return Some(Verdict::Untrusted(Untrusted::Skipped(reason)));
    }
    if is_ours(*phase) {
        let reason = format!("{name} ({code}) in {}, a phase of convict's own", phase.name());
        return Some(Verdict::Untrusted(Untrusted::Skipped(reason)));
    }
    let context = if *sticky { "the context is lost" } else { "the context survives" };
    Some(scene.fault(Evidence {
        kind: Kind::Device,
        phase: *phase,
        cause: name,
        informative: false,
        summary: format!("{name} ({code}) in {} after cuDNN reported success; {context}", phase.name()),
        recipe: None,
    }))
}
