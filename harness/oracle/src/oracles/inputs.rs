//! An input changed. Knows tensors that must only be read; needs no reference.

use case::{Kind, Phase, Verdict};

use crate::judge::{Evidence, Scene};

pub(crate) fn speak(scene: &Scene<'_>) -> Option<Verdict> {
    let changed_of =
        |execution: &case::Execution| execution.inputs_changed.iter().find(|changed| changed.1 > 0).copied();
    let (execution, (role, elements)) =
        scene.executions().iter().find_map(|execution| Some((execution, changed_of(execution)?)))?;
    Some(scene.fault(Evidence {
        kind: Kind::Input,
        phase: Phase::Judge,
        cause: role.name(),
        informative: false,
        summary: format!("{elements} elements of the input {} changed", role.name()),
        recipe: Some(execution.recipe),
    }))
}
