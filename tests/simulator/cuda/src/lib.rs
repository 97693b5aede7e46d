//! The simulated driver as `libcuda.so.1`, with the real binary interface. Knows raw pointers; what calls do is the
//! simulator's.

#![allow(unsafe_code, reason = "the exported functions take the raw pointers of a C interface")]
#![allow(non_snake_case, reason = "the exported functions have the names of cuda.h")]
#![allow(
    missing_docs,
    reason = "the exported functions are documented in NVIDIA's CUDA driver API reference"
)]
#![allow(clippy::missing_safety_doc, reason = "callers owe what NVIDIA's CUDA driver API reference asks for")]
#![allow(clippy::too_many_arguments, reason = "the number of arguments is cuda.h's")]

pub mod context;
pub mod hidden;
pub mod memory;
pub mod module;
pub mod stream;
pub mod stubs;

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use abi::cuda::CuResult;
use simulator::driver::{Driver, visible};

static DRIVER: LazyLock<Mutex<Driver>> = LazyLock::new(|| {
    let devices = i32::from(std::env::var_os("CONVICT_SIM_NO_DEVICE").is_none());
    let chosen = std::env::var("CUDA_VISIBLE_DEVICES").ok();
    Mutex::new(Driver::new(visible(devices, chosen.as_deref())))
});

/// The driver of this process. A caller that died while it held the lock left nothing half done.
fn driver() -> MutexGuard<'static, Driver> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn code(result: Result<(), CuResult>) -> CuResult {
    result.err().unwrap_or(CuResult::SUCCESS)
}

/// Stores an answer where the caller wants it. Only for pointers that an exported function was given.
fn put<T>(target: *mut T, value: T) -> Result<(), CuResult> {
    if target.is_null() {
        return Err(CuResult::INVALID_VALUE);
    }
    // SAFETY: the caller of the exported function owes a pointer to writable memory of this type.
    unsafe { target.write_unaligned(value) };
    Ok(())
}
