//! `convict doctor` beside cudnn-frontend's own report of the same environment, field for field where both speak. Knows
//! both forms; where the frontend can't be had it says so.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{install, ledger, small};
use crate::convict::{convict_in, fresh_folder, skipped};

/// A Python of its own with cudnn-frontend, a cuDNN and its compiler.
fn environment() -> Option<PathBuf> {
    let [old, compiler] = small()?;
    // The frontend is fetched by the script of the tests of bundles.
    let run = std::env::var_os("CONVICT_TEST_FRONTEND");
    let Some(site) = run.and_then(|python| Some(Path::new(&python).parent()?.join("site"))) else {
        skipped("no cudnn-frontend; tests/e2e/frontend.sh fetches it and CONVICT_TEST_FRONTEND names it");
        return None;
    };
    let folder = fresh_folder("doctor-frontend");
    let made = Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(&folder)
        .output()
        .expect("python3 starts");
    if !made.status.success() {
        skipped("python3 makes no virtual environments");
        return None;
    }
    let lib =
        fs::read_dir(folder.join("lib")).expect("lib").next().expect("a Python").expect("an entry").path();
    for from in [old, compiler, &site] {
        install(from, &lib.join("site-packages"));
    }
    Some(folder.join("bin/python"))
}

#[test]
fn what_cudnn_frontend_reports_of_an_environment_is_told_alike() {
    let Some(python) = environment() else { return };
    let variables = [("CUDNN_LOGLEVEL_DBG", "0"), ("NVTE_X", "1")];
    let report = Command::new(&python).args(["-m", "cudnn.collect_env", "--json"]).envs(variables).output();
    let report = report.expect("it starts");
    let report: Value =
        serde_json::from_slice(&report.stdout).unwrap_or_else(|error| panic!("{error}: {report:?}"));
    let variables = variables.map(|(name, value)| (name, OsStr::new(value)));
    let run = convict_in(&variables, ["doctor", "--json", "--python", &python.display().to_string()]);
    let ledger = ledger(&run);
    let field = |section: &str, name: &str| report[section][name].as_str().unwrap_or_default().to_owned();
    assert_eq!(ledger["python"]["version"], field("Python / Platform", "Python"));
    assert_eq!(ledger["python"]["executable"], field("Python / Platform", "Python executable"));
    assert_eq!(ledger["system"], field("Python / Platform", "OS"));
    assert_eq!(ledger["container"], field("Python / Platform", "Container") == "yes");
    // The loaded cuDNN, and where it was taken from.
    let program = &ledger["programs"][0];
    let cudnn = program["cudnn"].as_str().expect("a version");
    let number = field("cuDNN Frontend", "cudnn backend (loaded)");
    assert!(number.starts_with(&format!("{cudnn} (")), "{number} {cudnn}");
    let opened = program["steps"]
        .as_array()
        .expect("steps")
        .iter()
        .find(|step| step["what"] == "open")
        .expect("opened");
    let picked = field("cuDNN Frontend", "backend search order picks");
    let path = picked.split(" (via ").next().expect("a path");
    assert!(opened["words"].as_str().expect("words").contains(path), "{opened} {picked}");
    same_packages(&report["Relevant Packages"], &ledger["packages"]);
    same_variables(&report["Environment Variables"], &ledger["variables"]);
    same_driver(&report, &ledger);
    same_folders(&report["GPU Libraries: loaded vs on disk"], &ledger);
}

fn same_packages(report: &Value, packages: &Value) {
    let packages = packages.as_array().expect("a list");
    let ours: Vec<(&str, &str)> = packages
        .iter()
        .map(|package| {
            (package["name"].as_str().expect("a name"), package["version"].as_str().expect("a version"))
        })
        .collect();
    let theirs: Vec<(&str, &str)> = report
        .as_object()
        .expect("packages")
        .iter()
        .map(|(name, version)| {
            (name.as_str(), version.as_str().expect("a version").split("  (declares").next().unwrap_or(""))
        })
        .collect();
    assert_eq!(ours, theirs);
}

fn same_variables(report: &Value, variables: &Value) {
    let ours: Vec<(&str, &str)> = variables
        .as_array()
        .expect("a list")
        .iter()
        .map(|set| (set["name"].as_str().expect("a name"), set["value"].as_str().expect("a value")))
        .filter(|(name, _)| !name.starts_with("CUBLAS_"))
        .collect();
    let theirs = report.as_object().expect("variables").iter();
    let theirs: Vec<(&str, &str)> = theirs
        .map(|(name, value)| (name.as_str(), value.as_str().expect("a value")))
        .filter(|(name, _)| *name != "PATH")
        .collect();
    assert_eq!(ours, theirs);
}

/// Driver and toolkit: both say that there is none, or the same.
fn same_driver(report: &Value, ledger: &Value) {
    let theirs = report["GPU / Driver"]["Driver version"].as_str().unwrap_or_default();
    let ours = ledger["devices"]["known"][0]["driver"].as_str();
    assert_eq!(ours.unwrap_or("<nvidia-smi unavailable>"), theirs);
    let nvcc = report["CUDA Toolkit"]["nvcc on PATH"].as_str().expect("a path or none");
    let has = |kit: &Value| kit["nvcc"] == true;
    assert!(nvcc == "not found" || ledger["toolkits"].as_array().expect("a list").iter().any(has), "{nvcc}");
}

/// Families in their words, and ours with the beginnings of file names that they count among them.
const FAMILIES: [(&str, &[&str]); 5] = [
    ("libcudnn", &["cudnn"]),
    ("libcublas", &["cublas", "cublas_lt"]),
    ("libcudart", &["cudart"]),
    ("libnvrtc", &["nvrtc"]),
    ("libcuda (driver)", &["driver"]),
];

/// For every family the folders on disk, and which of them are loaded.
fn same_folders(report: &Value, ledger: &Value) {
    let mut theirs: Vec<(String, String, bool)> = Vec::new();
    for (header, text) in report.as_object().expect("families") {
        let family =
            FAMILIES.iter().map(|(name, _)| *name).find(|name| header.starts_with(name)).expect("a family");
        for line in text.as_str().expect("folders").lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (state, place) = line.split_once("  ").expect("state and place");
            let place = place.trim_start().split("/  [").next().expect("a place").trim_end_matches('/');
            theirs.push((family.to_owned(), place.to_owned(), state.starts_with("LOADED")));
        }
    }
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let mapped: Vec<String> = ledger["programs"][0]["files"]
        .as_array()
        .expect("files")
        .iter()
        .map(|file| text(&file["path"]))
        .collect();
    let mut ours: Vec<(String, String, bool)> = Vec::new();
    for copy in ledger["copies"].as_array().expect("a list") {
        for (family, names) in FAMILIES {
            let mut files = copy["files"].as_array().expect("files").iter();
            if files.any(|file| names.contains(&file["family"].as_str().expect("a family"))) {
                let folder = text(&copy["folder"]);
                let prefix = format!("{folder}/{}", family.split(' ').next().expect("a word"));
                let is_loaded = mapped.iter().any(|path| path.starts_with(&prefix));
                ours.push((family.to_owned(), folder, is_loaded));
            }
        }
    }
    theirs.sort();
    ours.sort();
    assert_eq!(ours, theirs);
}
