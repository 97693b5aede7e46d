//! cuDNN as an opened library: its symbols, its handle, its last words. Knows how to call; builds no graph.

use std::ffi::{c_char, c_void};
use std::path::Path;
use std::rc::Rc;

use abi::Status;
use abi::cudnn::{
    Create, CreateDescriptor, DestroyDescriptor, Execute, Finalize, GetAttribute, GetCudartVersion,
    GetLastErrorString, GetVersion, Handle, SetAttribute, SetStream,
};
use case::Phase;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use crate::driver::Driver;
use crate::error::{CallError, LoadError};
use crate::meter::Meter;

/// Longest last-error text asked for, bytes.
const REASON_BYTES: usize = 2048;

/// The symbols that convict calls.
pub(crate) struct Symbols {
    pub(crate) create_descriptor: CreateDescriptor,
    pub(crate) destroy_descriptor: DestroyDescriptor,
    pub(crate) finalize: Finalize,
    pub(crate) set_attribute: SetAttribute,
    pub(crate) get_attribute: GetAttribute,
    pub(crate) execute: Execute,
    create: Create,
    set_stream: SetStream,
    get_version: GetVersion,
    get_cudart_version: GetCudartVersion,
    /// Absent before 9.0.
    get_last_error: Option<GetLastErrorString>,
}

/// An opened cuDNN.
pub struct Cudnn {
    pub(crate) symbols: Symbols,
    pub(crate) meter: Rc<Meter>,
    version: u64,
    /// Keeps the code mapped; cuDNN is never closed, since its sub-libraries do not survive that.
    _library: Library,
}

fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T, LoadError> {
    // SAFETY: the caller names a symbol of libcudnn whose signature in cudnn_graph.h is `T`.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    found.map(|symbol| *symbol).map_err(|_| {
        LoadError::Machine(format!("this cuDNN has no {name}; the graph API of 8.9 or newer is needed"))
    })
}

impl Cudnn {
    /// Opens the dispatcher library at an exact path. The caller has opened the companions.
    ///
    /// # Errors
    /// A file that is no cuDNN with a graph API.
    pub fn open(path: &Path, meter: Rc<Meter>) -> Result<Rc<Self>, LoadError> {
        // SAFETY: opening cuDNN runs its initializers; this is a worker process, which may die of it.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }
            .map_err(|error| LoadError::Machine(format!("{} cannot be opened: {error}", path.display())))?;
        let symbols = Symbols {
            create_descriptor: symbol(&library, "cudnnBackendCreateDescriptor")?,
            destroy_descriptor: symbol(&library, "cudnnBackendDestroyDescriptor")?,
            finalize: symbol(&library, "cudnnBackendFinalize")?,
            set_attribute: symbol(&library, "cudnnBackendSetAttribute")?,
            get_attribute: symbol(&library, "cudnnBackendGetAttribute")?,
            execute: symbol(&library, "cudnnBackendExecute")?,
            create: symbol(&library, "cudnnCreate")?,
            set_stream: symbol(&library, "cudnnSetStream")?,
            get_version: symbol(&library, "cudnnGetVersion")?,
            get_cudart_version: symbol(&library, "cudnnGetCudartVersion")?,
            get_last_error: symbol(&library, "cudnnGetLastErrorString").ok(),
        };
        // SAFETY: takes no arguments and is safe to call at any time.
        let version = meter.time(|| unsafe { (symbols.get_version)() }) as u64;
        Ok(Rc::new(Self { symbols, meter, version, _library: library }))
    }

    /// `cudnnGetVersion`.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// `cudnnGetCudartVersion`.
    #[must_use]
    pub fn cudart_version(&self) -> u64 {
        // SAFETY: takes no arguments and is safe to call at any time.
        self.meter.time(|| unsafe { (self.symbols.get_cudart_version)() }) as u64
    }

    /// Creates a handle on the current context that works on the driver's stream.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn handle(&self, driver: &Driver) -> Result<Handle, CallError> {
        let mut handle: Handle = std::ptr::null_mut();
        // SAFETY: a context is current; `handle` outlives the call.
        let status = self.meter.time(|| unsafe { (self.symbols.create)(&raw mut handle) });
        self.check(Phase::Init, status)?;
        // SAFETY: `handle` was just created and the stream lives as long as the process.
        let status = self.meter.time(|| unsafe { (self.symbols.set_stream)(handle, driver.stream()) });
        self.check(Phase::Init, status)?;
        Ok(handle)
    }

    /// Turns a status into a result, with cuDNN's own words.
    pub(crate) fn check(&self, phase: Phase, status: Status) -> Result<(), CallError> {
        if status.is_success() {
            return Ok(());
        }
        Err(CallError::Status { phase, status, reason: self.last_words() })
    }

    /// The innermost failed condition, as cuDNN tells it; reading clears it.
    fn last_words(&self) -> String {
        let Some(get_last_error) = self.symbols.get_last_error else { return String::new() };
        let mut text = [0_u8; REASON_BYTES];
        // SAFETY: `text` is valid for its length, which cuDNN respects and terminates within.
        unsafe { get_last_error(text.as_mut_ptr().cast::<c_char>(), text.len()) };
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        String::from_utf8_lossy(&text[..end]).trim().to_owned()
    }

    /// Executes a plan with a finalized variant pack.
    pub(crate) fn execute(
        &self,
        handle: Handle,
        plan: *mut c_void,
        pack: *mut c_void,
    ) -> Result<(), CallError> {
        // SAFETY: handle, plan and pack are live and finalized; this is what the worker process exists to risk.
        let status = self.meter.time(|| unsafe { (self.symbols.execute)(handle, plan, pack) });
        self.check(Phase::Execute, status)
    }
}
