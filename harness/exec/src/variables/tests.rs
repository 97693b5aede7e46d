//! Nothing that steers a library passes to a worker unasked.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use case::WorkerOptions;

use super::{cleaned_environment, driver_from, removed_variables};
use crate::{Deadlines, SpawnOptions};

fn options(simulator: Option<&str>, faults: Option<&str>) -> SpawnOptions {
    SpawnOptions {
        program: PathBuf::from("/bin/false"),
        arguments: Vec::new(),
        worker: WorkerOptions {
            library: None,
            companions: Vec::new(),
            driver: None,
            device: 0,
            memory_share: 1.0,
            guard_bytes: 0,
            simulated: simulator.is_some(),
            board: PathBuf::new(),
            gate: PathBuf::new(),
            properties: None,
            assumed: Vec::new(),
            compiled_max: None,
            second_stack: None,
            pressure: None,
        },
        simulator: simulator.map(PathBuf::from),
        faults: faults.map(PathBuf::from),
        retire_after: 1,
        deadlines: Deadlines::simulator(),
    }
}

fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
}

const STEERING: [(&str, &str); 11] = [
    ("LD_LIBRARY_PATH", "/elsewhere"),
    ("LD_PRELOAD", "/evil.so"),
    ("LD_AUDIT", "/audit.so"),
    ("CUDNN_LOGLEVEL_DBG", "3"),
    ("CUDNN_LIB_CONFIG", "FULL"),
    ("CUBLASLT_LOG_LEVEL", "5"),
    ("CUBLAS_WORKSPACE_CONFIG", ":16:8"),
    ("NVRTC_DISABLE_CACHE", "1"),
    ("CUDA_LAUNCH_BLOCKING", "1"),
    ("NVIDIA_TF32_OVERRIDE", "0"),
    ("CONVICT_SIM_FAULTS", "/stale.faults"),
];

const HARMLESS: [(&str, &str); 5] = [
    ("PATH", "/usr/bin"),
    ("HOME", "/somewhere"),
    ("CUDA_VISIBLE_DEVICES", "1"),
    ("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
    ("LDFLAGS", "-g"),
];

#[test]
fn every_variable_that_steers_a_library_is_removed_and_listed() {
    let inherited = [variables(&STEERING), variables(&HARMLESS)].concat();
    assert_eq!(cleaned_environment(&inherited, &options(None, None)), variables(&HARMLESS));
    assert_eq!(removed_variables(&inherited), variables(&STEERING));
}

#[test]
fn the_simulator_is_the_only_search_path_and_its_faults_are_the_ones_asked_for() {
    let inherited = variables(&STEERING);
    let cleaned = cleaned_environment(&inherited, &options(Some("/sim"), Some("/planted.faults")));
    let expected = [("LD_LIBRARY_PATH", "/sim"), ("CONVICT_SIM_FAULTS", "/planted.faults")];
    assert_eq!(cleaned, variables(&expected));
}

#[test]
fn the_first_absolute_folder_with_a_driver_wins() {
    let held = |file: &Path| file.starts_with("/b") || file.starts_with("/c") || file.is_relative();
    let list = OsStr::new(":relative:/a:/b/lib:/c");
    assert_eq!(driver_from(list, held), Some(PathBuf::from("/b/lib/libcuda.so.1")));
    assert_eq!(driver_from(OsStr::new("/a:relative"), held), None);
    assert_eq!(driver_from(OsStr::new(""), |_| true), None);
}
