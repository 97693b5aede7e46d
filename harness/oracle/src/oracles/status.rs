//! cuDNN returned a status other than success. Knows what follows from the contract; the contract itself is
//! in its own file.

use case::{Ended, Expect, Kind, Refusal, Untrusted, Verdict};

use crate::contract::{Ruling, is_clean_refusal, rule};
use crate::device_less::needs_device;
use crate::judge::{Evidence, Scene};

pub(crate) fn speak(scene: &Scene<'_>) -> Option<Verdict> {
    let observation = scene.observation()?;
    let Ended::Status(refusal) = &observation.ended else { return None };
    if scene.case.options.expect == Expect::Refuse && is_clean_refusal(refusal) {
        return Some(Verdict::Pass);
    }
    if observation.planning.is_some() && needs_device(refusal) {
        return Some(Verdict::Untrusted(Untrusted::Skipped(format!("it takes a device: {}", told(refusal)))));
    }
    Some(match rule(refusal, scene.recommended()) {
        Ruling::Refusal => Verdict::Unsupported(refusal.clone()),
        Ruling::Inconclusive => Verdict::Untrusted(Untrusted::Skipped(told(refusal))),
        Ruling::Broken(rule) => fault(scene, refusal, rule, false),
        Ruling::Doubtful => fault(scene, refusal, "our own rules call the case valid", true),
    })
}

fn fault(scene: &Scene<'_>, refusal: &Refusal, rule: &str, informative: bool) -> Verdict {
    let listed = scene.candidate().map_or(String::new(), |candidate| format!(" ({})", candidate.ranks));
    scene.fault(Evidence {
        kind: Kind::Status,
        phase: refusal.phase,
        cause: &refusal.name,
        informative,
        summary: format!("{}, though {rule}{listed}", told(refusal)),
        recipe: None,
    })
}

/// `NOT_SUPPORTED (3000) in plan: the library's words`.
fn told(refusal: &Refusal) -> String {
    let head = format!("{} ({}) in {}", refusal.name, refusal.status, refusal.phase.name());
    if refusal.reason.is_empty() { head } else { format!("{head}: {}", refusal.reason) }
}
