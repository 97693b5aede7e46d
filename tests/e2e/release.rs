//! What people without Rust get: a binary that finds its simulator where a release has it, the check of what a build
//! asks of a system, and the archive itself where `CONVICT_TEST_RELEASE` names one. Builds no release.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::convict::{BINARY, Run, fresh_folder, root, script, skipped, turn};

/// A case that passes.
const CASE: &str = "fprop f32 nchw n1 c1 k1 i2 f1";

/// Names under which programs open the simulator's libraries, and the built file.
const SIMULATOR: [(&str, &str); 6] = [
    ("libcuda.so.1", "cuda"),
    ("libcudnn.so.9", "cudnn"),
    ("libcublasLt.so.13", "cublaslt"),
    ("libnvrtc.so.13", "cublaslt"),
    ("libcublasLt.so.12", "cublaslt"),
    ("libnvrtc.so.12", "cublaslt"),
];

/// Checks the case with a binary of its own folder, without any environment.
fn check(binary: &Path) -> Run {
    let _turn = turn();
    let arguments = ["check", CASE, "--simulate", "--faults", "none"];
    Command::new(binary).args(arguments).env_clear().output().expect("convict starts").into()
}

/// The binary under test and the simulator's libraries, laid out as in a release.
fn laid_out(name: &str, simulator: &str) -> (PathBuf, PathBuf) {
    let root = fresh_folder(name);
    let (binary, libraries) = (root.join("bin/convict"), root.join(simulator));
    fs::create_dir_all(root.join("bin")).expect("a folder");
    fs::create_dir_all(&libraries).expect("a folder");
    fs::copy(BINARY, &binary).expect("a copy of the binary");
    let built = Path::new(BINARY).with_file_name("deps");
    for (name, part) in SIMULATOR {
        fs::copy(built.join(format!("libconvict_sim_{part}.so")), libraries.join(name)).expect("a copy");
    }
    // Two copies would be two drivers.
    symlink("libcuda.so.1", libraries.join("libcuda.so")).expect("a link");
    (binary, libraries)
}

#[test]
fn the_simulator_of_a_release_is_found_beside_the_binary_and_below_its_prefix() {
    for (name, place) in [("release-beside", "bin/simulator"), ("release-prefix", "lib/convict/simulator")] {
        let (binary, _) = laid_out(name, place);
        let run = check(&binary);
        assert_eq!(run.code, Some(0), "{place}: {run:?}");
    }
}

#[test]
fn a_release_without_its_simulator_or_with_half_of_it_says_so() {
    let (binary, libraries) = laid_out("release-half", "lib/convict/simulator");
    fs::remove_file(libraries.join("libnvrtc.so.12")).expect("a library");
    let run = check(&binary);
    assert_eq!(run.code, Some(3), "{run:?}");
    let line = format!(
        "convict: {}: lacks libnvrtc.so.12; unpack the release anew, or name another folder with --simulate=DIR\n",
        libraries.canonicalize().expect("a folder").display()
    );
    assert_eq!(run.stderr, line);
    fs::remove_dir_all(&libraries).expect("a folder");
    let run = check(&binary);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.stderr.starts_with("convict: no simulator beside "), "{run:?}");
}

/// Compiles one line of C into a shared library.
fn library(name: &str, line: &str, flags: &[&str]) -> PathBuf {
    let folder = fresh_folder(name);
    let (source, built) = (folder.join("one.c"), folder.join("libone.so"));
    fs::write(&source, line).expect("a source file");
    let mut command = Command::new("g++");
    command.args(["-shared", "-fPIC", "-x", "c"]).arg(&source).arg("-o").arg(&built).args(flags);
    assert!(command.status().expect("a C++ compiler").success());
    built
}

#[test]
fn a_build_that_asks_for_a_newer_glibc_or_a_c_runtime_is_refused() {
    let line = "#include <stdio.h>\nint one(void) { return puts(\"one\"); }\n";
    let plain = library("symbols-plain", line, &["-nodefaultlibs", "-lc"]);
    let check = |most: &str, file: &Path| {
        script(".ci/symbols", [most.as_ref(), file.as_os_str()], &[]).expect("an answer")
    };
    let run = check("2.99", &plain);
    assert_eq!(run.code, Some(0), "{run:?}");
    // No symbol of x86-64 is older than 2.2.5.
    let run = check("2.2", &plain);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("puts needs GLIBC_2.2.5; GLIBC_2.2 is the newest allowed"), "{run:?}");
    let foreign = library("symbols-foreign", line, &["-Wl,--no-as-needed", "-lstdc++", "-lc"]);
    let run = check("2.99", &foreign);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("needs libstdc++.so.6, which a bare system lacks"), "{run:?}");
    assert_eq!(check("2.28", &root().join("README.md")).code, Some(2));
    assert_eq!(check("three", &plain).code, Some(2));
}

#[test]
fn the_archive_unpacks_into_a_convict_that_needs_nothing() {
    let Some(archive) = std::env::var_os("CONVICT_TEST_RELEASE") else {
        skipped("no archive of a release; .ci/release makes one, CONVICT_TEST_RELEASE names it");
        return;
    };
    let folder = fresh_folder("release-archive");
    let unpacked = Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&folder).status();
    assert!(unpacked.expect("tar").success(), "{}", archive.display());
    let root = fs::read_dir(&folder).expect("a folder").next().expect("one folder").expect("an entry").path();
    assert_eq!(root.file_name(), archive_stem(Path::new(&archive)).as_deref().map(Path::as_os_str));
    let sums =
        Command::new("sha256sum").args(["--quiet", "--check", "SHA256SUMS"]).current_dir(&root).status();
    assert!(sums.expect("sha256sum").success());
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "corpus/known.json", "docs/pipelines/slurm.sh"]
    {
        assert!(root.join(name).is_file(), "{name}");
    }
    let binary = root.join("bin/convict");
    for file in [&binary, &root.join("lib/convict/simulator/libcudnn.so.9")] {
        let run = script(".ci/symbols", ["2.28".as_ref(), file.as_os_str()], &[]).expect("an answer");
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    let _turn = turn();
    let hunt = ["hunt", "--simulate", "--faults", "none", "--seed", "1", "--time", "2s", "--out", "found"];
    for arguments in [["selftest", "--simulate"].as_slice(), hunt.as_slice()] {
        let output = Command::new(&binary).args(arguments).env_clear().current_dir(&root).output();
        let run: Run = output.expect("convict starts").into();
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    }
}

/// Name of the one folder in an archive.
fn archive_stem(archive: &Path) -> Option<PathBuf> {
    archive.file_name()?.to_str()?.strip_suffix(".tar.gz").map(PathBuf::from)
}
