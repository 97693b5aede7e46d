//! A convolution problem as an operation graph. Knows which attribute carries which field of a case.

use std::rc::Rc;

use abi::cudnn::{
    Attribute, AttributeType, ConvolutionMode, DataType, DescriptorType, Handle, HeuristicMode,
};
use case::{Case, Config, DType, Knob, Operation, Phase, Role};

use crate::cudnn::Cudnn;
use crate::descriptor::Descriptor;
use crate::error::CallError;
use crate::plan::{Engine, Recommendation};

/// Alignment that tensors declare, bytes. Buffers are aligned to more.
const TENSOR_ALIGNMENT: i64 = 16;

/// The dimension that a vectorised layout packs.
const CHANNEL_DIMENSION: i64 = 1;

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
    _parts: Vec<Descriptor>,
}

/// Attribute numbers of one operation: alpha, beta, convolution, x, w, y.
fn operation_attributes(operation: Operation) -> (DescriptorType, [Attribute; 6]) {
    match operation {
        Operation::Fprop => (
            DescriptorType::OPERATION_FORWARD,
            [
                Attribute::FORWARD_ALPHA,
                Attribute::FORWARD_BETA,
                Attribute::FORWARD_CONVOLUTION,
                Attribute::FORWARD_X,
                Attribute::FORWARD_W,
                Attribute::FORWARD_Y,
            ],
        ),
        Operation::Dgrad => (
            DescriptorType::OPERATION_BACKWARD_DATA,
            [
                Attribute::BACKWARD_DATA_ALPHA,
                Attribute::BACKWARD_DATA_BETA,
                Attribute::BACKWARD_DATA_CONVOLUTION,
                Attribute::BACKWARD_DATA_DX,
                Attribute::BACKWARD_DATA_W,
                Attribute::BACKWARD_DATA_DY,
            ],
        ),
        Operation::Wgrad => (
            DescriptorType::OPERATION_BACKWARD_FILTER,
            [
                Attribute::BACKWARD_FILTER_ALPHA,
                Attribute::BACKWARD_FILTER_BETA,
                Attribute::BACKWARD_FILTER_CONVOLUTION,
                Attribute::BACKWARD_FILTER_X,
                Attribute::BACKWARD_FILTER_DW,
                Attribute::BACKWARD_FILTER_DY,
            ],
        ),
    }
}

impl Graph {
    /// Name of a tensor within the graph, as variant packs use it.
    #[must_use]
    pub fn unique_id(role: Role) -> i64 {
        role.index() as i64 + 1
    }

    /// Builds and finalizes tensors, convolution, operation and graph.
    ///
    /// # Errors
    /// cuDNN's status at the descriptor that it declined.
    pub fn new(library: &Rc<Cudnn>, target: &Target, case: &Case) -> Result<Self, CallError> {
        let convolution = Self::convolution(library, case)?;
        let tensors = Role::ALL
            .into_iter()
            .map(|role| Self::tensor(library, case, role))
            .collect::<Result<Vec<_>, _>>()?;
        let (kind, [alpha, beta, conv, x, w, y]) = operation_attributes(case.problem.operation);
        let operation = Descriptor::new(library, kind, Phase::Describe)?;
        // Scales are doubles only where the data is f64. Source: cuDNN developer guide, scaling parameters.
        let double = case.problem.dtypes.compute == DType::F64;
        operation.set_scale(alpha, case.options.alpha.value(), double)?;
        operation.set_scale(beta, case.options.beta.value(), double)?;
        for (name, part) in [(conv, &convolution), (x, &tensors[0]), (w, &tensors[1]), (y, &tensors[2])] {
            operation.set_descriptors(name, &[part])?;
        }
        operation.finalize()?;
        let graph = Descriptor::new(library, DescriptorType::OPERATION_GRAPH, Phase::Describe)?;
        target.apply(&graph, Some(Attribute::GRAPH_HANDLE), None)?;
        graph.set_descriptors(Attribute::GRAPH_OPERATIONS, &[&operation])?;
        graph.finalize()?;
        let mut parts = tensors;
        parts.extend([convolution, operation]);
        Ok(Self { library: Rc::clone(library), target: target.clone(), graph, _parts: parts })
    }

    fn tensor(library: &Rc<Cudnn>, case: &Case, role: Role) -> Result<Descriptor, CallError> {
        let geometry = case.problem.geometry();
        let tensor = Descriptor::new(library, DescriptorType::TENSOR, Phase::Describe)?;
        let dtype = case.problem.dtypes.tensors()[role.index()];
        tensor.set_i32(Attribute::TENSOR_DATA_TYPE, AttributeType::DATA_TYPE, data_type(dtype).0)?;
        tensor.set_i64(Attribute::TENSOR_DIMENSIONS, &geometry.dimensions(role))?;
        tensor.set_i64(Attribute::TENSOR_STRIDES, &geometry.strides(role))?;
        let vector = case.problem.layouts.tensors()[role.index()].vector();
        if vector > 1 {
            tensor.set_i64(Attribute::TENSOR_VECTOR_COUNT, &[vector])?;
            tensor.set_i64(Attribute::TENSOR_VECTORIZED_DIMENSION, &[CHANNEL_DIMENSION])?;
        }
        tensor.set_i64(Attribute::TENSOR_UNIQUE_ID, &[Self::unique_id(role)])?;
        tensor.set_i64(Attribute::TENSOR_ALIGNMENT, &[TENSOR_ALIGNMENT])?;
        tensor.finalize()?;
        Ok(tensor)
    }

    fn convolution(library: &Rc<Cudnn>, case: &Case) -> Result<Descriptor, CallError> {
        let axes = &case.problem.axes;
        let convolution = Descriptor::new(library, DescriptorType::CONVOLUTION, Phase::Describe)?;
        let compute = data_type(case.problem.dtypes.compute);
        convolution.set_i32(Attribute::CONVOLUTION_COMPUTE_TYPE, AttributeType::DATA_TYPE, compute.0)?;
        convolution.set_i32(
            Attribute::CONVOLUTION_MODE,
            AttributeType::CONVOLUTION_MODE,
            ConvolutionMode::CROSS_CORRELATION.0,
        )?;
        convolution.set_i64(Attribute::CONVOLUTION_SPATIAL_DIMS, &[axes.len() as i64])?;
        let column = |of: fn(&case::Axis) -> i64| axes.iter().map(of).collect::<Vec<i64>>();
        convolution.set_i64(Attribute::CONVOLUTION_DILATIONS, &column(|axis| axis.dilation))?;
        convolution.set_i64(Attribute::CONVOLUTION_STRIDES, &column(|axis| axis.stride))?;
        convolution.set_i64(Attribute::CONVOLUTION_PRE_PADDINGS, &column(|axis| axis.pad_before))?;
        convolution.set_i64(Attribute::CONVOLUTION_POST_PADDINGS, &column(|axis| axis.pad_after))?;
        convolution.finalize()?;
        Ok(convolution)
    }

    pub(crate) fn library(&self) -> &Rc<Cudnn> {
        &self.library
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
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
