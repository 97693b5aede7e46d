//! Builds and runs the stand-alone programs of bundles, each in a clean process beside the workers. Knows compilers,
//! time limits and what an end means; what a program does is `reports`' matter.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use case::{Exit, Kind};
use exec::{HarnessError, Interrupt, Program, ProgramEnd, SpawnOptions, cleaned_environment, run_program};

use crate::machine::Machine;
use crate::words::how;

/// Compilers that are tried where `CXX` names none.
const COMPILERS: [&str; 3] = ["g++", "c++", "clang++"];

/// Time for building the program.
const BUILD_TIME: Duration = Duration::from_secs(120);

/// Time for one run of the program. One that shows a hang spends it all, so it is given less: enough for a GPU's
/// context and a run-time compilation, and far more than a case that a CPU core computes.
const RUN_TIME: Duration = Duration::from_secs(60);
const HANG_TIME: Duration = Duration::from_secs(15);
const HANG_TIME_SIMULATED: Duration = Duration::from_secs(1);

/// Most bytes of the library's own log that are kept.
const LOG_BYTES_MAX: usize = 256 << 10;

/// Exit codes that a program gives itself.
const ABSENT: i32 = 0;
const PRESENT: i32 = 1;
const NOT_APPLICABLE: i32 = 77;

/// How programs are run on one machine.
pub(crate) struct Programs {
    spawn: SpawnOptions,
    interrupt: Interrupt,
}

/// A program that was built, in a folder of its own.
pub(crate) struct Built {
    program: PathBuf,
    compiler: String,
}

/// What the runs of a program showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Runs that showed the bug.
    pub(crate) reproduced: u32,
    /// Runs made.
    pub(crate) runs: u32,
    /// How the last run ended that neither showed the bug nor its absence.
    pub(crate) otherwise: Option<String>,
}

impl Built {
    /// The compiler, with its version where it tells one.
    pub(crate) fn compiler(&self) -> &str {
        &self.compiler
    }
}

impl Programs {
    /// Programs find the libraries that the machine's workers find, and use its first device.
    pub(crate) fn new(machine: &Machine, interrupt: Interrupt) -> Self {
        Self { spawn: machine.spawn_options(), interrupt }
    }

    /// Builds the program whose source lies in a folder; an error says why it can't be.
    pub(crate) fn build(&self, place: &Path) -> Result<Built, String> {
        let named = std::env::var_os("CXX").map(PathBuf::from);
        let compilers: Vec<PathBuf> =
            named.map_or_else(|| COMPILERS.map(PathBuf::from).to_vec(), |cxx| vec![cxx]);
        let program = place.join("repro");
        let source = place.join(reports::PROGRAM);
        // The simulator's cases are small: there the compiler's own time is what counts.
        let level = if self.spawn.worker.simulated { "-O0" } else { "-O2" };
        let options = ["-std=c++17", level, "-pthread"].map(OsString::from);
        for compiler in compilers {
            let mut arguments = options.to_vec();
            arguments.extend([source.clone().into(), "-o".into(), program.clone().into(), "-ldl".into()]);
            let Ok(end) = self.start(&compiler, arguments, place, BUILD_TIME) else { continue };
            if end.exit != Exit::Exited(0) {
                let first = end.stderr.lines().next().unwrap_or("").to_owned();
                return Err(format!("{} did not compile it: {first}", compiler.display()));
            }
            let version = self.start(&compiler, vec!["--version".into()], place, BUILD_TIME);
            let line = version.ok().and_then(|end| end.stdout.lines().next().map(str::to_owned));
            return Ok(Built { program, compiler: line.unwrap_or_else(|| compiler.display().to_string()) });
        }
        Err(format!("no C++ compiler was found ({}, or CXX)", COMPILERS.join(", ")))
    }

    /// Runs a program that many times; an error says why it can't be run here.
    pub(crate) fn run(&self, built: &Built, kind: Kind, runs: u32) -> Result<Shown, String> {
        let mut shown = Shown { runs, ..Shown::default() };
        for _ in 0..runs {
            let end = self.run_once(built, kind, None).map_err(|error| error.to_string())?;
            if end.exit == Exit::Exited(NOT_APPLICABLE) {
                return Err(format!("the program can't be tried here: {}", last_line(&end.stdout)));
            }
            if shows_bug(end.exit, kind) {
                shown.reproduced += 1;
            } else if end.exit != Exit::Exited(ABSENT) {
                shown.otherwise = Some(format!("{}, {}", how(end.exit), last_line(&end.stdout)));
            }
        }
        Ok(shown)
    }

    /// Runs it once more, for the library's own log.
    pub(crate) fn library_log(&self, built: &Built, kind: Kind) -> String {
        let log = built.program.with_extension("log");
        let text = self.run_once(built, kind, Some(&log)).ok().and_then(|_| fs::read(&log).ok());
        let text = text.unwrap_or_default();
        String::from_utf8_lossy(&text[..text.len().min(LOG_BYTES_MAX)]).into_owned()
    }

    fn run_once(&self, built: &Built, kind: Kind, log: Option<&Path>) -> Result<ProgramEnd, HarnessError> {
        let worker = &self.spawn.worker;
        let time = match (kind == Kind::Hang, worker.simulated) {
            (false, _) => RUN_TIME,
            (true, false) => HANG_TIME,
            (true, true) => HANG_TIME_SIMULATED,
        };
        let mut arguments: Vec<OsString> = Vec::new();
        if let Some(library) = &worker.library {
            arguments.push(library.into());
        }
        for companion in &worker.companions {
            arguments.extend(["--companion".into(), companion.into()]);
        }
        if let Some(driver) = &worker.driver {
            arguments.extend(["--driver".into(), driver.into()]);
        }
        arguments.extend(["--device".into(), worker.device.to_string().into()]);
        let place = built.program.parent().unwrap_or(Path::new("."));
        let mut program = self.program(&built.program, arguments, place, time);
        if let Some(log) = log {
            program.environment.push(("CUDNN_LOGLEVEL_DBG".into(), "3".into()));
            program.environment.push(("CUDNN_LOGDEST_DBG".into(), log.into()));
        }
        run_program(&program, &self.interrupt)
    }

    fn start(
        &self,
        program: &Path,
        arguments: Vec<OsString>,
        place: &Path,
        time: Duration,
    ) -> Result<ProgramEnd, HarnessError> {
        run_program(&self.program(program, arguments, place, time), &self.interrupt)
    }

    fn program(&self, program: &Path, arguments: Vec<OsString>, place: &Path, timeout: Duration) -> Program {
        let inherited: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let environment = cleaned_environment(&inherited, &self.spawn);
        Program {
            keeper: Some(self.spawn.program.clone()),
            program: program.to_owned(),
            arguments,
            folder: place.to_owned(),
            environment,
            timeout,
        }
    }
}

/// The program says 1; a bug that ends or stalls the process says it by doing so.
fn shows_bug(exit: Exit, kind: Kind) -> bool {
    match exit {
        Exit::Exited(code) => code == PRESENT,
        Exit::Signalled(_) => kind == Kind::Crash,
        Exit::TimedOut(_) => kind == Kind::Hang,
        Exit::TooSlow(_) | Exit::Answered => false,
    }
}

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or("")
}
