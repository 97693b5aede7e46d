//! The operations that the program executes before the one that shows the bug. Knows how each is written as C++;
//! the rest of the program knows nothing of them.

use case::{Case, Recipe, Role};
use serde::Serialize;

use super::contents::{self, Contents, Schedule};
use super::pass::Pass;
use super::{Choice, Tensor, data_type, double, pinned, tensor, three};
use crate::escape::for_program;

/// One of them, as C++ words.
#[derive(Serialize)]
pub(super) struct Earlier {
    line: String,
    family: char,
    pass: Pass,
    output: usize,
    probe: usize,
    axes: usize,
    tensors: Vec<Tensor>,
    compute: &'static str,
    pad_before: String,
    pad_after: String,
    stride: String,
    dilation: String,
    alpha: String,
    beta: String,
    engine: i64,
    knobs: String,
    heuristic_mode: &'static str,
    heuristic_rank: u32,
    workspace_extra: i64,
    workspace_alignment: i64,
    recipe: Contents,
    kept: String,
}

impl Earlier {
    pub(super) fn of(case: &Case) -> Self {
        let (problem, options) = (&case.problem, &case.options);
        let Choice { engine, knobs, mode, rank } = pinned(&options.engine, None);
        let probe = if problem.operation == case::Operation::Dgrad { Role::Y } else { Role::X };
        let (workspace_extra, _) = super::workspace(options.workspace.amount);
        Self {
            line: for_program(&case.to_string()),
            family: letter(problem.operation),
            pass: Pass::of(problem.operation),
            output: problem.operation.output().index(),
            probe: probe.index(),
            axes: problem.axes.len(),
            tensors: Role::ALL.map(|role| tensor(problem, role)).into(),
            compute: data_type(problem.dtypes.compute),
            pad_before: three(&problem.axes, 0, |axis| axis.pad_before),
            pad_after: three(&problem.axes, 0, |axis| axis.pad_after),
            stride: three(&problem.axes, 1, |axis| axis.stride),
            dilation: three(&problem.axes, 1, |axis| axis.dilation),
            alpha: double(options.alpha.value()),
            beta: double(options.beta.value()),
            engine,
            knobs,
            heuristic_mode: mode,
            heuristic_rank: rank,
            workspace_extra,
            workspace_alignment: options.workspace.alignment,
            recipe: contents::words(&contents_of(case), options.repeat.max(1)),
            kept: super::kept(options.keep),
        }
    }
}

/// How the program tells operations apart.
fn letter(operation: case::Operation) -> char {
    match operation {
        case::Operation::Fprop | case::Operation::Dgrad | case::Operation::Wgrad => 'c',
        case::Operation::MaxPool => 'l',
        case::Operation::AvgPool => 'a',
        case::Operation::MatMul => 'm',
        case::Operation::RmsNorm => 'n',
    }
}

/// The first contents of a check, as a worker gives them to a case of a history.
fn contents_of(case: &Case) -> Recipe {
    Schedule::as_checked(case).rows[0].0
}
