//! The one-line text of a case, its identity: printing here, reading in `parse`. Knows the grammar only.

mod number;
mod parse;
mod sizes;

use std::fmt;

use crate::dtype::DTypes;
use crate::engine::EngineChoice;
use crate::error::CaseError;
use crate::layout::Layout;
use crate::operation::Operation;
use crate::problem::{Axis, Case, Expect, Options, Problem};
use crate::workspace::{Workspace, WorkspaceAmount};

pub use number::split_byte_unit;
pub(crate) use sizes::wrong_rank;

/// `2x3x4`.
pub(crate) fn join_extents(values: &[i64]) -> String {
    values.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}

fn join_axes(axes: &[Axis], of: impl Fn(&Axis) -> String) -> String {
    axes.iter().map(of).collect::<Vec<_>>().join("x")
}

fn print_dtypes(formatter: &mut fmt::Formatter<'_>, dtypes: DTypes) -> fmt::Result {
    if dtypes.is_uniform() {
        write!(formatter, "{}", dtypes.x.name())?;
    } else {
        write!(formatter, "{},{},{}", dtypes.x.name(), dtypes.w.name(), dtypes.y.name())?;
    }
    if dtypes.compute != DTypes::default_compute(dtypes.tensors()) {
        write!(formatter, "/{}", dtypes.compute.name())?;
    }
    Ok(())
}

impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for earlier in &self.history {
            write!(formatter, "{earlier} ; ")?;
        }
        let problem = &self.problem;
        write!(formatter, "{} ", problem.operation.name())?;
        print_dtypes(formatter, problem.dtypes)?;
        print_layouts(formatter, problem)?;
        match problem.operation {
            Operation::Fprop | Operation::Dgrad | Operation::Wgrad => {
                write!(formatter, " n{} c{} k{}", problem.n, problem.c, problem.k)?;
                if problem.g != 1 {
                    write!(formatter, " g{}", problem.g)?;
                }
                print_axes(formatter, problem)?;
            }
            Operation::MaxPool | Operation::AvgPool => {
                write!(formatter, " n{} c{}", problem.n, problem.c)?;
                print_axes(formatter, problem)?;
            }
            Operation::MatMul => {
                let batch = problem.g.max(1);
                if batch != 1 {
                    write!(formatter, " b{batch}")?;
                }
                write!(formatter, " m{} n{} k{}", problem.n, problem.k / batch, problem.c / batch)?;
            }
            Operation::RmsNorm => write!(formatter, " n{} c{}", problem.n, problem.c)?,
        }
        print_options(formatter, &self.options)
    }
}

fn print_layouts(formatter: &mut fmt::Formatter<'_>, problem: &Problem) -> fmt::Result {
    let [x, w, y] = problem.layouts.tensors().map(|layout| layout.word(problem.operation));
    if !problem.layouts.is_uniform() {
        return write!(formatter, " {x},{w},{y}");
    }
    // Rows are what a matmul without the word has.
    if problem.operation == Operation::MatMul && problem.layouts.x == Layout::Nchw {
        return Ok(());
    }
    write!(formatter, " {x}")
}

fn print_axes(formatter: &mut fmt::Formatter<'_>, problem: &Problem) -> fmt::Result {
    let axes = &problem.axes;
    write!(formatter, " i{}", join_axes(axes, |axis| axis.input.to_string()))?;
    write!(formatter, " f{}", join_axes(axes, |axis| axis.filter.to_string()))?;
    if axes.iter().any(|axis| axis.pad_before != 0 || axis.pad_after != 0) {
        write!(formatter, " p{}", join_axes(axes, |axis| print_pad(axis.pad_before, axis.pad_after)))?;
    }
    if axes.iter().any(|axis| axis.stride != 1) {
        write!(formatter, " s{}", join_axes(axes, |axis| axis.stride.to_string()))?;
    }
    if axes.iter().any(|axis| axis.dilation != 1) {
        write!(formatter, " d{}", join_axes(axes, |axis| axis.dilation.to_string()))?;
    }
    if let Some(declared) = &problem.declared_output {
        write!(formatter, " y={}", join_extents(declared))?;
    }
    Ok(())
}

/// Fills a slot that may be filled once.
fn once<T>(slot: &mut Option<T>, field: &str, text: &str, value: T) -> Result<(), CaseError> {
    if slot.replace(value).is_some() {
        return Err(twice(field, text));
    }
    Ok(())
}

fn twice(field: &str, text: &str) -> CaseError {
    CaseError::new(field, text, format!("is a second value; give {field} once"))
}

fn print_pad(before: i64, after: i64) -> String {
    if before == after { before.to_string() } else { format!("{before}:{after}") }
}

fn print_options(formatter: &mut fmt::Formatter<'_>, options: &Options) -> fmt::Result {
    match &options.engine {
        EngineChoice::Any => {}
        EngineChoice::Pinned(config) => {
            write!(formatter, " engine={}", config.engine)?;
            if !config.knobs.is_empty() {
                let knobs: Vec<String> =
                    config.knobs.iter().map(|knob| format!("{}:{}", knob.knob, knob.value)).collect();
                write!(formatter, " knobs={}", knobs.join(","))?;
            }
        }
        EngineChoice::Ranked { mode, rank } => write!(formatter, " heur={}#{rank}", mode.name())?,
    }
    if !options.tf32 {
        formatter.write_str(" tf32=off")?;
    }
    if let Some(set) = &options.set {
        write!(formatter, " set={set}")?;
    }
    print_workspace(formatter, &options.workspace)?;
    if let Some(fill) = options.fill {
        write!(formatter, " fill={}:{}", fill.kind.name(), fill.seed)?;
    }
    if !options.keep.is_all() {
        write!(formatter, " keep={}", options.keep)?;
    }
    if let Some(output_fill) = options.output_fill {
        write!(formatter, " out={}", output_fill.name())?;
    }
    if options.alpha.value() != 1.0 {
        write!(formatter, " alpha={}", options.alpha.value())?;
    }
    if options.beta.value() != 0.0 {
        write!(formatter, " beta={}", options.beta.value())?;
    }
    if options.repeat != 1 {
        write!(formatter, " repeat={}", options.repeat)?;
    }
    if options.expect == Expect::Refuse {
        formatter.write_str(" expect=refuse")?;
    }
    Ok(())
}

fn print_workspace(formatter: &mut fmt::Formatter<'_>, workspace: &Workspace) -> fmt::Result {
    let aligned = workspace.alignment != Workspace::DEFAULT_ALIGNMENT;
    if workspace.amount != WorkspaceAmount::Exact || aligned {
        match workspace.amount {
            WorkspaceAmount::Exact => formatter.write_str(" ws=exact")?,
            WorkspaceAmount::Extra(bytes) => write!(formatter, " ws=+{}", print_bytes(bytes))?,
            WorkspaceAmount::Max(bytes) => write!(formatter, " ws=max:{}", print_bytes(bytes))?,
        }
        if aligned {
            write!(formatter, "@{}", workspace.alignment)?;
        }
    }
    match workspace.contents {
        None => Ok(()),
        Some(contents) => write!(formatter, " wsfill={contents}"),
    }
}

/// Bytes with the largest binary unit that divides them.
fn print_bytes(bytes: i64) -> String {
    for (unit, shift) in number::BYTE_UNITS {
        if bytes != 0 && bytes % (1 << shift) == 0 {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}
