//! The numbers behind a verdict as a table. Plain text; weighs nothing.

use case::{Execution, Recipe};

use super::rows::{Row, workspace_words};
use crate::finding::Finding;

/// The numbers behind the verdict; none where no execution was measured.
pub(super) fn proof(finding: &Finding<'_>) -> Vec<Row> {
    let Some(execution) = finding.telling_execution() else { return Vec::new() };
    let (census, facts, spot) = (&execution.census, &execution.reference, &execution.spot);
    let mut rows = vec![
        ("buffers before", recipe(&execution.recipe)),
        (
            "reference",
            format!(
                "double precision on the GPU; {} of {} sampled outputs differ from a second one on the CPU",
                spot.disagreeing, spot.sampled
            ),
        ),
        (
            "telling outputs",
            format!(
                "{} of {} have a reference other than 0; at most {} products each",
                facts.non_zero, facts.outputs, facts.products_max
            ),
        ),
        ("largest sum of absolute products", facts.abs_sum_max.to_string()),
        (
            "differing",
            format!(
                "{} of {} outputs, positions {} to {}",
                census.differing, census.checked, census.first_differing, census.last_differing
            ),
        ),
        (
            "beyond the bound",
            format!(
                "{} outputs; bound {:e} * sum of absolute products + {:e} * |reference| + {:e}",
                census.over_element, census.accumulate, census.output, census.absolute
            ),
        ),
        ("beyond any rounding", format!("{} outputs; bound {:e}", census.over_norm, census.norm)),
        (
            "largest error",
            format!("{:e}, {:e} times the element's bound", census.error_max, census.ratio_max),
        ),
        (
            "classes",
            format!(
                "{} NaN, {} never written, {} zero, {} infinite",
                census.nan, census.stale, census.zero, census.infinite
            ),
        ),
    ];
    rows.extend(traces(execution));
    rows
}

/// What changed that should not have.
fn traces(execution: &Execution) -> Vec<Row> {
    let mut rows = Vec::new();
    for hit in &execution.guards {
        let side = if hit.after { "after" } else { "before" };
        rows.push((
            "guard",
            format!(
                "{} bytes changed {side} {}, {} to {} bytes off its edge",
                hit.changed,
                hit.zone.name(),
                hit.nearest,
                hit.farthest
            ),
        ));
    }
    for (role, elements) in &execution.inputs_changed {
        rows.push(("input", format!("{elements} elements of {} changed", role.name())));
    }
    if let Some(differing) = execution.repeat_differing {
        rows.push(("repeat", format!("{differing} outputs differ from an execution on the same data")));
    }
    rows
}

fn recipe(recipe: &Recipe) -> String {
    format!(
        "data {}:{}, output {}, workspace {}",
        recipe.fill.kind.name(),
        recipe.fill.seed,
        recipe.output.name(),
        workspace_words(recipe.workspace)
    )
}
