//! `convict selftest`: whether this machine can be trusted to judge.

use case::{Case, Ended, Exit, Job, Matrix, Outcome, Phase, Provocation, Selection, Verdict};
use comfy_table::{Table, presets};
use exec::{JobEvent, Slot};

use crate::args::Selftest;
use crate::failure::{CLEAN, Failure};
use crate::machine::Machine;
use crate::screen::outln;
use crate::words;

/// A trouble, what must be seen of it, in words.
const TROUBLES: [(&str, Provocation, Seen); 3] = [
    ("a worker that stalls is killed and its phase is named", Provocation::Hang, |outcome| {
        matches!(outcome.exit, Exit::TimedOut(_)) && outcome.phase == Phase::Execute
    }),
    ("a worker that aborts is noticed and its phase is named", Provocation::Abort, |outcome| {
        outcome.exit == Exit::Signalled(SIGABRT) && outcome.phase == Phase::Plan
    }),
    (
        "an illegal address on the device is noticed and the worker replaced",
        Provocation::IllegalAddress,
        |outcome| {
            let ended = outcome.observation.as_ref().map(|observation| &observation.ended);
            matches!(ended, Some(Ended::Device { code: 700, sticky: true, .. }))
        },
    ),
];

type Seen = fn(&Outcome) -> bool;

const SIGABRT: i32 = 6;

/// What a correct library computes without rounding; it must pass after each trouble.
const KNOWN_GOOD: &str = "fprop f32 nchw n1 c1 k1 i1x4 f1x1 fill=int2:1";

/// Runs every check and prints a table.
pub(crate) fn run(arguments: &Selftest) -> Result<u8, Failure> {
    let machine = Machine::new(&arguments.machine, &arguments.device.device, None)?;
    machine.prepare()?;
    let mut slot = machine.slot();
    let environment = slot.environment()?.clone();
    outln!("{}", machine.describe(&environment));
    let mut rows = slot.self_test()?;
    for (name, provocation, seen) in TROUBLES {
        rows.push(provoke(&mut slot, name, provocation, seen)?);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["check", "result", "detail"]);
    for (name, passed, detail) in &rows {
        table.add_row([name.as_str(), if *passed { "ok" } else { "FAILED" }, detail]);
    }
    outln!("{table}");
    match rows.iter().find(|(_, passed, _)| !passed) {
        None => Ok(CLEAN),
        Some((name, _, detail)) => Err(Failure::Ours(format!(
            "self-test failed, nothing found here can be trusted: {name}: {detail}"
        ))),
    }
}

/// How a provoked trouble showed itself: a device error leaves the worker alive, and is what there is to tell.
fn told_of(outcome: &Outcome) -> String {
    match outcome.observation.as_ref().map(|observation| &observation.ended) {
        Some(Ended::Device { phase, code, name, .. }) => {
            format!("CUDA returned {name} ({code}) in {}", phase.name())
        }
        _ => words::ended(outcome),
    }
}

/// Brings a trouble on a worker, and then has a known-good case pass on the next one.
fn provoke(
    slot: &mut Slot,
    name: &str,
    provocation: Provocation,
    seen: Seen,
) -> Result<(String, bool, String), Failure> {
    let case: Case = KNOWN_GOOD.parse()?;
    let job = Job::new(0, case.clone(), Selection::Provoke(provocation));
    let mut outcomes = Vec::new();
    slot.run(&job, &mut |event| {
        if let JobEvent::Outcome(outcome) = event {
            outcomes.push(outcome);
        }
    })?;
    let told = outcomes.iter().map(told_of);
    let told = told.collect::<Vec<_>>().join(", ");
    if outcomes.len() != 1 || !outcomes.iter().all(seen) {
        return Ok((name.to_owned(), false, format!("seen instead: {told}")));
    }
    let (verdict, _) = hunt::check(slot, &case, Matrix::Standard)?;
    let sound = matches!(verdict, Verdict::Pass);
    let after = if sound { "the next case passes" } else { "the next case does not pass" };
    Ok((name.to_owned(), sound, format!("{told}; {after}")))
}
