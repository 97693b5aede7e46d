//! Where in the run it fails and what was said there.

use super::model::{Block, Line};
use super::words;
use crate::claim::Way;
use crate::facts::Facts;

pub(super) fn blocks(facts: &Facts<'_>) -> Vec<Block> {
    let verdict = facts.verdict;
    let names = verdict.notes.names();
    let observed = verdict.workspace_bytes.is_some();
    let if_observed = |line: Line| if observed { line } else { Line::faint("unknown: no plan was seen") };
    let notes = if names.is_empty() { Line::faint("none") } else { Line::code(names.join(", ")) };
    let compiled = if verdict.notes.compiles_at_run_time() { "yes" } else { "no" };
    let workspace = verdict.workspace_bytes.map(words::bytes).unwrap_or_default();
    vec![Block::facts([
        ("Phase", verdict.sameness.phase.name().into()),
        ("Process", words::exit(verdict.exit).into()),
        (
            "Said",
            verdict.ended.as_ref().map_or_else(|| Line::faint("nothing"), |ended| words::ended(ended).into()),
        ),
        (
            "Plan",
            verdict
                .config
                .as_ref()
                .map_or_else(|| Line::faint("none yet"), |config| words::configuration(config).into()),
        ),
        ("Heuristic lists", Way::read(verdict).words().into()),
        ("Numerical notes", if_observed(notes)),
        ("Compiled at run time", if_observed(compiled.into())),
        ("Workspace asked for", if_observed(workspace.into())),
        ("Kernel name", Line::not_checked()),
        ("compute-sanitizer", Line::not_checked()),
    ])]
}
