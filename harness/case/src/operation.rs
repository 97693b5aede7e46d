//! The three convolution passes and the tensors they read and write. Knows roles, not shapes.

use serde::{Deserialize, Serialize};

/// A convolution pass. cuDNN numbers engines per pass, so a case never changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Forward: y from x and w.
    Fprop,
    /// Backward data: x (its gradient) from y (its gradient) and w.
    Dgrad,
    /// Backward filter: w (its gradient) from x and y (its gradient).
    Wgrad,
}

impl Operation {
    /// Every pass, in the order that listings use.
    pub const ALL: [Self; 3] = [Self::Fprop, Self::Dgrad, Self::Wgrad];

    /// The word of the one-line text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fprop => "fprop",
            Self::Dgrad => "dgrad",
            Self::Wgrad => "wgrad",
        }
    }

    /// The tensor that this pass writes.
    #[must_use]
    pub fn output(self) -> Role {
        match self {
            Self::Fprop => Role::Y,
            Self::Dgrad => Role::X,
            Self::Wgrad => Role::W,
        }
    }

    /// The two tensors that this pass reads, in role order.
    #[must_use]
    pub fn inputs(self) -> [Role; 2] {
        match self {
            Self::Fprop => [Role::X, Role::W],
            Self::Dgrad => [Role::W, Role::Y],
            Self::Wgrad => [Role::X, Role::Y],
        }
    }
}

/// A tensor of the forward problem: x image, w filter, y response. Gradients keep the name of their tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The image, extents n, c, spatial.
    X,
    /// The filter, extents k, c / g, spatial.
    W,
    /// The response, extents n, k, spatial.
    Y,
}

impl Role {
    /// The roles in the order x, w, y that text and JSON use.
    pub const ALL: [Self; 3] = [Self::X, Self::W, Self::Y];

    /// Position in role order, also the tensor number of the fill formula.
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Self::X => 0,
            Self::W => 1,
            Self::Y => 2,
        }
    }

    /// Lower-case letter.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::W => "w",
            Self::Y => "y",
        }
    }
}
