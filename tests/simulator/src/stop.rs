//! Why a call does not succeed: a status with its words, or the end of the process. Knows numbers; ends nothing.

/// What happens to the process instead of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A read of an unmapped address.
    Segfault,
    /// `abort()`.
    Abort,
    /// An illegal instruction.
    IllegalInstruction,
    /// The call never returns.
    Hang,
    /// `exit(code)`.
    Exit(i32),
}

/// A call that does not succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// A `cudnnStatus_t` and the innermost failed condition, empty where the library has no words.
    #[error("status {0}: {1}")]
    Status(i32, String),
    /// The process ends, or stalls.
    #[error("the process ends: {0:?}")]
    End(Ending),
}

impl Stop {
    /// A status with words.
    pub(crate) fn status(status: i32, words: impl Into<String>) -> Self {
        Self::Status(status, words.into())
    }

    /// `CUDNN_STATUS_BAD_PARAM` with the condition that failed.
    pub(crate) fn bad_param(words: impl Into<String>) -> Self {
        Self::status(BAD_PARAM, words)
    }
}

/// Statuses of cuDNN 9 that the simulator gives. Source: cudnn_graph.h of 9.19.
pub(crate) const NOT_INITIALIZED: i32 = 1001;
pub(crate) const VERSION_MISMATCH: i32 = 1002;
pub(crate) const SERIALIZATION_MISMATCH: i32 = 1003;
pub(crate) const BAD_PARAM: i32 = 2000;
pub(crate) const NULL_POINTER: i32 = 2002;
pub(crate) const MISALIGNED_POINTER: i32 = 2003;
pub(crate) const NOT_FINALIZED: i32 = 2004;
pub(crate) const OUT_OF_BOUND: i32 = 2005;
pub(crate) const ATTRIBUTE_TYPE: i32 = 2010;
pub(crate) const DESCRIPTOR_TYPE: i32 = 2012;
pub(crate) const NOT_SUPPORTED: i32 = 3000;
pub(crate) const NOT_SUPPORTED_SHAPE: i32 = 3002;
pub(crate) const NOT_SUPPORTED_DATA_TYPE: i32 = 3003;
pub(crate) const NOT_SUPPORTED_LAYOUT: i32 = 3004;
pub(crate) const ARCH_MISMATCH: i32 = 3007;
