//! Finding a cuDNN and the libraries it needs beside it, by explicit paths. Knows folders and file names; the
//! order of search is told to the user and recorded.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use case::{LibraryConfiguration, WorkerOptions};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::cudnn::Cudnn;
use crate::error::LoadError;
use crate::meter::Meter;
use crate::stack;

/// Folders of the usual search, in order.
const USUAL_FOLDERS: [&str; 6] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/targets/x86_64-linux/lib",
    "/usr/local/lib",
];

/// Where wheels of the companions lie, seen from a cuDNN wheel's `lib` folder.
const SIBLING_WHEELS: [&str; 4] =
    ["../../cublas/lib", "../../cuda_nvrtc/lib", "../../cu13/lib", "../../cu12/lib"];

/// Dispatcher file names, newest major first.
const DISPATCHERS: [&str; 2] = ["libcudnn.so.9", "libcudnn.so.8"];

/// From this version on the run-time compiler is inside cuDNN's graph library.
const NVRTC_EMBEDDED_SINCE: u64 = 92_200;

/// A cuDNN folder that was chosen.
#[derive(Clone, Debug)]
pub struct Found {
    /// The dispatcher file.
    pub dispatcher: PathBuf,
    /// Its folder.
    pub folder: PathBuf,
    /// Which engines the files offer.
    pub configuration: LibraryConfiguration,
    /// How it was found, one line.
    pub how: String,
}

/// Chooses the cuDNN folder: the given one, or the first of the usual ones that holds a dispatcher.
///
/// # Errors
/// An unreadable folder, or none that holds cuDNN.
pub fn find(options: &WorkerOptions) -> Result<Found, LoadError> {
    if let Some(folder) = &options.library {
        let folder = folder.canonicalize().map_err(|error| {
            LoadError::Machine(format!("--library {}: {error}; name a readable folder", folder.display()))
        })?;
        let how = "given by --library".to_owned();
        return in_folder(&folder, options.simulated, how)?.ok_or_else(|| {
            LoadError::Machine(format!(
                "--library {}: holds no {}",
                folder.display(),
                DISPATCHERS.join(" or ")
            ))
        });
    }
    for folder in USUAL_FOLDERS.map(Path::new) {
        let how = format!("usual search: first of {} that holds cuDNN", USUAL_FOLDERS.join(", "));
        if let Ok(Some(found)) = in_folder(folder, options.simulated, how) {
            return Ok(found);
        }
    }
    Err(LoadError::Machine(format!(
        "no cuDNN in the usual folders ({}); name one with --library DIR",
        USUAL_FOLDERS.join(", ")
    )))
}

fn in_folder(folder: &Path, simulated: bool, how: String) -> Result<Option<Found>, LoadError> {
    let unreadable =
        |error: std::io::Error| LoadError::Machine(format!("--library {}: {error}", folder.display()));
    let names: Vec<String> = std::fs::read_dir(folder)
        .map_err(unreadable)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let has = |part: &str| names.iter().any(|name| name.starts_with(part));
    let Some(dispatcher) = DISPATCHERS.into_iter().find(|name| has(name)) else { return Ok(None) };
    let complete = has("libcudnn_engines_precompiled.so") && has("libcudnn_heuristic.so");
    // cuDNN 8 has one numbering only, and the simulator has no parts.
    let full = complete || simulated || dispatcher.ends_with(".8");
    let configuration = if full { LibraryConfiguration::Full } else { LibraryConfiguration::GraphJitOnly };
    Ok(Some(Found { dispatcher: folder.join(dispatcher), folder: folder.to_owned(), configuration, how }))
}

/// Opens cuDNN and then every companion that its version and configuration need. Must run before any other
/// thread starts, since it sets `CUDNN_LIB_CONFIG`.
///
/// # Errors
/// A file that cannot be opened, or a companion that is nowhere: it is named.
pub fn open(found: &Found, options: &WorkerOptions, meter: Rc<Meter>) -> Result<Rc<Cudnn>, LoadError> {
    // SAFETY: the worker has a single thread at this point, so nothing reads the environment meanwhile.
    unsafe { std::env::set_var("CUDNN_LIB_CONFIG", found.configuration.variable()) };
    if let Some(folder) = &options.second_stack {
        stack::open_all(folder)?;
    }
    let library = Cudnn::open(&found.dispatcher, meter)?;
    if options.simulated {
        return Ok(library);
    }
    let major = library.cudart_version() / 1000;
    let folders = companion_folders(found, options, major);
    if found.configuration == LibraryConfiguration::Full {
        // Without it the library aborts the process at its first heuristics query.
        preload(&format!("libcublasLt.so.{major}"), &folders)?;
    }
    if library.version() < NVRTC_EMBEDDED_SINCE {
        // Without it, or without its builtins, run-time-compiled engines vanish silently.
        let nvrtc = preload(&format!("libnvrtc.so.{major}"), &folders)?;
        if let Some(folder) = nvrtc.and_then(|path| path.parent().map(Path::to_owned)) {
            preload_builtins(&folder, major)?;
        }
    }
    Ok(library)
}

/// Folders that may hold companions, in the order in which they are asked.
fn companion_folders(found: &Found, options: &WorkerOptions, major: u64) -> Vec<PathBuf> {
    let mut folders = options.companions.clone();
    folders.push(found.folder.clone());
    folders.extend(SIBLING_WHEELS.map(|sibling| found.folder.join(sibling)));
    for toolkit in [format!("/usr/local/cuda-{major}"), "/usr/local/cuda".to_owned()] {
        folders.push(PathBuf::from(&toolkit).join("lib64"));
        folders.push(PathBuf::from(&toolkit).join("targets/x86_64-linux/lib"));
    }
    folders
}

/// Opens a companion by its exact path and leaves it open, so that cuDNN's later look-up by name finds it.
/// `None` means that the system's own search found it.
fn preload(name: &str, folders: &[PathBuf]) -> Result<Option<PathBuf>, LoadError> {
    let path = folders.iter().map(|folder| folder.join(name)).find(|path| path.exists());
    match path {
        Some(path) => {
            keep_open(&path)?;
            Ok(Some(path))
        }
        None if keep_open(Path::new(name)).is_ok() => Ok(None),
        None => Err(LoadError::Machine(format!(
            "{name}, which cuDNN needs, is in none of: {}; name its folder with --companion DIR",
            folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
        ))),
    }
}

fn preload_builtins(folder: &Path, major: u64) -> Result<(), LoadError> {
    let prefix = format!("libnvrtc-builtins.so.{major}.");
    let entries = std::fs::read_dir(folder)
        .map_err(|error| LoadError::Machine(format!("{}: {error}", folder.display())))?;
    let builtins = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&prefix))
        })
        .min();
    match builtins {
        Some(path) => keep_open(&path),
        None => Err(LoadError::Machine(format!(
            "{prefix}*, which NVRTC needs, is not beside it in {}; name a complete folder with --companion DIR",
            folder.display()
        ))),
    }
}

pub(crate) fn keep_open(path: &Path) -> Result<(), LoadError> {
    // SAFETY: opening NVIDIA's library runs its initializers, which is what cuDNN would do later.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| LoadError::Machine(format!("{} cannot be opened: {error}", path.display())))?;
    std::mem::forget(library);
    Ok(())
}
