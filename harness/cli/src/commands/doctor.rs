//! `convict doctor`: what this machine has of drivers and libraries, which of it programs map, what does not belong
//! together, and the command that mends it. Asks nvidia-smi and a Python; what it means is `doctor`'s matter.

mod print;

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use case::Exit;
use doctor::{
    Classes, DEVICE_QUERY, Devices, Facts, Ledger, PROBE, PROCESS_QUERY, Place, Program as Seen, Python,
    Running, Severity, Source,
};
use exec::{HarnessError, Program, ProgramEnd, run_program};

use crate::args::Doctor;
use crate::failure::{CLEAN, FOUND, Failure};
use crate::machine::{catch_signals, interrupt};
use crate::screen::outln;
use crate::words::how;

/// Most time for nvidia-smi: it hangs where the driver does, and takes seconds where nothing keeps the driver loaded.
const SMI_TIME: Duration = Duration::from_secs(20);

/// Most time for a Python to tell its folders.
const PLACES_TIME: Duration = Duration::from_secs(10);

/// Most bytes that are read of what the Python wrote.
const ANSWER_MAX: u64 = 16 << 20;

/// Looks at the machine, and tells what there is and what is wrong with it.
pub(crate) fn run(arguments: &Doctor) -> Result<u8, Failure> {
    let host = arguments.root.clone().unwrap_or_else(|| PathBuf::from("/"));
    if !host.is_dir() {
        return Err(Failure::Usage(format!("--root {}: is no folder", host.display())));
    }
    catch_signals()?;
    let host = Source::below(&host);
    let running = arguments.pid.and_then(|pid| doctor::running(&host, pid));
    // A process in a container sees other files than we do.
    let inner = running.as_ref().and_then(|running| running.root.as_deref()).map(Source::below);
    let source = inner.as_ref().unwrap_or(&host);
    let facts = gather(arguments, source, running)?;
    let mut ledger = doctor::examine(source, facts);
    if inner.is_some() {
        ledger.add_trouble(&host);
    }
    tell(arguments, &ledger)?;
    if !ledger.has_cudnn() {
        return Err(Failure::Machine(
            "there is no cuDNN to look at, neither on disk nor in a program; name what has one by --python, --exe or \
             --pid, or its folder in LD_LIBRARY_PATH"
                .to_owned(),
        ));
    }
    let is_bad = ledger.findings.iter().any(|finding| finding.severity != Severity::Note);
    Ok(if is_bad { FOUND } else { CLEAN })
}

fn tell(arguments: &Doctor, ledger: &Ledger) -> Result<(), Failure> {
    let mut classes = Classes::default();
    if arguments.json {
        let value =
            serde_json::to_value(ledger).map_err(|error| Failure::Ours(format!("ledger: {error}")))?;
        let value = if arguments.share { classes.of_value(value) } else { value };
        outln!("{value:#}");
        return Ok(());
    }
    for line in print::lines(ledger) {
        let line = if arguments.share { classes.of_text(&line) } else { line };
        outln!("{}", case::one_line(&line));
    }
    Ok(())
}

/// Asks everything outside of the file system, at once.
fn gather(arguments: &Doctor, source: &Source, running: Option<Running>) -> Result<Facts, Failure> {
    let executable = arguments.exe.as_deref().map(|file| executable(arguments, source, file)).transpose()?;
    let here = arguments.root.is_none();
    let (devices, python) = thread::scope(|scope| {
        let devices = scope.spawn(move || {
            if here { devices() } else { Ok(Devices::Unknown("--root starts nothing".to_owned())) }
        });
        let python = if here { python(arguments) } else { Ok(None) };
        let devices =
            devices.join().unwrap_or_else(|_| Err(Failure::Ours("asking nvidia-smi failed".to_owned())));
        (devices, python)
    });
    let variables = running.as_ref().and_then(|running| running.variables.clone()).unwrap_or_else(|| {
        let text = |text: OsString| text.to_string_lossy().into_owned();
        env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
    });
    let place = match (&arguments.root, &running) {
        (Some(root), _) => Place::Below(root.canonicalize().unwrap_or_else(|_| root.clone())),
        (None, Some(Running { pid, root: Some(_), .. })) => Place::Container(*pid),
        (None, Some(_) | None) => Place::Here,
    };
    let (devices, python, hashes) = (devices?, python?, arguments.hash);
    Ok(Facts { variables, python, running, executable, devices, hashes, place })
}

/// The file of `--exe` as the source names it.
fn executable(arguments: &Doctor, source: &Source, file: &Path) -> Result<PathBuf, Failure> {
    let refuse = |why: &str| Failure::Usage(format!("--exe {}: {why}", file.display()));
    let whole = match env::current_dir() {
        Ok(here) if arguments.root.is_none() => here.join(file),
        Ok(_) | Err(_) => Path::new("/").join(file),
    };
    if let Some(oddity) = source.oddity(&whole) {
        let is_nothing = oddity == "is not there";
        return Err(refuse(if is_nothing { "there is no such file" } else { oddity }));
    }
    if source.bytes(&whole, 2).is_some_and(|start| start == b"#!") {
        return Err(refuse("is a script; name the program that reads it, or a Python by --python"));
    }
    // The loader takes `$ORIGIN` of a program by where it really lies.
    source.real(&whole).ok_or_else(|| refuse("leads nowhere"))
}

/// Runs a program with this process's environment, in an empty folder.
fn start(
    program: &Path,
    arguments: Vec<OsString>,
    folder: &Path,
    timeout: Duration,
) -> Result<ProgramEnd, HarnessError> {
    let keeper = env::current_exe().ok();
    let program = Program {
        keeper,
        program: program.to_owned(),
        arguments,
        folder: folder.to_owned(),
        environment: env::vars_os().collect(),
        timeout,
    };
    run_program(&program, interrupt())
}

fn scratch() -> Result<tempfile::TempDir, Failure> {
    let made = tempfile::Builder::new().prefix("convict-doctor-").tempdir();
    made.map_err(|error| Failure::file("temporary folder", &env::temp_dir(), &error))
}

/// What nvidia-smi tells; that it can't is an answer, too.
fn devices() -> Result<Devices, Failure> {
    let folder = scratch()?;
    let ask = |query: String| {
        let arguments = vec![query.into(), "--format=csv,noheader,nounits".into()];
        match start(Path::new("nvidia-smi"), arguments, folder.path(), SMI_TIME) {
            Ok(ProgramEnd { exit: Exit::Exited(0), stdout, .. }) => Ok(Ok(stdout)),
            Ok(end) => Ok(Err(complaint(&end))),
            Err(HarnessError::Interrupted) => Err(Failure::Interrupted),
            Err(HarnessError::Spawn { .. }) => Ok(Err("there is no nvidia-smi".to_owned())),
            Err(error) => Ok(Err(error.to_string())),
        }
    };
    let devices = match ask(format!("--query-gpu={DEVICE_QUERY}"))? {
        Ok(text) => text,
        Err(why) => return Ok(Devices::Unknown(why)),
    };
    // Who holds memory is worth less than what is there.
    let processes = ask(format!("--query-compute-apps={PROCESS_QUERY}"))?.unwrap_or_default();
    Ok(Devices::Known(doctor::devices(&devices, &processes)))
}

/// The first words of a program that failed, after how it ended.
fn complaint(end: &ProgramEnd) -> String {
    let mut lines = end.stderr.lines().chain(end.stdout.lines());
    let words = lines.find(|line| !line.trim().is_empty()).unwrap_or("no words").trim().to_owned();
    format!("{}: {words}", how(end.exit))
}

/// The Python that was named, or the one at hand for its folders.
fn python(arguments: &Doctor) -> Result<Option<(Python, Option<Seen>)>, Failure> {
    let folder = scratch()?;
    let answer = folder.path().join("answers.jsonl");
    let (program, mode, time) = match &arguments.python {
        Some(program) => (program.clone(), "import", arguments.time),
        None => (PathBuf::from("python3"), "places", PLACES_TIME),
    };
    // The program starts in a folder of ours.
    let program = match env::current_dir() {
        Ok(here) if program.components().count() > 1 => here.join(program),
        Ok(_) | Err(_) => program,
    };
    // -B: a doctor writes nothing into what it looks at.
    let words = vec!["-B".into(), "-c".into(), PROBE.into(), answer.clone().into(), mode.into()];
    let trouble = match start(&program, words, folder.path(), time) {
        Ok(ProgramEnd { exit: Exit::Exited(0), .. }) => None,
        Ok(end @ ProgramEnd { exit: Exit::TimedOut(_) | Exit::TooSlow(_), .. }) => {
            Some(format!("{} (--time gives it longer)", how(end.exit)))
        }
        Ok(end) => Some(complaint(&end)),
        Err(HarnessError::Interrupted) => return Err(Failure::Interrupted),
        Err(HarnessError::Spawn { source, .. }) if arguments.python.is_some() => {
            return Err(Failure::Usage(format!("--python {}: {source}", program.display())));
        }
        Err(HarnessError::Spawn { .. }) => return Ok(None),
        Err(error) => Some(error.to_string()),
    };
    let (mut python, mut seen) = doctor::answers(&read(&answer));
    python.trouble = trouble;
    if python.executable.is_empty() {
        python.executable = program.display().to_string();
    }
    seen.name.clone_from(&python.executable);
    Ok(Some((python, arguments.python.is_some().then_some(seen))))
}

/// What the Python wrote; nothing where it died before.
fn read(path: &Path) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        // What was read until an error counts.
        let _ = file.take(ANSWER_MAX).read_to_end(&mut bytes);
    }
    let _ = fs::remove_file(path);
    String::from_utf8_lossy(&bytes).into_owned()
}
