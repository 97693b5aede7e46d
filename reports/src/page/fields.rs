//! The case as a table: every field with its value, defaults marked. Plain text; escapes nothing.

use case::{Axis, Case, EngineChoice, Role, WorkspaceAmount};

use super::rows::{Row, configuration, workspace_words};

/// The case, field by field.
pub(super) fn fields(case: &Case) -> Vec<Row> {
    let (problem, options) = (&case.problem, &case.options);
    let tensor = |role: Role| {
        let geometry = problem.geometry();
        let index = role.index();
        format!(
            "{} {} {} ({} bytes)",
            problem.dtypes.tensors()[index].name(),
            problem.layouts.tensors()[index].name(),
            join(&geometry.extents(role)),
            geometry.bytes(role)
        )
    };
    let axes = |of: fn(&Axis) -> String| problem.axes.iter().map(of).collect::<Vec<_>>().join(" x ");
    let or_default = |text: Option<String>| text.unwrap_or_else(|| "any (default)".to_owned());
    vec![
        ("operation", problem.operation.name().to_owned()),
        ("x", tensor(Role::X)),
        ("w", tensor(Role::W)),
        ("y", tensor(Role::Y)),
        ("compute type", problem.dtypes.compute.name().to_owned()),
        ("groups", marked(problem.g.to_string(), problem.g == 1)),
        ("padding", axes(|axis| format!("{}:{}", axis.pad_before, axis.pad_after))),
        ("stride", axes(|axis| axis.stride.to_string())),
        ("dilation", axes(|axis| axis.dilation.to_string())),
        ("plan", plan(&options.engine)),
        ("library set", or_default(options.set.clone())),
        ("workspace", workspace(case)),
        ("workspace contents", or_default(options.workspace.contents.map(workspace_words))),
        ("data", or_default(options.fill.map(|fill| format!("{}:{}", fill.kind.name(), fill.seed)))),
        ("output before", or_default(options.output_fill.map(|fill| fill.name().to_owned()))),
        ("alpha, beta", format!("{}, {}", options.alpha.value(), options.beta.value())),
        ("repeat", marked(options.repeat.to_string(), options.repeat == 1)),
    ]
}

fn marked(text: String, is_default: bool) -> String {
    if is_default { format!("{text} (default)") } else { text }
}

fn join(values: &[i64]) -> String {
    values.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}

fn plan(engine: &EngineChoice) -> String {
    match engine {
        EngineChoice::Any => "any (default)".to_owned(),
        EngineChoice::Pinned(config) => configuration(config),
        EngineChoice::Ranked { mode, rank } => format!("rank {rank} of heuristics {}", mode.name()),
    }
}

fn workspace(case: &Case) -> String {
    let workspace = case.options.workspace;
    let amount = match workspace.amount {
        WorkspaceAmount::Exact => "what the plan asks for (default)".to_owned(),
        WorkspaceAmount::Extra(bytes) => format!("{bytes} bytes more than the plan asks for"),
        WorkspaceAmount::Max(bytes) => format!("what the plan asks for, at most {bytes} bytes"),
    };
    format!("{amount}, aligned to {} bytes", workspace.alignment)
}
