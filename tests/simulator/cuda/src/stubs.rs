//! What a real cuDNN asks of a driver while it plans without a device: enough answers to take compiled kernels for
//! loaded, and names that only have to be there. Knows no kernel; nothing of this can be launched.

use std::ffi::{c_int, c_void};

use abi::cuda::CuResult;

use crate::{code, put};

/// Stands for whatever was loaded. Never read through.
const LOADED: *mut c_void = 0xC0_0020 as *mut c_void;

/// Blocks of one cluster, as on sm_90.
const CLUSTER_BLOCKS: c_int = 16;

macro_rules! absent {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> CuResult {
            CuResult::NOT_INITIALIZED
        }
    )* };
}

macro_rules! loaded {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(handle: *mut *mut c_void) -> CuResult {
            code(put(handle, LOADED))
        }
    )* };
}

macro_rules! done {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> CuResult {
            CuResult::SUCCESS
        }
    )* };
}

// Source: the symbols without which cuDNN 9.19 drops its run-time-compiled engines. NVRTC 13.0 asks any driver that
// starts for an export table, and reads through a null pointer where that function is missing.
absent! {
    cuCtxGetLimit cuCtxPopCurrent cuCtxPushCurrent cuGetExportTable cuLaunchCooperativeKernel cuLaunchKernelEx
    cuLinkAddData cuLinkComplete cuLinkCreate cuLinkDestroy cuStreamGetCtx cuTensorMapEncodeIm2col
    cuTensorMapEncodeTiled
}

// cuDNN 9.19 loads what it compiled while it finalizes the plan, and gives up the plan where that fails.
loaded! { cuLibraryLoadData cuLibraryLoadFromFile cuLibraryGetKernel cuKernelGetFunction }

done! { cuLibraryUnload cuKernelSetAttribute }

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetAttribute(value: *mut c_int) -> CuResult {
    code(put(value, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxPotentialClusterSize(blocks: *mut c_int) -> CuResult {
    code(put(blocks, CLUSTER_BLOCKS))
}
