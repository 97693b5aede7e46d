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
}

impl Layout {
    /// Both orders, plainest first.
    pub const ALL: [Self; 2] = [Self::Nchw, Self::Nhwc];

    /// The word of the one-line text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nchw => "nchw",
            Self::Nhwc => "nhwc",
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

    /// Element strides for extents in the logical order n, c, spatial. Saturates where a product leaves i64;
    /// `Case::validate` refuses such a case.
    #[must_use]
    pub fn strides(self, extents: &Extents) -> Vec<i64> {
        let rank = extents.len();
        let mut strides = vec![1_i64; rank];
        let memory_order: Vec<usize> = match self {
            Self::Nchw => (0..rank).rev().collect(),
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

    /// `nchw`, `nhwc` or `mixed`: what signatures keep of the layout.
    #[must_use]
    pub fn class(self) -> &'static str {
        if self.is_uniform() { self.x.name() } else { "mixed" }
    }
}
