//! Memory orders of packed tensors. Knows how strides follow from extents; knows nothing of addresses.

use serde::{Deserialize, Serialize};

use crate::geometry::Extents;
use crate::operation::Operation;

/// A packed memory order; the names are the field's for two axes and stand for any rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Channels first: n, c, spatial; the last spatial extent is contiguous.
    Nchw,
    /// Channels last: n, spatial, c; the channel is contiguous.
    Nhwc,
    /// Channels first, in vectors of 4 neighbouring channels: int8 alone.
    Nchwc4,
    /// Channels first, in vectors of 32 neighbouring channels: int8 alone.
    Nchwc32,
}

impl Layout {
    /// Every order, plainest first.
    pub const ALL: [Self; 4] = [Self::Nchw, Self::Nhwc, Self::Nchwc4, Self::Nchwc32];

    /// The orders without vectors, which every type has, plainest first.
    pub const PLAIN: [Self; 2] = [Self::Nchw, Self::Nhwc];

    /// The word of the one-line text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nchw => "nchw",
            Self::Nhwc => "nhwc",
            Self::Nchwc4 => "nchwc4",
            Self::Nchwc32 => "nchwc32",
        }
    }

    /// Channels that lie together as one element of the tensor's description; 1 where each is its own.
    #[must_use]
    pub fn vector(self) -> i64 {
        match self {
            Self::Nchw | Self::Nhwc => 1,
            Self::Nchwc4 => 4,
            Self::Nchwc32 => 32,
        }
    }

    /// The word for a tensor of that operation: matrices lie row after row or column after column.
    #[must_use]
    pub fn word(self, operation: Operation) -> &'static str {
        match (operation, self) {
            (Operation::MatMul, Self::Nchw) => "row",
            (Operation::MatMul, Self::Nhwc) => "col",
            (_, layout) => layout.name(),
        }
    }

    /// The layout of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.name() == name)
    }

    /// Element strides for extents in the logical order n, c, spatial; of a vectorised order they count vectors, as the
    /// extents do. Saturates where a product leaves i64; `Case::validate` refuses such a case.
    #[must_use]
    pub fn strides(self, extents: &Extents) -> Vec<i64> {
        let rank = extents.len();
        let mut strides = vec![1_i64; rank];
        let memory_order: Vec<usize> = match self {
            Self::Nchw | Self::Nchwc4 | Self::Nchwc32 => (0..rank).rev().collect(),
            Self::Nhwc => std::iter::once(1).chain((2..rank).rev()).chain(std::iter::once(0)).collect(),
        };
        let mut step = 1_i64;
        for axis in memory_order {
            strides[axis] = step;
            step = step.saturating_mul(extents[axis]);
        }
        strides
    }
}

/// Layouts of the three tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layouts {
    /// Image.
    pub x: Layout,
    /// Filter.
    pub w: Layout,
    /// Response.
    pub y: Layout,
}

impl Layouts {
    /// All three alike.
    #[must_use]
    pub fn uniform(layout: Layout) -> Self {
        Self { x: layout, w: layout, y: layout }
    }

    /// The three tensors in role order.
    #[must_use]
    pub fn tensors(self) -> [Layout; 3] {
        [self.x, self.w, self.y]
    }

    /// True when all tensors share one layout.
    #[must_use]
    pub fn is_uniform(self) -> bool {
        self.x == self.w && self.w == self.y
    }

    /// The name of the one layout, or `mixed`: what signatures keep of it.
    #[must_use]
    pub fn class(self) -> &'static str {
        if self.is_uniform() { self.x.name() } else { "mixed" }
    }
}
