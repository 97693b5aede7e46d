//! Element types and the types of one problem. Knows names and widths; rounding lives in `kernel`.

use serde::{Deserialize, Serialize};

/// An element or compute type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16: binary32 with 8 significand bits.
    Bf16,
    /// Signed 8-bit integer: planned for, not executed yet.
    I8,
    /// Signed 32-bit integer: planned for, not executed yet.
    I32,
}

impl DType {
    /// Every type, in the minimizer's order of preference (plainest first).
    pub const ALL: [Self; 6] = [Self::F32, Self::F64, Self::F16, Self::Bf16, Self::I8, Self::I32];

    /// The types that convict has kernels for, plainest first.
    pub const FLOATS: [Self; 4] = [Self::F32, Self::F64, Self::F16, Self::Bf16];

    /// The word of the one-line text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::I8 => "i8",
            Self::I32 => "i32",
        }
    }

    /// The type of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Bytes of one element.
    #[must_use]
    pub fn bytes(self) -> i64 {
        match self {
            Self::I8 => 1,
            Self::F32 | Self::I32 => 4,
            Self::F64 => 8,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// True for integers.
    #[must_use]
    pub fn is_integer(self) -> bool {
        match self {
            Self::I8 | Self::I32 => true,
            Self::F32 | Self::F64 | Self::F16 | Self::Bf16 => false,
        }
    }
}

/// Types of the three tensors and of the accumulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DTypes {
    /// Image.
    pub x: DType,
    /// Filter.
    pub w: DType,
    /// Response.
    pub y: DType,
    /// Accumulation type that the convolution descriptor declares.
    pub compute: DType,
}

impl DTypes {
    /// All three tensors alike, with the default compute type.
    #[must_use]
    pub fn uniform(dtype: DType) -> Self {
        Self { x: dtype, w: dtype, y: dtype, compute: Self::default_compute([dtype; 3]) }
    }

    /// The compute type assumed where none is written: f64 as soon as one tensor is f64, else i32 as soon as one is an
    /// integer, else f32.
    #[must_use]
    pub fn default_compute(tensors: [DType; 3]) -> DType {
        if tensors.contains(&DType::F64) {
            DType::F64
        } else if tensors.into_iter().any(DType::is_integer) {
            DType::I32
        } else {
            DType::F32
        }
    }

    /// True where a tensor or the sums are integers: plans of such a problem are judged, executions are not yet.
    #[must_use]
    pub fn has_integers(self) -> bool {
        self.tensors().into_iter().chain([self.compute]).any(DType::is_integer)
    }

    /// The three tensors in role order.
    #[must_use]
    pub fn tensors(self) -> [DType; 3] {
        [self.x, self.w, self.y]
    }

    /// True when all tensors share one type.
    #[must_use]
    pub fn is_uniform(self) -> bool {
        self.x == self.w && self.w == self.y
    }
}
