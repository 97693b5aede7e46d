//! What the fake cuDNN asks of the fake driver: device memory, the context's state. No program calls these.

use std::ffi::c_int;

use abi::cuda::{CuResult, DevicePointer};

use crate::{code, driver};

/// Its presence tells that no GPU is behind this driver.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "the name is the interface")]
pub static convict_simulator: u8 = 1;

/// Makes the device's context current, as the CUDA runtime does at its first call.
#[unsafe(no_mangle)]
pub extern "C" fn convict_sim_attach() -> CuResult {
    let mut driver = driver();
    let initialized = driver.initialize();
    if initialized.is_ok() {
        driver.set_current(true);
    }
    code(initialized.and_then(|()| driver.ready()))
}

/// 0 while the context takes work.
#[unsafe(no_mangle)]
pub extern "C" fn convict_sim_ready() -> CuResult {
    code(driver().ready())
}

/// Lets the device meet an error.
#[unsafe(no_mangle)]
pub extern "C" fn convict_sim_poison(error: c_int) {
    driver().poison(CuResult(error));
}

/// 0 where all the bytes are live.
#[unsafe(no_mangle)]
pub extern "C" fn convict_sim_range_check(address: DevicePointer, bytes: u64) -> CuResult {
    if driver().holds(address, bytes) { CuResult::SUCCESS } else { CuResult::ILLEGAL_ADDRESS }
}

/// Writes a byte over a range that may not be live.
#[unsafe(no_mangle)]
pub extern "C" fn convict_sim_scribble(address: DevicePointer, bytes: u64, value: u8) {
    driver().scribble(address, bytes, value);
}
