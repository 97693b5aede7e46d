//! `convict preflight`: one line on whether a job may start here. What is asked and what counts as right are `gate`'s
//! matter; this file knows words and exit codes.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use case::Environment;
use exec::{HarnessError, Slot};
use gate::{Bytes, Capability, Convolution, Thresholds};
use serde_json::{Value, json};

use crate::args::Preflight;
use crate::failure::{CLEAN, FOUND, Failure};
use crate::machine::Machine;
use crate::screen::outln;

/// Largest file of thresholds, bytes.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// What keeps a job from starting.
struct Obstacle {
    /// A threshold's name, or `machine`, `device`, `library`, `convict`.
    what: &'static str,
    words: String,
    code: u8,
}

/// What was seen.
#[derive(Default)]
struct Seen {
    environment: Option<Environment>,
    convolution: Option<Convolution>,
    obstacles: Vec<Obstacle>,
}

/// Looks at the machine, runs the one convolution, prints the line.
pub(crate) fn run(arguments: &Preflight) -> Result<u8, Failure> {
    let start = Instant::now();
    let from_file = arguments.thresholds.as_deref().map(read).transpose()?.unwrap_or_default();
    let thresholds = arguments.flags().over(from_file);
    let mut seen = Seen::default();
    if let Err(failure) = look(arguments, &thresholds, start, &mut seen) {
        seen.obstacles.push(obstacle(failure)?);
    }
    let seconds = start.elapsed().as_secs_f64();
    let code = code(&seen.obstacles);
    let simulated = arguments.machine.simulate.is_some();
    let line = line(&seen, simulated, seconds);
    if arguments.json {
        outln!("{}", object(&seen, code, &line, seconds));
    } else {
        outln!("{line}");
    }
    Ok(code)
}

fn read(path: &Path) -> Result<Thresholds, Failure> {
    let name = path.display().to_string();
    let refuse = |why: String| Failure::Usage(format!("--thresholds {name}: {why}"));
    let from: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        // A pipe that nobody writes to would keep the gate waiting for longer than it may.
        let data = fs::metadata(path).map_err(|error| refuse(error.to_string()))?;
        if !data.is_file() {
            return Err(refuse("is not a regular file; - reads standard input".to_owned()));
        }
        Box::new(File::open(path).map_err(|error| refuse(error.to_string()))?)
    };
    let mut bytes = Vec::new();
    from.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| refuse(error.to_string()))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(refuse(format!("is larger than {FILE_BYTES_MAX} bytes; name a file of thresholds")));
    }
    let text = String::from_utf8(bytes).map_err(|_| refuse("is no UTF-8 text".to_owned()))?;
    gate::parse_thresholds(&name, &text).map_err(|error| Failure::Usage(format!("--thresholds: {error}")))
}

/// Fills in what can be seen before something is in the way.
fn look(
    arguments: &Preflight,
    thresholds: &Thresholds,
    start: Instant,
    seen: &mut Seen,
) -> Result<(), Failure> {
    let machine = Machine::new(&arguments.machine, &arguments.device.device, None)?;
    machine.prepare()?;
    let mut slot: Slot = machine.slot();
    slot.limit(start.checked_add(arguments.time));
    let late = |error: HarnessError| {
        if let HarnessError::OutOfTime = error {
            return Failure::Elsewhere(format!(
                "not done within {} s: the device or the driver hangs (--time gives it longer)",
                arguments.time.as_secs()
            ));
        }
        error.into()
    };
    let environment = slot.environment().map_err(late)?.clone();
    for unmet in thresholds.unmet(&environment) {
        seen.obstacles.push(Obstacle { what: unmet.name, words: unmet.words, code: FOUND });
    }
    seen.environment = Some(environment);
    let convolution = gate::convolution(&mut slot).map_err(late)?;
    match &convolution {
        Convolution::Right => {}
        Convolution::FirstWrong(why) => seen.obstacles.push(Obstacle {
            what: "library",
            words: format!("{why}; other plans are right, so it is the library, not the device"),
            code: FOUND,
        }),
        Convolution::Wrong(why) => return Err(Failure::Elsewhere(why.clone())),
    }
    seen.convolution = Some(convolution);
    Ok(())
}

/// A failure as what keeps a job from starting; what is no answer stays a failure.
fn obstacle(failure: Failure) -> Result<Obstacle, Failure> {
    let what = match &failure {
        Failure::Usage(_) | Failure::Interrupted => return Err(failure),
        Failure::Machine(_) | Failure::Unjudged(_) => "machine",
        Failure::Ours(_) => "convict",
        Failure::Elsewhere(_) => "device",
    };
    Ok(Obstacle {
        what,
        words: case::one_line(failure.to_string().trim()).into_owned(),
        code: failure.code(),
    })
}

/// What the device or the machine is to blame for says more than a threshold.
fn code(obstacles: &[Obstacle]) -> u8 {
    let codes = obstacles.iter().map(|obstacle| obstacle.code);
    codes.max().unwrap_or(CLEAN)
}

fn line(seen: &Seen, simulated: bool, seconds: f64) -> String {
    let place = if simulated { " SIMULATOR, no GPU:" } else { "" };
    match (&seen.environment, seen.obstacles.as_slice()) {
        (Some(environment), []) => format!(
            "preflight: ok:{place} {} sm_{}, driver {}, cuDNN {} ({}), {} free, fprop right in {seconds:.1} s",
            environment.gpu,
            environment.compute_capability,
            if environment.driver.is_empty() { "of unknown release" } else { &environment.driver },
            environment.cudnn_text(),
            environment.configuration.map_or("unknown", |configuration| configuration.name()),
            Bytes(environment.memory_free_bytes),
        ),
        (_, obstacles) => {
            let words: Vec<&str> = obstacles.iter().map(|obstacle| obstacle.words.as_str()).collect();
            let words = words.join("; ");
            format!("preflight: no:{place} {}", case::one_line(&words))
        }
    }
}

fn object(seen: &Seen, code: u8, line: &str, seconds: f64) -> Value {
    let environment = seen.environment.as_ref().map(|environment| {
        json!({
            "gpu": environment.gpu, "driver": environment.driver, "cudnn": environment.cudnn_text(),
            "compute_capability": Capability(environment.compute_capability).to_string(),
            "set": environment.set(), "memory_free_bytes": environment.memory_free_bytes,
            "memory_bytes": environment.memory_bytes, "driver_cuda": environment.driver_cuda,
        })
    });
    let convolution = seen.convolution.as_ref().map(|convolution| match convolution {
        Convolution::Right => "right",
        Convolution::FirstWrong(_) | Convolution::Wrong(_) => "wrong",
    });
    let obstacle = |obstacle: &Obstacle| json!({ "what": obstacle.what, "words": obstacle.words, "code": obstacle.code });
    json!({
        "ok": code == CLEAN, "code": code, "line": line, "seconds": seconds, "environment": environment,
        "convolution": convolution, "obstacles": seen.obstacles.iter().map(obstacle).collect::<Vec<_>>(),
    })
}
