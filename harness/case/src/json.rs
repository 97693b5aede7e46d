//! The JSON form of a case: the same value as the text, with a format number. Unknown fields are refused.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::dtype::DTypes;
use crate::engine::EngineChoice;
use crate::fill::{Fill, OutputFill};
use crate::keep::Keep;
use crate::layout::Layouts;
use crate::operation::Operation;
use crate::problem::{Axis, Case, Expect, Options, Problem, Scale};
use crate::workspace::Workspace;

/// Number of the JSON form. A reader refuses any other.
pub const FORMAT: u32 = 1;

/// The flat JSON object of a case.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flat {
    format: u32,
    operation: Operation,
    dtypes: DTypes,
    layouts: Layouts,
    n: i64,
    c: i64,
    k: i64,
    #[serde(default = "one")]
    g: i64,
    axes: Vec<Axis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    y: Option<Vec<i64>>,
    #[serde(default, skip_serializing_if = "is_default")]
    engine: EngineChoice,
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    tf32: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    set: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    workspace: Workspace,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fill: Option<Fill>,
    #[serde(default, skip_serializing_if = "is_default")]
    keep: Keep,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_fill: Option<OutputFill>,
    #[serde(default = "unit", skip_serializing_if = "is_unit")]
    alpha: f64,
    #[serde(default, skip_serializing_if = "is_default")]
    beta: f64,
    #[serde(default = "single", skip_serializing_if = "is_single")]
    repeat: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    expect: Expect,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    history: Vec<Case>,
}

fn one() -> i64 {
    1
}

fn single() -> u32 {
    1
}

fn is_single(value: &u32) -> bool {
    *value == 1
}

fn unit() -> f64 {
    1.0
}

#[expect(clippy::float_cmp, reason = "1 is exact and means that nothing was written")]
fn is_unit(value: &f64) -> bool {
    *value == 1.0
}

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Serialize for Case {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (problem, options) = (self.problem.clone(), self.options.clone());
        Flat {
            format: FORMAT,
            operation: problem.operation,
            dtypes: problem.dtypes,
            layouts: problem.layouts,
            n: problem.n,
            c: problem.c,
            k: problem.k,
            g: problem.g,
            axes: problem.axes,
            y: problem.declared_output,
            engine: options.engine,
            tf32: options.tf32,
            set: options.set,
            workspace: options.workspace,
            fill: options.fill,
            keep: options.keep,
            output_fill: options.output_fill,
            alpha: options.alpha.value(),
            beta: options.beta.value(),
            repeat: options.repeat,
            expect: options.expect,
            history: self.history.clone(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Case {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let flat = Flat::deserialize(deserializer)?;
        if flat.format != FORMAT {
            return Err(de::Error::custom(format!(
                "format: '{}' is not {FORMAT}, the one known",
                flat.format
            )));
        }
        let case = Case {
            problem: Problem {
                operation: flat.operation,
                dtypes: flat.dtypes,
                layouts: flat.layouts,
                n: flat.n,
                c: flat.c,
                k: flat.k,
                g: flat.g,
                axes: flat.axes,
                declared_output: flat.y,
            },
            options: Options {
                engine: flat.engine,
                tf32: flat.tf32,
                set: flat.set,
                workspace: flat.workspace,
                fill: flat.fill,
                keep: flat.keep,
                output_fill: flat.output_fill,
                alpha: Scale::new(flat.alpha),
                beta: Scale::new(flat.beta),
                repeat: flat.repeat,
                expect: flat.expect,
            },
            history: flat.history,
        };
        case.validate().map_err(de::Error::custom)?;
        Ok(case)
    }
}
