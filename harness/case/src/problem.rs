//! The case itself: a complete, plain, hashable value. Nothing derivable is stored in it.

use serde::{Deserialize, Serialize};

use crate::dtype::DTypes;
use crate::engine::EngineChoice;
use crate::fill::{Fill, OutputFill};
use crate::keep::Keep;
use crate::layout::Layouts;
use crate::operation::Operation;
use crate::workspace::Workspace;

/// One spatial dimension of a convolution, so that dropping a dimension is one edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Extent of x, elements.
    pub input: i64,
    /// Extent of w, taps.
    pub filter: i64,
    /// Zeros before the first element.
    #[serde(default)]
    pub pad_before: i64,
    /// Zeros after the last element.
    #[serde(default)]
    pub pad_after: i64,
    /// Step of the filter over the padded input.
    #[serde(default = "one")]
    pub stride: i64,
    /// Distance between taps.
    #[serde(default = "one")]
    pub dilation: i64,
}

fn one() -> i64 {
    1
}

impl Axis {
    /// An axis with no padding, stride 1 and dilation 1.
    #[must_use]
    pub fn plain(input: i64, filter: i64) -> Self {
        Self { input, filter, pad_before: 0, pad_after: 0, stride: 1, dilation: 1 }
    }

    /// Extent of y by cuDNN's rule: floor((input + pads - dilated filter) / stride) + 1; 0 where the filter does
    /// not fit or a field is out of range.
    /// Source: `cudnnGetConvolutionNdForwardOutputDim` in NVIDIA's cuDNN API reference.
    #[must_use]
    pub fn output(&self) -> i64 {
        let span = (i128::from(self.filter) - 1) * i128::from(self.dilation) + 1;
        let padded = i128::from(self.input) + i128::from(self.pad_before) + i128::from(self.pad_after);
        if self.stride < 1 || padded < span {
            return 0;
        }
        i64::try_from((padded - span) / i128::from(self.stride) + 1).unwrap_or(i64::MAX)
    }
}

/// The mathematics asked for: what an engine choice is a choice for, and what one reference answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// The pass.
    pub operation: Operation,
    /// Element and compute types.
    pub dtypes: DTypes,
    /// Memory orders.
    pub layouts: Layouts,
    /// Batch.
    pub n: i64,
    /// Channels of x, all groups together.
    pub c: i64,
    /// Channels of y, all groups together.
    pub k: i64,
    /// Groups.
    pub g: i64,
    /// One to three spatial dimensions, outermost first.
    pub axes: Vec<Axis>,
    /// Spatial extents of y that are wrong on purpose.
    pub declared_output: Option<Vec<i64>>,
}

/// What the case says should happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    /// A right answer or a refusal.
    #[default]
    Right,
    /// A clean refusal; our own rules step aside.
    Refuse,
}

/// How the problem is run. Every field has a default that the text form leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Options {
    /// Which plan.
    pub engine: EngineChoice,
    /// False drops configurations whose notes declare reduced f32 arithmetic.
    pub tf32: bool,
    /// The library set that an engine index belongs to, as `VERSION-CONFIGURATION`.
    pub set: Option<String>,
    /// Workspace given.
    pub workspace: Workspace,
    /// Input data; absent means that the matrix of executions decides.
    pub fill: Option<Fill>,
    /// Elements of the inputs that keep the values of `fill`; every other one is 0.
    pub keep: Keep,
    /// Output contents before the run; absent means that the matrix decides.
    pub output_fill: Option<OutputFill>,
    /// Scale of the convolution, an f64 by its bits so that a case stays hashable.
    pub alpha: Scale,
    /// Scale of the prior output.
    pub beta: Scale,
    /// Executions of the same plan on the same data, compared bit for bit.
    pub repeat: u32,
    /// What should happen.
    pub expect: Expect,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            engine: EngineChoice::Any,
            tf32: true,
            set: None,
            workspace: Workspace::default(),
            fill: None,
            keep: Keep::default(),
            output_fill: None,
            alpha: Scale::new(1.0),
            beta: Scale::new(0.0),
            repeat: 1,
            expect: Expect::Right,
        }
    }
}

/// A finite f64 kept by its bits; -0 becomes 0, so equal scales are equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scale(u64);

impl Scale {
    /// The scale of that value.
    #[must_use]
    pub fn new(value: f64) -> Self {
        Self((value + 0.0).to_bits())
    }

    /// Its value.
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// A problem and how it is run. Its one-line text is its identity and the command line that repeats it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Case {
    /// The mathematics.
    pub problem: Problem,
    /// How it is run.
    pub options: Options,
    /// Cases that are executed in the same process before this one, oldest first, and are not judged: what a
    /// failure needs that depends on what a library did earlier. None of them has a history of its own.
    pub history: Vec<Case>,
}

impl Case {
    /// The problem with default options.
    #[must_use]
    pub fn new(problem: Problem) -> Self {
        Self { problem, options: Options::default(), history: Vec::new() }
    }

    /// The same case without what precedes it.
    #[must_use]
    pub fn alone(&self) -> Self {
        Self { problem: self.problem.clone(), options: self.options.clone(), history: Vec::new() }
    }

    /// The first library set that it or a case before it names and that is not this one: its numbers mean nothing
    /// here.
    #[must_use]
    pub fn other_set(&self, here: &str) -> Option<&str> {
        let cases = self.history.iter().chain(std::iter::once(self));
        cases.filter_map(|case| case.options.set.as_deref()).find(|set| *set != here)
    }

    /// The same case with its plan pinned.
    #[must_use]
    pub fn pinned(&self, config: crate::Config) -> Self {
        let mut case = self.clone();
        case.options.engine = EngineChoice::Pinned(config);
        case
    }
}
