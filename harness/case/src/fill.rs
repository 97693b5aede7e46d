//! Names of the data that buffers start with. Knows the words; the values come from one formula in `kernel`.

use serde::{Deserialize, Serialize};

/// A family of tensor values; each element follows from (seed, tensor, coordinates).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FillKind {
    /// Every element 0.
    Zero,
    /// Every element 1.
    One,
    /// Dense integers from {-2, -1, 1, 2}.
    Int2,
    /// Dense integers from {-1, 1}.
    Int1,
    /// Integers from {-1, 0, 1}.
    Tern,
    /// Zero-mean reals in [-1, 1) with 24 bits, rounded to the element type.
    Real,
    /// Small integers that encode the coordinates, to expose swaps.
    Index,
    /// One 1 among zeros, to expose the tap that an output read.
    Onehot,
    /// Small integers that grow along memory order.
    Ramp,
    /// `Int2` with a single NaN.
    Nan,
    /// Mostly zeros with a few `Int2` values.
    Sparse,
}

impl FillKind {
    /// Every family, simplest first: the minimizer's order.
    pub const ALL: [Self; 11] = [
        Self::Zero,
        Self::One,
        Self::Onehot,
        Self::Int1,
        Self::Tern,
        Self::Int2,
        Self::Sparse,
        Self::Index,
        Self::Ramp,
        Self::Real,
        Self::Nan,
    ];

    /// The word of the one-line text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::One => "one",
            Self::Int2 => "int2",
            Self::Int1 => "int1",
            Self::Tern => "tern",
            Self::Real => "real",
            Self::Index => "index",
            Self::Onehot => "onehot",
            Self::Ramp => "ramp",
            Self::Nan => "nan",
            Self::Sparse => "sparse",
        }
    }

    /// The family of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// True when every value is an integer, so that sums can be exact.
    #[must_use]
    pub fn is_integer(self) -> bool {
        match self {
            Self::Real | Self::Nan => false,
            Self::Zero
            | Self::One
            | Self::Int2
            | Self::Int1
            | Self::Tern
            | Self::Index
            | Self::Onehot
            | Self::Ramp
            | Self::Sparse => true,
        }
    }
}

/// Contents of the input tensors (and of the output where beta is not 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    /// The family.
    pub kind: FillKind,
    /// Seed of the formula.
    pub seed: u64,
}

/// Contents of the workspace before the plan runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum WorkspaceFill {
    /// Every byte 0x00.
    Zero,
    /// Every byte 0xFF: NaN in each float type.
    Ones,
    /// Bytes of a hash of the seed and the offset.
    Random(u64),
}

/// As the one-line text spells it: `00`, `ff`, `rand:SEED`.
impl std::fmt::Display for WorkspaceFill {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Zero => formatter.write_str("00"),
            Self::Ones => formatter.write_str("ff"),
            Self::Random(seed) => write!(formatter, "rand:{seed}"),
        }
    }
}

/// Contents of the output before the plan runs, where beta is 0 and it must not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputFill {
    /// Every byte 0xFF: NaN in each float type.
    Nan,
    /// A finite value that no right answer of the fills has.
    Finite,
}

impl OutputFill {
    /// The word of the one-line text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nan => "nan",
            Self::Finite => "finite",
        }
    }
}
