//! The numbers behind a verdict, and where in the output the wrong elements lie. Weighs nothing.

use case::{Execution, Recipe};

use super::model::{Block, Line};
use super::words::{self, number};
use crate::facts::Facts;
use crate::page::error_map;
use crate::picture::{ErrorMap, Picture};
use crate::position;

/// Mismatches shown on the page; `evidence/mismatches.txt` lists them all.
const MISMATCHES_MAX: usize = 8;

/// A name and what there is to say.
type Row = (&'static str, String);

pub(super) fn blocks(facts: &Facts<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::text(facts.verdict.summary.clone())];
    let Some(execution) = &facts.verdict.execution else {
        blocks.push(Block::text("The failure shows in no values of the output, so that none were measured."));
        return blocks;
    };
    blocks.push(Block::facts(numbers(execution)));
    blocks.push(Block::Heading("What changed beside the output"));
    let traces = traces(execution);
    blocks.push(if traces.is_empty() {
        Block::text("Nothing: no guard byte, no input, no repeated output.")
    } else {
        Block::facts(traces)
    });
    blocks.push(Block::Heading("Where the wrong elements lie"));
    match error_map(facts) {
        Some(map) => blocks.extend(map_blocks(map)),
        None => blocks.push(Block::text("No element differs from the reference rounded once.")),
    }
    if !execution.excerpt.is_empty() {
        blocks.push(mismatches(facts, execution));
    }
    blocks
}

fn map_blocks(map: ErrorMap) -> Vec<Block> {
    let shared: Vec<Line> = map.pattern().iter().map(|line| line.as_str().into()).collect();
    let mut blocks = Vec::new();
    if !shared.is_empty() {
        blocks.push(Block::text("Of the listed elements:"));
        blocks.push(Block::List(shared));
    }
    blocks.push(Block::Picture(Picture::Errors(map)));
    blocks
}

fn mismatches(facts: &Facts<'_>, execution: &Execution) -> Block {
    let listed = &execution.excerpt;
    let row = |(at, got, expected): &(u64, String, String)| {
        vec![
            at.to_string().into(),
            Line::code(position::words(facts.case, *at)),
            Line::code(got.clone()),
            Line::code(expected.clone()),
        ]
    };
    let rows: Vec<Vec<Line>> = listed.iter().take(MISMATCHES_MAX).map(row).collect();
    let what = format!("The first {} of {} mismatches", rows.len(), execution.census.differing);
    let table = Block::table(&["position", "element", "got", "expected"], rows);
    let more = Block::text(Line::faint("All that were listed are in evidence/mismatches.txt."));
    Block::Fold(what, vec![table, more])
}

fn numbers(execution: &Execution) -> Vec<Row> {
    let (census, facts, spot) = (&execution.census, &execution.reference, &execution.spot);
    vec![
        ("Buffers before", recipe(&execution.recipe)),
        (
            "References",
            format!(
                "double precision on the GPU; {} of {} sampled outputs differ from a second one on the CPU",
                spot.disagreeing, spot.sampled
            ),
        ),
        (
            "Telling outputs",
            format!(
                "{} of {} have a reference other than 0; at most {} products each",
                facts.non_zero, facts.outputs, facts.products_max
            ),
        ),
        ("Largest sum of absolute products", number(facts.abs_sum_max)),
        (
            "Differing",
            format!(
                "{} of {} outputs, positions {} to {}",
                census.differing, census.checked, census.first_differing, census.last_differing
            ),
        ),
        (
            "Beyond the bound",
            format!(
                "{} outputs; bound {} * sum of absolute products + {} * |reference| + {}",
                census.over_element,
                number(census.accumulate),
                number(census.output),
                number(census.absolute)
            ),
        ),
        ("Beyond any rounding", format!("{} outputs; bound {}", census.over_norm, number(census.norm))),
        (
            "Largest error",
            format!("{}, {} times the element's bound", number(census.error_max), number(census.ratio_max)),
        ),
        (
            "Classes",
            format!(
                "{} NaN, {} never written, {} zero, {} infinite",
                census.nan, census.stale, census.zero, census.infinite
            ),
        ),
    ]
}

/// What changed that should not have.
pub(crate) fn traces(execution: &Execution) -> Vec<Row> {
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
        words::workspace(recipe.workspace)
    )
}
