//! Louder forms of a case, in which a failure that comes and goes may show more often. Knows options that
//! change nothing about what is right; measures nothing.

use case::{Case, Workspace, WorkspaceFill};

/// Executions in one process, the fewer first.
const REPEATS: [u32; 2] = [10, 100];

/// The louder forms, cheapest first. None of them changes the geometry or the types.
pub(crate) fn amplifiers(case: &Case) -> Vec<Case> {
    let mut louder = Vec::new();
    for repeat in REPEATS {
        if case.options.repeat < repeat {
            let mut repeated = case.clone();
            repeated.options.repeat = repeat;
            louder.push(repeated);
        }
    }
    if case.options.workspace.contents != Some(WorkspaceFill::Ones) {
        let mut poisoned = case.clone();
        let contents = Some(WorkspaceFill::Ones);
        poisoned.options.workspace = Workspace { contents, ..case.options.workspace };
        louder.push(poisoned);
    }
    if let Some(fill) = case.options.fill {
        let mut reseeded = case.clone();
        reseeded.options.fill = Some(case::Fill { seed: fill.seed.wrapping_add(1), ..fill });
        louder.push(reseeded);
    }
    louder.retain(|case| case.validate().is_ok());
    louder
}
