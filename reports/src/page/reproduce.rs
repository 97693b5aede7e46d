//! One command, what it should show and what it shows. Knows the bundle's script and the first wrong
//! elements.

use super::model::{Block, Line, Span};
use super::words;
use crate::facts::Facts;
use crate::planned;
use crate::position;
use crate::simulated::{self, is_simulated};

/// Elements shown here.
const LINES_MAX: usize = 8;

pub(super) fn blocks(facts: &Facts<'_>) -> Vec<Block> {
    if is_simulated(facts.environment) {
        let mut blocks = vec![
            Block::Code("sh", simulated::RUN.to_owned()),
            Block::text(simulated::FOLDER),
            Block::Code("sh", format!("convict check --simulate '{}'", facts.case)),
        ];
        blocks.extend(expected_and_actual(facts));
        blocks.push(needs(facts));
        return blocks;
    }
    let mut blocks = vec![
        Block::Code("sh", "./run.sh".to_owned()),
        Block::Text(Line(vec![
            Span::Plain("Builds ".to_owned()),
            Span::Code("repro.cpp".to_owned()),
            Span::Plain(" (plain C++17, no toolkit, no headers) and runs it; ".to_owned()),
            Span::Code("./run.sh FOLDER".to_owned()),
            Span::Plain(" takes the cuDNN in that folder. With convict:".to_owned()),
        ])),
        Block::Code("sh", planned::check(facts.environment, facts.case)),
    ];
    blocks.extend(expected_and_actual(facts));
    blocks.push(needs(facts));
    blocks
}

fn expected_and_actual(facts: &Facts<'_>) -> Vec<Block> {
    let listed = facts.verdict.execution.as_ref().map_or(&[][..], |execution| &execution.excerpt);
    if listed.is_empty() {
        return vec![Block::facts([
            ("Expected", words::should(facts.verdict.sameness.kind).to_owned()),
            ("Actual", facts.verdict.summary.clone()),
        ])];
    }
    let rows = listed.iter().take(LINES_MAX).map(|(position, got, expected)| {
        let place = position::words(facts.case, *position);
        vec![Line::code(place), Line::code(expected.clone()), Line::code(got.clone())]
    });
    vec![Block::table(&["element", "expected", "actual"], rows.collect())]
}

fn needs(facts: &Facts<'_>) -> Block {
    let verdict = facts.verdict;
    let workspace =
        verdict.workspace_bytes.map_or_else(|| Line::faint("unknown"), |count| words::bytes(count).into());
    Block::facts([
        ("Memory for tensors", words::bytes(facts.case.problem.geometry().total_bytes()).into()),
        ("Workspace", workspace),
        ("One execution", time(facts)),
    ])
}

/// Time of one execution: the survey's, which a warm plan took; without a survey the first one's, which holds more.
fn time(facts: &Facts<'_>) -> Line {
    let verdict = facts.verdict;
    let other = verdict.reach.as_ref().and_then(|reach| reach.alternative.as_ref());
    if let Some((other, ratio)) = other.and_then(|other| Some((other, other.time_ratio?))) {
        return format!("{:.0} \u{b5}s", other.execute_us as f64 / ratio).into();
    }
    match (&verdict.reach, &verdict.execution) {
        (None, Some(execution)) => {
            format!("{} \u{b5}s, loading and waiting included", execution.execute_us).into()
        }
        (Some(_), _) | (None, None) => Line::faint("not measured"),
    }
}
