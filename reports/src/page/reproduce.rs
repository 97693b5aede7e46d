//! One command, what it should show and what it shows. Knows the bundle's script and the first wrong
//! elements.

use super::model::{Block, Line, Span};
use super::words;
use crate::facts::Facts;
use crate::position;

/// Elements shown here.
const LINES_MAX: usize = 8;

pub(super) fn blocks(facts: &Facts<'_>) -> Vec<Block> {
    let mut blocks = vec![
        Block::Code("sh", "./run.sh".to_owned()),
        Block::Text(Line(vec![
            Span::Plain("Builds ".to_owned()),
            Span::Code("repro.cpp".to_owned()),
            Span::Plain(" (plain C++17, no toolkit, no headers) and runs it; ".to_owned()),
            Span::Code("./run.sh FOLDER".to_owned()),
            Span::Plain(" takes the cuDNN in that folder. With convict:".to_owned()),
        ])),
        Block::Code("sh", format!("convict check '{}'", facts.case)),
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
    let time = verdict.execution.as_ref().map_or_else(
        || Line::faint("not measured"),
        |execution| format!("{} \u{b5}s", execution.execute_us).into(),
    );
    Block::facts([
        ("Memory for tensors", words::bytes(facts.case.problem.geometry().total_bytes()).into()),
        ("Workspace", workspace),
        ("One execution", time),
    ])
}
