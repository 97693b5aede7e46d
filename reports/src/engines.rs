//! The engines of a library set on one architecture: what each takes, its knobs and its notes. Collects what planning
//! showed of a fixed list of problems; runs nothing.

mod browse;
mod index;
mod page;
mod probes;

use std::collections::BTreeMap;

use case::{Ended, Environment, Exit, KnobRange, Observation, Operation, Outcome, Ranks};
use serde::Serialize;

use crate::simulated::is_simulated;

pub use browse::html as browse_html;
pub use index::{BROWSE, html as index_html, markdown as index_markdown};
pub use page::{html, markdown};
pub use probes::{Probe, probes};

/// Form of the JSON file.
const FORMAT: u32 = 1;

/// Every engine of a library set on one architecture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EngineTable {
    /// Form of this record.
    pub format: u32,
    /// Library set: the numbers of engines are its own.
    pub set: String,
    /// Name of the device that was planned for.
    pub device: String,
    /// Its architecture, compute capability times 10.
    pub architecture: u32,
    /// What is assumed of the device.
    pub assumed: Vec<String>,
    /// True where no cuDNN was asked but convict's stand-in.
    pub simulated: bool,
    /// One a pass that was asked about.
    pub passes: Vec<PassTable>,
}

/// The engines of one pass.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PassTable {
    /// The pass.
    pub operation: Operation,
    /// The problems, as label and case line, in the order of the answers.
    pub probes: Vec<(&'static str, String)>,
    /// Why a problem as a whole was declined, by its place in the list.
    pub declined: BTreeMap<usize, String>,
    /// By global index, without a gap.
    pub engines: Vec<EngineRow>,
}

/// One engine of a pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EngineRow {
    /// Global index.
    pub engine: i64,
    /// Numerical notes that it declares for any of the problems.
    pub numerical: Vec<String>,
    /// Behaviour notes that it declares for any of the problems.
    pub behavior: Vec<String>,
    /// Knobs with the widest range over the problems.
    pub knobs: Vec<KnobRange>,
    /// Largest workspace of its plans, bytes.
    pub workspace_bytes: i64,
    /// One for each problem.
    pub answers: Vec<Answer>,
}

/// What an engine makes of a problem.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Nothing was told.
    #[default]
    Unknown,
    /// A plan was built; with its best ranks in the heuristic lists.
    Built(Ranks),
    /// It did not decline so far, and compiles at run time, which was left out.
    Compiles(Ranks),
    /// It declined; the status by name.
    Refused(String),
    /// Something that no engine should do: a status of the wrong class, or the end of the process.
    Trouble(String),
}

impl Answer {
    /// True where the engine takes the problem, or did not decline before it would have compiled.
    #[must_use]
    pub fn takes(&self) -> bool {
        matches!(self, Self::Built(_) | Self::Compiles(_))
    }

    /// Plans come before refusals: with other knobs an engine may take what it declines with its own.
    fn weight(&self) -> u8 {
        match self {
            Self::Unknown => 0,
            Self::Refused(_) => 1,
            Self::Compiles(_) => 2,
            Self::Built(_) => 3,
            Self::Trouble(_) => 4,
        }
    }

    fn ranks_mut(&mut self) -> Option<&mut Ranks> {
        match self {
            Self::Built(ranks) | Self::Compiles(ranks) => Some(ranks),
            Self::Unknown | Self::Refused(_) | Self::Trouble(_) => None,
        }
    }
}

impl EngineTable {
    /// An empty table of what is loaded and planned for.
    #[must_use]
    pub fn new(environment: &Environment) -> Self {
        Self {
            format: FORMAT,
            set: environment.set(),
            device: environment.gpu.clone(),
            architecture: environment.compute_capability,
            assumed: environment.assumed.clone(),
            simulated: is_simulated(environment),
            passes: Vec::new(),
        }
    }

    /// Name of its files, without an ending.
    #[must_use]
    pub fn name(&self) -> String {
        let plain =
            |each: char| if each.is_ascii_alphanumeric() || ".-_".contains(each) { each } else { '_' };
        format!("engines-{}-sm_{}", self.set.chars().map(plain).collect::<String>(), self.architecture)
    }

    /// Takes what planning a problem of `probes` showed; problems of a pass come in their order.
    pub fn add(&mut self, probe: &Probe, outcomes: &[Outcome]) {
        let operation = probe.case.problem.operation;
        if self.passes.last().is_none_or(|pass| pass.operation != operation) {
            let empty =
                PassTable { operation, probes: Vec::new(), declined: BTreeMap::new(), engines: Vec::new() };
            self.passes.push(empty);
        }
        if let Some(pass) = self.passes.last_mut() {
            pass.add(probe, outcomes);
        }
    }
}

impl PassTable {
    fn add(&mut self, probe: &Probe, outcomes: &[Outcome]) {
        let place = self.probes.len();
        self.probes.push((probe.label, probe.case.to_string()));
        for outcome in outcomes {
            match &outcome.candidate {
                Some(candidate) => {
                    let Ok(index) = usize::try_from(candidate.config.engine) else { continue };
                    self.row(index).take(place, outcome, candidate.ranks);
                }
                None => {
                    self.declined.insert(place, words(outcome));
                }
            }
        }
        for row in &mut self.engines {
            row.answers.resize(place + 1, Answer::Unknown);
        }
    }

    /// The row of an index, made with those before it. An index beyond any library's space makes none.
    fn row(&mut self, index: usize) -> &mut EngineRow {
        for engine in self.engines.len()..=index.min(ENGINES_MAX) {
            let engine = i64::try_from(engine).unwrap_or(i64::MAX);
            self.engines.push(EngineRow { engine, ..EngineRow::default() });
        }
        let last = self.engines.len() - 1;
        &mut self.engines[index.min(last)]
    }

    /// Engines that take at least one of the problems, or compile at run time.
    pub fn taking(&self) -> impl Iterator<Item = &EngineRow> {
        self.engines.iter().filter(|row| row.answers.iter().any(Answer::takes))
    }
}

/// Bound of a graph's engine indices, by the header of 9.28.
const ENGINES_MAX: usize = 802;

impl EngineRow {
    fn take(&mut self, place: usize, outcome: &Outcome, ranks: Ranks) {
        if self.answers.len() <= place {
            self.answers.resize(place + 1, Answer::Unknown);
        }
        let said = answer(outcome, ranks);
        let known = &mut self.answers[place];
        let both = [&said, &*known].into_iter().filter_map(|one| match one {
            Answer::Built(ranks) | Answer::Compiles(ranks) => Some(*ranks),
            Answer::Unknown | Answer::Refused(_) | Answer::Trouble(_) => None,
        });
        let best = both.reduce(better);
        if said.weight() > known.weight() {
            *known = said;
        }
        if let (Some(slot), Some(best)) = (known.ranks_mut(), best) {
            *slot = best;
        }
        if let Some(observation) = &outcome.observation {
            self.learn(observation);
        }
    }

    fn learn(&mut self, observation: &Observation) {
        add_new(&mut self.numerical, observation.notes.names());
        add_new(&mut self.behavior, observation.notes.behavior_names());
        self.workspace_bytes = self.workspace_bytes.max(observation.workspace_bytes);
        for range in observation.planning.iter().flat_map(|planning| &planning.knobs) {
            match self.knobs.iter_mut().find(|known| known.knob == range.knob) {
                Some(known) => {
                    known.minimum = known.minimum.min(range.minimum);
                    known.maximum = known.maximum.max(range.maximum);
                }
                None => self.knobs.push(*range),
            }
        }
        self.knobs.sort_by_key(|range| range.knob);
    }
}

/// The better rank in each list.
fn better(one: Ranks, other: Ranks) -> Ranks {
    let least = |one: Option<u32>, other: Option<u32>| one.into_iter().chain(other).min();
    Ranks {
        a: least(one.a, other.a),
        b: least(one.b, other.b),
        fallback: least(one.fallback, other.fallback),
    }
}

fn add_new(known: &mut Vec<String>, names: Vec<String>) {
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
}

fn answer(outcome: &Outcome, ranks: Ranks) -> Answer {
    let (Exit::Answered, Some(observation)) = (outcome.exit, &outcome.observation) else {
        return Answer::Trouble(words(outcome));
    };
    match &observation.ended {
        Ended::Described | Ended::Completed => Answer::Built(ranks),
        Ended::Skipped(_) if observation.notes.compiles_at_run_time() => Answer::Compiles(ranks),
        Ended::Skipped(_) => Answer::Unknown,
        Ended::Status(refusal) if refusal.name.starts_with(DECLINES) => Answer::Refused(refusal.name.clone()),
        Ended::Status(_) | Ended::Device { .. } => Answer::Trouble(words(outcome)),
    }
}

/// How the name of every status begins that declines a problem; versions before 9 have ARCH_MISMATCH of their own.
const DECLINES: &str = "NOT_SUPPORTED";

/// How a visit ended, for a person.
fn words(outcome: &Outcome) -> String {
    let phase = outcome.phase.name();
    match (outcome.exit, outcome.observation.as_ref().map(|seen| &seen.ended)) {
        (Exit::Answered, Some(Ended::Status(refusal))) if refusal.reason.is_empty() => refusal.name.clone(),
        (Exit::Answered, Some(Ended::Status(refusal))) => format!("{}: {}", refusal.name, refusal.reason),
        (Exit::Answered, Some(Ended::Device { name, .. })) => name.clone(),
        (Exit::Answered, Some(Ended::Skipped(reason))) => reason.clone(),
        (Exit::Answered, Some(Ended::Completed | Ended::Described) | None) => format!("no answer in {phase}"),
        (Exit::Exited(code), _) => format!("the process ended with code {code} in {phase}"),
        (Exit::Signalled(signal), _) => format!("signal {signal} ended the process in {phase}"),
        (Exit::TimedOut(limit_ms) | Exit::TooSlow(limit_ms), _) => {
            format!("no answer in {phase} after {limit_ms} ms")
        }
    }
}

#[cfg(test)]
mod tests;
