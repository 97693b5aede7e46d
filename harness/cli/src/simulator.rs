//! The folder that stands in for the real libraries under `--simulate`. Knows file names; knows nothing of what
//! the files do.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Names that programs open, and the built file that answers to each.
const FILES: [(&str, &str); 7] = [
    ("libcuda.so", "libconvict_sim_cuda.so"),
    ("libcuda.so.1", "libconvict_sim_cuda.so"),
    ("libcudnn.so.9", "libconvict_sim_cudnn.so"),
    ("libcublasLt.so.13", "libconvict_sim_cublaslt.so"),
    ("libnvrtc.so.13", "libconvict_sim_cublaslt.so"),
    ("libcublasLt.so.12", "libconvict_sim_cublaslt.so"),
    ("libnvrtc.so.12", "libconvict_sim_cublaslt.so"),
];

/// Where a release keeps the files under their real names: in a folder of its own, or below a common prefix.
const INSTALLED: [&str; 2] = ["simulator", "../lib/convict/simulator"];

/// The folder to use: the named one, one assembled beside this executable from the libraries built with it, or the
/// one of the release. Never the build folder itself: cargo puts that on the search path of everything it runs.
pub(crate) fn folder(named: &Path) -> Result<PathBuf, Failure> {
    if !named.as_os_str().is_empty() {
        let folder = named
            .canonicalize()
            .map_err(|error| Failure::Machine(format!("--simulate {}: {error}", named.display())))?;
        if !folder.join("libcudnn.so.9").exists() {
            return Err(Failure::Machine(format!("--simulate {}: holds no libcudnn.so.9", named.display())));
        }
        return Ok(folder);
    }
    let executable = std::env::current_exe().map_err(|error| Failure::Ours(format!("own path: {error}")))?;
    let beside = executable.parent().unwrap_or(Path::new("."));
    // `deps` first: cargo builds there, and leaves an older file beside the executable when only tests were built.
    let built = [beside.join("deps"), beside.to_owned()]
        .into_iter()
        .find(|folder| FILES.iter().all(|(_, built)| folder.join(built).exists()));
    if let Some(built) = built {
        return assemble(&built, beside).map_err(|error| Failure::file("simulator folder", beside, &error));
    }
    installed(beside)?.ok_or_else(|| {
        Failure::Machine(format!(
            "no simulator beside {}; a release has it in lib/convict/simulator, in a clone cargo build makes it; or \
             name its folder with --simulate=DIR",
            executable.display()
        ))
    })
}

/// The folder that a release brought along, if there is one; a part of it is worse than none.
fn installed(beside: &Path) -> Result<Option<PathBuf>, Failure> {
    let Some(folder) = INSTALLED.iter().find_map(|place| beside.join(place).canonicalize().ok()) else {
        return Ok(None);
    };
    match FILES.iter().find(|(name, _)| !folder.join(name).exists()) {
        None => Ok(Some(folder)),
        Some((name, _)) => Err(Failure::Machine(format!(
            "{}: lacks {name}; unpack the release anew, or name another folder with --simulate=DIR",
            folder.display()
        ))),
    }
}

/// Links the built files under the real names, in a folder named after their state, so that several runs can share
/// it and a rebuild gets a new one. A further name of a file is a link to the first one, so that a copy of the folder
/// has one file of each as well: two would be two drivers.
fn assemble(built: &Path, beside: &Path) -> io::Result<PathBuf> {
    // Counts the forms that such a folder has had.
    let mut state = 1_u64;
    for (_, file) in FILES {
        let data = fs::metadata(built.join(file))?;
        let modified = data.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        state = state.wrapping_mul(31).wrapping_add(data.len()).wrapping_mul(31);
        state = state.wrapping_add(u64::from(modified.subsec_nanos())).wrapping_add(modified.as_secs());
    }
    let folder = beside.join(format!("convict-simulator-{state:016x}"));
    if folder.exists() {
        return Ok(folder);
    }
    let draft = tempfile::Builder::new().prefix("convict-simulator-draft").tempdir_in(beside)?;
    for (name, file) in FILES {
        let (from, to) = (built.join(file), draft.path().join(name));
        match FILES.iter().find(|(_, source)| *source == file) {
            Some((first, _)) if *first != name => symlink(first, &to)?,
            Some(_) | None if fs::hard_link(&from, &to).is_ok() => {}
            Some(_) | None => drop(fs::copy(&from, &to)?),
        }
    }
    match fs::rename(draft.path(), &folder) {
        Ok(()) => {
            // The draft has its final name now; there is nothing left to clean up.
            let _ = draft.keep();
            Ok(folder)
        }
        // Another run was faster.
        Err(_) if folder.exists() => Ok(folder),
        Err(error) => Err(error),
    }
}
