//! Bytes outside a buffer changed. Knows buffers and sides; needs no reference.

use case::{Kind, Phase, Verdict, ZoneHit};

use crate::judge::{Evidence, Scene};

pub(crate) fn speak(scene: &Scene<'_>) -> Option<Verdict> {
    let hit_of = |execution: &case::Execution| execution.guards.iter().find(|hit| hit.changed > 0).copied();
    let (execution, hit) =
        scene.executions().iter().find_map(|execution| Some((execution, hit_of(execution)?)))?;
    let ZoneHit { zone, after, changed, nearest, farthest } = hit;
    let side = if after { "after" } else { "before" };
    let zone = zone.name();
    let summary =
        format!("{changed} bytes changed {side} {zone}, from {nearest} to {farthest} bytes off its edge");
    Some(scene.fault(Evidence {
        kind: Kind::Oob,
        phase: Phase::Judge,
        cause: &format!("{zone}_{side}"),
        informative: false,
        summary,
        recipe: Some(execution.recipe),
    }))
}
