//! A problem as an operation graph, its engines and heuristic lists. Knows handles and devices; leaves operations to
//! `operation`.

use std::rc::Rc;

use abi::cudnn::{Attribute, AttributeType, DataType, DescriptorType, Handle, HeuristicMode};
use case::{Case, Config, DType, Knob, Phase};

use crate::cudnn::Cudnn;
use crate::descriptor::Descriptor;
use crate::error::CallError;
use crate::operation::{self, Operands, Parts};
use crate::plan::{Engine, Recommendation};

/// Version from which plans can be made for device properties instead of a handle.
pub(crate) const DEVICE_PROPERTIES_SINCE: u64 = 90_800;

/// What plans are made for.
#[derive(Clone)]
pub enum Target {
    /// The device behind a handle: plans can be executed.
    Handle(Handle),
    /// Device properties given as text: plans can be built and stored, on a machine without a GPU.
    Properties(Rc<Descriptor>),
}

impl Target {
    /// A target from device properties as cuDNN's JSON.
    ///
    /// # Errors
    /// cuDNN's status: text that it does not take, or a version before 9.8.
    pub fn from_properties(library: &Rc<Cudnn>, json: &str) -> Result<Self, CallError> {
        let properties = Descriptor::new(library, DescriptorType::DEVICE_PROPERTIES, Phase::Init)?;
        properties.set_text(Attribute::DEVICE_JSON, json)?;
        properties.finalize()?;
        Ok(Self::Properties(Rc::new(properties)))
    }

    /// The properties of a handle's device as JSON, empty where the version cannot give them.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn properties_of_device(library: &Rc<Cudnn>, ordinal: i32) -> Result<String, CallError> {
        if library.version() < DEVICE_PROPERTIES_SINCE {
            return Ok(String::new());
        }
        let properties = Descriptor::new(library, DescriptorType::DEVICE_PROPERTIES, Phase::Init)?;
        properties.set_i32(Attribute::DEVICE_ID, AttributeType::INT32, ordinal)?;
        properties.finalize()?;
        properties.get_text(Attribute::DEVICE_JSON)
    }

    /// Tells a descriptor what it is for.
    pub(crate) fn apply(
        &self,
        descriptor: &Descriptor,
        handle: Option<Attribute>,
        properties: Option<Attribute>,
    ) -> Result<(), CallError> {
        match (self, handle, properties) {
            (Self::Handle(raw), Some(name), _) => descriptor.set_handle(name, *raw),
            (Self::Properties(of), _, Some(name)) => descriptor.set_descriptors(name, &[of]),
            (Self::Handle(_), None, _) | (Self::Properties(_), _, None) => Ok(()),
        }
    }
}

/// cuDNN's number of an element type.
pub(crate) fn data_type(dtype: DType) -> DataType {
    match dtype {
        DType::F32 => DataType::FLOAT,
        DType::F64 => DataType::DOUBLE,
        DType::F16 => DataType::HALF,
        DType::Bf16 => DataType::BFLOAT16,
        DType::I8 => DataType::INT8,
        DType::I32 => DataType::INT32,
    }
}

/// A finalized operation graph and the descriptors it was made of.
pub struct Graph {
    library: Rc<Cudnn>,
    target: Target,
    graph: Descriptor,
    parts: Parts,
}

impl Graph {
    /// Builds and finalizes tensors, parameters, operation and graph.
    ///
    /// # Errors
    /// cuDNN's status at the descriptor that it declined.
    pub fn new(library: &Rc<Cudnn>, target: &Target, case: &Case) -> Result<Self, CallError> {
        let parts = operation::describe(library, case)?;
        let graph = Descriptor::new(library, DescriptorType::OPERATION_GRAPH, Phase::Describe)?;
        target.apply(&graph, Some(Attribute::GRAPH_HANDLE), None)?;
        graph.set_descriptors(Attribute::GRAPH_OPERATIONS, &[&parts.operation])?;
        graph.finalize()?;
        Ok(Self { library: Rc::clone(library), target: target.clone(), graph, parts })
    }

    pub(crate) fn library(&self) -> &Rc<Cudnn> {
        &self.library
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) fn operands(&self) -> &Operands {
        &self.parts.operands
    }

    pub(crate) fn raw(&self) -> &Descriptor {
        &self.graph
    }

    /// Engines of the graph's operation, by count: indices are 0 to count - 1.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn engine_count(&self) -> Result<i64, CallError> {
        self.graph.get_i64(Attribute::GRAPH_ENGINE_COUNT)
    }

    /// The configurations that a heuristic list gives, best first.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn recommendations(&self, mode: case::HeuristicMode) -> Result<Vec<Recommendation>, CallError> {
        let query = Descriptor::new(&self.library, DescriptorType::ENGINE_HEURISTIC, Phase::Heuristics)?;
        query.set_descriptors(Attribute::HEURISTIC_GRAPH, &[&self.graph])?;
        let number = match mode {
            case::HeuristicMode::A => HeuristicMode::A,
            case::HeuristicMode::B => HeuristicMode::B,
            case::HeuristicMode::Fallback => HeuristicMode::FALLBACK,
        };
        query.set_i32(Attribute::HEURISTIC_MODE, AttributeType::HEURISTIC_MODE, number.0)?;
        self.target.apply(&query, None, Some(Attribute::HEURISTIC_DEVICE_PROPERTIES))?;
        query.finalize()?;
        // The count is an upper bound; the second call tells how many came.
        let most = query.count(Attribute::HEURISTIC_RESULTS)?;
        let results =
            query.get_descriptors(Attribute::HEURISTIC_RESULTS, DescriptorType::ENGINE_CONFIG, most)?;
        results.iter().map(|config| self.read_config(config)).collect()
    }

    /// Engine index and knobs of a configuration that a list gave.
    fn read_config(&self, descriptor: &Descriptor) -> Result<Recommendation, CallError> {
        let engines = descriptor.get_descriptors(Attribute::CONFIG_ENGINE, DescriptorType::ENGINE, 1)?;
        let engine = match engines.first() {
            Some(engine) => engine.get_i64(Attribute::ENGINE_INDEX)?,
            None => -1,
        };
        let choices = descriptor.get_descriptors(
            Attribute::CONFIG_KNOB_CHOICES,
            DescriptorType::KNOB_CHOICE,
            abi::cudnn::KNOBS_MAX,
        )?;
        let mut knobs = choices
            .iter()
            .map(|choice| {
                let types = choice.get_i32s(Attribute::KNOB_TYPE, AttributeType::KNOB_TYPE, 1)?;
                let value = choice.get_i64(Attribute::KNOB_VALUE)?;
                Ok(Knob { knob: types.first().copied().map_or(-1, i64::from), value })
            })
            .collect::<Result<Vec<_>, CallError>>()?;
        knobs.sort_unstable();
        Ok(Recommendation { config: Config { engine, knobs } })
    }

    /// The engine with that index, finalized.
    ///
    /// # Errors
    /// cuDNN's status: most engines decline most problems.
    pub fn engine(&self, index: i64) -> Result<Engine, CallError> {
        Engine::new(self, index)
    }
}
