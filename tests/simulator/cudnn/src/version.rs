//! Versions, error names, handles and streams.

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::LazyLock;

use abi::Status;
use abi::cudnn::Handle;
use simulator::Stop;
use simulator::backend::{CUDART_VERSION, VERSION};
use simulator::faults::{Script, ScriptError, VARIABLE};

use crate::answer::{answer, last_words};
use crate::driver::Driver;

const NOT_INITIALIZED: i32 = 1001;
const NULL_POINTER: i32 = 2002;

/// What goes wrong in this process.
static SCRIPT: LazyLock<Result<Script, ScriptError>> =
    LazyLock::new(|| Script::named(std::env::var(VARIABLE).ok().as_deref()));

/// The fault script, or why there is none.
pub(crate) fn script() -> Result<&'static Script, Stop> {
    SCRIPT.as_ref().map_err(|error| Stop::Status(NOT_INITIALIZED, error.to_string()))
}

/// The version that the script names, the usual one where the script is none: that is told by a later call.
pub(crate) fn version() -> usize {
    SCRIPT.as_ref().map_or(VERSION, Script::version)
}

#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetVersion() -> usize {
    version()
}

#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetMaxDeviceVersion() -> usize {
    1210
}

#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetCudartVersion() -> usize {
    CUDART_VERSION
}

/// `MAJOR_VERSION`, `MINOR_VERSION` and `PATCH_LEVEL` by number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnGetProperty(which: c_int, value: *mut c_int) -> Status {
    let number = [version() / 10_000, version() / 100 % 100, version() % 100];
    let number = usize::try_from(which).ok().and_then(|which| number.get(which));
    let Some(number) = number.filter(|_| !value.is_null()) else {
        return answer("cudnnGetProperty", Err(Stop::Status(2000, "type or value".to_owned())));
    };
    // SAFETY: the caller owes a pointer to a writable number.
    unsafe { value.write_unaligned(*number as c_int) };
    Status::SUCCESS
}

macro_rules! checks {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Status {
            Status::SUCCESS
        }
    )* };
}

checks! { cudnnGraphVersionCheck cudnnOpsVersionCheck cudnnCnnVersionCheck cudnnAdvVersionCheck }

#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetErrorString(status: Status) -> *const c_char {
    // Statuses are few, and the real function's strings live as long as the process, too.
    let name = CString::new(format!("CUDNN_STATUS_{}", status.name(version() as u64))).unwrap_or_default();
    name.into_raw()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnGetLastErrorString(text: *mut c_char, bytes: usize) {
    if text.is_null() || bytes == 0 {
        return;
    }
    let words = last_words();
    let words = &words.as_bytes()[..words.len().min(bytes - 1)];
    // SAFETY: the caller owes `bytes` writable bytes, and one is left for the terminator.
    unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), text.cast::<u8>(), words.len()) };
    // SAFETY: as above: the position is below `bytes`.
    unsafe { text.add(words.len()).write(0) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnCreate(handle: *mut Handle) -> Status {
    let create = || {
        script()?;
        Driver::attached()?;
        if handle.is_null() {
            return Err(Stop::Status(NULL_POINTER, "handle is null".to_owned()));
        }
        let made: *mut c_void = Box::into_raw(Box::new(0_u8)).cast();
        // SAFETY: the caller owes a pointer to a writable handle.
        unsafe { handle.write_unaligned(made) };
        Ok(())
    };
    answer("cudnnCreate", create())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnDestroy(handle: Handle) -> Status {
    if !handle.is_null() {
        // SAFETY: the caller owes a handle that `cudnnCreate` gave and that was not destroyed before.
        drop(unsafe { Box::from_raw(handle.cast::<u8>()) });
    }
    Status::SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnSetStream(handle: Handle, _stream: *mut c_void) -> Status {
    let known =
        if handle.is_null() { Err(Stop::Status(NULL_POINTER, "handle is null".to_owned())) } else { Ok(()) };
    answer("cudnnSetStream", known)
}
