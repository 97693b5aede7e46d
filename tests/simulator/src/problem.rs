//! An operation as the descriptors state it, checked as the real library checks it, and its dense five-dimensional
//! shape. Knows extents and rules; knows no engine.

use abi::cudnn::{ConvolutionMode, DIM_MAX, DataType};
use case::{Layout, Operation, Role};

use crate::stop::{Ending, Stop};

/// First `cudnnDataType_t` that 9.19 does not know: it kills the process.
const UNKNOWN_DATA_TYPE: i32 = 22;

/// A tensor descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// `cudnnDataType_t`.
    pub dtype: i32,
    /// Extents n, c, spatial.
    pub extents: Vec<i64>,
    /// Distances between neighbours, elements.
    pub strides: Vec<i64>,
    /// Alignment that its pointer promises, bytes.
    pub alignment: i64,
    /// Name in variant packs.
    pub id: i64,
    /// Channels that one element of the description holds; extents and strides count vectors of them.
    pub vector: i64,
}

impl Tensor {
    /// Checks as `cudnnBackendFinalize` does.
    ///
    /// # Errors
    /// `BAD_PARAM` with the condition; an unknown type ends the process.
    pub fn check(&self) -> Result<(), Stop> {
        if !(0..UNKNOWN_DATA_TYPE).contains(&self.dtype) {
            return Err(Stop::End(Ending::IllegalInstruction));
        }
        let rank = self.extents.len();
        if !(1..=DIM_MAX).contains(&rank) {
            return Err(Stop::bad_param("nbDims > CUDNN_DIM_MAX"));
        }
        if self.strides.len() != rank {
            return Err(Stop::bad_param("strides and dimensions differ in number"));
        }
        if let Some(index) = self.extents.iter().position(|extent| *extent <= 0) {
            return Err(Stop::bad_param(format!("dim[{index}] <= 0")));
        }
        if let Some(index) = self.strides.iter().position(|stride| *stride <= 0) {
            return Err(Stop::bad_param(format!("stride[{index}] <= 0")));
        }
        if self.alignment <= 0 || self.alignment.count_ones() != 1 {
            return Err(Stop::bad_param("byte alignment is not a power of two"));
        }
        if self.vector != 1 && (self.dtype != DataType::INT8.0 || ![4, 32].contains(&self.vector)) {
            return Err(Stop::bad_param("vectorCount is none of 1, 4 and 32 of int8"));
        }
        self.span_bytes().map(|_| ()).ok_or_else(|| Stop::bad_param("tensor size exceeds 63 bits"))
    }

    /// Bytes of one element; 0 for a type that no engine here computes.
    #[must_use]
    pub fn element_bytes(&self) -> usize {
        match DataType(self.dtype) {
            DataType::INT8 => 1,
            DataType::FLOAT | DataType::INT32 => 4,
            DataType::DOUBLE => 8,
            DataType::HALF | DataType::BFLOAT16 => 2,
            _ => 0,
        }
    }

    /// Extent of the second dimension in channels.
    #[must_use]
    pub fn channels(&self) -> i64 {
        self.extents[1].saturating_mul(self.vector)
    }

    /// Bytes from the first to beyond the last element; `None` where 63 bits do not hold it.
    #[must_use]
    pub fn span_bytes(&self) -> Option<i64> {
        let last =
            self.extents.iter().zip(&self.strides).try_fold(0_i64, |sum, (extent, stride)| {
                sum.checked_add((extent - 1).checked_mul(*stride)?)
            })?;
        last.checked_add(1)?.checked_mul(self.vector)?.checked_mul(self.element_bytes().max(1) as i64)
    }

    /// True where its elements lie packed in that order.
    #[must_use]
    pub fn is_packed(&self, layout: Layout) -> bool {
        self.strides == layout.strides(&self.extents)
    }
}

/// A convolution descriptor; one entry per axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Convolution {
    /// `cudnnDataType_t` of the sums.
    pub compute: i32,
    /// `cudnnConvolutionMode_t`.
    pub mode: i32,
    /// Padding before.
    pub pad_before: Vec<i64>,
    /// Padding after.
    pub pad_after: Vec<i64>,
    /// Strides.
    pub stride: Vec<i64>,
    /// Dilations.
    pub dilation: Vec<i64>,
}

impl Convolution {
    /// Checks as `cudnnBackendFinalize` does, for that number of axes.
    ///
    /// # Errors
    /// `BAD_PARAM` with the condition.
    pub fn check(&self, axes: i64) -> Result<(), Stop> {
        if !(1..=3).contains(&axes) {
            return Err(Stop::bad_param("spatialDims is not within 1 to 3"));
        }
        let rows = [
            ("prePadding", &self.pad_before, 0),
            ("postPadding", &self.pad_after, 0),
            ("filterStride", &self.stride, 1),
            ("dilation", &self.dilation, 1),
        ];
        for (name, values, least) in rows {
            if values.len() as i64 != axes {
                return Err(Stop::bad_param(format!("{name} has {} entries, not {axes}", values.len())));
            }
            if let Some(index) = values.iter().position(|value| *value < least) {
                return Err(Stop::bad_param(format!("{name}[{index}] < {least}")));
            }
        }
        Ok(())
    }
}

/// An operation: what a graph holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Which.
    pub operation: Operation,
    /// x, w, y; where there is no w, its place tells the windows.
    pub tensors: [Tensor; 3],
    /// The geometry: windows of a pooling too, and as good as none for matrices and rows.
    pub convolution: Convolution,
    /// Scale of the sums.
    pub alpha: f64,
    /// Scale of the prior output.
    pub beta: f64,
}

impl Problem {
    /// A tensor by its role.
    #[must_use]
    pub fn tensor(&self, role: Role) -> &Tensor {
        &self.tensors[role.index()]
    }

    /// Spatial axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.convolution.stride.len()
    }

    /// Groups, as the channels of x and w imply them; the batch of matrices.
    #[must_use]
    pub fn groups(&self) -> i64 {
        let [x, w, _] = &self.tensors;
        match self.operation {
            Operation::MatMul => x.extents[0],
            Operation::RmsNorm => x.extents[1],
            Operation::Fprop
            | Operation::Dgrad
            | Operation::Wgrad
            | Operation::MaxPool
            | Operation::AvgPool => x.channels() / w.channels().max(1),
        }
    }

    /// Batch, and the channels of x and of y in one group; of matrices their rows, what is summed over, and columns.
    #[must_use]
    pub fn sizes(&self) -> [i64; 3] {
        let [x, w, _] = &self.tensors;
        match self.operation {
            Operation::MatMul => [x.extents[1], x.extents[2], w.extents[2]],
            Operation::RmsNorm => [x.extents[0], 1, 1],
            Operation::Fprop
            | Operation::Dgrad
            | Operation::Wgrad
            | Operation::MaxPool
            | Operation::AvgPool => [x.extents[0], w.channels(), w.extents[0] / self.groups().max(1)],
        }
    }

    /// Checks as finalizing an operation does.
    ///
    /// # Errors
    /// `BAD_PARAM` with the condition.
    pub fn check(&self) -> Result<(), Stop> {
        match self.operation {
            Operation::MatMul => return self.check_matrices(),
            Operation::RmsNorm => return self.check_rows(),
            Operation::Fprop
            | Operation::Dgrad
            | Operation::Wgrad
            | Operation::MaxPool
            | Operation::AvgPool => {}
        }
        let [x, w, y] = &self.tensors;
        let rank = self.rank() + 2;
        for (name, tensor) in [("x", x), ("w", w), ("y", y)] {
            if tensor.extents.len() != rank {
                let have = tensor.extents.len();
                return Err(Stop::bad_param(format!("{name} has {have} dimensions, not {rank}")));
            }
        }
        let mut ids = [x.id, w.id, y.id];
        ids.sort_unstable();
        if ids[0] == ids[1] || ids[1] == ids[2] {
            return Err(Stop::bad_param("two tensors share a unique id"));
        }
        if x.channels() % w.channels() != 0 {
            return Err(Stop::bad_param("channels of x are no multiple of channels of w"));
        }
        if w.extents[0] % self.groups() != 0 {
            return Err(Stop::bad_param("filters are no multiple of groups"));
        }
        if x.extents[0] != y.extents[0] {
            return Err(Stop::bad_param("batches of x and y differ"));
        }
        if y.channels() != w.extents[0] {
            return Err(Stop::bad_param("channels of y differ from filters of w"));
        }
        for axis in 0..self.rank() {
            let expected = self.output_extent(axis);
            if expected < 1 || y.extents[axis + 2] != expected {
                return Err(Stop::bad_param(format!(
                    "y.dim[{}] = {}, expected {expected}",
                    axis + 2,
                    y.extents[axis + 2]
                )));
            }
        }
        Ok(())
    }

    fn check_matrices(&self) -> Result<(), Stop> {
        let [x, w, y] = self.tensors.each_ref().map(|tensor| tensor.extents.as_slice());
        let ([a_batch, rows, inner], [b_batch, depth, columns], [c_batch, m, n]) = (x, w, y) else {
            return Err(Stop::bad_param("matrices have not 3 dimensions"));
        };
        if a_batch != b_batch || a_batch != c_batch || inner != depth || rows != m || columns != n {
            return Err(Stop::bad_param("extents of A, B and C do not match"));
        }
        Ok(())
    }

    fn check_rows(&self) -> Result<(), Stop> {
        let [x, w, y] = self.tensors.each_ref().map(|tensor| tensor.extents.as_slice());
        let [_, channels, axes @ ..] = x else {
            return Err(Stop::bad_param("x has less than 2 dimensions"));
        };
        let along_channels = w.first() == Some(&1) && w.get(1) == Some(channels) && w.len() == x.len();
        if x != y || !along_channels || axes.iter().chain(w.iter().skip(2)).any(|extent| *extent != 1) {
            return Err(Stop::bad_param("extents of x, scale and y do not match"));
        }
        Ok(())
    }

    fn output_extent(&self, axis: usize) -> i64 {
        let convolution = &self.convolution;
        case::Axis {
            input: self.tensors[0].extents[axis + 2],
            filter: self.tensors[1].extents[axis + 2],
            pad_before: convolution.pad_before[axis],
            pad_after: convolution.pad_after[axis],
            stride: convolution.stride[axis],
            dilation: convolution.dilation[axis],
        }
        .output()
    }

    /// Multiply-adds, borders counted as if inside.
    #[must_use]
    pub fn work(&self) -> i64 {
        let [x, w, y] = &self.tensors;
        let outputs = y.extents.iter().fold(1_i64, |product, extent| product.saturating_mul(*extent));
        let outputs = outputs.saturating_mul(y.vector).saturating_mul(w.vector);
        match self.operation {
            Operation::MatMul => return outputs.saturating_mul(x.extents[2]),
            Operation::RmsNorm => return outputs,
            Operation::Fprop
            | Operation::Dgrad
            | Operation::Wgrad
            | Operation::MaxPool
            | Operation::AvgPool => {}
        }
        w.extents[1..].iter().fold(outputs, |product, extent| product.saturating_mul(*extent))
    }

    /// True where filters are used as they lie, the only mode that engines here take.
    #[must_use]
    pub fn is_correlation(&self) -> bool {
        self.convolution.mode == ConvolutionMode::CROSS_CORRELATION.0
    }

    /// The dense shape: axes that are missing have extent 1. Only for a checked problem whose tensors are held in
    /// memory, so that every extent fits `usize`.
    #[must_use]
    pub fn shape(&self) -> Shape {
        let [x, w, y] = &self.tensors;
        let groups = self.groups();
        let lead = 3 - self.rank();
        let spread = |values: &[i64], neutral: i64| {
            let mut axes = [neutral; 3];
            axes[lead..].copy_from_slice(values);
            axes
        };
        let extents = |values: &[i64]| spread(values, 1).map(|extent| extent as usize);
        Shape {
            n: x.extents[0] as usize,
            groups: groups as usize,
            c: w.extents[1] as usize,
            k: (w.extents[0] / groups) as usize,
            x: extents(&x.extents[2..]),
            w: extents(&w.extents[2..]),
            y: extents(&y.extents[2..]),
            pad: spread(&self.convolution.pad_before, 0),
            stride: spread(&self.convolution.stride, 1),
            dilation: spread(&self.convolution.dilation, 1),
        }
    }
}

/// A convolution on dense row-major arrays: x \[n\]\[groups c\]\[d h w\], w \[groups k\]\[c\]\[d h w\],
/// y \[n\]\[groups k\]\[d h w\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Batch.
    pub n: usize,
    /// Groups.
    pub groups: usize,
    /// Channels of x in one group.
    pub c: usize,
    /// Channels of y in one group.
    pub k: usize,
    /// Spatial extents of x.
    pub x: [usize; 3],
    /// Spatial extents of w.
    pub w: [usize; 3],
    /// Spatial extents of y.
    pub y: [usize; 3],
    /// Padding before.
    pub pad: [i64; 3],
    /// Strides.
    pub stride: [i64; 3],
    /// Dilations.
    pub dilation: [i64; 3],
}

impl Shape {
    /// Elements of a tensor.
    #[must_use]
    pub fn elements(&self, role: Role) -> usize {
        let spatial = |extents: [usize; 3]| extents.iter().product::<usize>();
        match role {
            Role::X => self.n * self.groups * self.c * spatial(self.x),
            Role::W => self.groups * self.k * self.c * spatial(self.w),
            Role::Y => self.n * self.groups * self.k * spatial(self.y),
        }
    }
}
