//! Allocation, setting and copying. Knows host pointers; copies between them and device memory.

use std::ffi::c_void;

use abi::cuda::{CuResult, DevicePointer, Stream};

use crate::{code, driver, put};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(pointer: *mut DevicePointer, bytes: usize) -> CuResult {
    code(driver().allocate(bytes).and_then(|address| put(pointer, address)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFree_v2(pointer: DevicePointer) -> CuResult {
    code(driver().free(pointer))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> CuResult {
    code(driver().info().and_then(|(left, all)| put(free, left).and(put(total, all))))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8Async(
    pointer: DevicePointer,
    value: u8,
    bytes: usize,
    _stream: Stream,
) -> CuResult {
    code(driver().bytes_mut(pointer, bytes).map(|target| target.fill(value)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8_v2(pointer: DevicePointer, value: u8, bytes: usize) -> CuResult {
    code(driver().bytes_mut(pointer, bytes).map(|target| target.fill(value)))
}

fn to_device(to: DevicePointer, from: *const c_void, bytes: usize) -> Result<(), CuResult> {
    if from.is_null() && bytes > 0 {
        return Err(CuResult::INVALID_VALUE);
    }
    let mut driver = driver();
    let target = driver.bytes_mut(to, bytes)?;
    // SAFETY: the caller owes that many readable bytes; device memory is never theirs, so nothing overlaps.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), target.as_mut_ptr(), target.len()) };
    Ok(())
}

fn to_host(to: *mut c_void, from: DevicePointer, bytes: usize) -> Result<(), CuResult> {
    if to.is_null() && bytes > 0 {
        return Err(CuResult::INVALID_VALUE);
    }
    let driver = driver();
    let source = driver.bytes(from, bytes)?;
    // SAFETY: the caller owes that many writable bytes; device memory is never theirs, so nothing overlaps.
    unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), to.cast::<u8>(), source.len()) };
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoD_v2(to: DevicePointer, from: *const c_void, bytes: usize) -> CuResult {
    code(to_device(to, from, bytes))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    to: DevicePointer,
    from: *const c_void,
    bytes: usize,
    _stream: Stream,
) -> CuResult {
    code(to_device(to, from, bytes))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoH_v2(to: *mut c_void, from: DevicePointer, bytes: usize) -> CuResult {
    // Bound first: the lock of one call must be free before the next takes it.
    let waited = driver().synchronize();
    code(waited.and_then(|()| to_host(to, from, bytes)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
    to: *mut c_void,
    from: DevicePointer,
    bytes: usize,
    _stream: Stream,
) -> CuResult {
    code(to_host(to, from, bytes))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoDAsync_v2(
    to: DevicePointer,
    from: DevicePointer,
    bytes: usize,
    _stream: Stream,
) -> CuResult {
    let mut driver = driver();
    let copy = driver.bytes(from, bytes).map(<[u8]>::to_vec);
    code(copy.and_then(|copy| driver.bytes_mut(to, bytes).map(|target| target.copy_from_slice(&copy))))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoD_v2(to: DevicePointer, from: DevicePointer, bytes: usize) -> CuResult {
    // SAFETY: the same contract, on the default stream.
    unsafe { cuMemcpyDtoDAsync_v2(to, from, bytes, std::ptr::null_mut()) }
}
