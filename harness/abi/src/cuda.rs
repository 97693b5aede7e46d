//! CUDA driver API: results, handles and signatures. Source: cuda.h of CUDA 13.0.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// `CUresult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct CuResult(pub i32);

impl CuResult {
    /// Success.
    pub const SUCCESS: Self = Self(0);
    /// An argument is out of range.
    pub const INVALID_VALUE: Self = Self(1);
    /// Memory is exhausted.
    pub const OUT_OF_MEMORY: Self = Self(2);
    /// `cuInit` was not called.
    pub const NOT_INITIALIZED: Self = Self(3);
    /// No device.
    pub const NO_DEVICE: Self = Self(100);
    /// No such device.
    pub const INVALID_DEVICE: Self = Self(101);
    /// Module image unusable.
    pub const INVALID_IMAGE: Self = Self(200);
    /// The driver is older than the PTX, or knows it not.
    pub const UNSUPPORTED_PTX_VERSION: Self = Self(222);
    /// No current context.
    pub const INVALID_CONTEXT: Self = Self(201);
    /// No such function, symbol or texture.
    pub const NOT_FOUND: Self = Self(500);
    /// A kernel touched an address it may not; the context is lost.
    pub const ILLEGAL_ADDRESS: Self = Self(700);
    /// A launch needs more than the device has.
    pub const LAUNCH_OUT_OF_RESOURCES: Self = Self(701);
    /// A kernel exceeded the watchdog's time; the context is lost.
    pub const LAUNCH_TIMEOUT: Self = Self(702);
    /// A device-side assertion fired; the context is lost.
    pub const ASSERT: Self = Self(710);
    /// Illegal instruction; the context is lost.
    pub const ILLEGAL_INSTRUCTION: Self = Self(715);
    /// Misaligned address; the context is lost.
    pub const MISALIGNED_ADDRESS: Self = Self(716);
    /// A kernel failed; the context is lost.
    pub const LAUNCH_FAILED: Self = Self(719);
    /// Unknown error.
    pub const UNKNOWN: Self = Self(999);

    /// Errors after which every call on the context fails, so that the process must end. Source: the notes
    /// "This leaves the process in an inconsistent state" in driver_types.h.
    #[must_use]
    pub fn is_sticky(self) -> bool {
        matches!(self.0, 700 | 702 | 710 | 714..=719)
    }

    /// Name without the `CUDA_ERROR_` prefix; unknown numbers print as `CODE_n`.
    #[must_use]
    pub fn name(self) -> String {
        let known = match self.0 {
            0 => "SUCCESS",
            1 => "INVALID_VALUE",
            2 => "OUT_OF_MEMORY",
            3 => "NOT_INITIALIZED",
            4 => "DEINITIALIZED",
            34 => "STUB_LIBRARY",
            46 => "DEVICE_UNAVAILABLE",
            100 => "NO_DEVICE",
            101 => "INVALID_DEVICE",
            200 => "INVALID_IMAGE",
            201 => "INVALID_CONTEXT",
            209 => "NO_BINARY_FOR_GPU",
            214 => "ECC_UNCORRECTABLE",
            218 => "INVALID_PTX",
            222 => "UNSUPPORTED_PTX_VERSION",
            500 => "NOT_FOUND",
            700 => "ILLEGAL_ADDRESS",
            701 => "LAUNCH_OUT_OF_RESOURCES",
            702 => "LAUNCH_TIMEOUT",
            709 => "CONTEXT_IS_DESTROYED",
            710 => "ASSERT",
            714 => "HARDWARE_STACK_ERROR",
            715 => "ILLEGAL_INSTRUCTION",
            716 => "MISALIGNED_ADDRESS",
            717 => "INVALID_ADDRESS_SPACE",
            718 => "INVALID_PC",
            719 => "LAUNCH_FAILED",
            802 => "SYSTEM_NOT_READY",
            803 => "SYSTEM_DRIVER_MISMATCH",
            999 => "UNKNOWN",
            other => return format!("CODE_{other}"),
        };
        known.to_owned()
    }
}

/// `CUdeviceptr`: an address in device memory.
pub type DevicePointer = u64;
/// `CUfunction`.
pub type Function = *mut c_void;
/// `CUstream`.
pub type Stream = *mut c_void;

/// `cuMemAlloc_v2(pointer, bytes)`.
pub type MemAlloc = unsafe extern "C" fn(*mut DevicePointer, usize) -> CuResult;
/// `cuMemFree_v2(pointer)`.
pub type MemFree = unsafe extern "C" fn(DevicePointer) -> CuResult;
/// `cuMemGetInfo_v2(free, total)`, bytes.
pub type MemGetInfo = unsafe extern "C" fn(*mut usize, *mut usize) -> CuResult;
/// `cuMemsetD8Async(pointer, value, bytes, stream)`.
pub type MemsetD8Async = unsafe extern "C" fn(DevicePointer, u8, usize, Stream) -> CuResult;
/// `cuMemcpyHtoDAsync_v2(destination, source, bytes, stream)`.
pub type MemcpyHtoDAsync = unsafe extern "C" fn(DevicePointer, *const c_void, usize, Stream) -> CuResult;
/// `cuMemcpyDtoHAsync_v2(destination, source, bytes, stream)`.
pub type MemcpyDtoHAsync = unsafe extern "C" fn(*mut c_void, DevicePointer, usize, Stream) -> CuResult;
/// `cuMemcpyDtoDAsync_v2(destination, source, bytes, stream)`.
pub type MemcpyDtoDAsync = unsafe extern "C" fn(DevicePointer, DevicePointer, usize, Stream) -> CuResult;
/// `cuStreamSynchronize(stream)`.
pub type StreamSynchronize = unsafe extern "C" fn(Stream) -> CuResult;
/// `cuCtxSynchronize()`.
pub type CtxSynchronize = unsafe extern "C" fn() -> CuResult;
/// `cuLaunchKernel(function, grid x y z, block x y z, shared bytes, stream, parameters, extra)`.
pub type LaunchKernel = unsafe extern "C" fn(
    Function,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    Stream,
    *mut *mut c_void,
    *mut *mut c_void,
) -> CuResult;
/// `cuDriverGetVersion(version)`: 1000 * major + 10 * minor of CUDA.
pub type DriverGetVersion = unsafe extern "C" fn(*mut c_int) -> CuResult;
/// `cuGetErrorName(error, name)`.
pub type GetErrorName = unsafe extern "C" fn(CuResult, *mut *const c_char) -> CuResult;

/// Exported by the simulator's driver only: its presence tells that no GPU is behind it.
pub const SIMULATOR_SYMBOL: &str = "convict_simulator";
