//! One file per command, and the table that leads to them.

mod bisect;
mod check;
mod compare;
mod doctor;
mod engines;
mod explain;
mod hunt;
mod import;
mod kept;
mod ladder;
mod minimize;
mod preflight;
mod recipe;
mod replay;
mod report;
mod scan;
mod selftest;
mod sets;
mod verify;
mod worker;

use crate::args::Command;
use crate::failure::Failure;

/// Runs a command; the value is its exit code.
pub(crate) fn run(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Hunt(arguments) => hunt::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Minimize(arguments) => minimize::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Show(arguments) => crate::show::run(&arguments),
        Command::Engines(arguments) => engines::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Scan(arguments) => scan::run(&arguments),
        Command::Selftest(arguments) => selftest::run(&arguments),
        Command::Ladder(arguments) => ladder::run(&arguments),
        Command::Bisect(arguments) => bisect::run(&arguments),
        Command::Sets(arguments) => sets::run(&arguments),
        Command::Preflight(arguments) => preflight::run(&arguments),
        Command::Recipe(arguments) => recipe::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Worker(arguments) => worker::run(&arguments),
        Command::Kept(arguments) => kept::run(&arguments),
    }
}
