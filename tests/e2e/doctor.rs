//! `convict doctor` from outside: sets of published wheels that do not belong together, programs and processes, and bad
//! input. Knows files, findings and exit codes; where a wheel can't be had it says so.

mod faults;
mod frontend;

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use ::wheels::{Cache, Name, WheelError};
use serde_json::Value;

use crate::convict::{Run, convict, convict_in, fresh_folder, skipped, wheels};

/// Packages of a Python, below a made-up root.
const SITE: &str = "usr/local/lib/python3.11/site-packages";

/// A search path that leads elsewhere, below that root.
const OTHER: &str = "srv/cudnn";

/// The clean set of the mixtures: run-time-compiled engines, with the compiler that they need; 108 MB to fetch.
const SMALL: &str = "wheel:9.19.0.56-jit-cu13";

/// The newest release, of which no smaller wheel is published: 517 MB.
const NEWEST: &str = "wheel:9.28.1.4-cu13";

/// The whole set that other tests fetch, too: 580 MB.
const FULL: &str = "wheel:9.19.0.56-cu13";

/// Where an unpacked wheel lies, and its compiler where it needs one beside it.
fn wheel(name: &str) -> Option<(PathBuf, Option<PathBuf>)> {
    let cache = Cache::within(&wheels(&[name])?);
    let parsed = Name::parse(name.trim_start_matches("wheel:")).expect("a name");
    let wheel = ::wheels::find(&parsed, 13).expect("a published wheel");
    let compiler = ::wheels::companions(wheel, true).first().map(|compiler| cache.folder(compiler));
    Some((cache.folder(wheel), compiler))
}

/// The small wheel and the compiler, unpacked.
fn small() -> Option<&'static [PathBuf; 2]> {
    static FOUND: OnceLock<Option<[PathBuf; 2]>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let (old, compiler) = wheel(SMALL)?;
        Some([old, compiler?])
    });
    found.as_ref()
}

/// The libraries of 9.28.
fn newest() -> Option<PathBuf> {
    Some(wheel(NEWEST)?.0.join("nvidia/cudnn/lib"))
}

/// A file of the cache once more, without its bytes where the file system can.
fn link(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().expect("a folder")).expect("made");
    let _ = fs::remove_file(to);
    if fs::hard_link(from, to).is_err() {
        fs::copy(from, to).expect("copied");
    }
}

/// Every file of an unpacked wheel within a folder, as pip would install it.
fn install(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().expect("a type").is_dir() { install(&from, &to) } else { link(&from, &to) }
    }
}

/// The libraries of an unpacked wheel, put into one folder.
fn libraries(wheel: &Path, inner: &str, to: &Path) {
    install(&wheel.join(inner), to);
}

/// A root with a clean set of run-time-compiled engines, and the compiler that it needs, among a Python's packages.
fn clean(name: &str) -> Option<PathBuf> {
    let [old, compiler] = small()?;
    let folder = fresh_folder(name);
    install(old, &folder.join(SITE));
    install(compiler, &folder.join(SITE));
    Some(folder)
}

fn examine(folder: &Path, path: &str, more: &[&str]) -> Run {
    let folder = folder.display().to_string();
    let fixed = ["doctor", "--json", "--root", &folder];
    convict_in(&[("LD_LIBRARY_PATH", OsStr::new(path))], fixed.iter().chain(more))
}

fn ledger(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

/// Findings that are no notes, as rule and files.
fn findings(run: &Run) -> Vec<(String, Vec<String>)> {
    let ledger = ledger(run);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let findings = ledger["findings"].as_array().expect("a list").iter();
    let bad = findings.filter(|finding| finding["severity"] != "note");
    let told = bad.map(|finding| {
        assert!(!text(&finding["mend"]).is_empty(), "{finding}");
        (text(&finding["rule"]), finding["files"].as_array().expect("files").iter().map(text).collect())
    });
    let told: Vec<_> = told.collect();
    assert_eq!(run.code, Some(i32::from(!told.is_empty())), "{run:?}");
    told
}

/// The finding of that rule names each of those files.
fn assert_found(run: &Run, rule: &str, files: &[&str]) {
    let found = findings(run);
    let one =
        found.iter().find(|(known, _)| known == rule).unwrap_or_else(|| panic!("no {rule}: {found:#?}"));
    for file in files {
        assert!(one.1.iter().any(|known| known.ends_with(file)), "{rule} does not name {file}: {one:#?}");
    }
}

#[test]
fn a_clean_set_of_a_published_wheel_is_told_file_by_file_and_nothing_is_found() {
    let Some(folder) = clean("doctor-clean") else { return };
    let run = examine(&folder, "", &["--hash"]);
    assert_eq!(findings(&run), Vec::new());
    let ledger = ledger(&run);
    let copies = ledger["copies"].as_array().expect("a list");
    let files: Vec<&Value> =
        copies.iter().flat_map(|copy| copy["files"].as_array().expect("files")).collect();
    let graph = files.iter().find(|file| file["part"] == "graph").expect("the core");
    assert_eq!(graph["version"], "9.19.0");
    // Measured from the wheel of that hash, independently of this code.
    assert_eq!(graph["build_id"], "563e348c73f66b6c374ff082af576922b0397648");
    assert_eq!(
        (&graph["owner"]["package"], &graph["owner"]["by"]),
        (&"nvidia-cudnn-jit-cu13".into(), &"pip".into())
    );
    for file in files {
        assert_eq!(file["sha256"], file["owner"]["sha256"], "{file}");
    }
}

#[test]
fn a_set_with_a_file_of_another_release_is_mixed() {
    let (Some(folder), Some(new)) = (clean("doctor-mixed"), newest()) else { return };
    let inner = "nvidia/cudnn_jit/lib";
    let core = "libcudnn_graph.so.9";
    link(&new.join(core), &folder.join(SITE).join(inner).join(core));
    let run = examine(&folder, "", &[]);
    assert_found(&run, "mixed-set", &["cudnn_jit/lib/libcudnn_graph.so.9"]);
    let told = ledger(&run)["findings"].to_string();
    assert!(told.contains("9.19.0") && told.contains("9.28.1"), "{told}");
}

#[test]
fn a_search_path_before_a_set_that_yields_to_it_is_told_with_the_parts_that_it_swaps() {
    let (Some(folder), Some(new)) = (clean("doctor-shadowed"), newest()) else { return };
    libraries(&new, "", &folder.join(OTHER));
    let run = examine(&folder, "/srv/cudnn", &[]);
    let files = ["site-packages/nvidia/cudnn_jit/lib", "/srv/cudnn", "/srv/cudnn/libcudnn_graph.so.9"];
    assert_found(&run, "parts-from-elsewhere", &files);
    // Without the path the second copy is worth a note.
    let run = examine(&folder, "", &[]);
    assert_eq!(findings(&run), Vec::new());
}

#[test]
fn a_set_without_its_precompiled_engines_falls_back_in_silence_and_is_told() {
    let (Some((full, _)), Some([_, compiler])) = (wheel(FULL), small()) else { return };
    let folder = fresh_folder("doctor-incomplete");
    install(&full, &folder.join(SITE));
    install(compiler, &folder.join(SITE));
    // Its companion is 540 MB; an empty library of its name does for who only looks for it.
    let lib = folder.join(SITE).join("nvidia/cudnn/lib");
    let blas = folder.join(SITE).join("nvidia/cu13/lib/libcublasLt.so.13");
    link(&lib.join("libcudnn.so.9"), &blas);
    assert_eq!(findings(&examine(&folder, "", &[])), Vec::new());
    for part in ["engines_precompiled", "heuristic"] {
        fs::remove_file(lib.join(format!("libcudnn_{part}.so.9"))).expect("there");
    }
    let files = ["lib/libcudnn.so.9", "lib/libcudnn_engines_precompiled.so.9", "lib/libcudnn_heuristic.so.9"];
    assert_found(&examine(&folder, "", &[]), "incomplete-set", &files);
}

/// The last published wheel of cuDNN 8, which is no set that convict runs and so in no list of its own: 705 MB.
fn cudnn8() -> ::wheels::Wheel {
    ::wheels::Wheel {
        package: "nvidia-cudnn-cu12".to_owned(),
        version: "8.9.7.29".parse().expect("a version"),
        file: "nvidia_cudnn_cu12-8.9.7.29-py3-none-manylinux1_x86_64.whl".to_owned(),
        bytes: 704_741_186,
        sha256: "adf4f59ed7a1341103822ed8df6e144f4d47ea8b10d9bf0ea0047ba738fd7b02".to_owned(),
        part: ::wheels::Part::Full,
        cuda: 12,
    }
}

/// The libraries of cuDNN 8.9, by the package client; nothing where they can't be had.
fn old() -> Option<PathBuf> {
    let cache = Cache::within(&wheels(&[])?);
    let wheel = cudnn8();
    if !cache.holds(&wheel) && std::env::var_os("CONVICT_TEST_FETCH").is_none() {
        skipped("no cuDNN 8.9; CONVICT_TEST_FETCH=1 and a network fetch it");
        return None;
    }
    let environment = std::env::vars_os().collect();
    let client = ::wheels::Client { keeper: None, environment, interrupt: exec::Interrupt::default() };
    match client.fetch(&cache, &wheel) {
        Ok(folder) => Some(folder),
        Err(error @ (WheelError::NoNetwork { .. } | WheelError::NoClient { .. })) => {
            skipped(&error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn an_8_9_beside_a_9_is_told_with_the_files_of_both() {
    let (Some(folder), Some(old)) = (clean("doctor-old"), old()) else { return };
    let [new, ..] = small().expect("seen above");
    libraries(&old, "", &folder.join("srv/old"));
    libraries(new, "nvidia/cudnn_jit/lib", &folder.join(OTHER));
    let run = examine(&folder, "/srv/old:/srv/cudnn", &[]);
    assert_found(&run, "two-majors-on-a-path", &["/srv/old/libcudnn.so.8", "/srv/cudnn/libcudnn.so.9"]);
    let ledger = ledger(&run);
    let copies = ledger["copies"].as_array().expect("a list");
    let old = copies.iter().find(|copy| copy["folder"] == "/srv/old").expect("the old one");
    let versions: Vec<&str> =
        old["files"].as_array().expect("files").iter().filter_map(|file| file["version"].as_str()).collect();
    assert!(versions.iter().any(|version| version.starts_with("8.9.7")), "{versions:?}");
}

#[test]
fn a_program_and_a_process_are_told_with_what_they_map() {
    let Some([old, ..]) = small() else { return };
    // A process that has libraries open, in a folder whose name holds a blank and a line's end.
    let folder = fresh_folder("doctor-process").join("a b\nc");
    libraries(old, "nvidia/cudnn_jit/lib", &folder);
    let file = folder.join("libcudnn_graph.so.9");
    let script = format!(
        "import ctypes, sys; ctypes.CDLL({:?}); print('open', flush=True); sys.stdin.read()",
        file.display().to_string()
    );
    let python =
        Command::new("python3").args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut python) = python else { return skipped("no python3") };
    let mut line = String::new();
    BufReader::new(python.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let pid = python.id().to_string();
    let run = convict(["doctor", "--json", "--pid", &pid]);
    let shown = convict(["doctor", "--pid", &pid]);
    drop(python.stdin.take());
    python.wait().expect("it ends");
    assert_eq!(line, "open\n");
    let program = &ledger(&run)["programs"][0];
    assert_eq!(program["seen"], "mapped", "{run:?}");
    assert_eq!(program["files"][0]["path"], file.display().to_string(), "{run:?}");
    // Its name makes no line of its own.
    assert!(
        shown.stdout.contains("a b\\nc/libcudnn_graph.so.9") && !shown.stdout.contains("\nc/"),
        "{shown:?}"
    );
    // It has ended by now.
    let gone = convict(["doctor", "--json", "--pid", &pid]);
    let told = &ledger(&gone)["trouble"]["processes that can't be looked at"]["told"][0];
    assert!(told.as_str().is_some_and(|told| told.starts_with(&format!("process {pid}: "))), "{gone:?}");
    let shim = folder.join("libcudnn.so.9").display().to_string();
    let resolved = convict(["doctor", "--json", "--exe", &shim]);
    assert_eq!(ledger(&resolved)["programs"][0]["seen"], "resolved", "{resolved:?}");
}

#[test]
fn without_a_cudnn_the_machine_is_unusable_and_one_line_says_so() {
    let folder = fresh_folder("doctor-empty");
    let run = examine(&folder, "", &[]);
    assert_eq!(run.code, Some(3), "{run:?}");
    let line = "convict: there is no cuDNN to look at, neither on disk nor in a program; name what has one by --python, \
                --exe or --pid, or its folder in LD_LIBRARY_PATH\n";
    assert_eq!(run.stderr, line);
    assert_eq!(ledger(&run)["driver"]["release"], Value::Null);
}

#[test]
fn broken_files_loops_and_closed_folders_are_counted_and_end_nothing() {
    let folder = fresh_folder("doctor-broken");
    let site = folder.join(SITE);
    fs::create_dir_all(site.join("nvidia/cudnn/lib")).expect("made");
    fs::write(site.join("nvidia/cudnn/lib/libcudnn.so.9"), [0x7f, b'E', b'L', b'F', 2, 1, 1])
        .expect("written");
    fs::write(site.join("nvidia/cudnn/lib/libcudnn_ops.so.9"), vec![0xff; 4096]).expect("written");
    symlink("loop", site.join("nvidia/loop")).expect("linked");
    symlink("/nowhere", site.join("nvidia/cudnn/lib/libcudnn_adv.so.9")).expect("linked");
    for number in 0..3000 {
        fs::create_dir(site.join(format!("nvidia_p{number}-1.dist-info"))).expect("made");
    }
    fs::create_dir_all(folder.join("etc")).expect("made");
    fs::write(folder.join("etc/ld.so.cache"), b"glibc-ld.so.cache1.1\xff\xff\xff\xff\xff").expect("written");
    let run = examine(&folder, "", &["--hash"]);
    let ledger = ledger(&run);
    let trouble = |kind: &str| ledger["trouble"][kind]["count"].as_u64().unwrap_or(0);
    assert_eq!(trouble("libraries that can't be read"), 2, "{run:?}");
    assert_eq!(trouble("links that lead nowhere"), 1, "{run:?}");
    assert!(trouble("links that lead in circles") > 0 && trouble("files that can't be read") > 0, "{run:?}");
    assert_found(&run, "incomplete-set", &["libcudnn_graph.so.9"]);
}

/// A `PATH` with a program of that name, which a shell runs.
fn with_program(name: &str, script: &str) -> std::ffi::OsString {
    let folder = fresh_folder(&format!("doctor-{name}"));
    let file = folder.join(name);
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("set");
    std::env::join_paths([folder, PathBuf::from("/usr/bin"), PathBuf::from("/bin")]).expect("a path")
}

#[test]
fn what_nvidia_smi_tells_or_why_it_does_not_is_in_the_ledger() {
    let answers = "case \"$1\" in *compute-apps*) echo '00000000:0F:00.0, 77, /opt/x, 143000' ;; \
                   *) echo '0, 00000000:0F:00.0, NVIDIA H200, 9.0, 143771, 143000, 771, Enabled, 3, Disabled, 580.159.04' ;; esac";
    let path = with_program("nvidia-smi", answers);
    let run = convict_in(&[("PATH", path.as_os_str())], ["doctor", "--json"]);
    let ledger = ledger(&run);
    let device = &ledger["devices"]["known"][0];
    assert_eq!((&device["name"], &device["memory_mib"][2]), (&"NVIDIA H200".into(), &771.into()), "{run:?}");
    assert_eq!(device["processes"][0]["name"], "x", "{run:?}");
    let rules: Vec<&str> = ledger["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["rule"].as_str())
        .collect();
    assert!(rules.contains(&"memory-errors") && rules.contains(&"memory-held"), "{rules:?}");
    let path = with_program("nvidia-smi", "echo 'NVIDIA-SMI has failed because it has no driver'; exit 9");
    let run = convict_in(&[("PATH", path.as_os_str())], ["doctor"]);
    assert!(run.stdout.contains("code 9: NVIDIA-SMI has failed because it has no driver\n"), "{run:?}");
}

#[test]
fn a_python_that_dies_is_told_with_how_it_ended() {
    let Some(folder) = clean("doctor-python") else { return };
    let path = with_program("dying-python", "kill -SEGV $$");
    let python = std::env::split_paths(&path).next().expect("a folder").join("dying-python");
    let lib = folder.join(SITE).join("nvidia/cudnn_jit/lib");
    let variables = [("LD_LIBRARY_PATH", lib.as_os_str())];
    let run = convict_in(&variables, ["doctor", "--json", "--python", &python.display().to_string()]);
    let why = ledger(&run)["python"]["trouble"].as_str().expect("trouble").to_owned();
    assert!(why.contains("SIGSEGV"), "{run:?}");
}

#[test]
fn what_cannot_be_looked_at_is_usage() {
    for (arguments, line) in [
        (["--root", "/no/such"], "--root /no/such: is no folder"),
        (["--exe", "/no/such"], "--exe /no/such: there is no such file"),
    ] {
        let run = convict(std::iter::once("doctor").chain(arguments));
        assert_eq!((run.code, run.stderr.as_str()), (Some(2), format!("convict: {line}\n").as_str()));
    }
    let run = convict(["doctor", "--python", "/no/such/python"]);
    assert!(run.code == Some(2) && run.stderr.starts_with("convict: --python /no/such/python: "), "{run:?}");
    assert_eq!(convict(["doctor", "--pid", "0"]).code, Some(2));
}
