//! One job: the problem's graph, its configurations, a visit to each. Knows what to visit and in which order;
//! measuring is elsewhere.

use case::{
    Announcement, Candidate, Config, Ended, EngineChoice, HeuristicMode, Job, Notes, Observation, Phase,
    Ranks, Recipe, Refusal, Reply, Selection, WorkspaceAmount,
};
use gpu::{CallError, Graph};

use crate::board::Board;
use crate::buffers;
use crate::drill;
use crate::gate::Gate;
use crate::history;
use crate::measure::{Bench, Owner, Trial};
use crate::planning;
use crate::selftest::provoke;
use crate::session::Session;

/// What a job needs beside the session.
pub(crate) struct Desk<'run> {
    pub(crate) board: &'run Board,
    pub(crate) gate: &'run Gate,
    pub(crate) send: &'run mut dyn FnMut(Reply) -> std::io::Result<()>,
}

/// Whether the worker may go on after a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The next job is welcome.
    GoOn,
    /// The context is lost; only a new process helps.
    Lost,
}

/// Runs a job and reports every visit.
pub(crate) fn run(session: &Session, desk: &mut Desk<'_>, job: &Job) -> std::io::Result<After> {
    let start = std::time::Instant::now();
    session.take_foreign();
    let after = visit_all(session, desk, job)?;
    desk.board.turn_to(job.id, Announcement::UNLISTED);
    desk.board.announce(Phase::Teardown);
    let micros = |duration: std::time::Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    let foreign_us = micros(session.take_foreign());
    (desk.send)(Reply::Done { job: job.id, foreign_us, busy_us: micros(start.elapsed()) })?;
    Ok(after)
}

fn visit_all(session: &Session, desk: &mut Desk<'_>, job: &Job) -> std::io::Result<After> {
    let unrun = |reason| Box::new(blank(None, Ended::Skipped(reason)));
    if let Err(reason) = history::run(session, desk, job) {
        (desk.send)(Reply::Observed { job: job.id, ordinal: None, observation: unrun(reason) })?;
        // What a history did to the process is not known.
        return Ok(After::Lost);
    }
    desk.board.turn_to(job.id, Announcement::UNLISTED);
    if let Selection::Provoke(provocation) = job.selection {
        let error = provoke(session, desk.board, provocation);
        return declined(session, desk, job, &error);
    }
    if job.selection == Selection::Drill {
        return drill::run(session, desk, job);
    }
    desk.board.announce(Phase::Describe);
    let graph = match Graph::new(&session.library, &session.target, &job.case) {
        Ok(graph) => graph,
        Err(error) => return declined(session, desk, job, &error),
    };
    desk.board.announce(Phase::Heuristics);
    let lists = match Lists::ask(&graph, session.library.version()) {
        Ok(lists) => lists,
        Err(error) => return declined(session, desk, job, &error),
    };
    let candidates = match lists.candidates(job, &graph) {
        Ok(candidates) => candidates,
        Err(reason) => {
            (desk.send)(Reply::Observed { job: job.id, ordinal: None, observation: unrun(reason) })?;
            return Ok(After::GoOn);
        }
    };
    (desk.send)(Reply::Candidates { job: job.id, candidates: candidates.clone() })?;
    let recipes = oracle::recipes(&job.case, job.matrix);
    let turns = planning::turns(session, &graph, job, &candidates);
    let mut left_to_compile = planning::compiled_max(session);
    let mut visitor = Visitor::new(session, (desk.board, desk.gate), job, &graph, recipes);
    for turn in turns {
        let (Some(candidate), Ok(ordinal)) = (candidates.get(turn.place), u32::try_from(turn.place)) else {
            continue;
        };
        if job.skip.contains(&candidate.config) {
            continue;
        }
        visitor.board.turn_to(job.id, ordinal);
        let observation = Box::new(if turn.shares && left_to_compile == 0 {
            blank(Some(candidate.clone()), planning::passed_over())
        } else {
            visitor.visit(candidate)
        });
        if turn.shares && observation.ended == Ended::Described {
            left_to_compile -= 1;
        }
        let lost = matches!(observation.ended, Ended::Device { sticky: true, .. });
        (desk.send)(Reply::Observed { job: job.id, ordinal: Some(ordinal), observation })?;
        if lost {
            return Ok(After::Lost);
        }
    }
    Ok(After::GoOn)
}

/// The problem was declined before there were configurations.
fn declined(session: &Session, desk: &mut Desk<'_>, job: &Job, error: &CallError) -> std::io::Result<After> {
    let ended = ended(error, session.library.version());
    let lost = matches!(ended, Ended::Device { sticky: true, .. });
    let observation = Box::new(blank(None, ended));
    (desk.send)(Reply::Observed { job: job.id, ordinal: None, observation })?;
    Ok(if lost { After::Lost } else { After::GoOn })
}

fn blank(candidate: Option<Candidate>, ended: Ended) -> Observation {
    Observation {
        candidate,
        notes: Notes::default(),
        workspace_bytes: 0,
        plan_us: 0,
        ended,
        executions: Vec::new(),
        planning: None,
    }
}

pub(crate) fn ended(error: &CallError, version: u64) -> Ended {
    match error {
        CallError::Status { phase, status, reason } => Ended::Status(Refusal {
            phase: *phase,
            status: status.0,
            name: status.name(version),
            reason: reason.clone(),
        }),
        CallError::Device { phase, result } => {
            Ended::Device { phase: *phase, code: result.0, name: result.name(), sticky: result.is_sticky() }
        }
    }
}

/// The three heuristic lists of a problem.
pub(crate) struct Lists(Vec<(HeuristicMode, Vec<Config>)>);

impl Lists {
    /// Asks each mode. A mode that declines gives an empty list; any other status ends the problem.
    pub(crate) fn ask(graph: &Graph, version: u64) -> Result<Self, CallError> {
        let mut lists = Vec::new();
        for mode in HeuristicMode::ALL {
            let list = match graph.recommendations(mode) {
                Ok(list) => list.into_iter().map(|entry| entry.config).collect(),
                Err(CallError::Status { status, .. }) if status.is_refusal(version) => Vec::new(),
                Err(error) => return Err(error),
            };
            lists.push((mode, list));
        }
        Ok(Self(lists))
    }

    fn ranks(&self, config: &Config) -> Ranks {
        let mut ranks = Ranks::default();
        for (mode, list) in &self.0 {
            for (rank, _) in (0_u32..).zip(list).filter(|(_, listed)| *listed == config) {
                ranks.note(*mode, rank);
            }
        }
        ranks
    }

    fn listed(&self, mode: HeuristicMode, rank: u32) -> Result<Config, String> {
        let list = self.0.iter().find(|(known, _)| *known == mode).map_or(&[][..], |(_, list)| list);
        usize::try_from(rank).ok().and_then(|rank| list.get(rank)).cloned().ok_or_else(|| {
            format!("heuristics {} list {} configurations, none at rank {rank}", mode.name(), list.len())
        })
    }

    /// Configurations to visit, each once: engines by index first, then what the lists add.
    pub(crate) fn candidates(&self, job: &Job, graph: &Graph) -> Result<Vec<Candidate>, String> {
        let mut configs: Vec<Config> = Vec::new();
        match (&job.case.options.engine, job.selection) {
            (EngineChoice::Pinned(config), _) => {
                let engines = graph.engine_count().unwrap_or(i64::MAX);
                if config.engine >= engines {
                    return Err(format!(
                        "engine={} is none of the {engines} that this library has",
                        config.engine
                    ));
                }
                configs.push(config.clone());
            }
            (EngineChoice::Ranked { mode, rank }, _) => configs.push(self.listed(*mode, *rank)?),
            (EngineChoice::Any, Selection::Single | Selection::Provoke(_) | Selection::Drill) => {
                configs.push(self.listed(HeuristicMode::A, 0)?)
            }
            (EngineChoice::Any, Selection::Heuristics) => self.add_listed(&mut configs),
            (EngineChoice::Any, Selection::All | Selection::Describe) => {
                let engines = graph.engine_count().unwrap_or(0);
                configs.extend((0..engines).map(|engine| Config { engine, knobs: Vec::new() }));
                self.add_listed(&mut configs);
            }
        }
        configs.retain(|config| job.engines.admit(config.engine));
        Ok(configs
            .into_iter()
            .map(|config| {
                let ranks = self.ranks(&config);
                Candidate { config, ranks }
            })
            .collect())
    }

    fn add_listed(&self, configs: &mut Vec<Config>) {
        for config in self.0.iter().flat_map(|(_, list)| list) {
            if !configs.contains(config) {
                configs.push(config.clone());
            }
        }
    }
}

/// Goes through the configurations of one job; tensors and references are made once, at the first plan that runs.
pub(crate) struct Visitor<'run> {
    session: &'run Session,
    board: &'run Board,
    gate: &'run Gate,
    job: &'run Job,
    graph: &'run Graph,
    recipes: Vec<Recipe>,
    bench: Option<Bench<'run>>,
}

impl<'run> Visitor<'run> {
    pub(crate) fn new(
        session: &'run Session,
        (board, gate): (&'run Board, &'run Gate),
        job: &'run Job,
        graph: &'run Graph,
        recipes: Vec<Recipe>,
    ) -> Self {
        Self { session, board, gate, job, graph, recipes, bench: None }
    }

    pub(crate) fn visit(&mut self, candidate: &Candidate) -> Observation {
        let mut observation = blank(Some(candidate.clone()), Ended::Completed);
        if let Err(error) = self.attempt(candidate, &mut observation) {
            observation.ended = ended(&error, self.session.library.version());
        }
        observation
    }

    /// Builds the plan and runs it; the observation holds what was seen also where this ends early.
    fn attempt(&mut self, candidate: &Candidate, observation: &mut Observation) -> Result<(), CallError> {
        self.board.announce(Phase::Plan);
        if self.session.device.is_none() {
            return planning::visit(self.session, (self.graph, self.job.selection), candidate, observation);
        }
        let start = std::time::Instant::now();
        let (built, fresh) = self.session.built(self.graph, &self.job.case, &candidate.config)?;
        if fresh {
            observation.plan_us = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        }
        observation.notes = built.notes.clone();
        observation.workspace_bytes = built.plan.workspace_bytes();
        if self.job.selection == Selection::Describe {
            observation.ended = Ended::Described;
            return Ok(());
        }
        if let Some(reason) = self.reason_to_skip(observation) {
            observation.ended = Ended::Skipped(reason);
            return Ok(());
        }
        let Some(device) = &self.session.device else {
            observation.ended = Ended::Skipped("there is no device to execute on".to_owned());
            return Ok(());
        };
        let owner = Owner {
            device,
            board: self.board,
            gate: self.gate,
            guard: self.session.options.guard_bytes,
            alone: self.job.alone,
        };
        if self.bench.is_none() {
            self.board.announce(Phase::Allocate);
            self.bench = Some(Bench::new(&owner, &self.job.case)?);
        }
        let trial = Trial { plan: &built.plan, notes: &built.notes, recipes: &self.recipes };
        match &mut self.bench {
            Some(bench) => bench.run(&trial, &mut observation.executions),
            None => Ok(()),
        }
    }

    /// Why a plan that was built is not executed.
    fn reason_to_skip(&self, observation: &Observation) -> Option<String> {
        let (case, asked) = (&self.job.case, observation.workspace_bytes);
        let work = case.problem.geometry().multiply_adds();
        if self.job.multiply_adds_max > 0 && work > self.job.multiply_adds_max {
            return Some(format!("{work} multiply-adds exceed the limit of {}", self.job.multiply_adds_max));
        }
        if let WorkspaceAmount::Max(most) = case.options.workspace.amount
            && asked > most
        {
            return Some(format!("the plan asks for {asked} bytes of workspace, the case allows {most}"));
        }
        let reduced = observation.notes.down_converts() || observation.notes.numerical.contains(&0);
        if !case.options.tf32 && reduced && case.problem.dtypes.x == case::DType::F32 {
            return Some("tf32=off, and the notes declare reduced f32 arithmetic".to_owned());
        }
        if let Some(reason) = oracle::beyond_reference(case) {
            return Some(reason);
        }
        let limit = self.session.device.as_ref()?.arena.limit();
        let guard = self.session.options.guard_bytes;
        let workspace = buffers::workspace_given(&case.options.workspace, asked);
        let needed = buffers::bytes_needed(case, &self.recipes, guard).saturating_add(workspace);
        (needed > limit).then(|| format!("{needed} bytes exceed this worker's share of {limit}"))
    }
}
