//! The one binary: reads the command line, runs a command, prints, exits with a documented code.

mod args;
mod bundle;
mod cases;
mod commands;
mod failure;
mod log;
mod machine;
mod named;
mod out;
mod planning;
mod program;
mod scratch;
mod screen;
mod sets;
mod show;
mod side;
mod simulator;
mod terminal;
mod traffic;
mod tryout;
mod versions;
mod words;

use std::process::ExitCode;

use clap::Parser;

use crate::failure::Failure;
use crate::screen::errln;

fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    let ended = commands::run(arguments.command).and_then(|code| match screen::trouble() {
        Some(error) => Err(Failure::Ours(format!("standard output: {error}"))),
        None => Ok(code),
    });
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            // A path of the command line may hold a line's end, and what follows it would pass for a line of ours.
            errln!("convict: {}", case::one_line(&failure.to_string()));
            ExitCode::from(failure.code())
        }
    }
}
