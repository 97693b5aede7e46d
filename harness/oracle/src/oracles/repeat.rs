//! The same data gave other bits. Knows what two executions had in common; needs no reference.

use case::{Execution, Kind, Phase, Verdict};

use crate::judge::{Evidence, Scene};

/// What differed between the two executions beside their place in time, plainest first: where repeats with
/// the very same contents differ, those with other contents prove nothing more.
const CAUSES: [(&str, &str); 3] = [
    ("repeat", "every buffer started alike"),
    ("workspace", "only the workspace's contents differed"),
    ("output", "only what the output held before differed"),
];

pub(crate) fn speak(scene: &Scene<'_>) -> Option<Verdict> {
    if scene.notes().nondeterministic() {
        return None;
    }
    CAUSES.iter().find_map(|(cause, words)| {
        let (execution, differing) = scene.executions().iter().find_map(|execution| {
            let (differing, seen) = difference(scene.executions(), execution)?;
            (seen == *cause).then_some((execution, differing))
        })?;
        let outputs = execution.census.checked;
        Some(scene.fault(Evidence {
            kind: Kind::Nondet,
            phase: Phase::Judge,
            cause,
            informative: false,
            summary: format!(
                "{differing} of {outputs} outputs differ between two executions on the same data; {words}"
            ),
            recipe: Some(execution.recipe),
        }))
    })
}

/// How many outputs differ from the execution that this one repeats, and the cause that explains it.
fn difference(executions: &[Execution], execution: &Execution) -> Option<(u64, &'static str)> {
    let differing = execution.repeat_differing.filter(|differing| *differing > 0)?;
    let earlier = execution.recipe.repeats.and_then(|index| executions.get(index));
    let cause = match earlier.map(|earlier| earlier.recipe) {
        Some(recipe) if recipe.workspace != execution.recipe.workspace => "workspace",
        Some(recipe) if recipe.output != execution.recipe.output => "output",
        Some(_) | None => "repeat",
    };
    Some((differing, cause))
}
