//! The environment variables of a child: which are removed, which are set. Pure; starts nothing.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::slot::SpawnOptions;

/// Variables that change where libraries are found or how they compute, by their beginning. `LD_` and `CUDA_`
/// redirect loading, the others switch logs, limits, caches and arithmetic.
const REMOVED_BEGINNINGS: [&str; 6] = ["LD_", "CUDA_", "CUDNN_", "CUBLAS", "NVRTC", "NVIDIA_TF32_OVERRIDE"];

/// Those of them that only choose devices.
const KEPT: [&str; 2] = ["CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"];

/// The simulator's fault script; an inherited one would plant faults that nobody asked for.
const FAULTS: &str = "CONVICT_SIM_FAULTS";

/// File name by which every CUDA program asks for the driver.
const DRIVER_FILE: &str = "libcuda.so.1";

/// True for a variable that no worker may inherit.
fn is_removed(name: &OsStr) -> bool {
    // A name that is no UTF-8 matches none of the plain ones.
    let name = name.to_str().unwrap_or_default();
    let begins = REMOVED_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    (begins && !KEPT.contains(&name)) || name == FAULTS
}

/// The variables that a worker does not inherit, so that the command line can say so.
#[must_use]
pub fn removed_variables(inherited: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    inherited.iter().filter(|(name, _)| is_removed(name)).cloned().collect()
}

/// The whole environment of a worker: what is inherited without every influence on the libraries, and the
/// simulator's folder as the only search path where there is one.
#[must_use]
pub fn cleaned_environment(
    inherited: &[(OsString, OsString)],
    options: &SpawnOptions,
) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<_> = inherited.iter().filter(|(name, _)| !is_removed(name)).cloned().collect();
    let asked = [("LD_LIBRARY_PATH", &options.simulator), (FAULTS, &options.faults)];
    for (name, value) in asked {
        if let Some(value) = value {
            variables.push((name.into(), value.into()));
        }
    }
    variables
}

/// The driver that an `LD_LIBRARY_PATH` leads to, since a worker does not inherit that list and some
/// containers keep the driver nowhere else. The first folder that holds one wins, as in the loader; relative
/// folders and empty entries are passed over, because their meaning changes with the working directory.
pub fn driver_from(path_list: &OsStr, exists: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    std::env::split_paths(path_list)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(DRIVER_FILE))
        .find(|file| exists(file))
}

#[cfg(test)]
mod tests;
