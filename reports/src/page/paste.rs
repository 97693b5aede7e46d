//! Texts that can be pasted into issue trackers: a short one in plain words for any of them, and the long one
//! of `issue.md`.

use super::model::{Block, Line};
use super::words;
use crate::claim;
use crate::escape::capital;
use crate::facts::Facts;
use crate::position;
use crate::simulated::{self, driver};
use crate::title::{Title, kind_words};

/// Elements quoted.
const ELEMENTS_MAX: usize = 8;

/// Most characters: below what every tracker takes.
const CHARACTERS_MAX: usize = 60_000;

pub(super) fn blocks(facts: &Facts<'_>) -> Vec<Block> {
    let mut blocks = vec![
        Block::Heading("Short, for any tracker"),
        Block::Text(Line::faint("For PyTorch, JAX, or the form of NVIDIA's developer programme.")),
        Block::Code("text", text(facts)),
        Block::Heading("Filled-in bug form of cudnn-frontend"),
    ];
    if facts.issue.is_empty() {
        blocks.push(Block::not_checked("no text was made"));
    } else {
        let form = Block::Code("markdown", facts.issue.to_owned());
        blocks.push(Block::Fold("The text of issue.md".to_owned(), vec![form]));
    }
    blocks
}

/// Title and body.
fn text(facts: &Facts<'_>) -> String {
    let verdict = facts.verdict;
    let environment = facts.environment;
    let title = Title::new(environment, &verdict.sameness, facts.case);
    let region = facts
        .explanation
        .map_or_else(|| "not checked".to_owned(), |explanation| claim::region(&explanation.region));
    let parts = [
        if title.simulated {
            format!("{}\n\nTitle: {title}", simulated::ISSUE)
        } else {
            format!("Title: {title}")
        },
        format!(
            "Describe the bug\n{}: {}\nIt fails in {} of {} fresh processes. Failing region: {region}.",
            capital(kind_words(verdict.sameness.kind)),
            verdict.summary,
            verdict.hits,
            verdict.runs,
        ),
        format!("Expected behavior\n{}", expected(facts)),
        format!(
            "System environment\n- cuDNN backend: {} ({})\n- cudnn-frontend: none, the backend API is called directly\n\
             - GPU: {}, sm_{}\n- driver: {}\n- libraries with SHA-256: environment.json",
            environment.cudnn_text(),
            environment.set(),
            environment.gpu,
            environment.compute_capability,
            driver(environment)
        ),
        "API logs\nlogs/library.log of the attached bundle".to_owned(),
        format!(
            "To reproduce\nUnpack the attached bundle and run ./run.sh: one file of C++17, no toolkit needed; exit 1 means \
             that the bug is present.\nCase: {}\nStand-alone program: {}",
            facts.case,
            verdict.verification.words()
        ),
        format!("Additional context\nSignature: {}\nMet as: {}", verdict.signature, facts.original),
    ];
    parts.join("\n\n").chars().take(CHARACTERS_MAX).collect()
}

fn expected(facts: &Facts<'_>) -> String {
    let listed = facts.verdict.execution.as_ref().map_or(&[][..], |execution| &execution.excerpt);
    let mut lines = vec![capital(words::should(facts.verdict.sameness.kind)) + "."];
    for (at, got, expected) in listed.iter().take(ELEMENTS_MAX) {
        lines.push(format!("  {}: expected {expected}, got {got}", position::words(facts.case, *at)));
    }
    lines.join("\n")
}
