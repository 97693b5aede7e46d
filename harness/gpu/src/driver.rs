//! The CUDA driver: context, stream, memory, waiting. Calls whose errors are classified go through integers;
//! cudarc makes the context, the stream and the module.

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;

use abi::cuda::{
    CtxSynchronize, CuResult, DevicePointer, DriverGetVersion, LaunchKernel, MemAlloc, MemFree, MemGetInfo,
    MemcpyDtoDAsync, MemcpyDtoHAsync, MemcpyHtoDAsync, MemsetD8Async, SIMULATOR_SYMBOL, Stream,
    StreamSynchronize,
};
use case::Phase;
use cudarc::driver::{result, sys};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::error::{CallError, LoadError};
use crate::meter::Meter;

/// Function pointers of the driver, valid while `library` is open, which is for the life of the process.
struct Symbols {
    mem_alloc: MemAlloc,
    mem_free: MemFree,
    mem_get_info: MemGetInfo,
    memset_d8_async: MemsetD8Async,
    memcpy_htod_async: MemcpyHtoDAsync,
    memcpy_dtoh_async: MemcpyDtoHAsync,
    memcpy_dtod_async: MemcpyDtoDAsync,
    stream_synchronize: StreamSynchronize,
    ctx_synchronize: CtxSynchronize,
    launch_kernel: LaunchKernel,
    driver_get_version: DriverGetVersion,
}

/// What is known of the device.
#[derive(Clone, Debug, Default)]
pub struct DeviceFacts {
    /// Name as the driver gives it.
    pub name: String,
    /// Devices that are visible, this one included.
    pub visible: u32,
    /// Compute capability, major * 10 + minor.
    pub compute_capability: u32,
    /// Memory in all, bytes.
    pub memory_bytes: u64,
    /// Memory free at the start, bytes.
    pub memory_free_bytes: u64,
    /// 1000 * major + 10 * minor of the CUDA that the driver supports.
    pub driver_cuda: i32,
}

/// The opened driver with a current context and one stream.
pub struct Driver {
    library: Library,
    symbols: Symbols,
    stream: Stream,
    facts: DeviceFacts,
    meter: Rc<Meter>,
}

/// Reads a function pointer of type `T`.
fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T, LoadError> {
    // SAFETY: the caller names a symbol of libcuda whose signature in cuda.h is `T`.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    found
        .map(|symbol| *symbol)
        .map_err(|_| LoadError::Machine(format!("the CUDA driver has no {name}; update it")))
}

impl Symbols {
    fn read(library: &Library) -> Result<Self, LoadError> {
        Ok(Self {
            mem_alloc: symbol(library, "cuMemAlloc_v2")?,
            mem_free: symbol(library, "cuMemFree_v2")?,
            mem_get_info: symbol(library, "cuMemGetInfo_v2")?,
            memset_d8_async: symbol(library, "cuMemsetD8Async")?,
            memcpy_htod_async: symbol(library, "cuMemcpyHtoDAsync_v2")?,
            memcpy_dtoh_async: symbol(library, "cuMemcpyDtoHAsync_v2")?,
            memcpy_dtod_async: symbol(library, "cuMemcpyDtoDAsync_v2")?,
            stream_synchronize: symbol(library, "cuStreamSynchronize")?,
            ctx_synchronize: symbol(library, "cuCtxSynchronize")?,
            launch_kernel: symbol(library, "cuLaunchKernel")?,
            driver_get_version: symbol(library, "cuDriverGetVersion")?,
        })
    }
}

/// Opens libcuda before cudarc looks for it by name: cudarc panics where it finds none, and takes the file that
/// is already mapped where it finds it.
pub(crate) fn open_driver(path: Option<&Path>) -> Result<Library, LoadError> {
    let name = path.map_or_else(|| "libcuda.so.1".into(), |path| path.as_os_str().to_owned());
    // SAFETY: opening libcuda runs its initializers, which is what the caller wants.
    unsafe { Library::open(Some(&name), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| {
        LoadError::Machine(format!(
            "no CUDA driver: {} cannot be opened ({error}); install one, or use --simulate",
            name.to_string_lossy()
        ))
    })
}

/// True where the driver is the simulator's.
pub(crate) fn is_simulator(library: &Library) -> bool {
    // SAFETY: the symbol is only looked for, never called or read.
    unsafe { library.get::<*const c_void>(SIMULATOR_SYMBOL.as_bytes()) }.is_ok()
}

fn refused(what: &str, error: result::DriverError) -> LoadError {
    let code = CuResult(error.0 as i32);
    LoadError::Machine(format!("{what} failed with CUDA error {} ({})", code.name(), code.0))
}

/// Context and stream on a device, through cudarc.
fn start(ordinal: u32) -> Result<(Stream, DeviceFacts), LoadError> {
    result::init().map_err(|error| refused("cuInit", error))?;
    let count = result::device::get_count().map_err(|error| refused("cuDeviceGetCount", error))?;
    let wanted = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
    if wanted >= count {
        return Err(LoadError::Machine(format!(
            "device {ordinal} does not exist: {count} visible (CUDA_VISIBLE_DEVICES)"
        )));
    }
    let device = result::device::get(wanted).map_err(|error| refused("cuDeviceGet", error))?;
    let name = result::device::get_name(device).map_err(|error| refused("cuDeviceGetName", error))?;
    // SAFETY: `device` came from cuDeviceGet.
    let memory =
        unsafe { result::device::total_mem(device) }.map_err(|error| refused("cuDeviceTotalMem", error))?;
    let attribute = |which| {
        // SAFETY: `device` came from cuDeviceGet.
        unsafe { result::device::get_attribute(device, which) }
            .map_err(|error| refused("cuDeviceGetAttribute", error))
    };
    let major = attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    // The primary context is the one that cuDNN's own CUDA runtime uses.
    // SAFETY: `device` came from cuDeviceGet; the context is kept until the process ends.
    let context = unsafe { result::primary_ctx::retain(device) }
        .map_err(|error| refused("cuDevicePrimaryCtxRetain", error))?;
    // SAFETY: `context` was retained above.
    unsafe { result::ctx::set_current(context) }.map_err(|error| refused("cuCtxSetCurrent", error))?;
    let stream = result::stream::create(result::stream::StreamKind::NonBlocking)
        .map_err(|error| refused("cuStreamCreate", error))?;
    let facts = DeviceFacts {
        name,
        visible: u32::try_from(count).unwrap_or(0),
        compute_capability: u32::try_from(major * 10 + minor).unwrap_or(0),
        memory_bytes: memory as u64,
        ..DeviceFacts::default()
    };
    Ok((stream.cast(), facts))
}

impl Driver {
    /// Opens the driver and makes a device current. `path` names the driver file, absent means the system's search.
    ///
    /// # Errors
    /// No driver, no such device, the wrong kind of driver, or a call that failed.
    pub fn open(
        path: Option<&Path>,
        ordinal: u32,
        simulated: bool,
        meter: Rc<Meter>,
    ) -> Result<Self, LoadError> {
        let library = open_driver(path)?;
        if is_simulator(&library) != simulated {
            let which = if simulated { "is not the simulator's" } else { "is the simulator's" };
            return Err(LoadError::Ours(format!("the driver that was found {which}; nothing was run")));
        }
        let symbols = Symbols::read(&library)?;
        // cudarc panics where a symbol is missing; that is a machine we can't use, not a crash.
        let started = catch_unwind(AssertUnwindSafe(|| start(ordinal))).map_err(|_| {
            LoadError::Machine("the CUDA driver lacks a function that is needed; update it".to_owned())
        })?;
        let (stream, facts) = started?;
        let mut driver = Self { library, symbols, stream, facts, meter };
        let (free, _) = driver.memory().map_err(|error| LoadError::Machine(error.to_string()))?;
        driver.facts.memory_free_bytes = free;
        let mut version: c_int = 0;
        // SAFETY: the driver is initialized and `version` outlives the call.
        let _ = unsafe { (driver.symbols.driver_get_version)(&raw mut version) };
        driver.facts.driver_cuda = version;
        Ok(driver)
    }

    /// The device.
    #[must_use]
    pub fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    /// The stream that everything runs on.
    #[must_use]
    pub fn stream(&self) -> Stream {
        self.stream
    }

    /// True where the simulator's driver is open.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        is_simulator(&self.library)
    }

    fn check(&self, phase: Phase, call: impl FnOnce() -> CuResult) -> Result<(), CallError> {
        match self.meter.time(call) {
            CuResult::SUCCESS => Ok(()),
            result => Err(CallError::Device { phase, result }),
        }
    }

    /// Free and total device memory, bytes.
    ///
    /// # Errors
    /// The driver's error.
    pub fn memory(&self) -> Result<(u64, u64), CallError> {
        let (mut free, mut total) = (0_usize, 0_usize);
        // SAFETY: a context is current; both words outlive the call.
        self.check(Phase::Init, || unsafe { (self.symbols.mem_get_info)(&raw mut free, &raw mut total) })?;
        Ok((free as u64, total as u64))
    }

    /// Allocates device memory, at least 256-byte aligned.
    pub(crate) fn allocate(&self, bytes: u64) -> Result<DevicePointer, CallError> {
        let mut pointer: DevicePointer = 0;
        let size = usize::try_from(bytes).unwrap_or(usize::MAX).max(1);
        // SAFETY: a context is current; `pointer` outlives the call.
        self.check(Phase::Allocate, || unsafe { (self.symbols.mem_alloc)(&raw mut pointer, size) })?;
        Ok(pointer)
    }

    /// Frees what `allocate` gave. An error here belongs to no case and is dropped: a sick context is noticed by
    /// the next call that matters.
    pub(crate) fn free(&self, pointer: DevicePointer) {
        // SAFETY: the caller owns `pointer`, which came from `allocate`, and gives it up.
        let _ = self.meter.time(|| unsafe { (self.symbols.mem_free)(pointer) });
    }

    /// Sets bytes on the stream.
    ///
    /// # Errors
    /// The driver's error.
    pub fn set_bytes(
        &self,
        phase: Phase,
        pointer: DevicePointer,
        value: u8,
        bytes: u64,
    ) -> Result<(), CallError> {
        let size = usize::try_from(bytes).unwrap_or(usize::MAX);
        // SAFETY: the driver itself refuses a range that is not allocated.
        self.check(phase, || unsafe { (self.symbols.memset_d8_async)(pointer, value, size, self.stream) })
    }

    /// Copies to the device. The bytes are pageable, so they may be reused when the call returns.
    ///
    /// # Errors
    /// The driver's error.
    pub fn write(&self, phase: Phase, to: DevicePointer, bytes: &[u8]) -> Result<(), CallError> {
        let source = bytes.as_ptr().cast::<c_void>();
        // SAFETY: `source` is valid for `bytes.len()` bytes during the call.
        self.check(phase, || unsafe {
            (self.symbols.memcpy_htod_async)(to, source, bytes.len(), self.stream)
        })
    }

    /// Queues a copy from the device and waits for it and everything before it.
    ///
    /// # Errors
    /// The driver's error.
    pub fn read(&self, phase: Phase, from: DevicePointer, bytes: &mut [u8]) -> Result<(), CallError> {
        let target = bytes.as_mut_ptr().cast::<c_void>();
        // SAFETY: `target` is valid for `bytes.len()` bytes until the wait below ends.
        self.check(phase, || unsafe {
            (self.symbols.memcpy_dtoh_async)(target, from, bytes.len(), self.stream)
        })?;
        self.wait(phase)
    }

    /// Copies within the device.
    ///
    /// # Errors
    /// The driver's error.
    pub fn copy(
        &self,
        phase: Phase,
        to: DevicePointer,
        from: DevicePointer,
        bytes: u64,
    ) -> Result<(), CallError> {
        let size = usize::try_from(bytes).unwrap_or(usize::MAX);
        // SAFETY: the driver itself refuses ranges that are not allocated.
        self.check(phase, || unsafe { (self.symbols.memcpy_dtod_async)(to, from, size, self.stream) })
    }

    /// Waits for the stream.
    ///
    /// # Errors
    /// The driver's error, which may belong to any call since the last wait.
    pub fn wait(&self, phase: Phase) -> Result<(), CallError> {
        // SAFETY: the stream was made at the start and is never destroyed.
        self.check(phase, || unsafe { (self.symbols.stream_synchronize)(self.stream) })
    }

    /// Waits for every stream of the context: an engine may use streams of its own.
    ///
    /// # Errors
    /// The driver's error.
    pub fn wait_all(&self, phase: Phase) -> Result<(), CallError> {
        // SAFETY: a context is current.
        self.check(phase, || unsafe { (self.symbols.ctx_synchronize)() })
    }

    /// Launches a kernel whose only parameter is the struct behind `parameters`, over a grid of x by y blocks of so
    /// many threads.
    pub(crate) fn launch(
        &self,
        phase: Phase,
        function: abi::cuda::Function,
        [x, y, block]: [u32; 3],
        parameters: &[u8],
    ) -> Result<(), CallError> {
        let mut argument: *mut c_void = parameters.as_ptr().cast_mut().cast();
        let launch = self.symbols.launch_kernel;
        // SAFETY: `argument` points to the one by-value parameter that the kernel declares, of the length that the
        // kernel room states; the driver copies it before the call returns.
        self.check(phase, || unsafe {
            launch(function, x, y, 1, block, 1, 1, 0, self.stream, &raw mut argument, std::ptr::null_mut())
        })
    }
}
