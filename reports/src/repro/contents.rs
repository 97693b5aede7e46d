//! Which executions the program makes, on which buffer contents. Knows what a finding and its case pin down; knows
//! no values.

use case::{Case, Fill, FillKind, Kind, OutputFill, Recipe, WorkspaceFill};
use serde::Serialize;

use crate::finding::Finding;

/// Least number of executions where the contents that showed a failure are known: faults that come and go get a fair
/// chance.
const EXECUTIONS_MIN: u32 = 10;

/// The executions of the program.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Schedule {
    /// Contents and executions on them in a row, in order.
    pub(super) rows: Vec<(Recipe, u32)>,
    /// How often all rows are gone through.
    pub(super) rounds: u32,
}

/// One row as C++ words.
#[derive(Serialize)]
pub(super) struct Contents {
    fill: &'static str,
    seed: u64,
    output_byte: &'static str,
    workspace: &'static str,
    workspace_seed: u64,
    times: u32,
}

impl Schedule {
    /// Where an execution showed the failure: its contents again and again, in turn with those that it is compared
    /// with where they are others. Where nobody saw which execution it was, exactly what a check of the case runs,
    /// since the failure may need all of it.
    pub(super) fn of(finding: &Finding<'_>) -> Self {
        let Some(recipe) = finding.fault.recipe else { return Self::as_checked(finding.case) };
        let rows: Vec<(Recipe, u32)> =
            telling(finding, recipe).into_iter().map(|recipe| (recipe, 1)).collect();
        let executions = finding.case.options.repeat.max(EXECUTIONS_MIN);
        let rounds = executions.div_ceil(u32::try_from(rows.len()).unwrap_or(1).max(1));
        Self { rows, rounds }
    }

    /// The executions of a check, in its order: the first contents twice, each of the others once, then the first for
    /// as often as the case repeats them. A case that pins all contents is executed as often as it says.
    pub(super) fn as_checked(case: &Case) -> Self {
        let options = &case.options;
        let scaled = options.beta.value() != 0.0;
        let mut contents: Vec<Recipe> = Vec::new();
        for (kind, seed, output, workspace) in STANDARD {
            let output = if scaled { OutputFill::Nan } else { options.output_fill.unwrap_or(output) };
            let recipe = Recipe {
                fill: options.fill.unwrap_or(Fill { kind, seed }),
                output,
                workspace: options.workspace.contents.unwrap_or(workspace),
                repeats: None,
            };
            if !contents.contains(&recipe) {
                contents.push(recipe);
            }
        }
        let pinned = options.fill.is_some()
            && (scaled || options.output_fill.is_some())
            && options.workspace.contents.is_some();
        let times = options.repeat.max(if pinned { 1 } else { 2 });
        let first = contents[0];
        let leading = if contents.len() == 1 { times } else { times.min(2) };
        let mut rows = vec![(first, leading)];
        rows.extend(contents.into_iter().skip(1).map(|recipe| (recipe, 1)));
        if times > leading {
            rows.push((first, times - leading));
        }
        Self { rows, rounds: 1 }
    }

    /// The rows as C++ words.
    pub(super) fn words(&self) -> Vec<Contents> {
        self.rows.iter().map(|(recipe, times)| words(recipe, *times)).collect()
    }
}

fn telling(finding: &Finding<'_>, recipe: Recipe) -> Vec<Recipe> {
    let earlier = recipe.repeats.and_then(|index| finding.executions().get(index));
    let plain = Recipe { repeats: None, ..recipe };
    match earlier.map(|execution| Recipe { repeats: None, ..execution.recipe }) {
        Some(earlier) if earlier != plain && finding.fault.sameness.kind == Kind::Nondet => {
            vec![earlier, plain]
        }
        Some(_) | None => vec![plain],
    }
}

/// Contents that every plan meets in a check.
const STANDARD: [(FillKind, u64, OutputFill, WorkspaceFill); 3] = [
    (FillKind::Int2, 1, OutputFill::Nan, WorkspaceFill::Ones),
    (FillKind::Int2, 2, OutputFill::Finite, WorkspaceFill::Zero),
    (FillKind::Real, 3, OutputFill::Nan, WorkspaceFill::Random(1)),
];

pub(super) fn words(recipe: &Recipe, times: u32) -> Contents {
    let (workspace, workspace_seed) = match recipe.workspace {
        WorkspaceFill::Zero => ("zero", 0),
        WorkspaceFill::Ones => ("ones", 0),
        WorkspaceFill::Random(seed) => ("random", seed),
    };
    Contents {
        fill: recipe.fill.kind.name(),
        seed: recipe.fill.seed,
        output_byte: match recipe.output {
            OutputFill::Nan => "FF",
            OutputFill::Finite => "7B",
        },
        workspace,
        workspace_seed,
        times,
    }
}

#[cfg(test)]
mod tests;
