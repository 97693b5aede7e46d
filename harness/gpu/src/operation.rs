//! An operation as descriptors: tensors, parameters, the operation itself. Knows which attribute carries which field of
//! a case; knows no engine.

use std::rc::Rc;

use abi::cudnn::{
    Attribute, AttributeType, ConvolutionMode, DataType, DescriptorType, NormMode, NormPhase, PROPAGATE_NAN,
    PaddingMode, ResampleMode,
};
use case::{Axis, Case, DType, Operation, Phase, Role};

use crate::cudnn::Cudnn;
use crate::descriptor::Descriptor;
use crate::error::CallError;
use crate::graph::data_type;

/// Alignment that tensors declare, bytes. Buffers are aligned to more.
const TENSOR_ALIGNMENT: i64 = 16;

/// The dimension that a vectorised layout packs.
const CHANNEL_DIMENSION: i64 = 1;

/// Name of the epsilon of a normalization within its graph, after those of x, w and y.
const EPSILON_ID: i64 = 4;

/// Name of a tensor within the graph, as variant packs use it.
fn unique_id(role: Role) -> i64 {
    role.index() as i64 + 1
}

/// What an execution of an operation is given: device addresses by role, and scalars in host memory.
#[derive(Clone, Debug)]
pub(crate) struct Operands {
    roles: &'static [Role],
    /// The scalars live as long as the plan does, since the library reads them when it executes.
    scalar: Option<Rc<Scalar>>,
}

/// A scalar in the type that its tensor declares.
#[derive(Debug)]
enum Scalar {
    Single(f32),
    Double(f64),
}

impl Scalar {
    fn address(&self) -> u64 {
        match self {
            Self::Single(value) => std::ptr::from_ref(value) as u64,
            Self::Double(value) => std::ptr::from_ref(value) as u64,
        }
    }
}

impl Operands {
    fn of(case: &Case) -> Self {
        let operation = case.problem.operation;
        let scalar = (operation == Operation::RmsNorm).then(|| {
            Rc::new(match case.problem.dtypes.compute {
                DType::F64 => Scalar::Double(Operation::EPSILON),
                DType::F32 | DType::F16 | DType::Bf16 | DType::I8 | DType::I32 => Scalar::Single(EPSILON),
            })
        });
        Self { roles: operation.tensors(), scalar }
    }

    /// Names and addresses for a variant pack, from the addresses of x, w and y.
    pub(crate) fn pack(&self, tensors: [u64; 3]) -> (Vec<i64>, Vec<u64>) {
        let mut ids: Vec<i64> = self.roles.iter().map(|role| unique_id(*role)).collect();
        let mut pointers: Vec<u64> = self.roles.iter().map(|role| tensors[role.index()]).collect();
        if let Some(scalar) = &self.scalar {
            ids.push(EPSILON_ID);
            pointers.push(scalar.address());
        }
        (ids, pointers)
    }
}

/// Epsilon as f32 holds it: exactly, since it is a power of two.
#[expect(clippy::cast_possible_truncation, reason = "a power of two within f32's range")]
const EPSILON: f32 = Operation::EPSILON as f32;

/// A finalized operation and the descriptors it was made of.
pub(crate) struct Parts {
    pub(crate) operation: Descriptor,
    pub(crate) operands: Operands,
    _parts: Vec<Descriptor>,
}

/// A pass of a convolution.
#[derive(Clone, Copy)]
enum Pass {
    Forward,
    BackwardData,
    BackwardFilter,
}

/// Builds and finalizes tensors, parameters and operation.
///
/// # Errors
/// cuDNN's status at the descriptor that it declined.
pub(crate) fn describe(library: &Rc<Cudnn>, case: &Case) -> Result<Parts, CallError> {
    let (operation, parts) = match case.problem.operation {
        Operation::Fprop => convolution(library, case, Pass::Forward),
        Operation::Dgrad => convolution(library, case, Pass::BackwardData),
        Operation::Wgrad => convolution(library, case, Pass::BackwardFilter),
        Operation::MaxPool => pooling(library, case, ResampleMode::MAXIMUM, PaddingMode::NEGATIVE_INFINITY),
        Operation::AvgPool => {
            pooling(library, case, ResampleMode::AVERAGE_INCLUDING_PADDING, PaddingMode::ZERO)
        }
        Operation::MatMul => matmul(library, case),
        Operation::RmsNorm => rmsnorm(library, case),
    }?;
    Ok(Parts { operation, operands: Operands::of(case), _parts: parts })
}

/// A finalized operation and its parts.
type Made = Result<(Descriptor, Vec<Descriptor>), CallError>;

/// Attribute numbers of a pass of a convolution: alpha, beta, convolution, x, w, y.
fn pass_attributes(pass: Pass) -> (DescriptorType, [Attribute; 6]) {
    match pass {
        Pass::Forward => (
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
        Pass::BackwardData => (
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
        Pass::BackwardFilter => (
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
    tensor.set_i64(Attribute::TENSOR_UNIQUE_ID, &[unique_id(role)])?;
    tensor.set_i64(Attribute::TENSOR_ALIGNMENT, &[TENSOR_ALIGNMENT])?;
    tensor.finalize()?;
    Ok(tensor)
}

/// The tensors of an operation, each set under its name.
fn set_tensors(
    library: &Rc<Cudnn>,
    case: &Case,
    operation: &Descriptor,
    names: &[(Attribute, Role)],
) -> Result<Vec<Descriptor>, CallError> {
    names
        .iter()
        .map(|(name, role)| {
            let tensor = tensor(library, case, *role)?;
            operation.set_descriptors(*name, &[&tensor])?;
            Ok(tensor)
        })
        .collect()
}

fn column(axes: &[Axis], of: fn(&Axis) -> i64) -> Vec<i64> {
    axes.iter().map(of).collect()
}

fn convolution(library: &Rc<Cudnn>, case: &Case, pass: Pass) -> Made {
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
    convolution.set_i64(Attribute::CONVOLUTION_DILATIONS, &column(axes, |axis| axis.dilation))?;
    convolution.set_i64(Attribute::CONVOLUTION_STRIDES, &column(axes, |axis| axis.stride))?;
    convolution.set_i64(Attribute::CONVOLUTION_PRE_PADDINGS, &column(axes, |axis| axis.pad_before))?;
    convolution.set_i64(Attribute::CONVOLUTION_POST_PADDINGS, &column(axes, |axis| axis.pad_after))?;
    convolution.finalize()?;
    let (kind, [alpha, beta, parameters, x, w, y]) = pass_attributes(pass);
    let operation = Descriptor::new(library, kind, Phase::Describe)?;
    // Scales are doubles only where the data is f64. Source: cuDNN developer guide, scaling parameters.
    let double = case.problem.dtypes.compute == DType::F64;
    operation.set_scale(alpha, case.options.alpha.value(), double)?;
    operation.set_scale(beta, case.options.beta.value(), double)?;
    operation.set_descriptors(parameters, &[&convolution])?;
    let mut parts = set_tensors(library, case, &operation, &[(x, Role::X), (w, Role::W), (y, Role::Y)])?;
    operation.finalize()?;
    parts.push(convolution);
    Ok((operation, parts))
}

/// Pooling is what the library calls resampling: windows, steps and padding are fractions there.
fn pooling(library: &Rc<Cudnn>, case: &Case, mode: ResampleMode, padding: PaddingMode) -> Made {
    let axes = &case.problem.axes;
    let resample = Descriptor::new(library, DescriptorType::RESAMPLE, Phase::Describe)?;
    let compute = data_type(case.problem.dtypes.compute);
    resample.set_i32(Attribute::RESAMPLE_MODE, AttributeType::RESAMPLE_MODE, mode.0)?;
    resample.set_i32(Attribute::RESAMPLE_COMPUTE_TYPE, AttributeType::DATA_TYPE, compute.0)?;
    let nan = (Attribute::RESAMPLE_NAN_PROPAGATION, AttributeType::NAN_PROPAGATION);
    resample.set_i32(nan.0, nan.1, PROPAGATE_NAN)?;
    resample.set_i32(Attribute::RESAMPLE_PADDING_MODE, AttributeType::PADDING_MODE, padding.0)?;
    resample.set_i64(Attribute::RESAMPLE_SPATIAL_DIMS, &[axes.len() as i64])?;
    resample.set_wholes(Attribute::RESAMPLE_WINDOW_DIMS, &column(axes, |axis| axis.filter))?;
    resample.set_wholes(Attribute::RESAMPLE_PRE_PADDINGS, &column(axes, |axis| axis.pad_before))?;
    resample.set_wholes(Attribute::RESAMPLE_POST_PADDINGS, &column(axes, |axis| axis.pad_after))?;
    resample.set_wholes(Attribute::RESAMPLE_STRIDES, &column(axes, |axis| axis.stride))?;
    resample.finalize()?;
    let operation = Descriptor::new(library, DescriptorType::OPERATION_RESAMPLE, Phase::Describe)?;
    operation.set_scale(Attribute::RESAMPLE_ALPHA, 1.0, true)?;
    operation.set_scale(Attribute::RESAMPLE_BETA, 0.0, true)?;
    operation.set_descriptors(Attribute::RESAMPLE_PARAMETERS, &[&resample])?;
    let names = [(Attribute::RESAMPLE_X, Role::X), (Attribute::RESAMPLE_Y, Role::Y)];
    let mut parts = set_tensors(library, case, &operation, &names)?;
    operation.finalize()?;
    parts.push(resample);
    Ok((operation, parts))
}

fn matmul(library: &Rc<Cudnn>, case: &Case) -> Made {
    let matmul = Descriptor::new(library, DescriptorType::MATMUL, Phase::Describe)?;
    let compute = data_type(case.problem.dtypes.compute);
    matmul.set_i32(Attribute::MATMUL_COMPUTE_TYPE, AttributeType::DATA_TYPE, compute.0)?;
    matmul.finalize()?;
    let operation = Descriptor::new(library, DescriptorType::OPERATION_MATMUL, Phase::Describe)?;
    operation.set_descriptors(Attribute::MATMUL_PARAMETERS, &[&matmul])?;
    let names =
        [(Attribute::MATMUL_A, Role::X), (Attribute::MATMUL_B, Role::W), (Attribute::MATMUL_C, Role::Y)];
    let mut parts = set_tensors(library, case, &operation, &names)?;
    operation.finalize()?;
    parts.push(matmul);
    Ok((operation, parts))
}

fn rmsnorm(library: &Rc<Cudnn>, case: &Case) -> Made {
    let operation = Descriptor::new(library, DescriptorType::OPERATION_NORM, Phase::Describe)?;
    operation.set_i32(Attribute::NORM_MODE, AttributeType::NORM_MODE, NormMode::RMS.0)?;
    operation.set_i32(Attribute::NORM_PHASE, AttributeType::NORM_PHASE, NormPhase::INFERENCE.0)?;
    let names =
        [(Attribute::NORM_X, Role::X), (Attribute::NORM_SCALE, Role::W), (Attribute::NORM_Y, Role::Y)];
    let mut parts = set_tensors(library, case, &operation, &names)?;
    let epsilon = epsilon(library, case)?;
    operation.set_descriptors(Attribute::NORM_EPSILON, &[&epsilon])?;
    operation.finalize()?;
    parts.push(epsilon);
    Ok((operation, parts))
}

/// A scalar that an execution finds in host memory.
fn epsilon(library: &Rc<Cudnn>, case: &Case) -> Result<Descriptor, CallError> {
    let tensor = Descriptor::new(library, DescriptorType::TENSOR, Phase::Describe)?;
    let ones = vec![1; case.problem.axes.len() + 2];
    let dtype = if case.problem.dtypes.compute == DType::F64 { DataType::DOUBLE } else { DataType::FLOAT };
    tensor.set_i32(Attribute::TENSOR_DATA_TYPE, AttributeType::DATA_TYPE, dtype.0)?;
    tensor.set_i64(Attribute::TENSOR_DIMENSIONS, &ones)?;
    tensor.set_i64(Attribute::TENSOR_STRIDES, &ones)?;
    tensor.set_i64(Attribute::TENSOR_UNIQUE_ID, &[EPSILON_ID])?;
    tensor.set_i64(Attribute::TENSOR_ALIGNMENT, &[TENSOR_ALIGNMENT])?;
    tensor.set_bool(Attribute::TENSOR_IS_BY_VALUE, true)?;
    tensor.finalize()?;
    Ok(tensor)
}
