//! Stand-ins for cuBLASLt and NVRTC: every function fails in its library's own way. Knows names and numbers.

#![allow(unsafe_code, reason = "the exported functions take the raw pointers of a C interface")]
#![allow(non_snake_case, reason = "the exported functions have the names of cublasLt.h and nvrtc.h")]
#![allow(missing_docs, reason = "the exported functions are documented in NVIDIA's references")]
#![allow(clippy::missing_safety_doc, reason = "callers owe what NVIDIA's references ask for")]

use std::ffi::{c_char, c_int};

/// `CUBLAS_STATUS_NOT_SUPPORTED`.
const CUBLAS_NOT_SUPPORTED: c_int = 15;

/// `NVRTC_ERROR_INTERNAL_ERROR`.
const NVRTC_INTERNAL_ERROR: c_int = 11;

macro_rules! failing {
    ($status:ident: $($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> c_int {
            $status
        }
    )* };
}

failing! { CUBLAS_NOT_SUPPORTED:
    cublasLtCreate cublasLtDestroy cublasLtGetProperty cublasLtMatmul cublasLtMatmulAlgoGetHeuristic
    cublasLtMatmulAlgoGetIds cublasLtMatmulAlgoInit cublasLtMatmulAlgoCheck cublasLtMatmulAlgoCapGetAttribute
    cublasLtMatmulAlgoConfigGetAttribute cublasLtMatmulAlgoConfigSetAttribute
    cublasLtMatmulDescCreate cublasLtMatmulDescDestroy cublasLtMatmulDescGetAttribute
    cublasLtMatmulDescInit_internal cublasLtMatmulDescSetAttribute
    cublasLtMatmulPreferenceCreate cublasLtMatmulPreferenceDestroy cublasLtMatmulPreferenceGetAttribute
    cublasLtMatmulPreferenceInit_internal cublasLtMatmulPreferenceSetAttribute
    cublasLtMatrixLayoutCreate cublasLtMatrixLayoutDestroy cublasLtMatrixLayoutGetAttribute
    cublasLtMatrixLayoutInit_internal cublasLtMatrixLayoutSetAttribute cublasLtGroupedMatrixLayoutCreate
    cublasLtMatrixTransform cublasLtMatrixTransformDescCreate cublasLtMatrixTransformDescDestroy
    cublasLtMatrixTransformDescGetAttribute cublasLtMatrixTransformDescSetAttribute
}

failing! { NVRTC_INTERNAL_ERROR:
    nvrtcCreateProgram nvrtcDestroyProgram nvrtcCompileProgram nvrtcGetPTX nvrtcGetPTXSize nvrtcGetCUBIN
    nvrtcGetCUBINSize nvrtcGetProgramLog nvrtcGetProgramLogSize nvrtcAddNameExpression nvrtcGetLoweredName
}

#[unsafe(no_mangle)]
pub extern "C" fn cublasLtGetVersion() -> usize {
    130_100
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcVersion(major: *mut c_int, minor: *mut c_int) -> c_int {
    for (target, value) in [(major, 13), (minor, 0)] {
        if target.is_null() {
            return NVRTC_INTERNAL_ERROR;
        }
        // SAFETY: the caller owes two pointers to writable numbers.
        unsafe { target.write_unaligned(value) };
    }
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn nvrtcGetErrorString(_error: c_int) -> *const c_char {
    c"NVRTC_ERROR_INTERNAL_ERROR".as_ptr()
}
