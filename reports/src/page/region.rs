//! Where the failure lies and what passes beside it. Tells what was probed, with counts; claims nothing more.

use case::{Explanation, Probes, Reach};

use super::model::{Block, Line, Span};
use super::words;
use crate::facts::Facts;
use crate::page::region_map;
use crate::picture::Picture;

/// Counter-examples shown of each side.
const EXAMPLES_MAX: usize = 8;

pub(super) fn blocks(facts: &Facts<'_>) -> Vec<Block> {
    let mut blocks = match facts.explanation {
        Some(explanation) => region(explanation),
        None => vec![Block::not_checked("nobody has probed which other cases fail")],
    };
    match (region_map(facts), facts.explanation) {
        (Some(map), _) => blocks.push(Block::Picture(Picture::Region(map))),
        (None, Some(_)) => blocks.push(Block::not_checked("a map of two fields")),
        (None, None) => {}
    }
    blocks.push(Block::Heading("What avoids it"));
    blocks.extend(alternatives(facts.verdict.reach.as_ref()));
    blocks
}

fn region(explanation: &Explanation) -> Vec<Block> {
    let Explanation { region, twins, calls, complete, .. } = explanation;
    let ended = if *complete { "" } else { " The budget ended before all of it was probed." };
    let mut blocks = vec![
        Block::Code("", region.to_string()),
        Block::facts([
            ("Inside", probes(&region.inside, "failed the same way")),
            ("Just outside", probes(&region.outside, "failed the same way")),
            ("Probes", format!("{calls} cases run; counts, not a proof.{ended}").into()),
        ]),
    ];
    blocks.extend(counter_examples("Cases inside that pass", &region.inside));
    blocks.extend(counter_examples("Cases outside that fail", &region.outside));
    blocks.push(Block::Heading("Good twins"));
    if twins.is_empty() {
        blocks.push(Block::text("No passing neighbour was found."));
        return blocks;
    }
    let row = |twin: &case::Twin| {
        vec![
            Line::code(twin.field.clone()),
            Line::strong(twin.fails.clone()),
            twin.passes.clone().into(),
            Line::code(twin.case.clone()),
        ]
    };
    let head = ["field", "fails with", "passes with", "the passing case"];
    blocks.push(Block::table(&head, twins.iter().map(row).collect()));
    blocks
}

fn probes(probes: &Probes, what: &str) -> Line {
    Line::strong(format!("{} of {}", probes.failed, probes.tested))
        .and(Span::Plain(format!(" random cases {what}")))
}

fn counter_examples(what: &str, probes: &Probes) -> Option<Block> {
    let examples = &probes.counter_examples;
    if examples.is_empty() {
        return None;
    }
    let mut lines: Vec<Line> =
        examples.iter().take(EXAMPLES_MAX).map(|line| Line::code(line.clone())).collect();
    if examples.len() > EXAMPLES_MAX {
        lines.push(format!("and {} more in region.json", examples.len() - EXAMPLES_MAX).into());
    }
    Some(Block::Fold(format!("{what}: {}", examples.len()), vec![Block::List(lines)]))
}

/// Plans that are right for the same case.
fn alternatives(reach: Option<&Reach>) -> Vec<Block> {
    let Some(reach) = reach else {
        return vec![Block::not_checked("other engines, layouts, workspaces and math modes")];
    };
    let fastest = match &reach.alternative {
        None => "none was found".into(),
        Some(other) => {
            let time = match other.time_ratio {
                Some(ratio) => {
                    format!("{} \u{b5}s, {ratio:.2} times the failing plan's time", other.execute_us)
                }
                None => format!("{} \u{b5}s", other.execute_us),
            };
            Line::from(words::configuration(&other.config)).and(Span::Plain(format!(" ({time})")))
        }
    };
    vec![Block::facts([
        ("Plans of the same case", format!("{} of {} that ran are right", reach.right, reach.ran).into()),
        ("Fastest right plan", fastest),
        ("Layout, workspace, math mode", Line::not_checked()),
    ])]
}
