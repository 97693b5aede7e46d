//! Functions that only have to be there: a real cuDNN looks them up when it plans without a device. Knows names.

use abi::cuda::CuResult;

macro_rules! stubs {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> CuResult {
            CuResult::NOT_INITIALIZED
        }
    )* };
}

// Source: the symbols without which cuDNN 9.19 drops its run-time-compiled engines.
stubs! {
    cuCtxGetLimit cuCtxPopCurrent cuCtxPushCurrent cuKernelGetAttribute cuKernelGetFunction cuKernelSetAttribute
    cuLaunchCooperativeKernel cuLaunchKernelEx cuLibraryGetKernel cuLibraryLoadData cuLibraryLoadFromFile
    cuLibraryUnload cuLinkAddData cuLinkComplete cuLinkCreate cuLinkDestroy cuOccupancyMaxPotentialClusterSize
    cuStreamGetCtx cuTensorMapEncodeIm2col cuTensorMapEncodeTiled
}
