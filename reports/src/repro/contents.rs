//! Which buffer contents the program runs through. Knows what a finding and its case pin down; knows no values.

use case::{Fill, FillKind, Kind, OutputFill, Recipe, WorkspaceFill};
use serde::Serialize;

use crate::finding::Finding;

/// One recipe as C++ words.
#[derive(Serialize)]
pub(super) struct Contents {
    fill: &'static str,
    seed: u64,
    output_byte: &'static str,
    workspace: &'static str,
    workspace_seed: u64,
}

/// Contents that every plan meets in a check; they stand in where a process died before it could tell.
const USUAL: [(FillKind, u64, OutputFill, WorkspaceFill); 3] = [
    (FillKind::Int2, 1, OutputFill::Nan, WorkspaceFill::Ones),
    (FillKind::Int2, 2, OutputFill::Finite, WorkspaceFill::Zero),
    (FillKind::Real, 3, OutputFill::Nan, WorkspaceFill::Random(1)),
];

/// The recipe that showed the failure, after the one it is compared with where that is another; else what the case
/// pins, the rest as usual.
pub(super) fn contents(finding: &Finding<'_>) -> Vec<Contents> {
    let recipes = match finding.fault.recipe {
        Some(recipe) => telling(finding, recipe),
        None => usual(finding),
    };
    recipes.iter().map(words).collect()
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

fn usual(finding: &Finding<'_>) -> Vec<Recipe> {
    let options = &finding.case.options;
    let mut recipes = Vec::new();
    for (kind, seed, output, workspace) in USUAL {
        let recipe = Recipe {
            fill: options.fill.unwrap_or(Fill { kind, seed }),
            output: options.output_fill.unwrap_or(output),
            workspace: options.workspace.contents.unwrap_or(workspace),
            repeats: None,
        };
        if !recipes.contains(&recipe) {
            recipes.push(recipe);
        }
    }
    recipes
}

fn words(recipe: &Recipe) -> Contents {
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
    }
}
