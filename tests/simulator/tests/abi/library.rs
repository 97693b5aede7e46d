//! The two libraries opened as a program opens them, and calls through their raw function pointers. Knows symbols
//! and attributes; judges nothing.

use std::ffi::{CString, c_int, c_uint, c_void};
use std::path::Path;

use abi::Status;
use abi::cuda::{
    CtxSynchronize, CuResult, LaunchKernel, MemAlloc, MemcpyDtoHAsync, MemcpyHtoDAsync, MemsetD8Async, Stream,
};
use abi::cudnn::{
    Attribute as A, AttributeType as T, Create, CreateDescriptor, DescriptorType as D, Execute, Finalize,
    GetAttribute, GetVersion, Handle, SetAttribute,
};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

pub(crate) struct Libraries {
    cuda: Library,
    cudnn: Library,
    pub(crate) handle: Handle,
}

fn open(path: &Path) -> Library {
    // SAFETY: the simulator's libraries have no initializers that ask anything of us.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.unwrap()
}

fn symbol<F: Copy>(library: &Library, name: &str) -> F {
    // SAFETY: each caller names a function of the type that cuda.h or cudnn_graph.h gives it.
    *unsafe { library.get::<F>(name.as_bytes()) }.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A status other than success, and the call that gave it.
pub(crate) type Refused = (&'static str, i32);

fn cudnn_ok(call: &'static str, status: Status) -> Result<(), Refused> {
    if status.is_success() { Ok(()) } else { Err((call, status.0)) }
}

pub(crate) fn cuda_ok(result: CuResult) {
    assert_eq!(result, CuResult::SUCCESS);
}

impl Libraries {
    /// Opens both, starts the driver, makes a context current and a handle.
    pub(crate) fn start(folder: &Path) -> Self {
        let cuda = open(&folder.join("libcuda.so.1"));
        let cudnn = open(&folder.join("libcudnn.so.9"));
        let mut libraries = Self { cuda, cudnn, handle: std::ptr::null_mut() };
        let init: unsafe extern "C" fn(c_uint) -> CuResult = symbol(&libraries.cuda, "cuInit");
        // SAFETY: takes no pointer.
        cuda_ok(unsafe { init(0) });
        let retain: unsafe extern "C" fn(*mut *mut c_void, c_int) -> CuResult =
            symbol(&libraries.cuda, "cuDevicePrimaryCtxRetain");
        let mut context = std::ptr::null_mut();
        // SAFETY: `context` outlives the call.
        cuda_ok(unsafe { retain(&raw mut context, 0) });
        let set: unsafe extern "C" fn(*mut c_void) -> CuResult = symbol(&libraries.cuda, "cuCtxSetCurrent");
        // SAFETY: `context` was retained above.
        cuda_ok(unsafe { set(context) });
        let create: Create = symbol(&libraries.cudnn, "cudnnCreate");
        let mut handle: Handle = std::ptr::null_mut();
        // SAFETY: `handle` outlives the call.
        assert!(unsafe { create(&raw mut handle) }.is_success());
        libraries.handle = handle;
        libraries
    }

    pub(crate) fn version(&self) -> usize {
        let version: GetVersion = symbol(&self.cudnn, "cudnnGetVersion");
        // SAFETY: takes no pointer.
        unsafe { version() }
    }

    pub(crate) fn allocate(&self, bytes: usize) -> u64 {
        let allocate: MemAlloc = symbol(&self.cuda, "cuMemAlloc_v2");
        let mut address = 0;
        // SAFETY: `address` outlives the call.
        cuda_ok(unsafe { allocate(&raw mut address, bytes) });
        address
    }

    pub(crate) fn set_bytes(&self, address: u64, value: u8, bytes: usize) -> CuResult {
        let set: MemsetD8Async = symbol(&self.cuda, "cuMemsetD8Async");
        // SAFETY: the driver checks the range.
        unsafe { set(address, value, bytes, std::ptr::null_mut()) }
    }

    pub(crate) fn write(&self, address: u64, bytes: &[u8]) {
        let copy: MemcpyHtoDAsync = symbol(&self.cuda, "cuMemcpyHtoDAsync_v2");
        // SAFETY: `bytes` is readable for its length.
        cuda_ok(unsafe { copy(address, bytes.as_ptr().cast(), bytes.len(), std::ptr::null_mut()) });
    }

    pub(crate) fn read(&self, address: u64, bytes: usize) -> Vec<u8> {
        let copy: MemcpyDtoHAsync = symbol(&self.cuda, "cuMemcpyDtoHAsync_v2");
        let mut target = vec![0_u8; bytes];
        // SAFETY: `target` is writable for its length.
        cuda_ok(unsafe { copy(target.as_mut_ptr().cast(), address, bytes, std::ptr::null_mut()) });
        target
    }

    pub(crate) fn synchronize(&self) -> CuResult {
        let synchronize: CtxSynchronize = symbol(&self.cuda, "cuCtxSynchronize");
        // SAFETY: takes no pointer.
        unsafe { synchronize() }
    }

    /// Loads a module of that PTX.
    pub(crate) fn load(&self, ptx: &str) -> Result<*mut c_void, CuResult> {
        let load: unsafe extern "C" fn(*mut *mut c_void, *const c_void) -> CuResult =
            symbol(&self.cuda, "cuModuleLoadData");
        let image = CString::new(ptx).unwrap();
        let mut module = std::ptr::null_mut();
        // SAFETY: `image` is terminated and `module` outlives the call.
        match unsafe { load(&raw mut module, image.as_ptr().cast()) } {
            CuResult::SUCCESS => Ok(module),
            refused => Err(refused),
        }
    }

    /// Launches one of our kernels over a grid of one block.
    pub(crate) fn launch(&self, kernel: kernel::Kernel, params: &[u8]) -> CuResult {
        let module = self.load(kernel::PTX).unwrap();
        let find: unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const std::ffi::c_char) -> CuResult =
            symbol(&self.cuda, "cuModuleGetFunction");
        let name = CString::new(kernel.name()).unwrap();
        let mut function = std::ptr::null_mut();
        // SAFETY: `name` is terminated, the module is loaded, `function` outlives the call.
        cuda_ok(unsafe { find(&raw mut function, module, name.as_ptr()) });
        let launch: LaunchKernel = symbol(&self.cuda, "cuLaunchKernel");
        let mut argument: *mut c_void = params.as_ptr().cast_mut().cast();
        let (stream, none): (Stream, *mut *mut c_void) = (std::ptr::null_mut(), std::ptr::null_mut());
        let block = kernel.block();
        // SAFETY: `argument` points to the kernel's one parameter, whose length the kernel room states.
        unsafe { launch(function, 1, 1, 1, block, 1, 1, 0, stream, &raw mut argument, none) }
    }

    pub(crate) fn descriptor(&self, kind: D) -> Descriptor<'_> {
        let create: CreateDescriptor = symbol(&self.cudnn, "cudnnBackendCreateDescriptor");
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` outlives the call.
        assert!(unsafe { create(kind, &raw mut raw) }.is_success());
        Descriptor { libraries: self, raw }
    }

    pub(crate) fn execute(&self, plan: &Descriptor<'_>, pack: &Descriptor<'_>) -> Result<(), Refused> {
        let execute: Execute = symbol(&self.cudnn, "cudnnBackendExecute");
        // SAFETY: all three are live.
        cudnn_ok("execute", unsafe { execute(self.handle, plan.raw, pack.raw) })
    }
}

/// A descriptor, never destroyed: the process is short.
pub(crate) struct Descriptor<'a> {
    libraries: &'a Libraries,
    raw: *mut c_void,
}

impl Descriptor<'_> {
    pub(crate) fn set<E>(&self, name: A, kind: T, values: &[E]) -> Result<(), Refused> {
        let set: SetAttribute = symbol(&self.libraries.cudnn, "cudnnBackendSetAttribute");
        // SAFETY: the caller pairs element and attribute types.
        let status = unsafe { set(self.raw, name, kind, values.len() as i64, values.as_ptr().cast()) };
        cudnn_ok("set", status)
    }

    pub(crate) fn longs(&self, name: A, values: &[i64]) {
        self.set(name, T::INT64, values).unwrap();
    }

    pub(crate) fn parts(&self, name: A, parts: &[&Self]) {
        let raw: Vec<*mut c_void> = parts.iter().map(|part| part.raw).collect();
        self.set(name, T::DESCRIPTOR, &raw).unwrap();
    }

    pub(crate) fn finalize(&self, call: &'static str) -> Result<(), Refused> {
        let finalize: Finalize = symbol(&self.libraries.cudnn, "cudnnBackendFinalize");
        // SAFETY: the descriptor is live.
        cudnn_ok(call, unsafe { finalize(self.raw) })
    }

    /// Reads up to `most` elements.
    pub(crate) fn get<E: Copy + Default>(&self, name: A, kind: T, most: usize) -> Result<Vec<E>, Refused> {
        let get: GetAttribute = symbol(&self.libraries.cudnn, "cudnnBackendGetAttribute");
        let mut values = vec![E::default(); most];
        let mut count = 0;
        let target = values.as_mut_ptr().cast();
        // SAFETY: `values` has room for `most` elements and the caller pairs types.
        let status = unsafe { get(self.raw, name, kind, most as i64, &raw mut count, target) };
        cudnn_ok("get", status)?;
        values.resize(count as usize, E::default());
        Ok(values)
    }
}

/// What `cuInit` and `cudnnCreate` say.
pub(crate) fn try_start(folder: &Path) -> (i32, i32) {
    let cuda = open(&folder.join("libcuda.so.1"));
    let cudnn = open(&folder.join("libcudnn.so.9"));
    let init: unsafe extern "C" fn(c_uint) -> CuResult = symbol(&cuda, "cuInit");
    // SAFETY: takes no pointer.
    let started = unsafe { init(0) };
    let create: Create = symbol(&cudnn, "cudnnCreate");
    let mut handle: Handle = std::ptr::null_mut();
    // SAFETY: `handle` outlives the call.
    let created = unsafe { create(&raw mut handle) };
    (started.0, created.0)
}
