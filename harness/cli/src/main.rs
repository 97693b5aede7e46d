//! The one binary: reads the command line, runs a command, prints, exits with a documented code.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this crate alone talks to the terminal")]

mod args;
mod bundle;
mod commands;
mod draft;
mod failure;
mod log;
mod machine;
mod out;
mod scratch;
mod show;
mod simulator;
mod terminal;
mod tryout;
mod words;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    match commands::run(arguments.command) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("convict: {failure}");
            ExitCode::from(failure.code())
        }
    }
}
