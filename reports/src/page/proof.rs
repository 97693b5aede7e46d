//! The numbers behind a verdict, and where in the output the wrong elements lie. Weighs nothing.

use case::{Execution, Kind, Recipe};

use super::model::{Block, Line};
use super::words::{self, count, number};
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
    blocks.push(Block::facts(numbers(facts, execution)));
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
        None => blocks.push(Block::text("No element is listed as wrong.")),
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
    let what = format!("The first {} of {}", rows.len(), mismatches_words(execution.census.differing));
    let table = Block::table(&["position", "element", "got", "expected"], rows);
    let more = Block::text(Line::faint("All that were listed are in evidence/mismatches.txt."));
    Block::Fold(what, vec![table, more])
}

fn mismatches_words(differing: u64) -> String {
    if differing == 1 { "1 mismatch".to_owned() } else { format!("{differing} mismatches") }
}

fn numbers(facts: &Facts<'_>, execution: &Execution) -> Vec<Row> {
    let mut rows = measured(execution);
    if facts.verdict.sameness.kind == Kind::Nondet {
        rows.push(("Between executions", between(facts, execution)));
    } else if execution.census.differing > 0 {
        rows.extend(errors(execution));
    }
    rows
}

/// What repeated executions showed.
fn between(facts: &Facts<'_>, execution: &Execution) -> String {
    match execution.repeat_differing {
        Some(differing) if differing > 0 => {
            format!("the bits of {} differ on the same data", count(differing, "output"))
        }
        Some(_) | None => {
            format!(
                "bits differed in {} of {}",
                facts.verdict.hits,
                count(u64::from(facts.verdict.runs), "run")
            )
        }
    }
}

fn measured(execution: &Execution) -> Vec<Row> {
    let (facts, spot) = (&execution.reference, &execution.spot);
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
                "{} of {} have a reference other than 0; at most {} each",
                facts.non_zero,
                facts.outputs,
                count(facts.products_max, "product")
            ),
        ),
        ("Largest sum of absolute products", number(facts.abs_sum_max)),
    ]
}

/// How wrong the values are. Where every wrong one is a NaN or was never written, there is no largest error.
fn errors(execution: &Execution) -> Vec<Row> {
    let census = &execution.census;
    let places = match census.differing {
        1 => format!("position {}", census.first_differing),
        _ => format!("positions {} to {}", census.first_differing, census.last_differing),
    };
    let largest = (census.error_max > 0.0).then(|| {
        (
            "Largest error",
            format!("{}, {} times the element's bound", number(census.error_max), number(census.ratio_max)),
        )
    });
    let rows = [
        ("Differing", format!("{} of {}, {places}", census.differing, count(census.checked, "output"))),
        (
            "Beyond the bound",
            format!(
                "{}; bound {} * sum of absolute products + {} * |reference| + {}",
                count(census.over_element, "output"),
                number(census.accumulate),
                number(census.output),
                number(census.absolute)
            ),
        ),
        (
            "Beyond any rounding",
            format!("{}; bound {}", count(census.over_norm, "output"), number(census.norm)),
        ),
        (
            "Classes",
            format!(
                "{} NaN, {} never written, {} zero, {} infinite",
                census.nan, census.stale, census.zero, census.infinite
            ),
        ),
    ];
    let mut rows = Vec::from(rows);
    let place = rows.len() - 1;
    rows.splice(place..place, largest);
    rows
}

/// What changed that should not have.
pub(crate) fn traces(execution: &Execution) -> Vec<Row> {
    let mut rows = Vec::new();
    for hit in &execution.guards {
        let side = if hit.after { "after" } else { "before" };
        rows.push((
            "guard",
            format!(
                "{} changed {side} {}, {} to {} bytes off its edge",
                count(hit.changed, "byte"),
                hit.zone.name(),
                hit.nearest,
                hit.farthest
            ),
        ));
    }
    for (role, elements) in &execution.inputs_changed {
        rows.push(("input", format!("{} of {} changed", count(*elements, "element"), role.name())));
    }
    if let Some(differing) = execution.repeat_differing {
        rows.push((
            "repeat",
            format!("{} changed from one execution to another on the same data", count(differing, "output")),
        ));
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
