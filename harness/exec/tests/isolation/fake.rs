//! A worker without libraries: speaks the protocol and fails where a script says. Knows no convolution.
//!
//! The test binary starts itself as the worker: `serves_as_the_worker_of_the_other_tests` does nothing unless
//! the options of a worker are among the arguments.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::process;
use std::time::Duration;

use case::frame::{Decoder, FRAME_BYTES_MAX, encode};
use case::{
    Announcement, Candidate, Census, Config, Ended, Environment, Execution, Fill, FillKind, Job, Notes,
    Observation, OutputFill, Phase, Ranks, Recipe, ReferenceFacts, Reply, Request, Selection, SpotCheck,
    WorkerOptions, WorkspaceFill,
};
use rustix::process::{Signal, getpid, kill_process, set_parent_process_death_signal};

/// Engines that a survey lists.
const ENGINES: i64 = 5;

#[test]
fn serves_as_the_worker_of_the_other_tests() {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(position) = arguments.iter().position(|argument| argument == "--options") else { return };
    let script = arguments.iter().find_map(|argument| argument.strip_prefix("script=")).unwrap();
    Fake::start(&arguments[position + 1], script).serve();
}

struct Fake {
    socket: UnixStream,
    decoder: Decoder,
    options: WorkerOptions,
    board: File,
    sequence: u32,
    /// What happens where, as `WHAT@WHERE` divided by commas.
    script: Vec<(String, String)>,
}

impl Fake {
    fn start(options: &str, script: &str) -> Self {
        set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
        let options: WorkerOptions = serde_json::from_str(options).unwrap();
        let owned = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
        let faults = script.split(',').filter_map(|fault| fault.split_once('@'));
        Self {
            socket: UnixStream::from(owned),
            decoder: Decoder::default(),
            board: OpenOptions::new().write(true).open(&options.board).unwrap(),
            options,
            sequence: 0,
            script: faults.map(|(what, place)| (what.to_owned(), place.to_owned())).collect(),
        }
    }

    fn serve(mut self) {
        self.announce(0, u32::MAX, Phase::Load);
        self.act("start", 0);
        let environment = Environment {
            gpu: std::env::var("LD_LIBRARY_PATH").unwrap_or_default(),
            found: self.options.board.display().to_string(),
            ..Environment::default()
        };
        self.send(&Reply::Ready(Box::new(environment)));
        loop {
            match self.receive() {
                Some(Request::Run(job)) => self.run(&job),
                Some(Request::Inventory) => {
                    self.act("inventory", 0);
                    self.send(&Reply::Inventory(Box::default()));
                }
                Some(Request::SelfTest) => {
                    self.send(&Reply::SelfTest(vec![("guard".to_owned(), true, "fires".to_owned())]));
                }
                Some(Request::Quit) | None => process::exit(0),
            }
        }
    }

    fn run(&mut self, job: &Job) {
        let probe = job.case == Self::probe_case();
        self.announce(job.id, u32::MAX, Phase::Describe);
        self.announce(job.id, u32::MAX, Phase::Heuristics);
        if !probe {
            self.act("heuristics", job.id);
        }
        let count = if job.selection == Selection::Single { 1 } else { ENGINES };
        let candidates: Vec<Candidate> = (0..count)
            .map(|engine| Candidate { config: Config { engine, knobs: Vec::new() }, ranks: Ranks::default() })
            .filter(|candidate| !job.skip.contains(&candidate.config))
            .collect();
        self.send(&Reply::Candidates { job: job.id, candidates: candidates.clone() });
        for (ordinal, candidate) in (0..).zip(&candidates) {
            let place = if probe { "probe".to_owned() } else { candidate.config.engine.to_string() };
            self.announce(job.id, ordinal, Phase::Plan);
            self.act(&place, job.id);
            let ended = self.ended(&place);
            self.announce(job.id, ordinal, Phase::Execute);
            self.act(&format!("{place}:execute"), job.id);
            let differing = u64::from(probe && self.probe_is_wrong());
            let observation = Box::new(observation(candidate.clone(), ended, differing));
            self.send(&Reply::Observed { job: job.id, ordinal: Some(ordinal), observation });
        }
        self.announce(job.id, u32::MAX, Phase::Teardown);
        self.act("teardown", job.id);
        self.send(&Reply::Done { job: job.id, foreign_us: 2, busy_us: 3 });
        if !probe {
            self.act("idle", job.id);
        }
    }

    fn probe_case() -> case::Case {
        "fprop f32 nchw n1 c1 k1 i1x4 f1x1 fill=int2:1".parse().unwrap()
    }

    fn has(&self, what: &str, place: &str) -> bool {
        self.script.iter().any(|(known, at)| known == what && at == place)
    }

    /// `wrong` fails every probe, `wrong-once` only the first one of a gate folder.
    fn probe_is_wrong(&self) -> bool {
        let mark = self.options.gate.join("probed");
        self.has("wrong", "probe")
            || self.has("wrong-once", "probe")
                && OpenOptions::new().write(true).create_new(true).open(mark).is_ok()
    }

    fn ended(&self, place: &str) -> Ended {
        if self.has("device", place) {
            let name = "CUDA_ERROR_ILLEGAL_ADDRESS".to_owned();
            return Ended::Device { phase: Phase::Sync, code: 700, name, sticky: true };
        }
        Ended::Completed
    }

    /// Does what the script says of a place.
    fn act(&mut self, place: &str, job: u64) {
        let faults: Vec<String> =
            self.script.iter().filter(|(_, at)| at == place).map(|(what, _)| what.clone()).collect();
        for what in faults {
            match what.as_str() {
                "abort" => process::abort(),
                "exit" => process::exit(3),
                // The runtime's own handler swallows the first one.
                "segv" => loop {
                    kill_process(getpid(), Signal::SEGV).unwrap();
                },
                "hang" => std::thread::sleep(Duration::from_secs(60)),
                "slow" => std::thread::sleep(Duration::from_millis(120)),
                "print" => std::io::stderr().write_all(b"library: out of ideas\n").unwrap(),
                "flood" => (0..320).for_each(|_| {
                    std::io::stderr().write_all(&[b'#'; 1 << 16]).unwrap();
                }),
                "garbage" => self.socket.write_all(&[3, 0, 0, 0, b'?', b'?', b'?']).unwrap(),
                "oversize" => {
                    let length = u32::try_from(FRAME_BYTES_MAX + 1).unwrap();
                    self.socket.write_all(&length.to_le_bytes()).unwrap();
                }
                "stray" => self.send(&Reply::Done { job: job + 1, foreign_us: 0, busy_us: 0 }),
                "unusable" => {
                    self.send(&Reply::Unusable { message: "no device".to_owned(), machine: true });
                }
                // The ones that other places ask for.
                "device" | "wrong" | "wrong-once" => {}
                unknown => panic!("no fault is called {unknown}"),
            }
        }
    }

    fn announce(&mut self, job: u64, ordinal: u32, phase: Phase) {
        self.sequence += 1;
        let announcement = Announcement { job, ordinal, phase, sequence: self.sequence };
        self.board.write_all_at(&announcement.encode(), 0).unwrap();
    }

    fn send(&mut self, reply: &Reply) {
        self.socket.write_all(&encode(reply).unwrap()).unwrap();
    }

    fn receive(&mut self) -> Option<Request> {
        let mut buffer = [0_u8; 4096];
        loop {
            if let Some(request) = self.decoder.next().unwrap() {
                return Some(request);
            }
            match self.socket.read(&mut buffer).unwrap_or(0) {
                0 => return None,
                count => self.decoder.push(&buffer[..count]),
            }
        }
    }
}

fn observation(candidate: Candidate, ended: Ended, differing: u64) -> Observation {
    let recipe = Recipe {
        fill: Fill { kind: FillKind::Int2, seed: 1 },
        output: OutputFill::Nan,
        workspace: WorkspaceFill::Ones,
        repeats: None,
    };
    let execution = Execution {
        recipe,
        reference: ReferenceFacts::default(),
        spot: SpotCheck::default(),
        census: Census { checked: 4, differing, ..Census::default() },
        guards: Vec::new(),
        inputs_changed: Vec::new(),
        repeat_differing: None,
        excerpt: Vec::new(),
        execute_us: 5,
    };
    Observation {
        candidate: Some(candidate),
        notes: Notes::default(),
        workspace_bytes: 0,
        plan_us: 7,
        ended,
        executions: vec![execution],
        planning: None,
    }
}
