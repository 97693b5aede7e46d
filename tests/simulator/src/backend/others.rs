//! What finalizing makes of pooling, products of matrices and normalization. Knows their attributes and what the
//! simulator takes of them.

use abi::cudnn::{Attribute as A, ConvolutionMode, DataType, NormMode, NormPhase, PaddingMode, ResampleMode};
use case::{Layout, Operation};

use super::descriptor::{Descriptor, Finished};
use crate::problem::{Convolution, Problem, Tensor};
use crate::stop::{self, Stop};

/// Parameters of a pooling.
#[derive(Clone, Debug, PartialEq)]
pub struct Resample {
    /// Which.
    pub operation: Operation,
    /// Extents of the window.
    pub window: Vec<i64>,
    /// Everything else, with a dilation of 1.
    pub convolution: Convolution,
}

/// Name of the tensor that stands for the windows of a pooling: no graph has one of that name.
const WINDOWS: i64 = -1;

/// A convolution of that many axes that changes nothing.
fn plain(axes: usize, compute: i32) -> Convolution {
    Convolution {
        compute,
        mode: ConvolutionMode::CROSS_CORRELATION.0,
        pad_before: vec![0; axes],
        pad_after: vec![0; axes],
        stride: vec![1; axes],
        dilation: vec![1; axes],
    }
}

impl Descriptor {
    /// Numerators of fractions, which must be whole.
    fn wholes(&self, name: A) -> Result<Vec<i64>, Stop> {
        let (pairs, rest) = self.longs(name)?.as_chunks::<2>();
        if !rest.is_empty() || pairs.iter().any(|[_, denominator]| *denominator != 1) {
            let words = format!("attribute {} is no whole number", name.0);
            return Err(Stop::status(stop::NOT_SUPPORTED, words));
        }
        Ok(pairs.iter().map(|[numerator, _]| *numerator).collect())
    }

    pub(super) fn resample(&self) -> Result<Resample, Stop> {
        let mode = ResampleMode(self.int(A::RESAMPLE_MODE)?);
        let padding = PaddingMode(self.int(A::RESAMPLE_PADDING_MODE)?);
        let operation = match (mode, padding) {
            (ResampleMode::MAXIMUM, PaddingMode::NEGATIVE_INFINITY) => Operation::MaxPool,
            (ResampleMode::AVERAGE_INCLUDING_PADDING, PaddingMode::ZERO) => Operation::AvgPool,
            _ => return Err(Stop::status(stop::NOT_SUPPORTED, "resample mode and padding mode")),
        };
        let axes = self.long(A::RESAMPLE_SPATIAL_DIMS)?;
        let convolution = Convolution {
            pad_before: self.wholes(A::RESAMPLE_PRE_PADDINGS)?,
            pad_after: self.wholes(A::RESAMPLE_POST_PADDINGS)?,
            stride: self.wholes(A::RESAMPLE_STRIDES)?,
            ..plain(usize::try_from(axes).unwrap_or(0).min(3), self.int(A::RESAMPLE_COMPUTE_TYPE)?)
        };
        convolution.check(axes)?;
        let window = self.wholes(A::RESAMPLE_WINDOW_DIMS)?;
        if window.len() as i64 != axes || window.iter().any(|extent| *extent < 1) {
            return Err(Stop::bad_param("windowDims is not one positive number for each axis"));
        }
        Ok(Resample { operation, window, convolution })
    }

    pub(super) fn pooling(&self) -> Result<Problem, Stop> {
        let Finished::Resample(resample) = self.part(A::RESAMPLE_PARAMETERS)? else {
            return Err(Self::wrong_kind(A::RESAMPLE_PARAMETERS));
        };
        let [x, y] = [self.tensor_of(A::RESAMPLE_X)?, self.tensor_of(A::RESAMPLE_Y)?];
        let Some(channels) = x.extents.get(1) else { return Err(Stop::bad_param("x has no channels")) };
        let extents: Vec<i64> = [*channels, 1].into_iter().chain(resample.window.iter().copied()).collect();
        let strides = Layout::Nchw.strides(&extents);
        let windows = Tensor { dtype: x.dtype, extents, strides, alignment: 1, id: WINDOWS, vector: 1 };
        let convolution = resample.convolution.clone();
        let scales = [self.real(A::RESAMPLE_ALPHA, 1.0), self.real(A::RESAMPLE_BETA, 0.0)];
        if scales != [1.0, 0.0] {
            return Err(Stop::bad_param("alpha is not 1 or beta is not 0"));
        }
        unscaled(resample.operation, [x, windows, y], convolution)
    }

    pub(super) fn matmul(&self) -> Result<i32, Stop> {
        self.int(A::MATMUL_COMPUTE_TYPE)
    }

    pub(super) fn matrices(&self) -> Result<Problem, Stop> {
        let Finished::Matmul(compute) = self.part(A::MATMUL_PARAMETERS)? else {
            return Err(Self::wrong_kind(A::MATMUL_PARAMETERS));
        };
        let tensors =
            [self.tensor_of(A::MATMUL_A)?, self.tensor_of(A::MATMUL_B)?, self.tensor_of(A::MATMUL_C)?];
        unscaled(Operation::MatMul, tensors, plain(1, *compute))
    }

    /// Epsilon is taken for convict's own: it lies in host memory, where safe code cannot look.
    pub(super) fn normalization(&self) -> Result<Problem, Stop> {
        let kind = (NormMode(self.int(A::NORM_MODE)?), NormPhase(self.int(A::NORM_PHASE)?));
        if kind != (NormMode::RMS, NormPhase::INFERENCE) {
            return Err(Stop::status(stop::NOT_SUPPORTED, "normalization mode and phase"));
        }
        let epsilon = self.tensor_of(A::NORM_EPSILON)?;
        if epsilon.extents.iter().any(|extent| *extent != 1) {
            return Err(Stop::bad_param("epsilon is no scalar"));
        }
        let tensors =
            [self.tensor_of(A::NORM_X)?, self.tensor_of(A::NORM_SCALE)?, self.tensor_of(A::NORM_Y)?];
        if tensors.iter().any(|tensor| tensor.dtype == DataType::DOUBLE.0) {
            return Err(Stop::status(stop::NOT_SUPPORTED_DATA_TYPE, "normalization in f64"));
        }
        let axes = tensors[0].extents.len().saturating_sub(2);
        unscaled(Operation::RmsNorm, tensors, plain(axes, DataType::FLOAT.0))
    }
}

fn unscaled(operation: Operation, tensors: [Tensor; 3], convolution: Convolution) -> Result<Problem, Stop> {
    let problem = Problem { operation, tensors, convolution, alpha: 1.0, beta: 0.0 };
    problem.check()?;
    Ok(problem)
}
