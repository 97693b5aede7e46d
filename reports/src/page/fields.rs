//! The case as tables: every field with its value, defaults faint and fields that do not matter marked "any".

use case::{
    Axis, Case, EngineChoice, Explanation, Fill, Keep, Kept, Operation, Quantity, Role, WorkspaceAmount,
};

use super::model::{Block, Line, Span};
use super::words;
use crate::facts::Facts;
use crate::position::axis_names;

pub(super) fn blocks(facts: &Facts<'_>) -> Vec<Block> {
    let any = facts.explanation.map_or(&[][..], |explanation| &explanation.any);
    let mut blocks = vec![Block::Code("", facts.case.to_string().replace(" ; ", " ;\n"))];
    if let count @ 1.. = facts.case.history.len() {
        blocks.push(Block::text(format!(
            "The last line is the case that fails; the {count} before it are executed in the same process first, and \
             their results are not looked at. The tables are about the last one."
        )));
    }
    blocks.push(Block::table(&["tensor", "type", "layout", "extents", "bytes"], tensors(facts.case, any)));
    if !matches!(facts.case.problem.operation, Operation::MatMul | Operation::RmsNorm) {
        let window = if facts.case.problem.operation.is_pooling() { "window" } else { "filter" };
        blocks.push(Block::table(
            &["axis", "input", window, "padding", "stride", "dilation", "output"],
            axes(facts.case, any),
        ));
    }
    blocks.extend([Block::Facts(options(facts.case, any)), note(facts.explanation)]);
    if !any.is_empty() {
        let names: Vec<Span> = any.iter().flat_map(|name| [plain(" "), Span::Code(name.clone())]).collect();
        blocks.push(Block::Text(Line(
            [vec![plain("It fails with any value that was tried of:")], names].concat(),
        )));
    }
    blocks
}

fn plain(text: &str) -> Span {
    Span::Plain(text.to_owned())
}

fn note(explanation: Option<&Explanation>) -> Block {
    let defaults = "Defaults are faint.";
    let text = match explanation {
        Some(_) => format!("{defaults} \"any\" marks a value that was changed without an effect."),
        None => format!("{defaults} Which fields do not matter was not checked."),
    };
    Block::Text(Line::faint(text))
}

/// A value: faint where it is the default, marked where any other fails too.
fn value(text: impl Into<String>, is_default: bool, is_any: bool) -> Line {
    let text = text.into();
    match (is_any, is_default) {
        (true, _) => Line::faint("any").and(Span::Faint(format!(" ({text})"))),
        (false, true) => Line::faint(text),
        (false, false) => text.into(),
    }
}

fn holds(any: &[String], name: impl ToString) -> bool {
    any.contains(&name.to_string())
}

fn tensors(case: &Case, any: &[String]) -> Vec<Vec<Line>> {
    let problem = &case.problem;
    let geometry = problem.geometry();
    let row = |role: Role| {
        let (index, name) = (role.index(), role.name());
        let written = if role == problem.operation.output() { " (written)" } else { "" };
        let [dtype, layout] = ["dtype", "layout"].map(|what| holds(any, format!("{what}({name})")));
        let extents: Vec<String> = geometry.extents(role).iter().map(i64::to_string).collect();
        vec![
            Line::code(name).and(plain(written)),
            value(problem.dtypes.tensors()[index].name(), false, dtype),
            value(problem.layouts.tensors()[index].word(problem.operation), false, layout),
            extents.join(" \u{d7} ").into(),
            geometry.bytes(role).to_string().into(),
        ]
    };
    problem.operation.tensors().iter().copied().map(row).collect()
}

fn axes(case: &Case, any: &[String]) -> Vec<Vec<Line>> {
    let outputs = case.problem.geometry().output_spatial();
    let rank = case.problem.axes.len();
    let row = |(index, (axis, name)): (usize, (&Axis, &str))| {
        let inner = rank - 1 - index;
        let pads = holds(any, Quantity::PadBefore(inner)) && holds(any, Quantity::PadAfter(inner));
        let padding = if axis.pad_before == axis.pad_after {
            axis.pad_before.to_string()
        } else {
            format!("{} before, {} after", axis.pad_before, axis.pad_after)
        };
        let plain_pad = axis.pad_before == 0 && axis.pad_after == 0;
        vec![
            Line::code(name),
            value(axis.input.to_string(), false, holds(any, Quantity::Input(inner))),
            value(axis.filter.to_string(), axis.filter == 1, holds(any, Quantity::Filter(inner))),
            value(padding, plain_pad, pads),
            value(axis.stride.to_string(), axis.stride == 1, holds(any, Quantity::Stride(inner))),
            value(axis.dilation.to_string(), axis.dilation == 1, holds(any, Quantity::Dilation(inner))),
            outputs.get(index).map(i64::to_string).unwrap_or_default().into(),
        ]
    };
    case.problem.axes.iter().zip(axis_names(case)).enumerate().map(row).collect()
}

fn options(case: &Case, any: &[String]) -> Vec<(String, Line)> {
    let (problem, options) = (&case.problem, &case.options);
    let or_default = |text: Option<String>| text.map_or_else(|| Line::faint("not given"), Line::from);
    let scale = |number: f64, default: f64, name: &str| {
        value(number.to_string(), number.to_bits() == default.to_bits(), holds(any, name))
    };
    let mut fields = vec![("operation", problem.operation.name().into())];
    fields.extend(sizes(case, any));
    fields.extend([
        ("compute type", value(problem.dtypes.compute.name(), false, holds(any, "compute"))),
        ("plan", plan(&options.engine)),
        ("library set", or_default(options.set.clone())),
        ("workspace", workspace(case, any)),
        ("workspace contents", or_default(options.workspace.contents.map(words::workspace))),
        ("data", or_default(options.fill.map(|fill| data(fill, options.keep)))),
        ("output before", or_default(options.output_fill.map(|fill| fill.name().to_owned()))),
    ]);
    if problem.operation.is_convolution() {
        fields.push(("alpha", scale(options.alpha.value(), 1.0, "alpha")));
        fields.push(("beta", scale(options.beta.value(), 0.0, "beta")));
    }
    fields.push(("repeat", value(options.repeat.to_string(), options.repeat == 1, false)));
    fields.into_iter().map(|(name, line)| (name.to_owned(), line)).collect()
}

/// Batch, channels and groups by the letters of the operation.
fn sizes(case: &Case, any: &[String]) -> Vec<(&'static str, Line)> {
    let sizes = match case.problem.operation {
        Operation::Fprop | Operation::Dgrad | Operation::Wgrad => vec![
            ("batch n", Quantity::N),
            ("channels c", Quantity::C),
            ("channels k", Quantity::K),
            ("groups g", Quantity::Groups),
        ],
        Operation::MaxPool | Operation::AvgPool => {
            vec![("batch n", Quantity::N), ("channels c", Quantity::C)]
        }
        Operation::MatMul => vec![
            ("batch b", Quantity::MatrixBatch),
            ("rows m", Quantity::MatrixRows),
            ("columns n", Quantity::MatrixColumns),
            ("products k", Quantity::MatrixProducts),
        ],
        Operation::RmsNorm => vec![("rows n", Quantity::N), ("length of a row c", Quantity::C)],
    };
    let count = |quantity: Quantity| {
        let number = quantity.of(case).unwrap_or(0);
        value(number.to_string(), number == 1, holds(any, quantity))
    };
    sizes.into_iter().map(|(name, quantity)| (name, count(quantity))).collect()
}

/// The fill, and which elements keep its values where not all do.
fn data(fill: Fill, keep: Keep) -> String {
    let filled = format!("{}, seed {}", fill.kind.name(), fill.seed);
    let ranges: Vec<String> = keep
        .ranges()
        .map(|(role, Kept { first, last })| {
            let name = role.name();
            if first == last {
                format!("of {name} only element {first}")
            } else {
                format!("of {name} only elements {first} to {last}")
            }
        })
        .collect();
    if ranges.is_empty() {
        filled
    } else {
        format!("{filled}; {} (row-major, from 0), every other one is 0", ranges.join(" and "))
    }
}

fn plan(engine: &EngineChoice) -> Line {
    match engine {
        EngineChoice::Any => Line::faint("any"),
        EngineChoice::Pinned(config) => words::configuration(config).into(),
        EngineChoice::Ranked { mode, rank } => format!("rank {rank} of heuristics {}", mode.name()).into(),
    }
}

fn workspace(case: &Case, any: &[String]) -> Line {
    let workspace = case.options.workspace;
    let amount = match workspace.amount {
        WorkspaceAmount::Exact => "what the plan asks for".to_owned(),
        WorkspaceAmount::Extra(bytes) => format!("{bytes} bytes more than the plan asks for"),
        WorkspaceAmount::Max(bytes) => format!("what the plan asks for, at most {bytes} bytes"),
    };
    let text = format!("{amount}, aligned to {} bytes", workspace.alignment);
    let default = case::Workspace { contents: workspace.contents, ..case::Workspace::default() };
    value(text, workspace == default, holds(any, Quantity::WorkspaceAlignment))
}
