//! `convict selftest`: whether this machine can be trusted to judge.

use comfy_table::{Table, presets};

use crate::args::Selftest;
use crate::failure::{CLEAN, Failure};
use crate::machine::{Machine, describe};

/// Runs every check and prints a table.
pub(crate) fn run(arguments: &Selftest) -> Result<u8, Failure> {
    let machine = Machine::new(&arguments.machine, None)?;
    machine.prepare()?;
    let mut slot = machine.slot();
    let environment = slot.environment()?.clone();
    println!("{}", describe(&environment, machine.simulated()));
    let rows = slot.self_test()?;
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["check", "result", "detail"]);
    for (name, passed, detail) in &rows {
        table.add_row([name.as_str(), if *passed { "ok" } else { "FAILED" }, detail]);
    }
    println!("{table}");
    match rows.iter().find(|(_, passed, _)| !passed) {
        None => Ok(CLEAN),
        Some((name, _, detail)) => Err(Failure::Ours(format!(
            "self-test failed, nothing found here can be trusted: {name}: {detail}"
        ))),
    }
}
