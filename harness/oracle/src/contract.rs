//! What cuDNN may answer in which phase. Knows families of status numbers and the rules between them; reads
//! no text and calls nothing.

use case::{Phase, Refusal};

/// What a status number means, in the table of its major version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// The library or its set of files is not ready: nothing that a case could cause.
    Unready,
    /// Versions or arithmetic of the library contradict themselves.
    Inconsistent,
    /// The caller is blamed.
    BadParam,
    /// The library declines.
    NotSupported,
    /// Memory could not be had.
    Allocation,
    /// The library blames itself, or gives a number that it does not document.
    Internal,
    /// Something failed on the device.
    Execution,
}

/// Statuses of cuDNN 8 are below 100, those of cuDNN 9 are 1000 and more.
const FIRST_OF_CUDNN_9: i32 = 100;

impl Family {
    /// The family of a status other than success.
    pub(crate) fn of(status: i32) -> Self {
        if status < FIRST_OF_CUDNN_9 { Self::of_cudnn_8(status) } else { Self::of_cudnn_9(status) }
    }

    fn of_cudnn_8(status: i32) -> Self {
        match status {
            // NOT_INITIALIZED, LICENSE_ERROR, RUNTIME_IN_PROGRESS.
            1 | 10 | 12 => Self::Unready,
            // RUNTIME_FP_OVERFLOW, VERSION_MISMATCH.
            13 | 14 => Self::Inconsistent,
            2 => Self::Allocation,
            // BAD_PARAM, INVALID_VALUE.
            3 | 5 => Self::BadParam,
            // ARCH_MISMATCH, NOT_SUPPORTED, RUNTIME_PREREQUISITE_MISSING.
            6 | 9 | 11 => Self::NotSupported,
            8 => Self::Execution,
            _ => Self::Internal,
        }
    }

    fn of_cudnn_9(status: i32) -> Self {
        match status {
            // SUBLIBRARY_VERSION_MISMATCH, RUNTIME_FP_OVERFLOW.
            1002 | 1007 => Self::Inconsistent,
            1000..=1999 => Self::Unready,
            2000..=2999 => Self::BadParam,
            3000..=3999 => Self::NotSupported,
            // HOST_ALLOCATION_FAILED, DEVICE_ALLOCATION_FAILED.
            4003 | 4004 => Self::Allocation,
            5000..=5999 => Self::Execution,
            _ => Self::Internal,
        }
    }
}

/// What the contract says of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// The library may decline here.
    Refusal,
    /// Nothing can be concluded: memory or the set of files stood in the way.
    Inconclusive,
    /// The contract is broken: the words say which rule.
    Broken(&'static str),
    /// The caller is blamed for a problem that our own rules call valid, and those may be wrong.
    Doubtful,
}

/// Rules on a status in a phase; `recommended` where a heuristic list holds the configuration.
pub(crate) fn rule(refusal: &Refusal, recommended: bool) -> Ruling {
    let executing = refusal.phase >= Phase::Execute;
    match Family::of(refusal.status) {
        Family::Unready | Family::Allocation => Ruling::Inconclusive,
        Family::Inconsistent | Family::Internal | Family::Execution => {
            Ruling::Broken("the library blames itself")
        }
        Family::NotSupported | Family::BadParam if executing => {
            Ruling::Broken("the plan was finalized and its pointers are valid")
        }
        Family::NotSupported | Family::BadParam if recommended => {
            Ruling::Broken("heuristics recommend the configuration")
        }
        Family::NotSupported => Ruling::Refusal,
        Family::BadParam => Ruling::Doubtful,
    }
}

/// True for an answer that declines cleanly: in words meant for it, and before anything ran.
pub(crate) fn is_clean_refusal(refusal: &Refusal) -> bool {
    let declined = match Family::of(refusal.status) {
        Family::NotSupported | Family::BadParam => true,
        Family::Unready
        | Family::Inconsistent
        | Family::Allocation
        | Family::Internal
        | Family::Execution => false,
    };
    declined && refusal.phase < Phase::Execute
}
