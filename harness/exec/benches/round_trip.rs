//! What supervising costs: a job to a worker that answers at once, and back. Start-up is not part of it.
//!
//! This binary is its own worker: with the options of one among its arguments it serves instead of measuring.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

use case::frame::{Decoder, encode};
use case::{
    Announcement, Candidate, Config, Ended, Job, Notes, Observation, Phase, Ranks, Reply, Request, Selection,
    WorkerOptions,
};
use criterion::Criterion;
use exec::{Deadlines, Interrupt, PhaseTimes, Slot, SpawnOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--options").skip(1);
    match arguments.next() {
        Some(options) => serve(&serde_json::from_str(&options)?),
        None => measure(),
    }
}

fn measure() -> Result<(), Box<dyn Error>> {
    let options = SpawnOptions {
        program: std::env::current_exe()?,
        arguments: Vec::new(),
        worker: WorkerOptions {
            library: None,
            companions: Vec::new(),
            driver: None,
            device: 0,
            memory_share: 1.0,
            guard_bytes: 0,
            simulated: true,
            board: PathBuf::new(),
            gate: PathBuf::new(),
            properties: None,
            assumed: Vec::new(),
            compiled_max: None,
            second_stack: None,
            pressure: None,
        },
        simulator: None,
        faults: None,
        retire_after: u32::MAX,
        deadlines: Deadlines::gpu(),
    };
    let job = Job::new(0, "fprop f16 nhwc n2 c64 k64 i28x28 f3x3 p1x1".parse()?, Selection::Single);
    let mut slot = Slot::new(options, Arc::new(PhaseTimes::default()), Interrupt::default());
    slot.environment()?;
    let mut criterion = Criterion::default().configure_from_args();
    criterion.bench_function("supervisor round trip", |bencher| {
        bencher.iter(|| slot.run(&job, &mut |event| drop(std::hint::black_box(event))));
    });
    criterion.final_summary();
    Ok(())
}

fn serve(options: &WorkerOptions) -> Result<(), Box<dyn Error>> {
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let board = OpenOptions::new().write(true).open(&options.board)?;
    let mut decoder = Decoder::default();
    let mut buffer = [0_u8; 4096];
    socket.write_all(&encode(&Reply::Ready(Box::default()))?)?;
    loop {
        match decoder.next()? {
            Some(Request::Run(job)) => answer(&mut socket, &board, &job)?,
            Some(Request::Inventory | Request::SelfTest | Request::Quit) => return Ok(()),
            None => match socket.read(&mut buffer)? {
                0 => return Ok(()),
                count => decoder.push(&buffer[..count]),
            },
        }
    }
}

/// As many announcements and frames as a real visit has.
fn answer(socket: &mut UnixStream, board: &File, job: &Job) -> Result<(), Box<dyn Error>> {
    for phase in Phase::ALL {
        let announcement = Announcement { job: job.id, ordinal: 0, phase, sequence: 0 };
        board.write_all_at(&announcement.encode(), 0)?;
    }
    let candidate = Candidate { config: Config { engine: 1, knobs: Vec::new() }, ranks: Ranks::default() };
    let observation = Box::new(Observation {
        candidate: Some(candidate.clone()),
        notes: Notes::default(),
        workspace_bytes: 0,
        plan_us: 1,
        ended: Ended::Described,
        executions: Vec::new(),
        planning: None,
    });
    socket.write_all(&encode(&Reply::Candidates { job: job.id, candidates: vec![candidate] })?)?;
    socket.write_all(&encode(&Reply::Observed { job: job.id, ordinal: Some(0), observation })?)?;
    socket.write_all(&encode(&Reply::Done { job: job.id, foreign_us: 1, busy_us: 1 })?)?;
    Ok(())
}
