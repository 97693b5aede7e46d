//! What each kernel counts, and the values that device memory holds before it starts. Knows how totals are
//! merged (minimum, maximum, sum, so that no order of threads shows); judges nothing.

use bytemuck::{Pod, Zeroable};

/// Value of every `first_*` total while nothing has been found.
pub const NONE: u64 = u64::MAX;

/// What [`VerifyParams`](crate::VerifyParams) counts.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct VerifyTotals {
    /// Elements whose bits differ from the fill.
    pub differing: u64,
    /// Linear logical index of the first of them, else `NONE`.
    pub first: u64,
}

impl VerifyTotals {
    /// The value in device memory before a launch.
    pub const START: Self = Self { differing: 0, first: NONE };
}

/// What [`ReferenceParams`](crate::ReferenceParams) counts beside its results.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct ReferenceTotals {
    /// Largest sum of absolute products, as the bits of an f64; a NaN counts as the largest.
    pub max_abs_sum_bits: u64,
    /// Largest |result|, as the bits of an f64; a NaN counts as the largest.
    pub max_abs_result_bits: u64,
    /// Outputs that have a product at all.
    pub with_products: u64,
    /// Those of them whose result is not zero.
    pub non_zero: u64,
    /// Most products in any one output.
    pub products: u64,
}

impl ReferenceTotals {
    /// The value in device memory before a launch.
    pub const START: Self =
        Self { max_abs_sum_bits: 0, max_abs_result_bits: 0, with_products: 0, non_zero: 0, products: 0 };
}

/// What [`CompareParams`](crate::CompareParams) counts. Indices are linear and logical.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct CompareTotals {
    /// Elements looked at.
    pub checked: u64,
    /// Elements whose value is not the result rounded once to the element type. Both zeros are one value, and
    /// so are all NaNs.
    pub differing: u64,
    /// First differing element, else `NONE`.
    pub first_differing: u64,
    /// Last differing element, else 0.
    pub last_differing: u64,
    /// Elements that are NaN where the result is not.
    pub nan: u64,
    /// First of them, else `NONE`.
    pub first_nan: u64,
    /// Elements that still hold the poison where the rounded result has other bits.
    pub stale: u64,
    /// First of them, else `NONE`.
    pub first_stale: u64,
    /// Elements that are zero where the rounded result is not.
    pub zero: u64,
    /// Elements that are infinite where the rounded result is finite.
    pub infinite: u64,
    /// Elements wrong by more than their own bound, or by NaN.
    pub over_element: u64,
    /// First of them, else `NONE`.
    pub first_over_element: u64,
    /// Elements wrong by more than the bound common to all, or by NaN.
    pub over_norm: u64,
    /// First of them, else `NONE`.
    pub first_over_norm: u64,
    /// Largest finite |got − result|, as the bits of an f64.
    pub max_error_bits: u64,
    /// Largest |got − result| / element bound over finite errors, as the bits of an f64; 0/0 counts as 0.
    pub max_ratio_bits: u64,
    /// Largest finite |got − rounded|, as the bits of an f64.
    pub beyond_rounded: u64,
}

impl CompareTotals {
    /// The value in device memory before a launch.
    pub const START: Self = Self {
        checked: 0,
        differing: 0,
        first_differing: NONE,
        last_differing: 0,
        nan: 0,
        first_nan: NONE,
        stale: 0,
        first_stale: NONE,
        zero: 0,
        infinite: 0,
        over_element: 0,
        first_over_element: NONE,
        over_norm: 0,
        first_over_norm: NONE,
        max_error_bits: 0,
        max_ratio_bits: 0,
        beyond_rounded: 0,
    };
}

/// What a check of one [`Zone`](crate::Zone) counts.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct ZoneTotals {
    /// Bytes that differ from the pattern.
    pub changed: u64,
    /// Offset of the first of them in the zone, in bytes, else `NONE`.
    pub first: u64,
    /// Offset of the last of them in the zone, in bytes, else 0.
    pub last: u64,
}

impl ZoneTotals {
    /// The value in device memory before a launch.
    pub const START: Self = Self { changed: 0, first: NONE, last: 0 };
}

/// What [`DiffParams`](crate::DiffParams) counts.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct DiffTotals {
    /// Elements whose bits differ.
    pub differing: u64,
    /// Index of the first of them, else `NONE`.
    pub first: u64,
}

impl DiffTotals {
    /// The value in device memory before a launch.
    pub const START: Self = Self { differing: 0, first: NONE };
}
