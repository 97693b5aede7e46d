//! The worker's life: be killed with the parent, open everything, answer requests until told to quit.

use std::io;

use case::{Reply, Request, WorkerOptions};
use gpu::LoadError;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

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
    let parent = getppid();
    if set_parent_process_death_signal(Some(Signal::KILL)).is_err() || has_new_parent(parent) {
        return 4;
    }
    match Channel::from_stdin().and_then(|mut channel| answer(options, &mut channel)) {
        Ok(()) => 0,
        Err(_) => 4,
    }
}

fn has_new_parent(before: Option<Pid>) -> bool {
    getppid() != before || before.is_none_or(|parent| parent.is_init())
}

fn answer(options: WorkerOptions, channel: &mut Channel) -> io::Result<()> {
    let board = Board::open(&options.board)?;
    let gate = Gate::open(&options.gate)?;
    let mut session = match Session::open(options, None, &board) {
        Ok(session) => session,
        Err(error) => return channel.send(&unusable(&error)),
    };
    if let Some(reply) = mixed(&session) {
        return channel.send(&reply);
    }
    channel.send(&Reply::Ready(Box::new(session.environment.clone())))?;
    let mut ran = false;
    while let Some(request) = channel.receive()? {
        match request {
            Request::Run(job) => {
                let mut desk = Desk { board: &board, gate: &gate, send: &mut |reply| channel.send(&reply) };
                if survey::run(&session, &mut desk, &job)? == After::Lost {
                    return Ok(());
                }
                // Engines may map further files at their first plan: a set that was sound can turn out mixed.
                if !ran {
                    ran = true;
                    let _ = session.take_inventory(false);
                    if let Some(reply) = mixed(&session) {
                        return channel.send(&reply);
                    }
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
fn mixed(session: &Session) -> Option<Reply> {
    let conflict = &session.environment.conflict;
    (!conflict.is_empty())
        .then(|| Reply::Unusable { message: format!("mixed library set: {conflict}"), machine: true })
}

/// Lists the plans of a case for device properties, on a machine without a GPU: replies as a worker would send them.
///
/// # Errors
/// One line for the user.
pub fn planner(
    options: WorkerOptions,
    properties: &str,
    job: &case::Job,
    send: &mut dyn FnMut(Reply) -> io::Result<()>,
) -> Result<(), LoadError> {
    let gate = Gate::open(&options.gate).map_err(|error| LoadError::Ours(format!("gate: {error}")))?;
    let board = Board::unread();
    let session = Session::open(options, Some(properties), &board)?;
    let mut desk = Desk { board: &board, gate: &gate, send };
    survey::run(&session, &mut desk, job).map(|_| ()).map_err(|error| LoadError::Ours(error.to_string()))
}
