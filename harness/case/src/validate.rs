//! Our own rules for a case: what an operation may be. Steps aside where a refusal is expected.

use crate::dtype::DType;
use crate::engine::EngineChoice;
use crate::error::CaseError;
use crate::operation::Role;
use crate::problem::{Axis, Case, Expect, Problem};
use crate::workspace::WorkspaceAmount;

/// Largest value of any one extent. Far above any device, low enough that sums of a few stay inside i64.
const EXTENT_MAX: i64 = 1 << 40;

/// Most executions that one case may ask for.
const REPEAT_MAX: u32 = 10_000;

/// Most knobs of one configuration: above any engine's count, low enough that a case's line stays readable.
const KNOBS_MAX: usize = 64;

/// Largest workspace alignment that can be asked for, bytes.
const ALIGNMENT_MAX: i64 = 1 << 20;

impl Case {
    /// Most cases before the one that is judged: what a process did last, at a length that can still be read and run.
    pub const HISTORY_MAX: usize = 128;

    /// Checks the rules of geometry and options.
    ///
    /// # Errors
    /// The first broken rule, by field. Geometry rules do not apply where the case expects a refusal, beyond that
    /// fields which the operation lacks say nothing of their own.
    pub fn validate(&self) -> Result<(), CaseError> {
        check_history(self)?;
        check_options(self)?;
        check_rank(self)?;
        crate::shape::check(self)?;
        if self.options.expect == Expect::Refuse {
            return Ok(());
        }
        let problem = &self.problem;
        for (field, value) in crate::shape::extents(problem) {
            at_least(field, value, 1)?;
        }
        if problem.c % problem.g != 0 {
            return Err(CaseError::new("c", problem.c, format!("is not divisible by g = {}", problem.g)));
        }
        if problem.k % problem.g != 0 {
            return Err(CaseError::new("k", problem.k, format!("is not divisible by g = {}", problem.g)));
        }
        for axis in &problem.axes {
            check_axis(axis)?;
            crate::shape::check_window(problem.operation, axis)?;
        }
        check_vectors(self)?;
        check_declared_output(self)?;
        check_sizes(self)?;
        crate::keep::check_positions(self)
    }
}

/// Vectors are of int8 channels, alike in image and filter, and fill every tensor's channels without a rest.
fn check_vectors(case: &Case) -> Result<(), CaseError> {
    let Problem { dtypes, layouts, c, k, g, .. } = &case.problem;
    for ((role, layout), dtype) in Role::ALL.into_iter().zip(layouts.tensors()).zip(dtypes.tensors()) {
        if layout.vector() > 1 && dtype != DType::I8 {
            let rule = format!("is an order of i8 alone, and {} is {}", role.name(), dtype.name());
            return Err(CaseError::new("layout", layout.name(), rule));
        }
    }
    if layouts.x.vector() != layouts.w.vector() {
        let rule =
            format!("does not go with {}: image and filter have vectors of one length", layouts.w.name());
        return Err(CaseError::new("layout", layouts.x.name(), rule));
    }
    for (field, value, layout) in [("c", c / g, layouts.w), ("k", k / g, layouts.y)] {
        let vector = layout.vector();
        if value % vector != 0 {
            let rule =
                format!("channels a group are no whole vectors of {vector}, as {} asks for", layout.name());
            return Err(CaseError::new(field, value, rule));
        }
    }
    Ok(())
}

/// Refuses more preceding cases than are kept.
pub(crate) fn check_history_length(length: usize) -> Result<(), CaseError> {
    if length > Case::HISTORY_MAX {
        let rule = format!("has {length} cases before the last, more than the {} allowed", Case::HISTORY_MAX);
        return Err(CaseError::bare("history", rule));
    }
    Ok(())
}

fn check_history(case: &Case) -> Result<(), CaseError> {
    check_history_length(case.history.len())?;
    for (number, earlier) in (1..).zip(&case.history) {
        let broken = |error: CaseError| error.in_history(number);
        if !earlier.history.is_empty() {
            return Err(broken(CaseError::bare("history", "lies within a history; write one row of cases")));
        }
        if earlier.options.expect == Expect::Refuse {
            let rule = "is judged, which only the last case of a history is";
            return Err(broken(CaseError::new("expect", "refuse", rule)));
        }
        earlier.validate().map_err(broken)?;
    }
    Ok(())
}

fn at_least(field: &str, value: i64, least: i64) -> Result<(), CaseError> {
    if value < least {
        return Err(CaseError::new(field, value, format!("is below {least}, the least allowed")));
    }
    if value > EXTENT_MAX {
        return Err(CaseError::new(field, value, "is above 2^40, the most allowed"));
    }
    Ok(())
}

fn check_rank(case: &Case) -> Result<(), CaseError> {
    let rank = case.problem.axes.len();
    if !(1..=3).contains(&rank) {
        return Err(CaseError::bare("i", format!("has {rank} axes; 1 to 3 are possible")));
    }
    match &case.problem.declared_output {
        Some(declared) if declared.len() != rank => {
            Err(crate::text::wrong_rank("y", &crate::text::join_extents(declared), declared.len(), rank))
        }
        Some(_) | None => Ok(()),
    }
}

fn check_axis(axis: &Axis) -> Result<(), CaseError> {
    at_least("i", axis.input, 1)?;
    at_least("f", axis.filter, 1)?;
    at_least("p", axis.pad_before, 0)?;
    at_least("p", axis.pad_after, 0)?;
    at_least("s", axis.stride, 1)?;
    at_least("d", axis.dilation, 1)?;
    if axis.output() < 1 {
        let span = i128::from(axis.filter - 1) * i128::from(axis.dilation) + 1;
        return Err(CaseError::new(
            "f",
            axis.filter,
            format!(
                "with dilation {} spans {span}, more than the padded input of {}",
                axis.dilation,
                axis.input + axis.pad_before + axis.pad_after
            ),
        ));
    }
    Ok(())
}

fn check_declared_output(case: &Case) -> Result<(), CaseError> {
    let Some(declared) = &case.problem.declared_output else { return Ok(()) };
    let shown = crate::text::join_extents(declared);
    Err(CaseError::new("y", shown, "is an output size given on purpose; add expect=refuse"))
}

fn check_sizes(case: &Case) -> Result<(), CaseError> {
    let geometry = case.problem.geometry();
    for role in case.problem.operation.tensors().iter().copied() {
        if geometry.bytes(role) == i64::MAX {
            return Err(CaseError::bare(role.name(), "its size does not fit in 63 bits of bytes"));
        }
    }
    if geometry.total_bytes() == i64::MAX || geometry.multiply_adds() == i64::MAX {
        return Err(CaseError::bare("case", "its size does not fit in 63 bits of bytes or multiply-adds"));
    }
    Ok(())
}

fn check_options(case: &Case) -> Result<(), CaseError> {
    let options = &case.options;
    for (field, scale) in [("alpha", options.alpha), ("beta", options.beta)] {
        if !scale.value().is_finite() {
            return Err(CaseError::new(field, scale.value(), "is not a finite number"));
        }
        // cuDNN takes scales as doubles where it computes in double, as floats everywhere else.
        if case.problem.dtypes.compute != DType::F64 && scale.value().abs() > f64::from(f32::MAX) {
            return Err(CaseError::new(
                field,
                scale.value(),
                "does not fit in f32, the type that scales are given in",
            ));
        }
    }
    if options.repeat == 0 || options.repeat > REPEAT_MAX {
        return Err(CaseError::new("repeat", options.repeat, format!("is not within 1 to {REPEAT_MAX}")));
    }
    let workspace = &options.workspace;
    if workspace.alignment.count_ones() != 1 || !(1..=ALIGNMENT_MAX).contains(&workspace.alignment) {
        return Err(CaseError::new(
            "ws",
            workspace.alignment,
            "is no alignment; write a power of two up to 1048576, as in ws=exact@16",
        ));
    }
    if let WorkspaceAmount::Extra(bytes) | WorkspaceAmount::Max(bytes) = workspace.amount {
        at_least("ws", bytes, 0)?;
    }
    check_engine(case)?;
    if let Some(set) = &options.set
        && !is_set_name(set)
    {
        return Err(CaseError::new(
            "set",
            set,
            "is no set name; write 1 to 64 letters, digits and ._+-, as in set=9.19.0-full",
        ));
    }
    let compute = case.problem.dtypes.compute;
    if matches!(compute, DType::Bf16 | DType::I8) {
        return Err(CaseError::new("dtype", compute.name(), "is no compute type of cuDNN"));
    }
    if compute.is_integer() && !case.problem.dtypes.tensors().into_iter().any(DType::is_integer) {
        return Err(CaseError::new(
            "dtype",
            compute.name(),
            "as compute type goes with i8 or i32 tensors alone",
        ));
    }
    if let (Some(fill), true) = (options.output_fill, options.beta.value() != 0.0) {
        let rule = "has no meaning where beta is not 0, because the fill then decides; leave out= away";
        return Err(CaseError::new("out", fill.name(), rule));
    }
    crate::keep::check_names(case)
}

fn check_engine(case: &Case) -> Result<(), CaseError> {
    let options = &case.options;
    let EngineChoice::Pinned(config) = &options.engine else { return Ok(()) };
    at_least("engine", config.engine, 0)?;
    if !options.tf32 {
        let rule = "drops plans by their notes, and engine= names one already; leave one of them out";
        return Err(CaseError::new("tf32", "off", rule));
    }
    if config.knobs.len() > KNOBS_MAX {
        let rule = format!("{} are given, more than the {KNOBS_MAX} allowed", config.knobs.len());
        return Err(CaseError::bare("knobs", rule));
    }
    for pair in config.knobs.windows(2) {
        if pair[0].knob >= pair[1].knob {
            let rule = "is a knob that is given twice, or out of order; give each once, in rising order";
            return Err(CaseError::new("knobs", pair[1].knob, rule));
        }
    }
    Ok(())
}

/// A set name is repeated in file names and command lines, hence the narrow alphabet.
fn is_set_name(set: &str) -> bool {
    let plain = |character: char| character.is_ascii_alphanumeric() || "._+-".contains(character);
    (1..=64).contains(&set.len()) && set.chars().all(plain)
}
