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
        assert_eq!(run(Kind::Wrong, &program, &["a b", "$(c)"]), (code, "a b|$(c)\n".to_owned()));
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
