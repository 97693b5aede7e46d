//! A short training run through cuDNN in this one process: plans as frameworks take them, kept over all steps, forward,
//! backward, update. Tells what every step left; judges nothing.

mod memory;

use std::io;
use std::rc::Rc;

use case::{
    Call, CallSeen, Case, Ended, HeuristicMode, Operation, Part, Phase, Place, Planned, Reply, Role, Shown,
    StepSeen, Training,
};
use gpu::{CallError, Graph};

use crate::hashes::hexadecimal;
use crate::session::{Built, Device, Session};
use crate::survey::{After, Desk, ended};
use memory::{Memory, role};

/// What workspaces and outputs hold before a call: NaN in each float type in the first run, zeros in the later ones.
const DIRT: u8 = 0xFF;

/// Trains, and reports plans, steps and what ended it early.
pub(crate) fn run(
    session: &Session,
    desk: &mut Desk<'_>,
    (job, training): (u64, &Training),
) -> io::Result<After> {
    if training.layers.is_empty() {
        return Ok(After::GoOn);
    }
    let mut trainer = Trainer { session, training, job, calls: training.calls(), plans: Vec::new() };
    let stopped = match trainer.plan(desk)? {
        Some(stopped) => Some(stopped),
        None => trainer.train(desk)?,
    };
    let Some((place, ended)) = stopped else { return Ok(After::GoOn) };
    let lost = matches!(ended, Ended::Device { .. });
    trainer.show(desk, Shown::Stopped { place, ended })?;
    Ok(if lost { After::Lost } else { After::GoOn })
}

/// Where and why a training goes no further.
type Stopped = Option<(Place, Ended)>;

/// Why a step ended early.
enum Halt {
    /// A call failed.
    Call(Place, CallError),
    /// The supervisor is gone.
    Channel(io::Error),
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Self {
        Self::Channel(error)
    }
}

struct Trainer<'run> {
    session: &'run Session,
    training: &'run Training,
    job: u64,
    calls: Vec<Call>,
    plans: Vec<Rc<Built>>,
}

impl Trainer<'_> {
    fn show(&self, desk: &mut Desk<'_>, shown: Shown) -> io::Result<()> {
        (desk.send)(Reply::Drilled { job: self.job, shown: Box::new(shown) })
    }

    fn turn_to(&self, desk: &Desk<'_>, place: Place) {
        desk.board.turn_to(self.job, self.training.ordinal(place));
    }

    /// Builds a plan for every call.
    fn plan(&mut self, desk: &mut Desk<'_>) -> io::Result<Stopped> {
        for call in self.calls.clone() {
            let place = Place { run: 0, step: None, call };
            self.turn_to(desk, place);
            let Some(case) = self.training.case_of(call) else { continue };
            match self.chosen(desk, call, &case) {
                Ok((planned, built)) => {
                    self.plans.push(built);
                    self.show(desk, Shown::Planned(Box::new(planned)))?;
                }
                Err(ended) => return Ok(Some((place, ended))),
            }
        }
        Ok(None)
    }

    /// The first plan of heuristics A that can be built and may have its workspace, else of the fallback list.
    fn chosen(&self, desk: &Desk<'_>, call: Call, case: &Case) -> Result<(Planned, Rc<Built>), Ended> {
        let version = self.session.library.version();
        let told = |error: CallError| ended(&error, version);
        desk.board.announce(Phase::Describe);
        let graph = Graph::new(&self.session.library, &self.session.target, case).map_err(told)?;
        let (mut passed_over, mut graver) = (Vec::new(), None);
        for list in [HeuristicMode::A, HeuristicMode::Fallback] {
            desk.board.announce(Phase::Heuristics);
            let recommended = match graph.recommendations(list) {
                Ok(recommended) => recommended,
                Err(CallError::Status { status, .. }) if status.is_refusal(version) => continue,
                Err(error) => return Err(told(error)),
            };
            for (rank, entry) in (0_u32..).zip(recommended) {
                desk.board.announce(Phase::Plan);
                let what = format!("{}#{rank}, engine {}", list.name(), entry.config.engine);
                let built = match self.session.built(&graph, case, &entry.config) {
                    Ok((built, _)) => built,
                    Err(CallError::Status { phase, status, reason }) => {
                        // A framework takes the next one, whatever kept this one from being built.
                        passed_over.push(format!("{what}: {}", status.name(version)));
                        if !status.is_refusal(version) {
                            graver.get_or_insert(CallError::Status { phase, status, reason });
                        }
                        continue;
                    }
                    Err(error) => return Err(told(error)),
                };
                let workspace_bytes = built.plan.workspace_bytes();
                if self.training.workspace_max.is_some_and(|most| workspace_bytes > most) {
                    passed_over.push(format!("{what}: asks for {workspace_bytes} bytes of workspace"));
                    continue;
                }
                let json = if self.training.keeps_plans { built.plan.to_json().ok() } else { None };
                let (config, notes) = (entry.config, built.notes.clone());
                let planned = Planned { call, config, list, rank, notes, workspace_bytes, passed_over, json };
                return Ok((planned, built));
            }
        }
        Err(match graver {
            Some(error) => told(error),
            None => Ended::Skipped(format!("no recommended plan can be taken ({})", passed_over.join("; "))),
        })
    }

    /// Runs the training as often as it was asked for.
    fn train(&self, desk: &mut Desk<'_>) -> io::Result<Stopped> {
        let first = Place { run: 0, step: Some(0), call: self.calls[0] };
        let told = |error: &CallError| ended(error, self.session.library.version());
        let Some(device) = &self.session.device else {
            return Ok(Some((first, Ended::Skipped("there is no device to execute on".to_owned()))));
        };
        self.turn_to(desk, first);
        desk.board.announce(Phase::Allocate);
        device.arena.clear();
        let needed =
            self.plans.iter().map(|built| built.plan.workspace_bytes().max(0) as u64).max().unwrap_or(0);
        let space = device.arena.plain("train workspace", needed);
        let (memory, space) = match Memory::new(device, self.training).and_then(|memory| Ok((memory, space?)))
        {
            Ok(both) => both,
            Err(error) => return Ok(Some((first, told(&error)))),
        };
        let turns =
            (0..self.training.runs).flat_map(|run| (0..self.training.steps).map(move |step| (run, step)));
        for (run, step) in turns {
            let turn = Turn { trainer: self, device, memory: &memory, space, run, step };
            match turn.take(desk) {
                Ok(()) => {}
                Err(Halt::Call(place, error)) => return Ok(Some((place, told(&error)))),
                Err(Halt::Channel(error)) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// One step of one run.
struct Turn<'run> {
    trainer: &'run Trainer<'run>,
    device: &'run Device,
    memory: &'run Memory<'run>,
    /// The workspace of all plans.
    space: u64,
    run: u32,
    step: u32,
}

impl Turn<'_> {
    fn place(&self, call: Call) -> Place {
        Place { run: self.run, step: Some(self.step), call }
    }

    fn take(&self, desk: &mut Desk<'_>) -> Result<(), Halt> {
        let training = self.trainer.training;
        let calls = &self.trainer.calls;
        let (first, last) = (calls[0], calls[calls.len() - 1]);
        let at = |call: Call| move |error: CallError| Halt::Call(self.place(call), error);
        if self.step == 0 {
            self.memory.reset().map_err(at(first))?;
        }
        let depth = training.layers.len();
        for (index, call) in calls.iter().enumerate() {
            self.call(desk, index).map_err(at(*call))?;
            match call.operation {
                Operation::Fprop => self.memory.after_forward(call.layer as usize),
                Operation::Dgrad => self.memory.after_backward(call.layer as usize),
                Operation::Wgrad
                | Operation::MaxPool
                | Operation::AvgPool
                | Operation::MatMul
                | Operation::RmsNorm => Ok(()),
            }
            .map_err(at(*call))?;
            if index + 1 == depth {
                self.memory.loss_gradient().map_err(at(*call))?;
            }
        }
        desk.board.announce(Phase::Sync);
        self.device.driver.wait_all(Phase::Sync).map_err(at(last))?;
        desk.board.announce(Phase::ReadBack);
        let seen = self.seen().map_err(at(last))?;
        self.trainer.show(desk, Shown::Step(seen))?;
        if self.run == 0 && training.shown.contains(&self.step) {
            self.show_tensors(desk)?;
        }
        desk.board.announce(Phase::Execute);
        self.memory.update().map_err(at(last))
    }

    /// Executes the plan of one call over a dirty output and workspace.
    fn call(&self, desk: &Desk<'_>, index: usize) -> Result<(), CallError> {
        let call = self.trainer.calls[index];
        let Some(case) = self.trainer.training.case_of(call) else { return Ok(()) };
        let plan = &self.trainer.plans[index].plan;
        self.trainer.turn_to(desk, self.place(call));
        desk.board.announce(Phase::Execute);
        let output = case.problem.geometry().bytes(call.operation.output()).max(0) as u64;
        let (driver, layer) = (&self.device.driver, call.layer as usize);
        let written = written(call.operation);
        driver.set_bytes(Phase::Execute, self.memory.at(layer, written), DIRT, output)?;
        let asked = plan.workspace_bytes().max(0) as u64;
        if asked > 0 {
            let dirt = if self.run == 0 { DIRT } else { 0 };
            driver.set_bytes(Phase::Execute, self.space, dirt, asked)?;
        }
        let address = |role: Role| {
            let written = (role == call.operation.output()).then_some(written);
            self.memory.at(layer, written.unwrap_or(read(call.operation, role)))
        };
        plan.execute(self.device.handle, Role::ALL.map(address), if asked > 0 { self.space } else { 0 })?;
        if self.run > 0 {
            return Ok(());
        }
        desk.board.announce(Phase::Sync);
        driver.wait_all(Phase::Sync)
    }

    /// The loss, and what each call wrote, in short.
    fn seen(&self) -> Result<StepSeen, CallError> {
        let training = self.trainer.training;
        let mut calls = Vec::new();
        let mut loss = f64::NAN;
        for (index, call) in self.trainer.calls.iter().enumerate() {
            let part = written(call.operation);
            let bytes = self.memory.read(call.layer as usize, part)?;
            let case = &training.layers[call.layer as usize].case;
            let values = oracle::training::unpack(case, role(part), &bytes);
            if index + 1 == training.layers.len() {
                loss = oracle::training::loss(training, &values, &oracle::training::targets(training));
            }
            let odd = values.iter().filter(|value| !value.is_finite()).count() as u64;
            calls.push(CallSeen { hash: hash(&bytes), odd });
        }
        Ok(StepSeen { run: self.run, step: self.step, loss_bits: loss.to_bits(), calls })
    }

    fn show_tensors(&self, desk: &mut Desk<'_>) -> Result<(), Halt> {
        for layer in 0..self.trainer.training.layers.len() {
            for part in PARTS {
                // Nobody computes the gradient of the data.
                if layer == 0 && part == Part::InputGradient {
                    continue;
                }
                let last = self.trainer.calls[self.trainer.calls.len() - 1];
                let bytes =
                    self.memory.read(layer, part).map_err(|error| Halt::Call(self.place(last), error))?;
                let (step, hex) = (self.step, hexadecimal(&bytes));
                self.trainer.show(desk, Shown::Tensor { step, layer: layer as u32, part, hex })?;
            }
        }
        Ok(())
    }
}

const PARTS: [Part; 6] = [
    Part::Input,
    Part::Weight,
    Part::Output,
    Part::InputGradient,
    Part::WeightGradient,
    Part::OutputGradient,
];

/// The tensor that a call writes.
fn written(operation: Operation) -> Part {
    match operation {
        Operation::Fprop
        | Operation::MaxPool
        | Operation::AvgPool
        | Operation::MatMul
        | Operation::RmsNorm => Part::Output,
        Operation::Dgrad => Part::InputGradient,
        Operation::Wgrad => Part::WeightGradient,
    }
}

/// The tensor that a call reads in a role.
fn read(operation: Operation, role: Role) -> Part {
    let backward = matches!(operation, Operation::Dgrad | Operation::Wgrad);
    match role {
        Role::X => Part::Input,
        Role::W => Part::Weight,
        Role::Y if backward => Part::OutputGradient,
        Role::Y => Part::Output,
    }
}

/// A hash that tells bytes apart; nobody attacks it.
fn hash(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(bytes.len() as u64, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        kernel::mix(hash ^ u64::from_le_bytes(word))
    })
}
