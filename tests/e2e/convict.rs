//! Runs the binary under test as a user would, one run at a time: the simulator's deadlines are short and cores are
//! few. Knows processes and folders; asserts nothing about answers.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use case::Verdict;
use serde_json::Value;

/// The binary that cargo built with these tests.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_convict");

/// Held by whoever runs convict.
static TURN: Mutex<()> = Mutex::new(());

/// Waits until no other test runs convict.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    // The lock protects no data, so a failed test leaves nothing broken behind it.
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a run ended and what it said.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("convict writes UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// Runs convict with those arguments to its end.
pub(crate) fn convict<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Run {
    let _turn = turn();
    Command::new(BINARY).args(arguments).output().expect("convict starts").into()
}

/// Runs convict to its end with more environment variables.
pub(crate) fn convict_in<S: AsRef<OsStr>>(
    variables: &[(&str, &OsStr)],
    arguments: impl IntoIterator<Item = S>,
) -> Run {
    let _turn = turn();
    let mut command = Command::new(BINARY);
    command.envs(variables.iter().copied()).args(arguments).output().expect("convict starts").into()
}

/// Runs convict on the simulator with a fault script.
pub(crate) fn simulate<S: AsRef<OsStr>>(faults: &Path, arguments: impl IntoIterator<Item = S>) -> Run {
    let arguments: Vec<S> = arguments.into_iter().collect();
    let mut all: Vec<&OsStr> = arguments.iter().map(AsRef::as_ref).collect();
    all.extend([OsStr::new("--simulate"), OsStr::new("--faults"), faults.as_os_str()]);
    convict(all)
}

/// What `check --json` printed.
pub(crate) fn verdict(run: &Run) -> Verdict {
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    serde_json::from_value(report["verdict"].clone()).expect("a verdict")
}

/// An empty folder of that name which outlives the run, so that a failure can be looked into.
pub(crate) fn fresh_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{}: {error}", folder.display()),
        Ok(()) | Err(_) => {}
    }
    std::fs::create_dir_all(&folder).expect("a folder in the target folder");
    folder
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).expect("the crate lies two folders deep")
}

/// Processes whose command line contains a text.
pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc");
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            // A process may end while it is looked at.
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(text)
        })
        .collect()
}

/// Says that something is left out, past the test harness, which keeps back what passing tests print.
pub(crate) fn skipped(why: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// The cache with those wheels and what they need to plan in it; nothing where they can't be had. They are fetched only
/// where that was asked for, since a full set weighs 400 MB.
pub(crate) fn wheels(names: &[&str]) -> Option<PathBuf> {
    let own = std::env::var_os("CONVICT_CACHE").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let cache = own.unwrap_or_else(|| root().join(".cache/wheels"));
    let variables = [("CONVICT_CACHE", cache.as_os_str())];
    let listed = convict_in(&variables, ["sets", "--cached", "--json"]).stdout;
    let may_fetch = std::env::var_os("CONVICT_TEST_FETCH").is_some();
    for wheel in names {
        let is_there = listed.contains(&format!("\"name\":\"{wheel}\""));
        let fetched = (is_there || may_fetch)
            .then(|| convict_in(&variables, ["sets", "--fetch", wheel, "--plans-only", "--json"]));
        if fetched.as_ref().is_none_or(|run| run.code == Some(3) && run.stderr.contains("can't be reached")) {
            skipped(&format!("no {wheel}; CONVICT_TEST_FETCH=1 and a network fetch it"));
            return None;
        }
        let run = fetched.expect("checked above");
        assert!(run.code == Some(0) && run.stdout.contains("\"cached\":true"), "{run:?}");
    }
    Some(cache)
}

/// Runs a script of this repository; nothing where it says by 77 that something which it needs is missing here.
pub(crate) fn script<S: AsRef<OsStr>>(
    path: &str,
    arguments: impl IntoIterator<Item = S>,
    environment: &[(&str, &OsStr)],
) -> Option<Run> {
    let mut command = Command::new(root().join(path));
    command.args(arguments).envs(environment.iter().copied()).stdin(Stdio::null());
    let run: Run = command.output().unwrap_or_else(|error| panic!("{path}: {error}")).into();
    if run.code == Some(77) {
        skipped(&format!("{path}: {}", run.stdout.trim()));
        return None;
    }
    Some(run)
}
