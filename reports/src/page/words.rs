//! What numbers and enumerations of a run are called on the page. Plain text; escapes nothing.

use case::{Config, Ended, Exit, Kind, WorkspaceFill};

/// Bytes, with a rounded form where they are many.
pub(super) fn bytes(count: i64) -> String {
    let units = ["kB", "MB", "GB", "TB"];
    let mut value = count as f64;
    let mut unit = None;
    for next in units {
        if value < 1000.0 {
            break;
        }
        value /= 1000.0;
        unit = Some(next);
    }
    match unit {
        None => format!("{count} bytes"),
        Some(unit) => format!("{count} bytes ({value:.1} {unit})"),
    }
}

/// So many of something, by the name of one: `1 element`, `2 elements`.
pub(super) fn count(number: u64, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// A number with a few digits.
pub(super) fn number(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) {
        let rounded = format!("{value:.4}");
        rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.3e}")
    }
}

/// What ought to happen.
pub(super) fn should(kind: Kind) -> &'static str {
    match kind {
        Kind::Wrong | Kind::Inexact => "the reference's values",
        Kind::Nondet => {
            "the same bits in every execution, since the engine does not declare NONDETERMINISTIC"
        }
        Kind::Oob => "no write outside the buffers",
        Kind::Input => "inputs that stay as they are",
        Kind::Status => "success, or a refusal before anything recommends the configuration",
        Kind::Device => "no CUDA error after cuDNN reported success",
        Kind::Crash => "a status, and a process that lives",
        Kind::Hang => "a call that returns",
        Kind::Accepted => "a refusal",
        Kind::Workspace => "one and the same size of workspace, whoever is asked",
        Kind::Reload => "the same plan, read back from its JSON",
    }
}

/// Engine and knobs.
pub(super) fn configuration(config: &Config) -> String {
    let knobs: Vec<String> =
        config.knobs.iter().map(|knob| format!("knob {} = {}", knob.knob, knob.value)).collect();
    let knobs = if knobs.is_empty() { "default knobs".to_owned() } else { knobs.join(", ") };
    format!("engine {}, {knobs}", config.engine)
}

/// What a workspace holds, in the words of the one-line text.
pub(super) fn workspace(fill: WorkspaceFill) -> String {
    match fill {
        WorkspaceFill::Zero => "00".to_owned(),
        WorkspaceFill::Ones => "ff".to_owned(),
        WorkspaceFill::Random(seed) => format!("random bytes of seed {seed}"),
    }
}

/// How the process ended.
pub(super) fn exit(exit: Exit) -> String {
    match exit {
        Exit::Answered => "lives".to_owned(),
        Exit::Exited(code) => format!("ended with code {code}"),
        Exit::Signalled(signal) => format!("killed by signal {signal}"),
        Exit::TimedOut(limit_ms) | Exit::TooSlow(limit_ms) => {
            format!("stopped after {limit_ms} ms without progress")
        }
    }
}

/// What the library or the driver said.
pub(super) fn ended(ended: &Ended) -> String {
    match ended {
        Ended::Completed => "success in every call".to_owned(),
        Ended::Described => "a plan was built".to_owned(),
        Ended::Status(refusal) => {
            let reason = if refusal.reason.is_empty() { "no reason given" } else { &refusal.reason };
            format!("{} ({}) in {}: {reason}", refusal.name, refusal.status, refusal.phase.name())
        }
        Ended::Device { phase, code, name, sticky } => {
            let context = if *sticky { "the context is lost" } else { "the context survives" };
            format!("CUDA error {name} ({code}) in {}; {context}", phase.name())
        }
        Ended::Skipped(reason) => format!("not run: {reason}"),
    }
}
