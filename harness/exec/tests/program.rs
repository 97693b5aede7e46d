//! Programs that are no workers: how they end, what they print, and that nothing of theirs is left running.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use case::Exit;
use exec::{HarnessError, Interrupt, Program, become_kept, run_program};

fn shell(script: &str, folder: &Path, timeout: Duration) -> Program {
    Program {
        keeper: None,
        program: PathBuf::from("/bin/sh"),
        arguments: vec![OsString::from("-c"), OsString::from(script)],
        folder: folder.to_path_buf(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into()), ("GIVEN".into(), "yes".into())],
        timeout,
    }
}

/// True while a process exists and is no zombie.
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .and_then(|rest| rest.trim_start().chars().next())
        .is_some_and(|state| state != 'Z')
}

#[test]
fn a_program_tells_its_code_its_output_and_sees_only_the_environment_given() {
    let folder = tempfile::tempdir().unwrap();
    let script = "pwd; echo given $GIVEN home $HOME; echo trouble >&2; exit 7";
    let program = shell(script, folder.path(), Duration::from_secs(10));
    let end = run_program(&program, &Interrupt::default()).unwrap();
    assert_eq!(end.exit, Exit::Exited(7));
    assert_eq!(end.stderr, "trouble\n");
    assert!(end.stdout.ends_with("given yes home\n"), "{}", end.stdout);
    let name = folder.path().file_name().unwrap().to_str().unwrap();
    assert!(end.stdout.contains(name), "it starts in its folder");
}

#[test]
fn a_program_that_a_signal_ends_tells_which() {
    let program = shell("kill -BUS $$", &std::env::temp_dir(), Duration::from_secs(10));
    assert_eq!(run_program(&program, &Interrupt::default()).unwrap().exit, Exit::Signalled(7));
}

#[test]
fn a_time_out_kills_what_the_program_started_too() {
    let folder = tempfile::tempdir().unwrap();
    let script = "sleep 60 & echo $! > child; wait";
    let program = shell(script, folder.path(), Duration::from_millis(300));
    let end = run_program(&program, &Interrupt::default()).unwrap();
    assert_eq!(end.exit, Exit::TimedOut(300));
    let child = std::fs::read_to_string(folder.path().join("child")).unwrap();
    let start = Instant::now();
    while lives(&child) && start.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!lives(&child));
}

#[test]
fn an_interrupt_ends_a_program_soon() {
    let interrupt = Interrupt::default();
    interrupt.set();
    let start = Instant::now();
    let program = shell("sleep 60", &std::env::temp_dir(), Duration::from_secs(60));
    assert!(matches!(run_program(&program, &interrupt), Err(HarnessError::Interrupted)));
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_program_that_does_not_exist_is_no_end_but_an_error() {
    let mut program = shell("", &std::env::temp_dir(), Duration::from_secs(1));
    program.program = PathBuf::from("no-such-compiler");
    let error = run_program(&program, &Interrupt::default()).unwrap_err();
    assert!(matches!(&error, HarnessError::Spawn { .. }) && error.to_string().contains("no-such-compiler"));
}

/// This test binary as a keeper, as convict's own command is one: does nothing unless it is called as such.
#[test]
fn serves_as_the_keeper_of_the_other_tests() {
    let Ok(parent) = std::env::var("KEPT_BY") else { return };
    let script = std::env::var_os("KEPT_SCRIPT").unwrap();
    let error = become_kept(parent.parse().unwrap(), &["/bin/sh".into(), "-c".into(), script]);
    panic!("{error}");
}

/// Starts a keeper of a script, which runs under a process of its own.
fn keeper(parent: u32, script: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the test binary"));
    command.args(["--exact", "serves_as_the_keeper_of_the_other_tests", "--nocapture"]);
    command.env("KEPT_BY", parent.to_string()).env("KEPT_SCRIPT", script);
    command
}

#[test]
fn a_kept_program_is_killed_when_the_thread_ends_that_started_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pid");
    let script = format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 60", path.display());
    let mut child = std::thread::scope(|scope| {
        let starter = scope.spawn(|| {
            let child = keeper(std::process::id(), &script).spawn().unwrap();
            let start = Instant::now();
            while !path.exists() && start.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(5));
            }
            child
        });
        starter.join().unwrap()
    });
    let start = Instant::now();
    while lives(&child.id().to_string()) && start.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let lived = lives(&child.id().to_string());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(path.exists() && !lived);
}

#[test]
fn a_program_whose_supervisor_is_gone_already_is_not_started() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("touch {}", folder.path().join("started").display());
    let output = keeper(std::process::id() + 1, &script).output().unwrap();
    assert!(!output.status.success() && !folder.path().join("started").exists());
}

#[test]
fn a_keeper_that_cannot_start_its_program_is_no_end_but_an_error() {
    let mut program = shell("", &std::env::temp_dir(), Duration::from_secs(5));
    // It looks for a program of the command's name, and says by the same code that there is none.
    program.keeper = Some(PathBuf::from("/usr/bin/env"));
    let error = run_program(&program, &Interrupt::default()).unwrap_err();
    assert!(matches!(error, HarnessError::Spawn { .. }) && error.to_string().contains("kept"), "{error}");
}
