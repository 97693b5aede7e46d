//! `convict recipe` from outside: sets by version, folder and bundle; what pip makes of the requirements. Knows the
//! forms as their readers do.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bundle::any_bundle;
use crate::convict::{Run, convict, fresh_folder, root, skipped};

/// A small set that needs no other wheel to be loaded.
const SMALL: &str = "9.12.0.46-jit-cu12";

fn recipe(target: &str, kind: &str) -> String {
    let run = convict(["recipe", target, "--kind", kind]);
    assert!(run.code == Some(0) && run.stderr.is_empty(), "{run:?}");
    run.stdout
}

/// Lines that pip reads.
fn requirements(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_version_gives_every_form_with_the_hashes_that_were_published() {
    let hash = "d20e1734305e9d68889a96e3f35094d733ff1f83932ebe462753973e53a572bf";
    for kind in ["docker", "conda", "pip", "text"] {
        let text = recipe("wheel:9.19.0.56-cu13", kind);
        assert!(text.contains(hash) && text.contains("nvidia-cublas"), "{kind}: {text}");
    }
    let text = recipe("wheel:9.19.0.56-cu13", "text");
    let install = "install       python3 -m pip install --no-deps nvidia-cudnn-cu13==9.19.0.56 ";
    assert!(text.contains(install), "{text}");
    assert!(recipe("9.27-jit-cu13", "pip").contains("nvidia-cudnn-jit-cu13==9.27.0.42 \\\n"));
    let folder = fresh_folder("recipe-out");
    let file = folder.join("Dockerfile");
    let run = convict([
        "recipe".as_ref(),
        "9.19.0.56-cu13".as_ref(),
        "--kind=docker".as_ref(),
        "--out".as_ref(),
        file.as_os_str(),
    ]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:?}");
    assert_eq!(fs::read_to_string(file).expect("a file"), recipe("9.19.0.56-cu13", "docker"));
}

#[test]
fn what_is_no_set_is_told_in_one_line() {
    let empty = fresh_folder("recipe-empty").display().to_string();
    let untold = fresh_folder("recipe-untold");
    fs::write(untold.join("libcudnn.so.9"), "").expect("a file");
    let broken = fresh_folder("recipe-broken");
    fs::write(broken.join(reports::VERDICT), "{}").expect("a file");
    for (target, words) in [
        ("nonsense\n\u{1b}[31m", "is neither a published version"),
        ("9.99", "the nearest are"),
        (&empty, "holds no libcudnn.so.9"),
        (&untold.display().to_string(), "tells no version"),
        (&broken.display().to_string(), "SHA256SUMS: is missing"),
    ] {
        let run = convict(["recipe", target]);
        assert_eq!((run.code, run.stderr.lines().count()), (Some(2), 1), "{run:?}");
        assert!(run.stderr.contains(words) && !run.stderr.contains('\u{1b}'), "{words}: {run:?}");
    }
}

#[test]
fn a_bundle_s_recipe_lists_the_wheel_of_its_set_and_says_what_was_not_seen() {
    let bundle =
        root().join("corpus/regressions/9.14.0-wgrad-e1-wrong-judge-stale-f64-nchw").display().to_string();
    let pip = recipe(&bundle, "pip");
    assert!(pip.contains("\nnvidia-cudnn-cu13==9.14.0.64 \\\n    --hash=sha256:"), "{pip}");
    assert!(pip.contains("# Note: cuDNN was not loaded from a wheel"), "{pip}");
    assert!(pip.contains("libcublasLt.so was of version 13.1.0.3; nvidia-cublas "), "{pip}");
    let text = recipe(&bundle, "text");
    assert!(text.contains("GPU           NVIDIA H200, sm_90\n") && text.contains("build-id "), "{text}");
    // A bundle that was altered is none.
    let altered = fresh_folder("recipe-altered").join("bundle");
    crate::bundle::copy_folder(Path::new(&bundle), &altered);
    fs::write(altered.join(reports::ENVIRONMENT), "{}").expect("written");
    let run = convict([OsStr::new("recipe"), altered.as_os_str()]);
    assert!(run.code == Some(2) && run.stderr.contains("differs from its SHA-256"), "{run:?}");
}

/// What makes a file of a bundle something else.
type Spoil<'a> = &'a dyn Fn(&Path);

#[test]
fn what_is_no_file_in_a_bundle_or_among_packages_keeps_nobody_waiting() {
    use std::os::unix::fs::symlink;
    let pipe = |path: &Path| {
        assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo starts").success());
    };
    let bundle = root().join("corpus/regressions/9.14.0-wgrad-e1-wrong-judge-stale-f64-nchw");
    let not_text = |path: &Path| fs::write(path, b"\xff\xfe\n").expect("written");
    let spoilt: [(&str, Spoil<'_>, &str); 6] = [
        (reports::ENVIRONMENT, &not_text, "differs from its SHA-256"),
        (reports::SUMS, &not_text, "is no UTF-8 text"),
        (reports::ENVIRONMENT, &pipe, "is no plain file"),
        (reports::SUMS, &pipe, "is no plain file"),
        (
            reports::ENVIRONMENT,
            &|path: &Path| symlink("/dev/zero", path).expect("linked"),
            "is no plain file",
        ),
        (
            reports::SUMS,
            &|path: &Path| fs::File::create(path).and_then(|file| file.set_len(1 << 36)).expect("a file"),
            "is larger than",
        ),
    ];
    for (number, (name, spoil, words)) in spoilt.into_iter().enumerate() {
        let folder = fresh_folder(&format!("recipe-spoilt-{number}")).join("bundle");
        crate::bundle::copy_folder(&bundle, &folder);
        fs::remove_file(folder.join(name)).expect("there");
        spoil(&folder.join(name));
        let run = convict([OsStr::new("recipe"), folder.as_os_str()]);
        assert_eq!((run.code, run.stderr.lines().count()), (Some(2), 1), "{run:?}");
        assert!(run.stderr.contains(name) && run.stderr.contains(words), "{run:?}");
    }
    // A pipe for the list of an installed wheel: the wheel is known by the folder's name all the same.
    let site = fresh_folder("recipe-pipe");
    let (lib, list) = (site.join("nvidia/cudnn/lib"), site.join("nvidia_cudnn_cu13-9.19.0.56.dist-info"));
    fs::create_dir_all(&lib).and_then(|()| fs::create_dir_all(&list)).expect("made");
    fs::write(lib.join("libcudnn.so.9"), "").expect("written");
    pipe(&list.join("RECORD"));
    assert!(recipe(&lib.display().to_string(), "pip").contains("nvidia-cudnn-cu13==9.19.0.56"));
}

#[test]
fn a_bundle_of_the_simulator_can_be_told_and_not_installed() {
    let bundle = any_bundle().display().to_string();
    assert!(recipe(&bundle, "text").starts_with("SIMULATED: "));
    for kind in ["docker", "conda", "pip"] {
        let run = convict(["recipe", &bundle, "--kind", kind]);
        assert!(run.code == Some(77) && run.stderr.contains("was made on the simulator"), "{run:?}");
    }
}

/// Has pip install requirements into a folder; its cache is kept, so that a wheel is fetched once. `None` where the
/// index can't be reached.
fn install(requirements: &Path, into: &Path) -> Option<Run> {
    let mut command = Command::new("python3");
    command.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--no-deps",
    ]);
    command
        .args(["--require-hashes", "--no-compile", "--target"])
        .arg(into)
        .arg("--requirement")
        .arg(requirements);
    command.env("PIP_CACHE_DIR", root().join(".cache/pip")).env("PIP_RETRIES", "0");
    let run: Run = command.output().ok()?.into();
    let has_no_answer =
        ["No module named pip", "NewConnectionError", "NameResolutionError", "No matching distribution"]
            .iter()
            .any(|words| run.stderr.contains(words));
    if has_no_answer {
        skipped("no pip, or no package index to install a recipe from");
        return None;
    }
    Some(run)
}

#[test]
fn pip_installs_the_requirements_and_what_it_installs_gives_the_same_ones() {
    let folder = fresh_folder("recipe-installed");
    let text = recipe(SMALL, "pip");
    // Of what the set needs, cuDNN's own wheel: the compiler weighs five times as much.
    let (before, compiler) = text.split_once("nvidia-cuda-nvrtc-cu12==").expect("two wheels");
    assert!(compiler.contains("--hash=sha256:"), "{compiler}");
    let list = folder.join("requirements.txt");
    fs::write(&list, before).expect("written");
    let into: PathBuf = folder.join("site-packages");
    let Some(run) = install(&list, &into) else { return };
    assert_eq!(run.code, Some(0), "{run:?}");
    let libraries = into.join("nvidia/cudnn_jit/lib");
    assert!(libraries.join("libcudnn.so.9").is_file());
    for place in [&folder, &libraries] {
        assert_eq!(requirements(&recipe(&place.display().to_string(), "pip")), requirements(&text));
    }
    assert!(!recipe(&libraries.display().to_string(), "text").contains("differ or are missing"));
    fs::write(libraries.join("libcudnn.so.9"), "cut").expect("written");
    let words = "what is listed; libcudnn.so.9 differ or are missing";
    assert!(recipe(&libraries.display().to_string(), "text").contains(words));
    // Another hash is another file.
    let (line, hash) = before.rsplit_once("sha256:").expect("a hash");
    fs::write(&list, format!("{line}sha256:{}\n", "0".repeat(hash.trim().len()))).expect("written");
    let run = install(&list, &folder.join("refused")).expect("it was there a moment ago");
    assert!(run.code != Some(0) && run.stderr.contains("DO NOT MATCH THE HASHES"), "{run:?}");
}
