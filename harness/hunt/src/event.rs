//! Everything a hunt tells while it runs: plain data with a JSON form, enough to rebuild where it stands.
//! Knows nothing of files, terminals or bundles.

use std::fmt;

use case::{
    Case, Config, Engines, Environment, Explanation, Fault, FillKind, Kind, Outcome, Phase, Reach, Sameness,
    Selection, Tier, Verdict, Workspace,
};
use serde::{Deserialize, Serialize};

/// What a hunt is asked to try: two runs with the same terms are parts of one hunt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// Seed of the generator, or of what lies around a list; absent where a list is all.
    pub seed: Option<u64>,
    /// Problems of the list, where there is one.
    pub listed: Option<u64>,
    /// Digest of the first problems, so that another list or another version's stream is noticed.
    pub digest: u64,
    /// Which configurations each problem gets.
    pub selection: Selection,
}

impl fmt::Display for Terms {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.seed, self.listed) {
            (Some(seed), None) => write!(formatter, "seed {seed}")?,
            (Some(seed), Some(listed)) => write!(formatter, "seed {seed} around a list of {listed} cases")?,
            (None, listed) => write!(formatter, "a list of {} problems", listed.unwrap_or(0))?,
        }
        let engines = match self.selection {
            Selection::Single => "one",
            Selection::Heuristics => "heuristics",
            Selection::All => "all",
            Selection::Describe | Selection::Provoke(_) | Selection::Drill => "nothing executed",
        };
        write!(formatter, ", engines: {engines}, digest {:016x}", self.digest)
    }
}

/// Longest name of a finding, bytes: what file systems take, with room for a draft's ending.
const SLUG_MAX: usize = 200;

/// A failure that is worth a closer look, as it was met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suspect {
    /// Its slug before minimization: sameness, types and layout class.
    pub provisional: String,
    /// The problem that was being surveyed.
    pub case: Case,
    /// Which configurations were being run.
    pub selection: Selection,
    /// The configuration that failed, absent where the failure came before any.
    pub config: Option<Config>,
    /// What was seen.
    pub fault: Fault,
    /// What the same process executed before, oldest first: looked at where the case alone does not fail again.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "lines")]
    pub history: Vec<Case>,
}

/// Cases as their lines: as JSON objects a long history would be most of a journal.
mod lines {
    use case::Case;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub(super) fn serialize<S: Serializer>(cases: &[Case], serializer: S) -> Result<S::Ok, S::Error> {
        cases.iter().map(Case::to_string).collect::<Vec<_>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Case>, D::Error> {
        let lines = Vec::<String>::deserialize(deserializer)?;
        lines.iter().map(|line| line.parse().map_err(de::Error::custom)).collect()
    }
}

/// How far a minimization got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reduction {
    /// True when every listed single edit of the case was tried and none keeps the failure.
    pub one_minimal: bool,
    /// Runs of the predicate that were needed.
    pub predicate_calls: u64,
    /// Runs that several workers made ahead and that were not needed.
    #[serde(default)]
    pub speculative_calls: u64,
    /// How many of the needed ones were answered by the log of an earlier, interrupted minimization.
    #[serde(default)]
    pub recalled_calls: u64,
    /// Runs of the result within the search, and how many failed.
    #[serde(default)]
    pub rate: minimizer::Rate,
    /// True where the failure shows in some runs only, and was followed by rates.
    #[serde(default)]
    pub comes_and_goes: bool,
    /// What makes the check itself doubtful: it accepted a case that cannot fail.
    #[serde(default)]
    pub doubt: Option<String>,
    /// Seconds that the search took.
    pub seconds: f64,
    /// Edits of the final sweep that were tried.
    pub sweep_tried: u64,
    /// Edits that the final sweep lists.
    pub sweep_listed: u64,
    /// What is claimed about the result and what is not.
    pub guarantee: String,
    /// Cases adopted on the way, the last one being the result.
    pub steps: Vec<String>,
    /// Every question put and its answer, oldest first, as JSON lines.
    pub log: Vec<String>,
}

/// A confirmed failure with everything that a bundle needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Slug that deduplicates findings. Before minimization this is the provisional one.
    pub signature: String,
    /// Slug under which it was confirmed first.
    pub provisional: String,
    /// How it is reached: the best of the original and the minimized case.
    pub tier: Tier,
    /// What the final case shows.
    pub fault: Fault,
    /// The case as it was met, with the plan and the contents that it was confirmed with.
    pub original: Case,
    /// The case that fails, its plan pinned.
    pub case: Case,
    /// How it is run: its own plan, or a survey where it fails before there is one.
    pub selection: Selection,
    /// The final case as it failed last.
    pub outcome: Outcome,
    /// The final case under the full matrix of executions, where that was run.
    pub evidence: Option<Outcome>,
    /// Machine and libraries, files hashed.
    pub environment: Environment,
    /// Confirming runs that failed the same way.
    pub hits: u32,
    /// Confirming runs made, each in a process of its own.
    pub runs: u32,
    /// The minimization; absent before it or where it was cut off.
    pub reduction: Option<Reduction>,
    /// Where it fails and how its plan is reached; absent until that was looked into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<Explained>,
}

/// Where a failure lies and how its plan is reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    /// Conditions, near cases that pass, a map.
    pub explanation: Explanation,
    /// Ranks, and what could be used instead.
    pub reach: Reach,
}

/// What is counted of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerdictKind {
    /// Right.
    Pass,
    /// The check says nothing.
    Untrusted,
    /// A failure of that kind.
    #[serde(untagged)]
    Fault(Kind),
}

impl VerdictKind {
    /// Lower-case name; faults go by their kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Untrusted => "untrusted",
            Self::Fault(kind) => kind.name(),
        }
    }
}

/// One plan built, executed and judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Number of the problem.
    pub index: u64,
    /// Which plan, absent where the failure came before any.
    pub config: Option<Config>,
    /// The verdict.
    pub verdict: VerdictKind,
    /// True where the engine's kernels are compiled while the plan is built.
    pub compiled: bool,
    /// Microseconds that building the plan took; 0 where it was still there.
    #[serde(default)]
    pub plan_us: u64,
    /// Microseconds of all its executions, from launch to the end of the measurements.
    #[serde(default)]
    pub execute_us: u64,
    /// For each execution on integers: the kind of data, and whether all outputs were their references
    /// rounded once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exact: Vec<(FillKind, bool)>,
}

/// What a surveyed problem came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProblemTally {
    /// Plans built, executed and judged.
    pub checks: u64,
    /// Configurations that were not executed, by reason.
    pub refusals: Vec<(String, u64)>,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Microseconds inside cuDNN and CUDA.
    pub foreign_us: u64,
    /// Microseconds of the worker's work.
    pub busy_us: u64,
}

/// Something that happened in a hunt, or is about to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum HuntEvent {
    /// The hunt begins, or goes on after a resume.
    Started {
        /// What it tries.
        terms: Terms,
        /// Machine and libraries.
        environment: Box<Environment>,
        /// Name of the library set.
        set: String,
        /// Slots at work.
        slots: u64,
    },
    /// A problem is about to be surveyed.
    ProblemStarted {
        /// Its number.
        index: u64,
        /// Its line.
        case: String,
        /// The engines that are visited.
        #[serde(default, skip_serializing_if = "Engines::is_all")]
        engines: Engines,
    },
    /// One plan was judged.
    Checked(Check),
    /// A problem's configurations were all visited.
    ProblemDone {
        /// Its number.
        index: u64,
        /// Its sums.
        tally: ProblemTally,
    },
    /// A failure was met that resembles none before it.
    FaultSeen(Box<Suspect>),
    /// It is about to be repeated in fresh processes.
    Confirming {
        /// Which one.
        provisional: String,
        /// The case to repeat.
        case: String,
    },
    /// It could not be confirmed: the flaky shelf.
    Dropped {
        /// Which one.
        provisional: String,
        /// The case repeated.
        case: String,
        /// What had been seen.
        fault: Fault,
        /// Runs that failed the same way.
        hits: u32,
        /// Runs made.
        runs: u32,
    },
    /// It is a finding, not minimized yet.
    Confirmed(Box<Finding>),
    /// Its minimization is about to run a case.
    Asking {
        /// Which one.
        provisional: String,
        /// The case.
        case: String,
        /// Number of the run, from 1.
        call: u64,
    },
    /// Its minimization adopted a smaller case.
    Minimizing {
        /// Which one.
        provisional: String,
        /// The smaller case.
        case: String,
        /// Predicate calls so far.
        calls: u64,
    },
    /// A finding, minimized as far as time allowed.
    Found(Box<Finding>),
    /// After the hunt a finding is about to be looked into further.
    Explaining {
        /// Its signature.
        signature: String,
        /// Which one it is, from 1.
        number: u64,
        /// How many there are.
        of: u64,
    },
    /// A finding was looked into further, after the hunt: where it fails, how its plan is reached.
    Explained(Box<Finding>),
    /// Minimization led to a finding that is known.
    Merged {
        /// Which one.
        provisional: String,
        /// Signature of the known finding.
        into: String,
    },
    /// A slot is out of work for good.
    SlotLost {
        /// Number of the slot.
        slot: u64,
        /// Why.
        message: String,
    },
    /// The run was asked to stop.
    Interrupted,
    /// The end, with everything that is known.
    Finished {
        /// The sums.
        summary: Box<crate::Summary>,
    },
}

/// An event and when it happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Seconds of hunting so far, earlier runs of a resumed hunt included.
    pub seconds: f64,
    /// What happened.
    #[serde(flatten)]
    pub event: HuntEvent,
}

/// The slug before minimization. Inexact arithmetic counts once for each engine of a pass, whatever the
/// types; an odd workspace alignment is part of any other slug.
#[must_use]
pub fn provisional(sameness: &Sameness, case: &Case) -> String {
    if sameness.kind == Kind::Inexact {
        let engine = sameness.engine.map_or_else(|| "none".to_owned(), |engine| format!("e{engine}"));
        return format!("{}-{engine}-inexact", sameness.operation.name());
    }
    let slug = case::Signature::new(sameness, &case.problem).to_string();
    // What needs an odd workspace must not stand for the same failure without one.
    let matters = is_misaligned(case) && sameness.phase >= Phase::Execute;
    if matters { format!("{slug}-ws{}", case.options.workspace.alignment) } else { slug }
}

/// True for names that a finding can have: one component of a path, no matter who wrote the journal.
fn is_slug(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.".contains(&byte);
    name.len() <= SLUG_MAX
        && name.bytes().all(plain)
        && name.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
}

impl HuntEvent {
    /// The first name in it that no finding can have. What a failure was called must be a name, and so must what it
    /// will be called.
    pub(crate) fn strange_name(&self) -> Option<String> {
        let names = match self {
            Self::FaultSeen(suspect) => {
                vec![suspect.provisional.clone(), provisional(&suspect.fault.sameness, &suspect.case)]
            }
            Self::Confirming { provisional, .. }
            | Self::Dropped { provisional, .. }
            | Self::Asking { provisional, .. }
            | Self::Minimizing { provisional, .. } => vec![provisional.clone()],
            Self::Confirmed(finding) | Self::Found(finding) | Self::Explained(finding) => {
                let computed = provisional(&finding.fault.sameness, &finding.case);
                vec![finding.signature.clone(), finding.provisional.clone(), computed]
            }
            Self::Merged { provisional, into } => vec![provisional.clone(), into.clone()],
            Self::Explaining { signature, .. } => vec![signature.clone()],
            Self::Started { .. }
            | Self::ProblemStarted { .. }
            | Self::Checked(_)
            | Self::ProblemDone { .. }
            | Self::SlotLost { .. }
            | Self::Interrupted
            | Self::Finished { .. } => return None,
        };
        names.into_iter().find(|name| !is_slug(name))
    }
}

/// True where the workspace is aligned to less than allocators promise.
pub(crate) fn is_misaligned(case: &Case) -> bool {
    case.options.workspace.alignment < Workspace::DEFAULT_ALIGNMENT
}

/// What is counted of a verdict, `None` where nothing was judged.
pub(crate) fn counted(verdict: &Verdict) -> Option<VerdictKind> {
    match verdict {
        Verdict::Pass => Some(VerdictKind::Pass),
        Verdict::Unsupported(_) | Verdict::Untrusted(case::Untrusted::Skipped(_)) => None,
        Verdict::Untrusted(case::Untrusted::Vacuous { .. } | case::Untrusted::Reference { .. }) => {
            Some(VerdictKind::Untrusted)
        }
        Verdict::Fault(fault) => Some(VerdictKind::Fault(fault.sameness.kind)),
    }
}
