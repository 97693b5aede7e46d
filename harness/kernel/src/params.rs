//! The one by-value parameter struct of each kernel, laid out as the CUDA source lays it out. Knows numbers,
//! memory views and device addresses; knows nothing of what a case means or of how a launch happens.

use bytemuck::{Pod, Zeroable};

/// cuDNN's number for 32-bit IEEE floats.
pub const F32: u32 = 0;
/// cuDNN's number for 64-bit IEEE floats.
pub const F64: u32 = 1;
/// cuDNN's number for 16-bit IEEE floats.
pub const F16: u32 = 2;
/// cuDNN's number for bfloat16.
pub const BF16: u32 = 9;

/// `FillParams::tensor` of the image operand (fprop input, dgrad output).
pub const TENSOR_X: u32 = 0;
/// `FillParams::tensor` of the filter operand (wgrad output).
pub const TENSOR_W: u32 = 1;
/// `FillParams::tensor` of the response operand (fprop output).
pub const TENSOR_Y: u32 = 2;

/// `ReferenceParams::op`: y from x and w.
pub const FPROP: u32 = 0;
/// `ReferenceParams::op`: x from y and w.
pub const DGRAD: u32 = 1;
/// `ReferenceParams::op`: w from x and y.
pub const WGRAD: u32 = 2;
/// `ReferenceParams::op`: y is the largest of each window of x, whose extents are w's; there is no w to read.
pub const MAXPOOL: u32 = 3;
/// `ReferenceParams::op`: y is alpha times the sum of each window of x; there is no w to read.
pub const AVGPOOL: u32 = 4;
/// `ReferenceParams::op`: products of matrices; x is b, m, 1, 1, k, w is b, k, 1, 1, n and y is b, m, 1, 1, n.
pub const MATMUL: u32 = 5;
/// `ReferenceParams::op`: y is x w / sqrt(mean of squares over x's second dimension + epsilon); w is 1, c, 1, 1, 1.
pub const RMSNORM: u32 = 6;

/// `ZonesParams::mode`: write every zone's pattern.
pub const PAINT: u32 = 0;
/// `ZonesParams::mode`: count the bytes that differ from every zone's pattern.
pub const CHECK: u32 = 1;

/// `Zone::pattern`: every byte is the low 8 bits of `argument`.
pub const PATTERN_CONSTANT: u32 = 0;
/// `Zone::pattern`: byte `i` is byte `i % 8`, least significant first, of the mixed word `i / 8`.
pub const PATTERN_HASH: u32 = 1;

/// Zones that one launch paints or checks at most.
pub const ZONES_MAX: usize = 16;

/// A strided tensor in device memory, in logical order n, c, d, h, w (a filter: k, c/g, d, h, w).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct TensorView {
    /// Device address of the element at coordinates zero.
    pub pointer: u64,
    /// Element type: `F32`, `F64`, `F16` or `BF16`.
    pub dtype: u32,
    /// Zero.
    pub reserved: u32,
    /// Elements along each logical dimension.
    pub extent: [i64; 5],
    /// Distance between neighbours along each dimension, in elements.
    pub stride: [i64; 5],
}

/// What to write, or to expect, in every element of a tensor.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct FillParams {
    /// The tensor.
    pub view: TensorView,
    /// Seed of the case; see [`word`](crate::word).
    pub seed: u64,
    /// Operand: `TENSOR_X`, `TENSOR_W` or `TENSOR_Y`.
    pub tensor: u32,
    /// A [`FillKind`](crate::FillKind) as its number.
    pub kind: u32,
    /// Meaning depends on `kind`: a linear logical index (one-hot, NaN) or a divisor of density (sparse).
    pub argument: u64,
    /// Linear logical index of the first element that keeps its value.
    pub first: u64,
    /// Elements that keep their value, every other one being 0; 0 keeps all, so that a plain fill needs no count.
    pub kept: u64,
}

/// A fill to derive again and compare bit by bit with what memory holds.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct VerifyParams {
    /// The fill that was written before.
    pub fill: FillParams,
    /// Device address of a [`VerifyTotals`](crate::VerifyTotals).
    pub totals: u64,
}

/// One operation to compute in f64; a convolution is a cross-correlation.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct ReferenceParams {
    /// `FPROP`, `DGRAD`, `WGRAD`, `MAXPOOL`, `AVGPOOL`, `MATMUL` or `RMSNORM`.
    pub op: u32,
    /// Threads that share one output: a power of two from 1 to 256.
    pub lanes: u32,
    /// The image.
    pub x: TensorView,
    /// The filter; its second extent is input channels per group.
    pub w: TensorView,
    /// The response.
    pub y: TensorView,
    /// Channel groups.
    pub groups: i64,
    /// Padding before the first element along d, h, w, in elements.
    pub pad_before: [i64; 3],
    /// Filter step along d, h, w, in elements of x.
    pub conv_stride: [i64; 3],
    /// Distance between filter taps along d, h, w, in elements of x.
    pub dilation: [i64; 3],
    /// Factor of the sum of products.
    pub alpha: f64,
    /// Factor of the output's prior value.
    pub beta: f64,
    /// What `RMSNORM` adds to the mean of squares; nothing else reads it.
    pub epsilon: f64,
    /// What the output held before, used only when `beta` is not zero; its view describes the output.
    pub prior: FillParams,
    /// Device address of one f64 per output, by linear logical index: alpha·Σ(a·b) + beta·prior.
    pub result: u64,
    /// Device address of one f64 per output, by linear logical index: |alpha|·Σ|a·b| + |beta·prior|.
    pub abs_sum: u64,
    /// Device address of a [`ReferenceTotals`](crate::ReferenceTotals).
    pub totals: u64,
}

/// A tensor to compare with the reference.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct CompareParams {
    /// What the library computed.
    pub got: TensorView,
    /// Device address of the reference's results.
    pub result: u64,
    /// Device address of the reference's sums of absolute products.
    pub abs_sum: u64,
    /// Share of the sum of absolute products that an element may be wrong by.
    pub accumulate: f64,
    /// Share of |result| that an element may be wrong by.
    pub output: f64,
    /// What an element may be wrong by whatever its value.
    pub absolute: f64,
    /// Bound on |got − result| that is the same for all elements.
    pub norm_bound: f64,
    /// Bits that the output held before, in the low bits that its element type has.
    pub poison: u64,
    /// 1 where `poison` means something, else 0.
    pub poison_known: u32,
    /// Zero.
    pub reserved: u32,
    /// Device address of a [`CompareTotals`](crate::CompareTotals).
    pub totals: u64,
}

/// A run of bytes with a pattern that nobody should disturb.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Zone {
    /// Device address of the first byte, of any alignment.
    pub pointer: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// `PATTERN_CONSTANT` or `PATTERN_HASH`.
    pub pattern: u32,
    /// Zero.
    pub reserved: u32,
    /// The constant byte, or the seed of the hash.
    pub argument: u64,
}

/// Zones to paint or to check in one launch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct ZonesParams {
    /// `PAINT` or `CHECK`.
    pub mode: u32,
    /// Zones in use, from the first.
    pub count: u32,
    /// The zones.
    pub zones: [Zone; ZONES_MAX],
    /// Device address of `ZONES_MAX` [`ZoneTotals`](crate::ZoneTotals); only `CHECK` touches them.
    pub totals: u64,
}

/// Two buffers of one layout to compare bit by bit.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct DiffParams {
    /// Device address of one buffer.
    pub a: u64,
    /// Device address of the other.
    pub b: u64,
    /// Bytes of one element.
    pub bytes_per_element: u64,
    /// Elements in each buffer.
    pub count: u64,
    /// Device address of a [`DiffTotals`](crate::DiffTotals).
    pub totals: u64,
}
