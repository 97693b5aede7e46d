//! Our own kernels on the device: one module, one launch function per kernel. Knows grids; the arithmetic lives
//! in `kernel`.

use std::ffi::{CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use abi::cuda::CuResult;
use case::Phase;
use cudarc::driver::result;
use kernel::Kernel;

use crate::driver::Driver;
use crate::error::{CallError, LoadError};

/// The loaded module.
pub struct Kernels {
    driver: Rc<Driver>,
    functions: Vec<abi::cuda::Function>,
}

impl Kernels {
    /// Loads the embedded PTX into the current context.
    ///
    /// # Errors
    /// A driver that does not take it.
    pub fn load(driver: Rc<Driver>) -> Result<Self, LoadError> {
        let refuse =
            |what: &str| LoadError::Machine(format!("the driver does not load convict's kernels: {what}"));
        let image = CString::new(kernel::PTX).map_err(|_| refuse("NUL in the PTX"))?;
        let functions = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: `image` is NUL-terminated PTX and a context is current.
            let module = unsafe { result::module::load_data(image.as_ptr().cast::<c_void>()) }?;
            Kernel::ALL
                .into_iter()
                .map(|kernel| {
                    let name = CString::new(kernel.name()).unwrap_or_default();
                    // SAFETY: `module` was loaded above and is never unloaded.
                    unsafe { result::module::get_function(module, name) }.map(|function| function.cast())
                })
                .collect::<Result<Vec<_>, _>>()
        }))
        .map_err(|_| refuse("a module function is missing"))?
        .map_err(|error| match CuResult(error.0 as i32) {
            CuResult::UNSUPPORTED_PTX_VERSION => refuse(
                "UNSUPPORTED_PTX_VERSION; it is older than CUDA 12.0, or the simulator of another build, which \
                 cargo build for the whole workspace makes anew",
            ),
            other => refuse(&other.name()),
        })?;
        Ok(Self { driver, functions })
    }

    /// Launches a kernel over so many items with its parameter struct as bytes.
    ///
    /// # Errors
    /// The driver's error.
    pub fn launch(
        &self,
        phase: Phase,
        kernel: Kernel,
        grid: [u32; 2],
        parameters: &[u8],
    ) -> Result<(), CallError> {
        let index = Kernel::ALL.iter().position(|known| *known == kernel).unwrap_or(0);
        let [x, y] = grid;
        self.driver.launch(phase, self.functions[index], [x, y, kernel.block()], parameters)
    }
}
