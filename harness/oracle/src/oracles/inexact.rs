//! Inexact arithmetic that no note declares. Knows that it is inside a bound: informative, never an alarm.

use case::{Execution, Kind, Phase, Verdict};

use super::values::{Standing, assess, first_element, partials_in, reasons};
use crate::judge::{Evidence, Scene};

pub(crate) fn speak(scene: &Scene<'_>) -> Option<Verdict> {
    let (execution, assessment) = scene.executions().iter().find_map(|execution| {
        let assessment = assess(scene, execution);
        (assessment.standing == Standing::Inexact).then_some((execution, assessment))
    })?;
    let summary = format!(
        "{} of {} outputs inexact, {}{}; {}",
        assessment.count,
        execution.census.checked,
        first_element(scene, execution, assessment.first),
        explanation(scene, execution),
        reasons(execution, &assessment)
    );
    Some(scene.fault(Evidence {
        kind: Kind::Inexact,
        phase: Phase::Judge,
        cause: "undeclared",
        informative: true,
        summary,
        recipe: Some(execution.recipe),
    }))
}

/// Names the partial results where the bound has room for them.
fn explanation(scene: &Scene<'_>, execution: &Execution) -> String {
    partials_in(scene, execution)
        .map_or_else(String::new, |dtype| format!("; explained by partial results kept in {}", dtype.name()))
}
