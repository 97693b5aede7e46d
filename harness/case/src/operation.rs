//! The operations and the tensors they read and write. Knows roles, not shapes.

use serde::{Deserialize, Serialize};

/// A convolution pass or another operation. cuDNN numbers engines per operation, so a case never changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Forward: y from x and w.
    Fprop,
    /// Backward data: x (its gradient) from y (its gradient) and w.
    Dgrad,
    /// Backward filter: w (its gradient) from x and y (its gradient).
    Wgrad,
    /// The largest element of each window; padding is smaller than any element. Without w.
    MaxPool,
    /// The mean of each window, padding counted as zeros. Without w.
    AvgPool,
    /// Product of matrices in a batch: y\[b, m, n\] sums x\[b, m, k\] w\[b, k, n\] over k.
    MatMul,
    /// Root mean square normalization: y\[n, c\] = x\[n, c\] w\[c\] / sqrt(mean of squares of x\[n\] + epsilon).
    RmsNorm,
}

impl Operation {
    /// Every operation, in the order that listings use.
    pub const ALL: [Self; 7] =
        [Self::Fprop, Self::Dgrad, Self::Wgrad, Self::MaxPool, Self::AvgPool, Self::MatMul, Self::RmsNorm];

    /// The three passes of a convolution.
    pub const CONVOLUTIONS: [Self; 3] = [Self::Fprop, Self::Dgrad, Self::Wgrad];

    /// What RMS normalization adds to the mean of squares: 2^-17, near the customary 1e-5 and the same number in
    /// every type.
    pub const EPSILON: f64 = 1.0 / 131_072.0;

    /// The word of the one-line text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fprop => "fprop",
            Self::Dgrad => "dgrad",
            Self::Wgrad => "wgrad",
            Self::MaxPool => "maxpool",
            Self::AvgPool => "avgpool",
            Self::MatMul => "matmul",
            Self::RmsNorm => "rmsnorm",
        }
    }

    /// True for the passes of a convolution, which alone have scales and a legacy interface.
    #[must_use]
    pub fn is_convolution(self) -> bool {
        match self {
            Self::Fprop | Self::Dgrad | Self::Wgrad => true,
            Self::MaxPool | Self::AvgPool | Self::MatMul | Self::RmsNorm => false,
        }
    }

    /// True for what slides a window and has no w: its filter extents are the window's.
    #[must_use]
    pub fn is_pooling(self) -> bool {
        match self {
            Self::MaxPool | Self::AvgPool => true,
            Self::Fprop | Self::Dgrad | Self::Wgrad | Self::MatMul | Self::RmsNorm => false,
        }
    }

    /// The tensors that it has, in role order.
    #[must_use]
    pub fn tensors(self) -> &'static [Role] {
        if self.is_pooling() { &[Role::X, Role::Y] } else { &Role::ALL }
    }

    /// The tensor that it writes.
    #[must_use]
    pub fn output(self) -> Role {
        match self {
            Self::Fprop | Self::MaxPool | Self::AvgPool | Self::MatMul | Self::RmsNorm => Role::Y,
            Self::Dgrad => Role::X,
            Self::Wgrad => Role::W,
        }
    }

    /// The tensors that it reads, in role order: one or two.
    #[must_use]
    pub fn inputs(self) -> &'static [Role] {
        match self {
            Self::Fprop | Self::MatMul | Self::RmsNorm => &[Role::X, Role::W],
            Self::Dgrad => &[Role::W, Role::Y],
            Self::Wgrad => &[Role::X, Role::Y],
            Self::MaxPool | Self::AvgPool => &[Role::X],
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
