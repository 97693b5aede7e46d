//! Where the failure lies and what passes beside it. Tells what was probed, with counts; claims nothing more.

use case::{Explanation, Probes, Reach};

use super::model::{Block, Line, Span};
use super::words;
use crate::escape::capital;
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
    blocks.push(Block::facts(OTHERWISE.map(|(name, fields)| (name, otherwise(facts.explanation, fields)))));
    blocks
}

fn region(explanation: &Explanation) -> Vec<Block> {
    let Explanation { region, twins, calls, complete, .. } = explanation;
    let ended = if *complete { "" } else { " The budget ended before all of it was probed." };
    let mut blocks = Vec::new();
    if let Some(doubt) = region.support().doubt() {
        let text = format!(": {}. The conditions are no claim.", region.counts());
        blocks.push(Block::Text(Line::strong(capital(doubt)).and(Span::Plain(text))));
    }
    blocks.extend([
        Block::Code("", region.to_string()),
        Block::facts([
            ("Inside", probes(&region.inside, "failed the same way")),
            ("Just outside", probes(&region.outside, "failed the same way")),
            ("Probes", format!("{calls} cases run; counts, not a proof.{ended}").into()),
        ]),
    ]);
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
    if probes.tested == 0 {
        return Line::faint("not tried on random cases");
    }
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

/// What could be changed beside the plan, and the fields that the probing knows it by.
const OTHERWISE: [(&str, &[&str]); 3] = [
    ("Another layout", &["layout(x)", "layout(w)", "layout(y)"]),
    ("Another alignment of the workspace", &["workspace alignment"]),
    ("Another data type", &["dtype(x)", "dtype(w)", "dtype(y)", "compute"]),
];

/// What the probing saw of those fields: the values that pass, and the ones that change nothing.
fn otherwise(explanation: Option<&Explanation>, fields: &[&str]) -> Line {
    let Some(explanation) = explanation else { return Line::not_checked() };
    let twins = explanation.twins.iter().filter(|twin| fields.contains(&twin.field.as_str()));
    let passes: Vec<String> =
        twins.map(|twin| format!("passes with {} {}", twin.field, twin.passes)).collect();
    let fails: Vec<&str> =
        explanation.any.iter().map(String::as_str).filter(|name| fields.contains(name)).collect();
    let fails = (!fails.is_empty()).then(|| format!("no help from {}", fails.join(", ")));
    let said: Vec<String> = passes.into_iter().chain(fails).collect();
    if said.is_empty() { Line::not_checked() } else { said.join("; ").into() }
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
    ])]
}
