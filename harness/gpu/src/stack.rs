//! Another CUDA stack, opened before the one under test as a program with two of them would. Knows file names; calls
//! nothing in it but its version.

use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::error::LoadError;
use crate::library::keep_open;

/// Libraries of a stack, in the order in which one needs the other; `libcudnn.so` comes last, as its parts are opened
/// by itself.
const NAMES: [&str; 7] = [
    "libcudart.so",
    "libnvrtc-builtins.so",
    "libnvrtc.so",
    "libnvJitLink.so",
    "libcublasLt.so",
    "libcublas.so",
    CUDNN,
];

const CUDNN: &str = "libcudnn.so";

/// Opens every library of a stack that a folder holds and leaves them open.
///
/// # Errors
/// A folder that is unreadable or holds none of them, or a file that cannot be opened.
pub(crate) fn open_all(folder: &Path) -> Result<(), LoadError> {
    let told = |why: String| LoadError::Machine(format!("--second-stack {}: {why}", folder.display()));
    let entries =
        std::fs::read_dir(folder).map_err(|error| told(format!("{error}; name a readable folder")))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    files.sort();
    // Of the names of one library the shortest is the one that programs ask for.
    let first = |name: &&'static str| {
        let starts = format!("{name}.");
        let named = |path: &&PathBuf| {
            path.file_name().and_then(|file| file.to_str()).is_some_and(|file| file.starts_with(&starts))
        };
        files.iter().filter(named).min_by_key(|path| path.as_os_str().len()).map(|path| (*name, path))
    };
    let found: Vec<(&str, &PathBuf)> = NAMES.iter().filter_map(first).collect();
    if found.is_empty() {
        return Err(told(format!("holds none of {}", NAMES.join(", "))));
    }
    for (name, path) in found {
        keep_open(path).map_err(|error| told(error.to_string()))?;
        if name == CUDNN {
            use_once(path).map_err(told)?;
        }
    }
    Ok(())
}

/// Asks for the version: cuDNN opens its parts at the first call, and a stack that was never called stands in nobody's
/// way.
fn use_once(path: &Path) -> Result<(), String> {
    // SAFETY: the file is open already, so that no initializer runs.
    let library =
        unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| error.to_string())?;
    // SAFETY: cudnn_version.h of every version gives this function that type.
    let version = unsafe { library.get::<unsafe extern "C" fn() -> usize>(b"cudnnGetVersion\0") }
        .map_err(|error| error.to_string())?;
    // SAFETY: it takes nothing and may be called at any time.
    let _ = unsafe { version() };
    drop(library);
    Ok(())
}
