//! Attaches `reports` to findings: writes a bundle, builds and runs its program in a clean process, records what
//! came of it. Knows how to run things beside workers; what a bundle holds is `reports`' matter.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use case::{Exit, Kind, Ranks, Signature};
use exec::{Interrupt, Program, ProgramEnd, SpawnOptions, cleaned_environment, run_program};
use reports::{BundleError, Minimization, Verified, draft};

use crate::machine::Machine;

/// Compilers that are tried where `CXX` names none.
const COMPILERS: [&str; 3] = ["g++", "c++", "clang++"];

/// Time for building the program.
const BUILD_TIME: Duration = Duration::from_secs(120);

/// Time for one run of the program. One that shows a hang spends it all, so it is given less: enough for a GPU's
/// context and a run-time compilation, and far more than a case that a CPU core computes.
const RUN_TIME: Duration = Duration::from_secs(60);
const HANG_TIME: Duration = Duration::from_secs(15);
const HANG_TIME_SIMULATED: Duration = Duration::from_secs(1);

/// Runs of the program before its bundle says how many of them showed the bug.
const RUNS: u32 = 3;

/// Most bytes of the library's own log that a bundle keeps.
const LOG_BYTES_MAX: usize = 256 << 10;

/// Writes bundles for one machine.
pub(crate) struct Bundler {
    spawn: SpawnOptions,
    scratch: PathBuf,
    interrupt: Interrupt,
    secrets: Vec<String>,
    drafts: AtomicU64,
}

/// What came of a bundle's program.
pub(crate) struct Tried {
    verified: Verified,
    library_log: String,
}

/// A program that was built, in a folder of its own.
struct Built {
    program: PathBuf,
    compiler: String,
}

impl Bundler {
    pub(crate) fn new(machine: &Machine) -> Self {
        Self {
            spawn: machine.spawn_options().clone(),
            scratch: machine.scratch().to_owned(),
            // A bundle is finished also while the hunt is being stopped: it is what the hunt was for.
            interrupt: Interrupt::default(),
            secrets: secrets(),
            drafts: AtomicU64::new(0),
        }
    }

    /// Writes the bundle of a finding in place of the one that the folder held; `tried` is what came of its program,
    /// `None` where nobody tried it yet.
    pub(crate) fn write(
        &self,
        folder: &Path,
        finding: &hunt::Finding,
        tried: Option<&Tried>,
    ) -> io::Result<()> {
        let draft = draft::free(folder)?;
        let log = tried.map_or("", |tried| &tried.library_log);
        write(&draft, finding, &self.secrets, log).map_err(io::Error::other)?;
        let record =
            |tried: &Tried| reports::record_verification(&draft, &tried.verified).map_err(io::Error::other);
        let put = tried.map_or(Ok(()), record).and_then(|()| draft::put(&draft, folder));
        if put.is_err() {
            // It is this call's own; an error here would hide the one that led to it.
            let _ = fs::remove_dir_all(&draft);
        }
        put
    }

    /// Builds the program of a finding's bundle in the scratch folder and runs it, once more with the library's log.
    pub(crate) fn try_out(&self, finding: &hunt::Finding) -> io::Result<Tried> {
        let number = self.drafts.fetch_add(1, Ordering::Relaxed);
        let place = self.scratch.join(format!("program-{number}"));
        write(&place, finding, &self.secrets, "").map_err(io::Error::other)?;
        let (verified, library_log) = match self.build(&place) {
            Ok(built) => self.run(&built, finding.fault.sameness.kind),
            Err(because) => (Verified::Not { because }, String::new()),
        };
        let _ = fs::remove_dir_all(&place);
        Ok(Tried { verified, library_log })
    }

    fn build(&self, place: &Path) -> Result<Built, String> {
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

    /// Runs the program a few times, and once more with the library's log.
    fn run(&self, built: &Built, kind: Kind) -> (Verified, String) {
        let time = match (kind == Kind::Hang, self.spawn.worker.simulated) {
            (false, _) => RUN_TIME,
            (true, false) => HANG_TIME,
            (true, true) => HANG_TIME_SIMULATED,
        };
        let mut reproduced = 0;
        for _ in 0..RUNS {
            match self.run_once(built, time, None) {
                Ok(end) if shows_bug(&end, kind) => reproduced += 1,
                Ok(end) if end.exit == Exit::Exited(77) => {
                    let last = end.stdout.lines().last().unwrap_or("").to_owned();
                    return (
                        Verified::Not { because: format!("the program can't be tried here: {last}") },
                        String::new(),
                    );
                }
                Ok(_) => {}
                Err(error) => return (Verified::Not { because: error.to_string() }, String::new()),
            }
        }
        let log = built.program.with_extension("log");
        let text =
            self.run_once(built, time, Some(&log)).ok().and_then(|_| fs::read(&log).ok()).unwrap_or_default();
        let kept = String::from_utf8_lossy(&text[..text.len().min(LOG_BYTES_MAX)]).into_owned();
        (Verified::Runs { reproduced, runs: RUNS, compiler: built.compiler.clone() }, kept)
    }

    fn run_once(
        &self,
        built: &Built,
        time: Duration,
        log: Option<&Path>,
    ) -> Result<ProgramEnd, exec::HarnessError> {
        let mut arguments: Vec<OsString> = Vec::new();
        if let Some(library) = &self.spawn.worker.library {
            arguments.push(library.into());
        }
        for companion in &self.spawn.worker.companions {
            arguments.extend(["--companion".into(), companion.into()]);
        }
        if let Some(driver) = &self.spawn.worker.driver {
            arguments.extend(["--driver".into(), driver.into()]);
        }
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
    ) -> Result<ProgramEnd, exec::HarnessError> {
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

/// True for a bundle whose program still has to be tried.
pub(crate) fn is_untried(bundle: &reports::Bundle) -> bool {
    bundle.verdict.verification == reports::Verification::Pending
}

/// The program says 1; a bug that ends or stalls the process says it by doing so.
fn shows_bug(end: &ProgramEnd, kind: Kind) -> bool {
    match end.exit {
        Exit::Exited(code) => code == 1,
        Exit::Signalled(_) => kind == Kind::Crash,
        Exit::TimedOut(_) => kind == Kind::Hang,
        Exit::TooSlow(_) | Exit::Answered => false,
    }
}

fn write(folder: &Path, finding: &hunt::Finding, secrets: &[String], log: &str) -> Result<(), BundleError> {
    let minimization =
        finding.reduction.as_ref().map_or_else(Minimization::default, |reduction| Minimization {
            calls: reduction.predicate_calls,
            one_minimal: reduction.one_minimal,
            swept: reduction.sweep_tried,
            sweep_total: reduction.sweep_listed,
            guarantee: reduction.guarantee.clone(),
            log: reduction.log.clone(),
            seconds: reduction.seconds,
        });
    let candidate = finding.outcome.candidate.as_ref();
    reports::write(
        folder,
        &reports::Finding {
            signature: &Signature::new(&finding.fault.sameness, &finding.case.problem),
            fault: &finding.fault,
            case: &finding.case,
            original: &finding.original,
            environment: &finding.environment,
            outcome: &finding.outcome,
            hits: finding.hits,
            runs: finding.runs,
            ranks: candidate.map_or_else(Ranks::default, |candidate| candidate.ranks),
            minimization: &minimization,
            explanation: finding.explained.as_ref().map(|explained| &explained.explanation),
            reach: finding.explained.as_ref().map(|explained| &explained.reach),
            library_log: log,
            tool_version: env!("CARGO_PKG_VERSION"),
            secrets,
        },
    )
}

/// Words that must not leave this machine: its name and the user's.
fn secrets() -> Vec<String> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let home = std::env::var("HOME").unwrap_or_default();
    let user = Path::new(&home).file_name().and_then(|name| name.to_str()).unwrap_or("").to_owned();
    let named = ["USER", "LOGNAME", "SUDO_USER"].map(|name| std::env::var(name).unwrap_or_default());
    let words = [host.trim().to_owned(), user].into_iter().chain(named);
    words.filter(|word| !word.is_empty() && word != "root").collect()
}
