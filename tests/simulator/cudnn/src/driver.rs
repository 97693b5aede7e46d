//! The fake driver, found by its name among the libraries that are open. Knows its hidden functions.

use std::ffi::{c_int, c_void};
use std::sync::LazyLock;

use abi::cuda::{CuResult, DevicePointer, MemcpyDtoHAsync, MemcpyHtoDAsync};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use simulator::Stop;
use simulator::backend::Memory;

/// Statuses of cuDNN 9 that the driver's state leads to.
const NOT_INITIALIZED: i32 = 1001;
const EXECUTION_FAILED_CUDA_DRIVER: i32 = 5001;

type Ask = extern "C" fn() -> CuResult;

/// The driver's functions. The library stays open for the life of the process.
pub(crate) struct Driver {
    attach: Ask,
    ready: Ask,
    poison: extern "C" fn(c_int),
    range_check: extern "C" fn(DevicePointer, u64) -> CuResult,
    scribble: extern "C" fn(DevicePointer, u64, u8),
    to_host: MemcpyDtoHAsync,
    to_device: MemcpyHtoDAsync,
}

static DRIVER: LazyLock<Option<Driver>> = LazyLock::new(Driver::open);

fn symbol<T: Copy>(library: &Library, name: &str) -> Option<T> {
    // SAFETY: the caller names a function of the simulated driver whose type is `T`.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    found.ok().map(|symbol| *symbol)
}

impl Driver {
    fn open() -> Option<Self> {
        // SAFETY: where it is open already, this finds it by its own name; else its initializers do nothing.
        let library = unsafe { Library::open(Some("libcuda.so.1"), RTLD_NOW | RTLD_LOCAL) }.ok()?;
        let driver = Self {
            attach: symbol(&library, "convict_sim_attach")?,
            ready: symbol(&library, "convict_sim_ready")?,
            poison: symbol(&library, "convict_sim_poison")?,
            range_check: symbol(&library, "convict_sim_range_check")?,
            scribble: symbol(&library, "convict_sim_scribble")?,
            to_host: symbol(&library, "cuMemcpyDtoHAsync_v2")?,
            to_device: symbol(&library, "cuMemcpyHtoDAsync_v2")?,
        };
        std::mem::forget(library);
        Some(driver)
    }

    /// The driver with a current context.
    pub(crate) fn attached() -> Result<&'static Self, Stop> {
        let none = || Stop::Status(NOT_INITIALIZED, "cudaGetDeviceCount(&count) != cudaSuccess".to_owned());
        let driver = DRIVER.as_ref().ok_or_else(none)?;
        if (driver.attach)() == CuResult::SUCCESS { Ok(driver) } else { Err(none()) }
    }

    /// The driver, where its context still takes work.
    pub(crate) fn ready() -> Result<&'static Self, Stop> {
        let lost =
            |code: i32| Stop::Status(EXECUTION_FAILED_CUDA_DRIVER, format!("CUDA driver error {code}"));
        let driver = DRIVER.as_ref().ok_or_else(|| lost(CuResult::NOT_INITIALIZED.0))?;
        match (driver.ready)() {
            CuResult::SUCCESS => Ok(driver),
            error => Err(lost(error.0)),
        }
    }
}

impl Memory for Driver {
    fn read(&self, address: u64, bytes: u64) -> Option<Vec<u8>> {
        if bytes == 0 {
            return Some(Vec::new());
        }
        if (self.range_check)(address, bytes) != CuResult::SUCCESS {
            return None;
        }
        let mut copy = vec![0_u8; usize::try_from(bytes).ok()?];
        let target = copy.as_mut_ptr().cast::<c_void>();
        // SAFETY: `copy` is writable for its whole length.
        let result = unsafe { (self.to_host)(target, address, copy.len(), std::ptr::null_mut()) };
        (result == CuResult::SUCCESS).then_some(copy)
    }

    fn write(&self, address: u64, bytes: &[u8]) {
        let source = bytes.as_ptr().cast::<c_void>();
        // SAFETY: `bytes` is readable for its whole length.
        let result = unsafe { (self.to_device)(address, source, bytes.len(), std::ptr::null_mut()) };
        if result != CuResult::SUCCESS {
            (self.poison)(CuResult::ILLEGAL_ADDRESS.0);
        }
    }

    fn scribble(&self, address: u64, bytes: u64, value: u8) {
        (self.scribble)(address, bytes, value);
    }

    fn poison(&self, error: i32) {
        (self.poison)(error);
    }
}
