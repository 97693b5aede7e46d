//! Runs a program that is no worker to its end: a compiler, a stand-alone reproduction. Knows time and
//! output; knows nothing of what the program is for.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use case::Exit;
use rustix::process::{Pid, Signal, kill_process_group, set_parent_process_death_signal};

use crate::deadline::Limit;
use crate::error::HarnessError;
use crate::interrupt::Interrupt;
use crate::process::{await_exit, exit_of, timed_out};
use crate::tail::{Host, Tail};

/// How often a running program's output and the interrupt are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Time in which a killed program is gone.
const REAP_TIME: Duration = Duration::from_secs(30);

/// Exit code of a keeper that cannot start its program, as shells have it.
pub const NOT_STARTED: u8 = 127;

/// A program, what it is given and how long it may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Convict's own executable, whose command `kept` calls [`become_kept`]; without one the program outlives a
    /// supervisor that is killed.
    pub keeper: Option<PathBuf>,
    /// The executable; a name without a slash is looked up in the `PATH` of `environment`.
    pub program: PathBuf,
    /// Its arguments; no shell reads them.
    pub arguments: Vec<OsString>,
    /// Folder that it starts in.
    pub folder: PathBuf,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Wall-clock limit.
    pub timeout: Duration,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramEnd {
    /// `Exited`, `Signalled` or `TimedOut`.
    pub exit: Exit,
    /// The last 16 KiB of its standard output, host details removed.
    pub stdout: String,
    /// The last 16 KiB of its standard error, host details removed.
    pub stderr: String,
}

/// Runs a program in a process group of its own and waits for its end. At a time-out or an interrupt the
/// whole group is killed, so that what a script started goes with it.
///
/// # Errors
/// `Spawn` where it cannot be started, `Interrupted`, and `Io` or `Broken` where it cannot be watched or
/// ended.
pub fn run_program(program: &Program, interrupt: &Interrupt) -> Result<ProgramEnd, HarnessError> {
    let create = || Tail::create().and_then(|tail| Ok((tail.handle()?, tail)));
    let failed = |source| HarnessError::Io { what: "cannot create a file for a program's output", source };
    let (out_handle, stdout) = create().map_err(failed)?;
    let (error_handle, stderr) = create().map_err(failed)?;
    let mut child = command(program)
        .current_dir(&program.folder)
        .env_clear()
        .envs(program.environment.iter().cloned())
        .stdin(Stdio::null())
        .stdout(out_handle)
        .stderr(error_handle)
        .process_group(0)
        .spawn()
        .map_err(|source| HarnessError::Spawn { program: program.program.clone(), source })?;
    let waited = wait(&mut child, program.timeout, &[&stdout, &stderr], interrupt);
    if !matches!(waited, Ok(Exit::Exited(_) | Exit::Signalled(_))) {
        end_group(&mut child)?;
    }
    let host = Host::current();
    let exit = waited?;
    let end = ProgramEnd { exit, stdout: stdout.text(&host), stderr: stderr.text(&host) };
    if program.keeper.is_some() && exit == Exit::Exited(i32::from(NOT_STARTED)) {
        let source = io::Error::other(end.stderr.trim().to_owned());
        return Err(HarnessError::Spawn { program: program.program.clone(), source });
    }
    Ok(end)
}

/// The program by itself, or by its keeper.
fn command(program: &Program) -> Command {
    let Some(keeper) = &program.keeper else {
        let mut command = Command::new(&program.program);
        command.args(&program.arguments);
        return command;
    };
    let mut command = Command::new(keeper);
    command.arg("kept").arg(std::process::id().to_string()).arg("--");
    command.arg(&program.program).args(&program.arguments);
    command
}

/// Turns this process into a program that the kernel kills when the thread ends that started this process: the one
/// that waits for it. What the program starts in turn is not bound by that. Returns only where it cannot be started.
#[must_use]
pub fn become_kept(parent: u32, program: &[OsString]) -> io::Error {
    let Some((program, arguments)) = program.split_first() else {
        return io::Error::other("no program is named");
    };
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return error.into();
    }
    // A parent that died before that line sends no signal any more.
    if std::os::unix::process::parent_id() != parent {
        return io::Error::other("the supervisor is gone");
    }
    Command::new(program).args(arguments).exec()
}

/// Waits for the end or the limit, keeping the output files small meanwhile.
fn wait(
    child: &mut Child,
    timeout: Duration,
    output: &[&Tail],
    interrupt: &Interrupt,
) -> Result<Exit, HarnessError> {
    let start = Instant::now();
    loop {
        let left = timeout.saturating_sub(start.elapsed());
        let failed = |source| HarnessError::Io { what: "cannot wait for a program", source };
        if let Some(status) = await_exit(child, left.min(LOOK_EVERY)).map_err(failed)? {
            return Ok(exit_of(status));
        }
        if interrupt.is_set() {
            return Err(HarnessError::Interrupted);
        }
        if left.is_zero() {
            return Ok(timed_out(Limit { time: timeout, proves_hang: true }));
        }
        for tail in output {
            tail.bound().map_err(|source| HarnessError::Io { what: "cannot empty a file", source })?;
        }
    }
}

/// Kills a program that still runs, and everything in its group, and reaps it.
fn end_group(child: &mut Child) -> Result<(), HarnessError> {
    // The group exists as long as its leader is not reaped, so the number cannot mean anyone else.
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _gone = kill_process_group(group, Signal::KILL);
    }
    match await_exit(child, REAP_TIME) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(HarnessError::Broken { message: format!("process {} cannot be ended", child.id()) }),
        Err(source) => Err(HarnessError::Io { what: "cannot wait for a program", source }),
    }
}
