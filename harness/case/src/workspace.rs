//! The workspace a plan is given. Knows amounts and alignment; knows nothing of allocation.

use serde::{Deserialize, Serialize};

use crate::fill::WorkspaceFill;

/// How many bytes of workspace a plan gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum WorkspaceAmount {
    /// What the plan asks for, to the byte.
    #[default]
    Exact,
    /// That and so many bytes more.
    Extra(i64),
    /// What the plan asks for, provided it is at most so many bytes; a plan that wants more is passed over.
    Max(i64),
}

/// Workspace of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    /// Bytes given.
    #[serde(default)]
    pub amount: WorkspaceAmount,
    /// The pointer is a multiple of this many bytes and of no larger power of two. A power of two.
    #[serde(default = "Workspace::default_alignment")]
    pub alignment: i64,
    /// Contents before the run; absent means that the matrix of executions decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<WorkspaceFill>,
}

impl Workspace {
    /// 256 bytes, what `cudaMalloc` promises at least.
    pub const DEFAULT_ALIGNMENT: i64 = 256;

    fn default_alignment() -> i64 {
        Self::DEFAULT_ALIGNMENT
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self { amount: WorkspaceAmount::Exact, alignment: Self::DEFAULT_ALIGNMENT, contents: None }
    }
}
