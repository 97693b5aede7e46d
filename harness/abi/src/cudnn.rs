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
        /// Parameters of a product of matrices.
        MATMUL = 18;
        /// matmul.
        OPERATION_MATMUL = 19;
        /// Parameters of pooling, which the library calls resampling.
        RESAMPLE = 24;
        /// maxpool and avgpool.
        OPERATION_RESAMPLE = 25;
        /// rmsnorm.
        OPERATION_NORM = 29;
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
        /// `cudnnNanPropagation_t`.
        NAN_PROPAGATION = 10;
        /// `cudnnBackendNumericalNote_t`.
        NUMERICAL_NOTE = 11;
        /// `cudnnBackendDescriptor_t`.
        DESCRIPTOR = 15;
        /// `cudnnBackendBehaviorNote_t`.
        BEHAVIOR_NOTE = 19;
        /// `cudnnResampleMode_t`.
        RESAMPLE_MODE = 21;
        /// `cudnnPaddingMode_t`.
        PADDING_MODE = 22;
        /// `int32_t`.
        INT32 = 23;
        /// `char`.
        CHAR = 24;
        /// `cudnnFraction_t`: two `int64_t`, numerator and denominator.
        FRACTION = 26;
        /// `cudnnBackendNormMode_t`.
        NORM_MODE = 27;
        /// `cudnnBackendNormFwdPhase_t`.
        NORM_PHASE = 28;
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
        /// Whether a tensor is a scalar that an execution finds in host memory.
        TENSOR_IS_BY_VALUE = 908;
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
        /// Accumulation type of a product of matrices.
        MATMUL_COMPUTE_TYPE = 1500;
        /// matmul x.
        MATMUL_A = 1520;
        /// matmul w.
        MATMUL_B = 1521;
        /// matmul y.
        MATMUL_C = 1522;
        /// matmul parameters.
        MATMUL_PARAMETERS = 1523;
        /// Largest element or mean.
        RESAMPLE_MODE = 1700;
        /// Accumulation type of pooling.
        RESAMPLE_COMPUTE_TYPE = 1701;
        /// Number of axes.
        RESAMPLE_SPATIAL_DIMS = 1702;
        /// Padding after, one fraction per axis.
        RESAMPLE_POST_PADDINGS = 1703;
        /// Padding before, one fraction per axis.
        RESAMPLE_PRE_PADDINGS = 1704;
        /// Steps of the window, one fraction per axis.
        RESAMPLE_STRIDES = 1705;
        /// Extents of the window, one fraction per axis.
        RESAMPLE_WINDOW_DIMS = 1706;
        /// What becomes of NaN.
        RESAMPLE_NAN_PROPAGATION = 1707;
        /// What padding holds.
        RESAMPLE_PADDING_MODE = 1708;
        /// Pooling x.
        RESAMPLE_X = 1710;
        /// Pooling y.
        RESAMPLE_Y = 1711;
        /// Pooling alpha, which must be 1.
        RESAMPLE_ALPHA = 1713;
        /// Pooling beta, which must be 0.
        RESAMPLE_BETA = 1714;
        /// Pooling parameters.
        RESAMPLE_PARAMETERS = 1716;
        /// Which normalization.
        NORM_MODE = 2000;
        /// Inference or training.
        NORM_PHASE = 2001;
        /// Normalization x.
        NORM_X = 2002;
        /// Normalization w.
        NORM_SCALE = 2005;
        /// Normalization epsilon, a scalar by value.
        NORM_EPSILON = 2007;
        /// Normalization y.
        NORM_Y = 2013;
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

numbers! {
    /// `cudnnResampleMode_t`.
    ResampleMode {
        /// Mean of a window, padding counted in.
        AVERAGE_INCLUDING_PADDING = 2;
        /// Largest element of a window.
        MAXIMUM = 3;
    }
}

numbers! {
    /// `cudnnPaddingMode_t`.
    PaddingMode {
        /// Zeros.
        ZERO = 0;
        /// Below every element.
        NEGATIVE_INFINITY = 1;
    }
}

numbers! {
    /// `cudnnBackendNormMode_t`.
    NormMode {
        /// Root mean square.
        RMS = 4;
    }
}

numbers! {
    /// `cudnnBackendNormFwdPhase_t`.
    NormPhase {
        /// Without statistics for a backward pass.
        INFERENCE = 0;
    }
}

/// `CUDNN_PROPAGATE_NAN`.
pub const PROPAGATE_NAN: i32 = 1;

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
