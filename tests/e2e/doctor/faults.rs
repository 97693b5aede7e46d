//! `convict doctor` on what it has to tell apart or must not fall over: JIT sets in plain folders, files cut short,
//! pipes for libraries, preloads, two CUDA stacks, programs that hang. Knows files, findings and exit codes.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{OTHER, SITE, clean, examine, findings, ledger, libraries, small, with_program};
use crate::convict::{convict, convict_in, fresh_folder, skipped};

#[test]
fn the_three_files_of_a_jit_wheel_in_a_plain_folder_are_a_clean_set() {
    let Some([old, compiler]) = small() else { return };
    let folder = fresh_folder("doctor-jit");
    libraries(old, "nvidia/cudnn_jit/lib", &folder.join(OTHER));
    libraries(compiler, "nvidia/cu13/lib", &folder.join("srv/nvrtc"));
    let run = examine(&folder, "/srv/cudnn:/srv/nvrtc", &[]);
    assert_eq!(findings(&run), Vec::new(), "{run:?}");
    let root = folder.display().to_string();
    let path = [("LD_LIBRARY_PATH", OsStr::new("/srv/cudnn:/srv/nvrtc"))];
    let shown = convict_in(&path, ["doctor", "--root", &root]);
    assert!(shown.stdout.contains("a set of run-time-compiled engines alone\n"), "{shown:?}");
    assert!(shown.code == Some(0) && shown.stdout.ends_with("nothing is wrong\n"), "{shown:?}");
}

#[test]
fn a_library_cut_short_is_an_error_with_its_sizes() {
    let Some(folder) = clean("doctor-cut") else { return };
    let file = folder.join(SITE).join("nvidia/cudnn_jit/lib/libcudnn_engines_runtime_compiled.so.9");
    let whole = fs::read(&file).expect("the engines");
    // It is a link to the cache's file, which stays as it is.
    fs::remove_file(&file).expect("removed");
    fs::write(&file, &whole[..whole.len() / 2]).expect("written");
    let run = examine(&folder, "", &[]);
    let found = findings(&run);
    assert_eq!((found.len(), found[0].0.as_str()), (1, "broken-library"), "{found:?}");
    let told = &ledger(&run)["findings"][0];
    let sizes = format!("is cut short: it has {} bytes, and its headers claim ", whole.len() / 2);
    assert!(
        told["severity"] == "error" && told["title"].as_str().is_some_and(|title| title.contains(&sizes))
    );
}

#[test]
fn pipes_and_folders_for_libraries_are_told_as_what_they_are_and_a_circle_once() {
    let folder = fresh_folder("doctor-odd");
    let lib = folder.join(OTHER);
    fs::create_dir_all(lib.join("libcudnn_cnn.so.9")).expect("made");
    let made = Command::new("mkfifo").arg(lib.join("libcudnn_adv.so.9")).status().expect("mkfifo starts");
    assert!(made.success());
    symlink("libnvJitLink.so.13", lib.join("libnvJitLink.so.13")).expect("linked");
    let run = examine(&folder, "/srv/cudnn", &[]);
    let trouble = &ledger(&run)["trouble"];
    let told = trouble["names of libraries that are none"]["told"].to_string();
    for words in ["libcudnn_adv.so.9: is a pipe, not a regular file", "libcudnn_cnn.so.9: is a folder, not"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert_eq!(trouble["links that lead in circles"]["count"], 1, "{trouble}");
    assert!(trouble["links that lead nowhere"].is_null(), "{trouble}");
}

#[test]
fn what_is_no_file_to_resolve_is_told_as_what_it_is() {
    for (file, words) in
        [("/dev/null", "is a device, not a regular file"), ("/proc", "is a folder, not a regular file")]
    {
        let run = convict(["doctor", "--exe", file]);
        assert_eq!((run.code, run.stderr), (Some(2), format!("convict: --exe {file}: {words}\n")));
    }
}

#[test]
fn a_process_that_is_not_there_is_told_as_not_seen_with_a_next_step() {
    let folder = fresh_folder("doctor-nobody").display().to_string();
    let run = convict(["doctor", "--root", &folder, "--pid", "99999999"]);
    assert_eq!(run.code, Some(3), "{run:?}");
    let words =
        "not seen  process 99999999: there is none, or it has ended; pgrep -af python lists what runs";
    assert!(run.stdout.contains(words) && !run.stdout.contains("nothing is wrong"), "{run:?}");
    assert!(run.stdout.ends_with("nothing can be said of cuDNN\n"), "{run:?}");
}

#[test]
fn a_python_that_hangs_and_floods_is_ended_when_its_time_is_over() {
    let path = with_program("hanging-python", "while :; do echo flood; echo flood >&2; done");
    let python = std::env::split_paths(&path).next().expect("a folder").join("hanging-python");
    let run = convict(["doctor", "--time", "1s", "--python", &python.display().to_string()]);
    assert!(run.stdout.contains("killed after 1000 ms (--time gives it longer)"), "{run:?}");
    assert!(!run.stdout.contains("flood"), "{run:?}");
    let none = convict(["doctor", "--time", "0s"]);
    assert!(none.code == Some(2) && none.stderr.contains("leaves no time"), "{none:?}");
}

#[test]
fn a_preload_that_is_gone_or_a_cudnn_of_another_version_is_told() {
    let Some(folder) = clean("doctor-preload") else { return };
    let root = folder.display().to_string();
    let with = |preload: &str| {
        let variables = [("LD_PRELOAD", OsStr::new(preload)), ("LD_LIBRARY_PATH", OsStr::new(""))];
        let run = convict_in(&variables, ["doctor", "--json", "--root", &root]);
        let told = ledger(&run)["findings"].as_array().expect("a list").clone();
        (run, told)
    };
    let (run, told) = with("/opt/gone/libcudnn.so.9");
    assert!(told.len() == 1 && told[0]["rule"] == "stale-preload", "{told:?}");
    assert_eq!((run.code, &told[0]["severity"]), (Some(1), &"warning".into()), "{run:?}");
    assert!(told[0]["mend"].as_str().is_some_and(|mend| mend.ends_with("unset LD_PRELOAD")), "{told:?}");
    // The same in the file of the loader, which names one of another version.
    let Some([old, _]) = small() else { return };
    libraries(old, "nvidia/cudnn_jit/lib", &folder.join("opt/9.19"));
    fs::create_dir_all(folder.join("etc")).expect("made");
    fs::write(folder.join("etc/ld.so.preload"), "/opt/9.19/libcudnn.so.9\n").expect("written");
    let told = findings(&examine(&folder, "", &[]));
    assert!(
        told.iter().any(|(rule, files)| rule == "preload" && files == &["/opt/9.19/libcudnn.so.9"]),
        "{told:?}"
    );
}

/// A library of that name and soname, which needs those of its folder; nothing where no compiler makes one.
fn stand_in(folder: &Path, name: &str, more: &[&str]) -> Option<()> {
    let source = folder.join("source.cpp");
    fs::write(&source, "extern \"C\" int stand_in() { return 0; }\nint main() { return 0; }\n")
        .expect("written");
    let soname = format!("-Wl,-soname,{name}");
    let made = Command::new("g++")
        .args(["-fPIC", &soname, "-o"])
        .arg(folder.join(name))
        .arg(&source)
        .args(more)
        .output();
    let Ok(made) = made else {
        skipped("no g++");
        return None;
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    fs::remove_file(source).expect("removed");
    Some(())
}

#[test]
fn two_cuda_stacks_are_told_of_a_process_and_of_a_program() {
    let folder = fresh_folder("doctor-stacks");
    let text = folder.display().to_string();
    for name in ["libcudart.so.12", "libcudart.so.13", "libcublas.so.12"] {
        if stand_in(&folder, name, &["-shared"]).is_none() {
            return;
        }
    }
    let needs =
        ["-Wl,--no-as-needed,-rpath,$ORIGIN", "-L", &text, "-l:libcudart.so.13", "-l:libcublas.so.12"];
    stand_in(&folder, "program", &needs).expect("seen above");
    let told = |run: &crate::convict::Run| {
        let found = findings(run).into_iter().find(|(rule, _)| rule == "two-cuda-stacks");
        found.unwrap_or_else(|| panic!("{run:?}")).1
    };
    // Neither has a cuDNN; one beside them makes the machine usable.
    let Some([old, compiler]) = small() else { return };
    libraries(old, "nvidia/cudnn_jit/lib", &folder.join("cudnn"));
    libraries(compiler, "nvidia/cu13/lib", &folder.join("cudnn"));
    let cudnn = folder.join("cudnn");
    let variables = [("LD_LIBRARY_PATH", cudnn.as_os_str())];
    let run = convict_in(&variables, ["doctor", "--json", "--exe", &format!("{text}/program")]);
    assert_eq!(told(&run), [format!("{text}/libcublas.so.12"), format!("{text}/libcudart.so.13")]);
    let script = "import ctypes, sys; [ctypes.CDLL(name) for name in sys.argv[1:]]; print(1, flush=True); sys.stdin.read()";
    let libraries = ["libcudart.so.12", "libcudart.so.13"].map(|name| format!("{text}/{name}"));
    let mut command = Command::new("python3");
    command.args(["-c", script]).args(&libraries).env("LD_LIBRARY_PATH", &cudnn);
    let Ok(mut python) = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        return skipped("no python3");
    };
    let mut line = String::new();
    BufReader::new(python.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let run = convict(["doctor", "--json", "--pid", &python.id().to_string()]);
    drop(python.stdin.take());
    python.wait().expect("it ends");
    assert_eq!(told(&run), libraries);
}
