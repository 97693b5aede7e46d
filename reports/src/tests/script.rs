//! `run.sh` with a compiler that only puts a ready program in place: which end becomes which exit code.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use case::Kind;

use super::LINE;
use crate::sample::Sample;
use crate::script;

fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Exit code and output of the script of a kind whose program is that shell text.
#[track_caller]
fn run(kind: Kind, program: &str, arguments: &[&str]) -> (i32, String) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("a 'copied' $(folder)");
    fs::create_dir(&folder).unwrap();
    executable(&folder.join("run.sh"), &script::render(&Sample::new(kind, LINE).finding()).unwrap());
    fs::write(folder.join("repro.cpp"), program).unwrap();
    let compiler = parent.path().join("compiler");
    // The fifth argument is the source, the seventh the executable.
    executable(&compiler, "#!/bin/sh\ngrep -q . \"$4\" || exit 1\ncp \"$4\" \"$6\"\nchmod +x \"$6\"\n");
    let mut command = Command::new("sh");
    command.arg(folder.join("run.sh")).args(arguments).env("CXX", compiler).env("CONVICT_TIMEOUT", "1");
    let output = command.current_dir("/").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), text)
}

#[test]
fn exit_codes_of_the_program_go_through_with_its_arguments() {
    for code in [0, 1, 2, 3, 77] {
        let program = format!("#!/bin/sh\necho \"$1|$2\"\nexit {code}\n");
        assert_eq!(
            run(Kind::Wrong, &program, &["a b", "$(c)"]),
            (code, "waiting up to 1 s\na b|$(c)\n".to_owned())
        );
    }
}

#[test]
fn a_signal_is_the_bug_only_where_the_bug_ends_the_process() {
    let dies = "#!/bin/sh\nkill -SEGV $$\n";
    let (code, text) = run(Kind::Crash, dies, &[]);
    assert!(code == 1 && text.contains("BUG PRESENT: exit code 139: ended by signal 11"), "{text}");
    let (code, text) = run(Kind::Wrong, dies, &[]);
    assert!(code == 3 && text.contains("another failure"), "{text}");
}

#[test]
fn a_program_that_was_interrupted_shows_no_bug() {
    for (code, number) in [(129, 1), (130, 2), (143, 15)] {
        for kind in [Kind::Crash, Kind::Hang, Kind::Wrong] {
            let (got, text) = run(kind, &format!("#!/bin/sh\nexit {code}\n"), &[]);
            let is_told = text.contains(&format!("interrupted: the program was ended by signal {number}"));
            assert!(got == 3 && is_told && !text.contains("BUG PRESENT"), "{got}: {text}");
        }
    }
    let (got, text) = run(Kind::Crash, "#!/bin/sh\nkill -TERM $$\n", &[]);
    assert!(got == 3 && !text.contains("BUG PRESENT"), "{got}: {text}");
}

#[test]
fn an_end_by_time_limit_is_the_bug_only_where_the_bug_stalls() {
    let stalls = "#!/bin/sh\nexec sleep 30\n";
    let (code, text) = run(Kind::Hang, stalls, &[]);
    assert!(code == 1 && text.contains("BUG PRESENT: no end within 1 s"), "{text}");
    let (code, text) = run(Kind::Oob, stalls, &[]);
    assert!(code == 3 && text.contains("another failure: no end within 1 s"), "{text}");
}

#[test]
fn a_program_that_does_not_compile_is_not_applicable() {
    let (code, text) = run(Kind::Wrong, "", &[]);
    assert!(code == 77 && text.contains("was not compiled"), "{text}");
}

/// Ctrl-C goes to the whole group in the foreground; here the group is the script's own.
#[test]
fn an_interrupt_stops_the_script_and_its_program() {
    use std::os::unix::process::CommandExt;
    let parent = tempfile::tempdir().unwrap();
    executable(
        &parent.path().join("run.sh"),
        &script::render(&Sample::new(Kind::Hang, LINE).finding()).unwrap(),
    );
    // It ends a little later than the signal comes: a shell that saw its program die before its own signal came would
    // have to guess who ended it.
    let program = "#!/bin/sh\ntrap 'sleep 0.3; exit 130' INT\necho $$ > \"$1\"\nsleep 60\n";
    fs::write(parent.path().join("repro.cpp"), program).unwrap();
    let compiler = parent.path().join("compiler");
    executable(&compiler, "#!/bin/sh\ncp \"$4\" \"$6\"\nchmod +x \"$6\"\n");
    let started = parent.path().join("started");
    // A suite that was started in the background ignores the signal, and so would all that it starts.
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", "sh"]);
    command.arg(parent.path().join("run.sh")).arg(&started).env("CXX", compiler).process_group(0);
    let mut child = command.spawn().unwrap();
    let begin = std::time::Instant::now();
    while !fs::read_to_string(&started).is_ok_and(|text| text.ends_with('\n')) {
        assert!(begin.elapsed().as_secs() < 30, "the program did not start");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let program = fs::read_to_string(&started).unwrap().trim().to_owned();
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-s", "INT", "--", &group]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(begin.elapsed().as_secs() < 30);
    assert!(!Path::new("/proc").join(program).exists(), "the program lives on");
}

#[test]
fn the_page_of_the_files_tells_how_to_run_the_program_where_it_failed() {
    let mut sample = Sample::new(Kind::Wrong, LINE);
    let text = script::readme(&sample.finding()).unwrap();
    assert!(text.contains("cuDNN 9 (9.14 and 9.19 were tried)") && !text.contains("SIMULATED"), "{text}");
    sample.environment.gpu = "convict simulator".to_owned();
    let text = script::readme(&sample.finding()).unwrap();
    assert!(
        text.contains("SIMULATED") && text.contains("    sh run.sh FOLDER --driver FOLDER/libcuda.so.1\n")
    );
}
