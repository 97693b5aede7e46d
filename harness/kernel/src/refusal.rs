//! Why a twin or a launch check refuses its parameters. Knows what can be malformed; knows no remedy.

use std::fmt;

/// Parameters that no kernel may be run with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The parameter struct has another size than the kernel's, in bytes.
    ParamBytes {
        /// Size that the kernel takes.
        expected: usize,
        /// Size that was given.
        actual: usize,
    },
    /// No element type has this number.
    Dtype(u32),
    /// No [`FillKind`](crate::FillKind) has this number.
    Kind(u32),
    /// No operation has this number.
    Op(u32),
    /// Zones are neither painted nor checked, or are more than `ZONES_MAX`.
    Zones,
    /// No zone pattern has this number.
    Pattern(u32),
    /// Lanes are not a power of two from 1 to 256.
    Lanes(u32),
    /// An extent or a stride is negative, or their products do not fit in 64 bits.
    View,
    /// Channels, groups, strides or the prior value's view contradict each other or exceed 31 bits.
    Geometry,
    /// A slice is shorter than its description.
    Short {
        /// Bytes (or f64 elements) that the parameters reach.
        needed: u64,
        /// Length that was given, in the same unit.
        actual: u64,
    },
    /// Host memory for so many outputs cannot be had.
    Memory {
        /// Outputs asked for.
        outputs: u64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ParamBytes { expected, actual } => {
                write!(f, "parameter struct has {actual} bytes where the kernel takes {expected}")
            }
            Self::Dtype(number) => write!(f, "no element type has number {number}"),
            Self::Kind(number) => write!(f, "no fill has number {number}"),
            Self::Op(number) => write!(f, "no operation has number {number}"),
            Self::Zones => write!(f, "zones need a mode of 0 or 1 and a count of at most 16"),
            Self::Pattern(number) => write!(f, "no zone pattern has number {number}"),
            Self::Lanes(lanes) => write!(f, "lanes are {lanes}, not a power of two from 1 to 256"),
            Self::View => write!(f, "a view has a negative number or exceeds 64 bits"),
            Self::Geometry => write!(f, "extents, groups, strides or the prior value contradict each other"),
            Self::Short { needed, actual } => write!(f, "a slice of {actual} is used up to {needed}"),
            Self::Memory { outputs } => write!(f, "no host memory for {outputs} outputs"),
        }
    }
}

impl std::error::Error for Refusal {}
