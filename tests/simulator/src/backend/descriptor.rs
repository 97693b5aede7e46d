//! A descriptor: attributes as they were set, and what finalizing made of them. Knows kinds and storage; knows no
//! rule between attributes.

use std::collections::BTreeMap;
use std::rc::Rc;

use abi::cudnn::DescriptorType;
use case::Config;

use super::others::Resample;
use super::{BoundEngine, KnobChoice, KnobInfo, Pack, Plan};
use crate::problem::{Convolution, Problem, Tensor};
use crate::stop::{self, Stop};

/// `cudnnGetVersion()`, unless the fault script names another version.
pub const VERSION: usize = 91_900;

/// `cudnnGetCudartVersion()`.
pub const CUDART_VERSION: usize = 13_000;

/// Elements of one attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// 64-bit integers.
    Longs(Vec<i64>),
    /// 32-bit integers and enums.
    Ints(Vec<i32>),
    /// f32 or f64 numbers.
    Reals(Vec<f64>),
    /// Device addresses and handles.
    Pointers(Vec<u64>),
    /// Text without its terminator.
    Text(String),
    /// Finalized descriptors.
    Descriptors(Vec<Rc<Finished>>),
}

/// What a finalized descriptor stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Finished {
    /// A tensor.
    Tensor(Tensor),
    /// Convolution parameters.
    Convolution(Convolution),
    /// Pooling parameters.
    Resample(Resample),
    /// Parameters of a product of matrices: its compute type.
    Matmul(i32),
    /// An operation.
    Operation(Rc<Problem>),
    /// A graph of that one operation.
    Graph(Rc<Problem>),
    /// An engine of a graph.
    Engine(BoundEngine),
    /// Engine, knobs, and the workspace that it announces, bytes.
    Config(BoundEngine, Vec<KnobChoice>, i64),
    /// A knob's value.
    KnobChoice(KnobChoice),
    /// A knob's range.
    KnobInfo(KnobInfo),
    /// A heuristic list.
    Heuristics(Rc<Problem>, Vec<Config>),
    /// An execution plan.
    Plan(Plan),
    /// Pointers of an execution.
    Pack(Pack),
    /// Device properties as JSON text.
    Device(String),
}

/// A descriptor of any kind.
#[derive(Debug)]
pub struct Descriptor {
    pub(super) kind: DescriptorType,
    pub(super) set: BTreeMap<i32, Data>,
    pub(super) finished: Option<Rc<Finished>>,
}

/// Kinds that can be created.
const KINDS: [DescriptorType; 19] = [
    DescriptorType::CONVOLUTION,
    DescriptorType::ENGINE,
    DescriptorType::ENGINE_CONFIG,
    DescriptorType::ENGINE_HEURISTIC,
    DescriptorType::EXECUTION_PLAN,
    DescriptorType::KNOB_CHOICE,
    DescriptorType::KNOB_INFO,
    DescriptorType::OPERATION_FORWARD,
    DescriptorType::OPERATION_BACKWARD_FILTER,
    DescriptorType::OPERATION_BACKWARD_DATA,
    DescriptorType::MATMUL,
    DescriptorType::OPERATION_MATMUL,
    DescriptorType::RESAMPLE,
    DescriptorType::OPERATION_RESAMPLE,
    DescriptorType::OPERATION_NORM,
    DescriptorType::OPERATION_GRAPH,
    DescriptorType::VARIANT_PACK,
    DescriptorType::TENSOR,
    DescriptorType::DEVICE_PROPERTIES,
];

impl Descriptor {
    /// A descriptor without attributes.
    ///
    /// # Errors
    /// `NOT_SUPPORTED` for a kind that the simulator lacks.
    pub fn new(kind: DescriptorType) -> Result<Self, Stop> {
        if !KINDS.contains(&kind) {
            return Err(Stop::status(stop::NOT_SUPPORTED, format!("descriptor type {}", kind.0)));
        }
        Ok(Self { kind, set: BTreeMap::new(), finished: None })
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> DescriptorType {
        self.kind
    }

    /// What it stands for.
    ///
    /// # Errors
    /// `NOT_FINALIZED`.
    pub fn finished(&self) -> Result<&Rc<Finished>, Stop> {
        self.finished.as_ref().ok_or_else(|| Stop::status(stop::NOT_FINALIZED, "descriptor is not finalized"))
    }

    /// Fills a descriptor that a caller created to be given a result.
    ///
    /// # Errors
    /// `DESCRIPTOR_TYPE` where it is of another kind.
    pub fn receive(&mut self, finished: Rc<Finished>) -> Result<(), Stop> {
        let kind = match &*finished {
            Finished::Engine(_) => DescriptorType::ENGINE,
            Finished::Config(..) => DescriptorType::ENGINE_CONFIG,
            Finished::KnobChoice(_) => DescriptorType::KNOB_CHOICE,
            Finished::KnobInfo(_) => DescriptorType::KNOB_INFO,
            Finished::Tensor(_)
            | Finished::Convolution(_)
            | Finished::Resample(_)
            | Finished::Matmul(_)
            | Finished::Operation(_)
            | Finished::Graph(_)
            | Finished::Heuristics(..)
            | Finished::Plan(_)
            | Finished::Pack(_)
            | Finished::Device(_) => return Err(Stop::status(stop::DESCRIPTOR_TYPE, "is never given out")),
        };
        if self.kind != kind {
            return Err(Stop::status(stop::DESCRIPTOR_TYPE, format!("type {} is expected", kind.0)));
        }
        self.finished = Some(finished);
        Ok(())
    }
}
