//! The one binary: reads the command line, runs a command, prints, exits with a documented code.

mod args;
mod bundle;
mod commands;
mod failure;
mod log;
mod machine;
mod out;
mod program;
mod scratch;
mod screen;
#[allow(dead_code, unused_imports, reason = "the commands that name sets follow")]
mod sets;
mod show;
mod simulator;
mod terminal;
mod tryout;
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
            errln!("convict: {failure}");
            ExitCode::from(failure.code())
        }
    }
}
