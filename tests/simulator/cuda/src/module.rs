//! Modules, functions and launches. Knows how parameters arrive; modules hold our own kernels, those
//! of this build, and nothing else.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::sync::{Mutex, PoisonError};

use abi::cuda::{CuResult, Function, Stream};
use kernel::Kernel;
use simulator::driver::{Dimensions, entries};

use crate::{code, driver, put};

/// Loaded modules, by handle less one.
static MODULES: Mutex<Vec<Vec<Kernel>>> = Mutex::new(Vec::new());

/// A handle that is never read through.
fn handle(number: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(number + 1)
}

fn number(handle: *const c_void) -> Option<usize> {
    handle.addr().checked_sub(1)
}

/// The text behind a pointer that an exported function was given; `None` where there is none.
fn text<'a>(pointer: *const c_char) -> Option<&'a str> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the caller of the exported function owes a terminated string.
    unsafe { CStr::from_ptr(pointer) }.to_str().ok()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(module: *mut *mut c_void, image: *const c_void) -> CuResult {
    let load = || {
        driver().ready()?;
        let image = text(image.cast()).ok_or(CuResult::INVALID_IMAGE)?;
        let kernels = entries(image)?;
        // What stands in for the kernels was built with others: it would read their parameters wrongly.
        if image != kernel::PTX {
            return Err(CuResult::UNSUPPORTED_PTX_VERSION);
        }
        let mut modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
        modules.push(kernels);
        put(module, handle(modules.len() - 1))
    };
    code(load())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleUnload(module: *mut c_void) -> CuResult {
    let mut modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = number(module).and_then(|index| modules.get_mut(index));
    known.map_or(CuResult::INVALID_VALUE, |kernels| {
        kernels.clear();
        CuResult::SUCCESS
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(
    function: *mut Function,
    module: *mut c_void,
    name: *const c_char,
) -> CuResult {
    let find = || {
        driver().ready()?;
        let name = text(name).ok_or(CuResult::INVALID_VALUE)?;
        let modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
        let kernels = number(module).and_then(|index| modules.get(index)).ok_or(CuResult::INVALID_VALUE)?;
        let found = kernels.iter().find(|kernel| kernel.name() == name).ok_or(CuResult::NOT_FOUND)?;
        let index = Kernel::ALL.iter().position(|kernel| kernel == found).ok_or(CuResult::NOT_FOUND)?;
        put(function, handle(index))
    };
    code(find())
}

/// Copies the one parameter struct of a kernel, as the real driver does before the call returns.
fn parameters(kernel: Kernel, list: *mut *mut c_void) -> Result<Vec<u8>, CuResult> {
    if list.is_null() {
        return Err(CuResult::INVALID_VALUE);
    }
    // SAFETY: the caller of the exported function owes one pointer for each parameter, and kernels have one.
    let first = unsafe { list.read() };
    if first.is_null() {
        return Err(CuResult::INVALID_VALUE);
    }
    let mut bytes = vec![0_u8; kernel.param_bytes()];
    // SAFETY: that pointer owes as many bytes as the kernel declares for its parameter.
    unsafe { std::ptr::copy_nonoverlapping(first.cast::<u8>(), bytes.as_mut_ptr(), bytes.len()) };
    Ok(bytes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: Function,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    _shared_bytes: c_uint,
    _stream: Stream,
    list: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> CuResult {
    let launch = || {
        let mut driver = driver();
        driver.ready()?;
        let kernel = number(function).and_then(|index| Kernel::ALL.get(index).copied());
        let kernel = kernel.ok_or(CuResult::INVALID_VALUE)?;
        let size = Dimensions { grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z] };
        driver.launch(kernel, size, &parameters(kernel, list)?)
    };
    code(launch())
}
