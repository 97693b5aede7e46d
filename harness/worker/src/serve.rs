//! The worker's life: be killed with the parent, open everything, answer requests until told to quit.

use std::io;

use case::{Reply, Request, WorkerOptions};
use gpu::LoadError;
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};

use crate::board::Board;
use crate::channel::Channel;
use crate::gate::Gate;
use crate::selftest;
use crate::session::Session;
use crate::survey::{self, After, Desk};

/// Serves a supervisor until it closes the channel. The return value is the process's exit code.
#[must_use]
pub fn serve(options: WorkerOptions) -> u8 {
    // A worker that is stuck in a foreign call can't notice its parent's death by polling.
    // One whose parent died before this line finds its channel closed instead.
    if set_parent_process_death_signal(Some(Signal::KILL)).is_err() {
        return 4;
    }
    // Aborts and segmentation faults of the library are expected; dumping gigabytes of address space is not.
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let _ = setrlimit(Resource::Core, none);
    match Channel::from_stdin().and_then(|mut channel| answer(options, &mut channel)) {
        Ok(()) => 0,
        Err(_) => 4,
    }
}

fn answer(options: WorkerOptions, channel: &mut Channel) -> io::Result<()> {
    let board = Board::open(&options.board)?;
    let gate = Gate::open(&options.gate)?;
    let mut session = match Session::open(options, &board) {
        Ok(session) => session,
        Err(error) => return channel.send(&unusable(&error)),
    };
    if let Some(reply) = mixed(&session.environment.conflict) {
        return channel.send(&reply);
    }
    channel.send(&Reply::Ready(Box::new(session.environment.clone())))?;
    let mut ran = false;
    while let Some(request) = channel.receive()? {
        match request {
            Request::Run(job) => {
                let send = &mut |reply: Reply| match (&reply, ran) {
                    // Engines may map further files at their first plan: a set that was sound can turn out mixed, and
                    // the supervisor must hear that before it takes the job for done.
                    (Reply::Done { .. }, false) => {
                        ran = true;
                        channel.send(&mixed(&session.present_conflict()).unwrap_or(reply))
                    }
                    _ => channel.send(&reply),
                };
                let mut desk = Desk { board: &board, gate: &gate, send };
                if survey::run(&session, &mut desk, &job)? == After::Lost {
                    return Ok(());
                }
            }
            Request::Inventory => {
                let reply = match session.take_inventory(true) {
                    Ok(()) => Reply::Inventory(Box::new(session.environment.clone())),
                    Err(error) => unusable(&error),
                };
                channel.send(&reply)?;
            }
            Request::SelfTest => channel.send(&Reply::SelfTest(selftest::run(&session)))?,
            Request::Quit => return Ok(()),
        }
    }
    Ok(())
}

fn unusable(error: &LoadError) -> Reply {
    let machine = match error {
        LoadError::Machine(_) => true,
        LoadError::Ours(_) => false,
    };
    Reply::Unusable { message: error.to_string(), machine }
}

/// A set with mixed files is never tested: its failures are nobody's bug.
fn mixed(conflict: &str) -> Option<Reply> {
    (!conflict.is_empty())
        .then(|| Reply::Unusable { message: format!("mixed library set: {conflict}"), machine: true })
}
