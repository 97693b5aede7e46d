//! Another CUDA stack, opened before the one under test as a program with two of them would. Knows file names; calls
//! nothing in it.

use std::path::{Path, PathBuf};

use crate::error::LoadError;
use crate::library::keep_open;

/// Libraries of a stack, in the order in which one needs the other; `libcudnn.so` comes last, as its parts are opened by
/// itself.
const NAMES: [&str; 7] = [
    "libcudart.so",
    "libnvrtc-builtins.so",
    "libnvrtc.so",
    "libnvJitLink.so",
    "libcublasLt.so",
    "libcublas.so",
    "libcudnn.so",
];

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
    let first = |name: &&str| {
        let starts = format!("{name}.");
        files
            .iter()
            .filter(|path| {
                path.file_name().and_then(|file| file.to_str()).is_some_and(|file| file.starts_with(&starts))
            })
            .min_by_key(|path| path.as_os_str().len())
    };
    let found: Vec<&PathBuf> = NAMES.iter().filter_map(first).collect();
    if found.is_empty() {
        return Err(told(format!("holds none of {}", NAMES.join(", "))));
    }
    found.into_iter().try_for_each(|path| keep_open(path).map_err(|error| told(error.to_string())))
}
