//! The worker did not live to answer. Knows exits and signals; knows nothing of what the worker did but its
//! last phase.

use case::{Exit, Kind, Phase, Untrusted, Verdict};

use crate::judge::{Evidence, Scene};

/// Exit code of a Rust panic: the worker's own code failed, no library ends a process so.
const PANIC: i32 = 101;

/// Signals by number on Linux.
const SIGNALS: [(i32, &str); 16] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (15, "SIGTERM"),
    (16, "SIGSTKFLT"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (31, "SIGSYS"),
];

/// Signals that only another process sends: a user, a supervisor, the kernel out of memory.
const FROM_OUTSIDE: [i32; 4] = [1, 2, 9, 15];

pub(crate) fn speak(scene: &Scene<'_>) -> Option<Verdict> {
    let phase = scene.outcome.phase;
    let at = phase.name();
    let crash = |cause: &str, summary: String| {
        let evidence =
            Evidence { kind: Kind::Crash, phase, cause, informative: false, summary, recipe: None };
        Some(scene.fault(evidence))
    };
    match scene.outcome.exit {
        Exit::Answered => None,
        Exit::Exited(PANIC) => skipped(format!("the worker itself panicked in {at}")),
        Exit::Exited(code) => {
            crash(&format!("exit_{code}"), format!("the process ended itself with code {code} in {at}"))
        }
        Exit::Signalled(number) if FROM_OUTSIDE.contains(&number) => {
            skipped(format!("{} from outside ended the worker in {at}", signal_name(number)))
        }
        Exit::Signalled(number) => {
            let name = signal_name(number);
            crash(&name, format!("{name} ended the process in {at}"))
        }
        Exit::TooSlow(deadline_ms) => skipped(format!(
            "{at} did not end within {deadline_ms} ms, which is no proof of a hang for so large a problem"
        )),
        Exit::TimedOut(deadline_ms) if is_ours(phase) => {
            skipped(format!("{at}, a phase of convict's own, did not end within {deadline_ms} ms"))
        }
        Exit::TimedOut(deadline_ms) => Some(scene.fault(Evidence {
            kind: Kind::Hang,
            phase,
            cause: "deadline",
            informative: false,
            summary: format!("{at} did not end within {deadline_ms} ms"),
            recipe: None,
        })),
    }
}

/// Phases in which nothing but our own kernels and copies runs: a large reference that takes its time accuses no
/// library. What a library left running ends in Sync.
pub(super) fn is_ours(phase: Phase) -> bool {
    match phase {
        Phase::Allocate | Phase::ReadBack | Phase::Judge => true,
        Phase::Load
        | Phase::Init
        | Phase::Describe
        | Phase::Heuristics
        | Phase::Plan
        | Phase::Execute
        | Phase::Sync
        | Phase::Teardown => false,
    }
}

fn skipped(reason: String) -> Option<Verdict> {
    Some(Verdict::Untrusted(Untrusted::Skipped(reason)))
}

fn signal_name(number: i32) -> String {
    SIGNALS
        .iter()
        .find(|(known, _)| *known == number)
        .map_or_else(|| format!("SIG{number}"), |(_, name)| (*name).to_owned())
}
