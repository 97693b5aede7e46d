//! The arithmetic of engines: formulations of the operations on dense arrays, over numbers that round as
//! different hardware does. Knows shapes; knows no bytes and no faults.

mod gemm;
mod others;
mod rows;
mod run;

pub(crate) use run::split_bytes;
pub use run::{Algorithm, Arithmetic, Work, operate};

use case::{Operation, Role};

/// A pass of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PassKind {
    Fprop,
    Dgrad,
    Wgrad,
}

impl PassKind {
    /// The pass that an operation is, where it is one.
    pub(crate) fn of(operation: Operation) -> Option<Self> {
        match operation {
            Operation::Fprop => Some(Self::Fprop),
            Operation::Dgrad => Some(Self::Dgrad),
            Operation::Wgrad => Some(Self::Wgrad),
            Operation::MaxPool | Operation::AvgPool | Operation::MatMul | Operation::RmsNorm => None,
        }
    }

    /// The tensor that it writes.
    pub(crate) fn output(self) -> Role {
        match self {
            Self::Fprop => Role::Y,
            Self::Dgrad => Role::X,
            Self::Wgrad => Role::W,
        }
    }
}

/// A number that sums are kept in.
pub trait Real: Copy + Default {
    /// The nearest number.
    fn of(value: f64) -> Self;
    /// Its value.
    fn value(self) -> f64;
    /// This plus a product.
    #[must_use]
    fn plus(self, a: Self, b: Self) -> Self;
    /// The sum of two.
    #[must_use]
    fn add(self, other: Self) -> Self;
}

impl Real for f32 {
    fn of(value: f64) -> Self {
        value as Self
    }

    fn value(self) -> f64 {
        f64::from(self)
    }

    fn plus(self, a: Self, b: Self) -> Self {
        self + a * b
    }

    fn add(self, other: Self) -> Self {
        self + other
    }
}

impl Real for f64 {
    fn of(value: f64) -> Self {
        value
    }

    fn value(self) -> f64 {
        self
    }

    fn plus(self, a: Self, b: Self) -> Self {
        self + a * b
    }

    fn add(self, other: Self) -> Self {
        self + other
    }
}

/// A sum cut off, not rounded, after 27 significant bits: f32 with the three guard bits that accumulators of
/// tensor cores have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Chopped(f64);

impl Chopped {
    const KEPT: u64 = u64::MAX << 26;

    fn chop(value: f64) -> Self {
        Self(f64::from_bits(value.to_bits() & Self::KEPT))
    }
}

impl Real for Chopped {
    fn of(value: f64) -> Self {
        Self::chop(value)
    }

    fn value(self) -> f64 {
        f64::from(self.0 as f32)
    }

    fn plus(self, a: Self, b: Self) -> Self {
        Self::chop(self.0 + a.0 * b.0)
    }

    fn add(self, other: Self) -> Self {
        Self::chop(self.0 + other.0)
    }
}

/// An f32 rounded to the 11 significant bits of TF32, to nearest.
pub(crate) fn to_tf32(value: f32) -> f32 {
    if !value.is_finite() {
        return value;
    }
    f32::from_bits(value.to_bits().wrapping_add(0x1000) & !0x1FFF)
}

#[cfg(test)]
mod tests;
