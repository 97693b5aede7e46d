//! The engines: one table for the three passes, one for all else, what each takes and declares, and one execution of
//! one. Knows algorithms by name and refusals by status; knows no descriptors.

use abi::cudnn::DataType;
use case::{HeuristicMode, Knob, Layout, Operation};

use crate::compute::{Algorithm, Arithmetic};
use crate::problem::Problem;
use crate::stop::{self, Stop};

/// A knob that an engine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnobRange {
    /// `cudnnBackendKnobType_t`.
    pub knob: i32,
    /// Smallest value.
    pub minimum: i64,
    /// Largest value.
    pub maximum: i64,
    /// Value where none is chosen.
    pub default: i64,
}

/// `CUDNN_KNOB_TYPE_TILE_SIZE`, `_SPLIT_K_BUF` and `_TILEK`.
const TILE_SIZE: i32 = 2;
const SPLIT_K_BUF: i32 = 12;
const TILEK: i32 = 13;

/// Workspace that an engine asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Workspace {
    /// None.
    Nothing,
    /// So many bytes, which it never looks at.
    Bytes(i64),
    /// Partial sums of a split reduction, and so many bytes more.
    Partials(i64),
}

/// What an engine does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Tensors all of one of these types.
    Types(&'static [DataType]),
    /// One group.
    Ungrouped,
    /// One channel a group.
    Depthwise,
    /// No dilation.
    Undilated,
    /// Stride 1.
    UnitStride,
    /// So many axes at most.
    AxesAtMost(usize),
    /// Filters of 3 taps along two axes.
    ThreeByThree,
    /// Even widths.
    EvenWidths,
    /// Channels last in all tensors.
    ChannelsLast,
    /// So many multiply-adds at most.
    WorkAtMost(i64),
    /// These passes.
    Passes(&'static [Operation]),
    /// A newer device.
    NewerDevice,
}

/// One engine.
#[derive(Debug, PartialEq, Eq)]
pub struct Engine {
    /// What it does, in a few words.
    pub name: &'static str,
    /// How it computes.
    pub way: (Algorithm, Arithmetic),
    /// `cudnnBackendNumericalNote_t` values.
    pub numerical: &'static [i32],
    /// `cudnnBackendBehaviorNote_t` values.
    pub behavior: &'static [i32],
    /// Its knobs.
    pub knobs: &'static [KnobRange],
    workspace: Workspace,
    rules: &'static [Rule],
}

const PLAIN: Engine = Engine {
    name: "",
    way: (Algorithm::Gemm, Arithmetic::Single),
    numerical: &[],
    behavior: &[],
    knobs: &[],
    workspace: Workspace::Nothing,
    rules: &[],
};

const HALVES: &[DataType] = &[DataType::HALF, DataType::BFLOAT16];

/// Bytes beyond a round number that some engines ask for, as real ones do.
const ODD_BYTES: i64 = 131;

const SPLITS: KnobRange = KnobRange { knob: SPLIT_K_BUF, minimum: 1, maximum: 4, default: 2 };
const TILES: KnobRange = KnobRange { knob: TILE_SIZE, minimum: 0, maximum: 3, default: 0 };
const TILES_K: KnobRange = KnobRange { knob: TILEK, minimum: 0, maximum: 1, default: 0 };

/// The engines by global index, alike for the three passes.
pub const ENGINES: [Engine; 16] = [
    Engine { name: "unfolded product of matrices", ..PLAIN },
    Engine {
        name: "direct, sums cut off",
        way: (Algorithm::Outputs, Arithmetic::Chopped),
        rules: &[Rule::WorkAtMost(1 << 18)],
        ..PLAIN
    },
    Engine { name: "tap by tap", way: (Algorithm::Taps, Arithmetic::Single), ..PLAIN },
    Engine {
        name: "split reduction",
        way: (Algorithm::Split, Arithmetic::Single),
        knobs: &[SPLITS],
        workspace: Workspace::Partials(ODD_BYTES),
        ..PLAIN
    },
    Engine {
        name: "tensor core",
        way: (Algorithm::Gemm, Arithmetic::Chopped),
        numerical: &[0],
        rules: &[Rule::Types(HALVES), Rule::Ungrouped],
        ..PLAIN
    },
    Engine {
        name: "tensor core, TF32",
        way: (Algorithm::Gemm, Arithmetic::Tf32),
        numerical: &[0, 1],
        rules: &[Rule::Types(&[DataType::FLOAT])],
        ..PLAIN
    },
    Engine {
        name: "Fourier transform",
        way: (Algorithm::Taps, Arithmetic::Transformed(1)),
        numerical: &[3],
        workspace: Workspace::Bytes(4096),
        rules: &[Rule::UnitStride, Rule::Undilated, Rule::AxesAtMost(2)],
        ..PLAIN
    },
    Engine {
        name: "Winograd transform",
        way: (Algorithm::Gemm, Arithmetic::Transformed(4)),
        numerical: &[5, 6],
        rules: &[Rule::ThreeByThree, Rule::UnitStride, Rule::Undilated],
        ..PLAIN
    },
    Engine { name: "tap by tap in f64", way: (Algorithm::Taps, Arithmetic::Double), ..PLAIN },
    Engine { name: "channels last", behavior: &[0], rules: &[Rule::ChannelsLast], ..PLAIN },
    Engine {
        name: "compiled at run time",
        way: (Algorithm::Outputs, Arithmetic::Single),
        behavior: &[0],
        knobs: &[TILES, TILES_K],
        workspace: Workspace::Bytes(ODD_BYTES),
        ..PLAIN
    },
    Engine {
        name: "depthwise",
        way: (Algorithm::Outputs, Arithmetic::Single),
        rules: &[Rule::Depthwise],
        ..PLAIN
    },
    Engine { name: "newer device", rules: &[Rule::NewerDevice], ..PLAIN },
    Engine {
        name: "atomic sums",
        way: (Algorithm::Shuffled, Arithmetic::Single),
        numerical: &[4],
        rules: &[Rule::Passes(&[Operation::Dgrad, Operation::Wgrad])],
        ..PLAIN
    },
    Engine {
        name: "unfolded product of matrices in f64",
        way: (Algorithm::Gemm, Arithmetic::Double),
        rules: &[Rule::EvenWidths, Rule::Ungrouped],
        ..PLAIN
    },
    Engine {
        name: "pairs of half channels",
        numerical: &[0],
        rules: &[Rule::Types(HALVES), Rule::EvenWidths, Rule::Undilated],
        ..PLAIN
    },
];

/// The engines of what is no convolution, by global index, alike for each such operation.
pub const OTHERS: [Engine; 6] = [
    Engine { name: "axis by axis, step by step or in pairs", ..PLAIN },
    Engine { name: "output by output", way: (Algorithm::Outputs, Arithmetic::Single), ..PLAIN },
    Engine { name: "output by output in f64", way: (Algorithm::Outputs, Arithmetic::Double), ..PLAIN },
    Engine {
        name: "tensor core",
        way: (Algorithm::Gemm, Arithmetic::Chopped),
        numerical: &[0],
        rules: &[Rule::Passes(&[Operation::MatMul]), Rule::Types(HALVES)],
        ..PLAIN
    },
    Engine {
        name: "channels last, compiled at run time",
        behavior: &[0],
        workspace: Workspace::Bytes(ODD_BYTES),
        rules: &[Rule::ChannelsLast],
        ..PLAIN
    },
    Engine {
        name: "row by row, in no list",
        way: (Algorithm::Outputs, Arithmetic::Single),
        rules: &[Rule::Passes(&[Operation::RmsNorm])],
        ..PLAIN
    },
];

/// The engines of an operation.
#[must_use]
pub fn engines(operation: Operation) -> &'static [Engine] {
    if operation.is_convolution() { &ENGINES } else { &OTHERS }
}

/// The engine of an operation with that global index.
#[must_use]
pub fn engine(operation: Operation, index: i64) -> Option<&'static Engine> {
    engines(operation).get(usize::try_from(index).ok()?)
}

impl Rule {
    /// Why the problem is not taken, where it is not.
    fn refusal(self, problem: &Problem) -> Option<Stop> {
        let [_, w, _] = &problem.tensors;
        let groups = problem.groups().max(1);
        let convolution = &problem.convolution;
        let widths = [w.extents[1], w.extents[0] / groups];
        let (taken, status, words) = match self {
            Self::Types(types) => (
                types.iter().any(|taken| problem.tensors.iter().all(|tensor| tensor.dtype == taken.0)),
                stop::NOT_SUPPORTED_DATA_TYPE,
                "data types",
            ),
            Self::Ungrouped => (groups == 1, stop::NOT_SUPPORTED, "group count != 1"),
            Self::Depthwise => (widths[0] == 1, stop::NOT_SUPPORTED_SHAPE, "channels per group != 1"),
            Self::Undilated => {
                (convolution.dilation.iter().all(|d| *d == 1), stop::NOT_SUPPORTED, "dilation != 1")
            }
            Self::UnitStride => {
                (convolution.stride.iter().all(|s| *s == 1), stop::NOT_SUPPORTED, "stride != 1")
            }
            Self::AxesAtMost(most) => (problem.rank() <= most, stop::NOT_SUPPORTED_SHAPE, "too many axes"),
            Self::ThreeByThree => (w.extents[2..] == [3, 3], stop::NOT_SUPPORTED_SHAPE, "filter is not 3x3"),
            Self::EvenWidths => {
                (widths.iter().all(|width| width % 2 == 0), stop::NOT_SUPPORTED_SHAPE, "odd channel counts")
            }
            // The windows of a pooling lie nowhere.
            Self::ChannelsLast => (
                (problem.operation.tensors().iter())
                    .all(|role| problem.tensor(*role).is_packed(Layout::Nhwc)),
                stop::NOT_SUPPORTED_LAYOUT,
                "layout is not NHWC",
            ),
            Self::WorkAtMost(most) => {
                (problem.work() <= most, stop::NOT_SUPPORTED_SHAPE, "problem is too large")
            }
            Self::Passes(passes) => (passes.contains(&problem.operation), stop::NOT_SUPPORTED, "operation"),
            Self::NewerDevice => (false, stop::ARCH_MISMATCH, "device version < 1000"),
        };
        (!taken).then(|| Stop::status(status, words))
    }
}

impl Engine {
    /// Whether the engine takes a problem.
    ///
    /// # Errors
    /// A status of the 3000s and its reason.
    pub fn takes(&self, problem: &Problem) -> Result<(), Stop> {
        if let Some(refusal) = self.rules.iter().find_map(|rule| rule.refusal(problem)) {
            return Err(refusal);
        }
        if !problem.is_correlation() {
            return Err(Stop::status(stop::NOT_SUPPORTED, "mode != CROSS_CORRELATION"));
        }
        let known = problem.tensors.iter().all(|tensor| tensor.element_bytes() > 0);
        let has = |dtype: DataType| problem.tensors.iter().any(|tensor| tensor.dtype == dtype.0);
        let compute = DataType(problem.convolution.compute);
        // Integers are planned for alone: two operands of int8, and sums of int32.
        let inputs_are = |dtype: DataType| {
            problem.operation.inputs().iter().all(|role| problem.tensor(*role).dtype == dtype.0)
        };
        let integers = !(has(DataType::INT8) || has(DataType::INT32)) || compute == DataType::INT32;
        let vectors =
            problem.tensors.iter().all(|tensor| tensor.vector == 1) || self.workspace == Workspace::Nothing;
        let (_, arithmetic) = self.way;
        let sums = match compute {
            DataType::FLOAT => arithmetic != Arithmetic::Double,
            DataType::HALF => {
                arithmetic != Arithmetic::Double
                    && problem.tensors.iter().all(|tensor| tensor.dtype == DataType::HALF.0)
            }
            DataType::DOUBLE => arithmetic == Arithmetic::Double,
            DataType::INT32 => arithmetic == Arithmetic::Single && inputs_are(DataType::INT8),
            _ => false,
        };
        // f64 goes with f64 alone; f16 and bf16 do not mix.
        let doubles = !has(DataType::DOUBLE)
            || (compute == DataType::DOUBLE
                && problem.tensors.iter().all(|tensor| tensor.dtype == DataType::DOUBLE.0));
        let halves = !(has(DataType::HALF) && has(DataType::BFLOAT16));
        if known && sums && doubles && halves && integers && vectors {
            Ok(())
        } else {
            Err(Stop::status(stop::NOT_SUPPORTED_DATA_TYPE, "combination of data and compute types"))
        }
    }

    /// Whether every knob is one of the engine's and within its range.
    ///
    /// # Errors
    /// `NOT_SUPPORTED`.
    pub fn takes_knobs(&self, knobs: &[Knob]) -> Result<(), Stop> {
        let fits = |knob: &Knob| {
            self.knobs.iter().any(|range| {
                i64::from(range.knob) == knob.knob && (range.minimum..=range.maximum).contains(&knob.value)
            })
        };
        match knobs.iter().find(|knob| !fits(knob)) {
            Some(knob) => {
                Err(Stop::status(stop::NOT_SUPPORTED, format!("knob {} = {}", knob.knob, knob.value)))
            }
            None => Ok(()),
        }
    }

    /// Parts of the reduction where it is split.
    #[must_use]
    pub fn parts(&self, knobs: &[Knob]) -> usize {
        let chosen = knobs.iter().find(|knob| knob.knob == i64::from(SPLIT_K_BUF)).map(|knob| knob.value);
        usize::try_from(chosen.unwrap_or(SPLITS.default)).unwrap_or(1)
    }

    /// Bytes of workspace that the engine really uses.
    #[must_use]
    pub fn workspace_bytes(&self, problem: &Problem, knobs: &[Knob]) -> i64 {
        match self.workspace {
            Workspace::Nothing => 0,
            Workspace::Bytes(bytes) => bytes,
            Workspace::Partials(more) => crate::compute::split_bytes(problem, self.parts(knobs)) + more,
        }
    }
}

/// An engine and knobs as a heuristic list names them.
type Entry = (i64, &'static [(i64, i64)]);

/// Lists by mode, best first; what does not take the problem is left out.
type Lists = [(HeuristicMode, &'static [Entry]); 3];

/// The lists of what is no convolution.
const LISTS_OF_OTHERS: Lists = [
    (HeuristicMode::A, &[(3, &[]), (0, &[]), (4, &[]), (2, &[])]),
    (HeuristicMode::B, &[(0, &[]), (1, &[]), (2, &[])]),
    (HeuristicMode::Fallback, &[(1, &[]), (2, &[])]),
];

/// The lists of convolutions.
const LISTS: Lists = [
    (
        HeuristicMode::A,
        &[(0, &[]), (4, &[]), (5, &[]), (9, &[]), (3, &[(12, 3)]), (7, &[]), (14, &[]), (8, &[])],
    ),
    (HeuristicMode::B, &[(4, &[]), (0, &[]), (10, &[(2, 1), (13, 1)]), (6, &[]), (13, &[]), (8, &[])]),
    (HeuristicMode::Fallback, &[(1, &[]), (2, &[]), (8, &[])]),
];

/// The configurations that a list recommends for a problem.
#[must_use]
pub fn recommended(mode: HeuristicMode, problem: &Problem) -> Vec<case::Config> {
    let operation = problem.operation;
    let lists = if operation.is_convolution() { &LISTS } else { &LISTS_OF_OTHERS };
    let entries = lists.iter().find(|(known, _)| *known == mode).map_or(&[][..], |(_, entries)| entries);
    entries
        .iter()
        .filter(|(index, _)| engine(operation, *index).is_some_and(|engine| engine.takes(problem).is_ok()))
        .map(|(index, knobs)| case::Config {
            engine: *index,
            knobs: knobs.iter().map(|(knob, value)| Knob { knob: *knob, value: *value }).collect(),
        })
        .collect()
}
