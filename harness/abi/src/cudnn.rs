//! cuDNN backend (graph) API: descriptor, attribute, type and enum numbers, and signatures. Source: cudnn_graph.h
//! of 9.28.1, whose numbers are those of every version back to 8.9.2 except for statuses.

use std::ffi::{c_char, c_void};

use crate::Status;

/// `cudnnHandle_t`.
pub type Handle = *mut c_void;
/// `cudnnBackendDescriptor_t`.
pub type Descriptor = *mut c_void;

macro_rules! numbers {
    ($(#[$doc:meta])* $name:ident { $($(#[$item_doc:meta])* $item:ident = $value:expr;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(pub i32);
        impl $name { $($(#[$item_doc])* pub const $item: Self = Self($value);)* }
    };
}

numbers! {
    /// `cudnnBackendDescriptorType_t`.
    DescriptorType {
        /// Convolution parameters.
        CONVOLUTION = 1;
        /// Engine of an operation graph.
        ENGINE = 2;
        /// Engine and knob choices.
        ENGINE_CONFIG = 3;
        /// Heuristic query.
        ENGINE_HEURISTIC = 4;
        /// Execution plan.
        EXECUTION_PLAN = 5;
        /// One knob choice.
        KNOB_CHOICE = 7;
        /// Range of a knob.
        KNOB_INFO = 8;
        /// fprop.
        OPERATION_FORWARD = 10;
        /// wgrad.
        OPERATION_BACKWARD_FILTER = 11;
        /// dgrad.
        OPERATION_BACKWARD_DATA = 12;
        /// Operation graph.
        OPERATION_GRAPH = 15;
        /// Pointers of one execution.
        VARIANT_PACK = 16;
        /// Tensor.
        TENSOR = 17;
        /// Device properties, from 9.8.
        DEVICE_PROPERTIES = 38;
    }
}

numbers! {
    /// `cudnnBackendAttributeType_t`.
    AttributeType {
        /// `cudnnHandle_t`.
        HANDLE = 0;
        /// `cudnnDataType_t`.
        DATA_TYPE = 1;
        /// One byte.
        BOOLEAN = 2;
        /// `int64_t`.
        INT64 = 3;
        /// `float`.
        FLOAT = 4;
        /// `double`.
        DOUBLE = 5;
        /// `void *`.
        VOID_POINTER = 6;
        /// `cudnnConvolutionMode_t`.
        CONVOLUTION_MODE = 7;
        /// `cudnnBackendHeurMode_t`.
        HEURISTIC_MODE = 8;
        /// `cudnnBackendKnobType_t`.
        KNOB_TYPE = 9;
        /// `cudnnBackendNumericalNote_t`.
        NUMERICAL_NOTE = 11;
        /// `cudnnBackendDescriptor_t`.
        DESCRIPTOR = 15;
        /// `cudnnBackendBehaviorNote_t`.
        BEHAVIOR_NOTE = 19;
        /// `int32_t`.
        INT32 = 23;
        /// `char`.
        CHAR = 24;
    }
}

numbers! {
    /// `cudnnBackendAttributeName_t`.
    Attribute {
        /// Accumulation type.
        CONVOLUTION_COMPUTE_TYPE = 100;
        /// Convolution or cross-correlation.
        CONVOLUTION_MODE = 101;
        /// Dilations, one per axis.
        CONVOLUTION_DILATIONS = 102;
        /// Filter strides, one per axis.
        CONVOLUTION_STRIDES = 103;
        /// Padding after, one per axis.
        CONVOLUTION_POST_PADDINGS = 104;
        /// Padding before, one per axis.
        CONVOLUTION_PRE_PADDINGS = 105;
        /// Number of axes.
        CONVOLUTION_SPATIAL_DIMS = 106;
        /// Mode of a heuristic query.
        HEURISTIC_MODE = 200;
        /// Graph of a heuristic query.
        HEURISTIC_GRAPH = 201;
        /// Configurations that a heuristic query gives.
        HEURISTIC_RESULTS = 202;
        /// Device of a heuristic query without a handle, from 9.8.
        HEURISTIC_DEVICE_PROPERTIES = 204;
        /// Engine of a configuration.
        CONFIG_ENGINE = 300;
        /// Knob choices of a configuration.
        CONFIG_KNOB_CHOICES = 302;
        /// Workspace that a configuration's plan will need, bytes; from 9.2.
        CONFIG_WORKSPACE_SIZE = 303;
        /// Handle of a plan.
        PLAN_HANDLE = 400;
        /// Configuration of a plan.
        PLAN_CONFIG = 401;
        /// Workspace that a plan needs, bytes.
        PLAN_WORKSPACE_SIZE = 402;
        /// A plan as JSON text.
        PLAN_JSON = 405;
        /// Device of a plan without a handle, from 9.8.
        PLAN_DEVICE_PROPERTIES = 407;
        /// Type of a knob choice.
        KNOB_TYPE = 600;
        /// Value of a knob choice.
        KNOB_VALUE = 601;
        /// fprop alpha.
        FORWARD_ALPHA = 700;
        /// fprop beta.
        FORWARD_BETA = 701;
        /// fprop convolution.
        FORWARD_CONVOLUTION = 702;
        /// fprop w.
        FORWARD_W = 703;
        /// fprop x.
        FORWARD_X = 704;
        /// fprop y.
        FORWARD_Y = 705;
        /// dgrad alpha.
        BACKWARD_DATA_ALPHA = 706;
        /// dgrad beta.
        BACKWARD_DATA_BETA = 707;
        /// dgrad convolution.
        BACKWARD_DATA_CONVOLUTION = 708;
        /// dgrad w.
        BACKWARD_DATA_W = 709;
        /// dgrad dx.
        BACKWARD_DATA_DX = 710;
        /// dgrad dy.
        BACKWARD_DATA_DY = 711;
        /// wgrad alpha.
        BACKWARD_FILTER_ALPHA = 712;
        /// wgrad beta.
        BACKWARD_FILTER_BETA = 713;
        /// wgrad convolution.
        BACKWARD_FILTER_CONVOLUTION = 714;
        /// wgrad dw.
        BACKWARD_FILTER_DW = 715;
        /// wgrad x.
        BACKWARD_FILTER_X = 716;
        /// wgrad dy.
        BACKWARD_FILTER_DY = 717;
        /// Handle of a graph.
        GRAPH_HANDLE = 800;
        /// Operations of a graph.
        GRAPH_OPERATIONS = 801;
        /// Number of engines that the graph's operation has.
        GRAPH_ENGINE_COUNT = 802;
        /// Alignment of a tensor's pointer, bytes.
        TENSOR_ALIGNMENT = 900;
        /// Element type.
        TENSOR_DATA_TYPE = 901;
        /// Extents.
        TENSOR_DIMENSIONS = 902;
        /// Strides, elements.
        TENSOR_STRIDES = 903;
        /// Elements that lie together as one.
        TENSOR_VECTOR_COUNT = 904;
        /// The dimension that they are taken from.
        TENSOR_VECTORIZED_DIMENSION = 905;
        /// Name of a tensor within a graph.
        TENSOR_UNIQUE_ID = 906;
        /// Tensor names of an execution.
        PACK_UNIQUE_IDS = 1000;
        /// Their pointers.
        PACK_DATA_POINTERS = 1001;
        /// Workspace pointer.
        PACK_WORKSPACE = 1003;
        /// Knob of a range.
        KNOB_INFO_TYPE = 1200;
        /// Largest value.
        KNOB_INFO_MAXIMUM = 1201;
        /// Smallest value.
        KNOB_INFO_MINIMUM = 1202;
        /// Step.
        KNOB_INFO_STRIDE = 1203;
        /// Graph of an engine.
        ENGINE_GRAPH = 1300;
        /// Global index of an engine.
        ENGINE_INDEX = 1301;
        /// Knob ranges of an engine.
        ENGINE_KNOB_INFO = 1302;
        /// Numerical notes of an engine.
        ENGINE_NUMERICAL_NOTES = 1303;
        /// Behaviour notes of an engine.
        ENGINE_BEHAVIOR_NOTES = 1305;
        /// Device of an engine without a handle, from 9.8.
        ENGINE_DEVICE_PROPERTIES = 1307;
        /// Device ordinal to read properties of.
        DEVICE_ID = 2700;
        /// Handle whose device's properties to read.
        DEVICE_HANDLE = 2701;
        /// Device properties as JSON text.
        DEVICE_JSON = 2702;
    }
}

numbers! {
    /// `cudnnDataType_t`.
    DataType {
        /// f32.
        FLOAT = 0;
        /// f64.
        DOUBLE = 1;
        /// f16.
        HALF = 2;
        /// Signed 8-bit integer.
        INT8 = 3;
        /// Signed 32-bit integer.
        INT32 = 4;
        /// bf16.
        BFLOAT16 = 9;
    }
}

numbers! {
    /// `cudnnBackendHeurMode_t`.
    HeuristicMode {
        /// Neural estimate.
        B = 1;
        /// Configurations meant to work.
        FALLBACK = 2;
        /// Fast decision.
        A = 3;
    }
}

numbers! {
    /// `cudnnConvolutionMode_t`.
    ConvolutionMode {
        /// Filter flipped.
        CONVOLUTION = 0;
        /// Filter as it lies.
        CROSS_CORRELATION = 1;
    }
}

/// Most extents of a tensor (`CUDNN_DIM_MAX`).
pub const DIM_MAX: usize = 8;
/// More knob types than any version up to 9.28 knows (46).
pub const KNOBS_MAX: usize = 64;
/// More notes than any version up to 9.28 knows.
pub const NOTES_MAX: usize = 32;

/// `cudnnGetVersion()`.
pub type GetVersion = unsafe extern "C" fn() -> usize;
/// `cudnnGetCudartVersion()`.
pub type GetCudartVersion = unsafe extern "C" fn() -> usize;
/// `cudnnGetLastErrorString(text, bytes)`, from 9.0.
pub type GetLastErrorString = unsafe extern "C" fn(*mut c_char, usize);
/// `cudnnCreate(handle)`.
pub type Create = unsafe extern "C" fn(*mut Handle) -> Status;
/// `cudnnDestroy(handle)`.
pub type Destroy = unsafe extern "C" fn(Handle) -> Status;
/// `cudnnSetStream(handle, stream)`.
pub type SetStream = unsafe extern "C" fn(Handle, *mut c_void) -> Status;
/// `cudnnBackendCreateDescriptor(type, descriptor)`.
pub type CreateDescriptor = unsafe extern "C" fn(DescriptorType, *mut Descriptor) -> Status;
/// `cudnnBackendDestroyDescriptor(descriptor)`.
pub type DestroyDescriptor = unsafe extern "C" fn(Descriptor) -> Status;
/// `cudnnBackendFinalize(descriptor)`.
pub type Finalize = unsafe extern "C" fn(Descriptor) -> Status;
/// `cudnnBackendSetAttribute(descriptor, name, type, count, elements)`.
pub type SetAttribute =
    unsafe extern "C" fn(Descriptor, Attribute, AttributeType, i64, *const c_void) -> Status;
/// `cudnnBackendGetAttribute(descriptor, name, type, requested, count, elements)`.
pub type GetAttribute =
    unsafe extern "C" fn(Descriptor, Attribute, AttributeType, i64, *mut i64, *mut c_void) -> Status;
/// `cudnnBackendExecute(handle, plan, variant pack)`.
pub type Execute = unsafe extern "C" fn(Handle, Descriptor, Descriptor) -> Status;
