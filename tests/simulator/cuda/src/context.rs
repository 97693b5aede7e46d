//! Devices, contexts and error names. Knows numbers of attributes and results.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use abi::cuda::CuResult;
use simulator::driver::{CAPABILITY, CUDA_VERSION, DEVICE_NAME, TOTAL_BYTES};

use crate::{code, driver, put};

/// The one context. Never read through.
const CONTEXT: *mut c_void = 0xC0_0010 as *mut c_void;

/// `CUdevice_attribute` and its value; every other is 0.
const ATTRIBUTES: [(c_int, c_int); 14] = [
    (1, 1024),
    (2, 1024),
    (3, 1024),
    (4, 64),
    (5, 2_147_483_647),
    (6, 65_535),
    (7, 65_535),
    (8, 49_152),
    (10, 32),
    (16, 132),
    (39, 2048),
    (41, 1),
    (75, CAPABILITY.0),
    (76, CAPABILITY.1),
];

const NAMES: [(i32, &CStr, &CStr); 16] = [
    (0, c"CUDA_SUCCESS", c"no error"),
    (1, c"CUDA_ERROR_INVALID_VALUE", c"invalid argument"),
    (2, c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"),
    (3, c"CUDA_ERROR_NOT_INITIALIZED", c"initialization error"),
    (100, c"CUDA_ERROR_NO_DEVICE", c"no CUDA-capable device is detected"),
    (101, c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal"),
    (200, c"CUDA_ERROR_INVALID_IMAGE", c"device kernel image is invalid"),
    (201, c"CUDA_ERROR_INVALID_CONTEXT", c"invalid device context"),
    (400, c"CUDA_ERROR_INVALID_HANDLE", c"invalid resource handle"),
    (500, c"CUDA_ERROR_NOT_FOUND", c"named symbol not found"),
    (700, c"CUDA_ERROR_ILLEGAL_ADDRESS", c"an illegal memory access was encountered"),
    (702, c"CUDA_ERROR_LAUNCH_TIMEOUT", c"the launch timed out and was terminated"),
    (710, c"CUDA_ERROR_ASSERT", c"device-side assert triggered"),
    (715, c"CUDA_ERROR_ILLEGAL_INSTRUCTION", c"an illegal instruction was encountered"),
    (716, c"CUDA_ERROR_MISALIGNED_ADDRESS", c"misaligned address"),
    (719, c"CUDA_ERROR_LAUNCH_FAILED", c"unspecified launch failure"),
];

fn name_of(
    error: CuResult,
    target: *mut *const c_char,
    of: fn(&(i32, &'static CStr, &'static CStr)) -> &'static CStr,
) -> CuResult {
    match NAMES.iter().find(|row| row.0 == error.0) {
        Some(row) => code(put(target, of(row).as_ptr())),
        None => code(put(target, std::ptr::null()).and(Err(CuResult::INVALID_VALUE))),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(error: CuResult, name: *mut *const c_char) -> CuResult {
    name_of(error, name, |row| row.1)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(error: CuResult, text: *mut *const c_char) -> CuResult {
    name_of(error, text, |row| row.2)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuInit(_flags: c_uint) -> CuResult {
    code(driver().initialize())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> CuResult {
    code(put(version, CUDA_VERSION))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> CuResult {
    code(driver().devices().and_then(|devices| put(count, devices)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> CuResult {
    code(driver().device(ordinal).and_then(|()| put(device, ordinal)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, bytes: c_int, device: c_int) -> CuResult {
    let room = usize::try_from(bytes).unwrap_or(0).saturating_sub(1);
    let text = DEVICE_NAME.bytes().take(room).chain([0]);
    let write = || text.enumerate().try_for_each(|(at, byte)| put(name.wrapping_add(at), byte as c_char));
    code(driver().device(device).and_then(|()| write()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) -> CuResult {
    code(driver().device(device).and_then(|()| put(bytes, TOTAL_BYTES)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    device: c_int,
) -> CuResult {
    let known = ATTRIBUTES.iter().find(|(number, _)| *number == attribute).map_or(0, |(_, value)| *value);
    code(driver().device(device).and_then(|()| put(value, known)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: c_int) -> CuResult {
    code(driver().device(device).and_then(|()| put(uuid, *b"convict-simulate")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) -> CuResult {
    code(driver().device(device).and_then(|()| put(context, CONTEXT)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> CuResult {
    code(driver().device(device))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetCurrent(context: *mut c_void) -> CuResult {
    let mut driver = driver();
    let known = context.is_null() || context == CONTEXT;
    let result = driver.devices().and(if known { Ok(()) } else { Err(CuResult::INVALID_CONTEXT) });
    if result.is_ok() {
        driver.set_current(!context.is_null());
    }
    code(result)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCurrent(context: *mut *mut c_void) -> CuResult {
    let driver = driver();
    let current = if driver.is_current() { CONTEXT } else { std::ptr::null_mut() };
    // A stub without a device answers as uninitialized.
    let initialized = driver.devices().map_err(|_| CuResult::NOT_INITIALIZED);
    code(initialized.and_then(|_| put(context, current)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice(device: *mut c_int) -> CuResult {
    code(driver().ready().and_then(|()| put(device, 0)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSynchronize() -> CuResult {
    code(driver().synchronize())
}
