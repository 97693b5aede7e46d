//! One unit of work for a worker: a problem, and what is to be done with it. Plain data; knows nothing of how it runs.

use serde::{Deserialize, Serialize};

use crate::engine::Config;
use crate::problem::Case;
use crate::training::Drill;

/// Which configurations of a problem a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// The one that the case names; rank 0 of heuristics A where it names none.
    Single,
    /// Every configuration of the three heuristic lists.
    Heuristics,
    /// Those, and every engine of the global count with default knobs.
    All,
    /// Plans are listed with notes and workspace, nothing is executed.
    Describe,
    /// None: the worker brings that trouble on itself, to show that it is noticed and blamed rightly.
    Provoke(Provocation),
    /// None: the worker goes on the job's special errand.
    Drill,
}

/// A trouble that a self-test provokes on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provocation {
    /// The worker stalls in phase Execute.
    Hang,
    /// The worker aborts in phase Plan.
    Abort,
    /// A kernel of ours writes to an address that is not mapped: a sticky device error in phase Sync.
    IllegalAddress,
}

/// How many executions a plan gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Matrix {
    /// Four executions that between them expose each kind of fault.
    Standard,
    /// Every fill, workspace and output contents, and ten repeats: for anything odd.
    Full,
}

/// Engines that a survey visits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engines {
    /// Every one.
    #[default]
    All,
    /// These.
    Only(Vec<i64>),
    /// Every one but these.
    AllBut(Vec<i64>),
}

impl Engines {
    /// True where configurations of that engine are visited.
    #[must_use]
    pub fn admit(&self, engine: i64) -> bool {
        match self {
            Self::All => true,
            Self::Only(engines) => engines.contains(&engine),
            Self::AllBut(engines) => !engines.contains(&engine),
        }
    }

    /// True where every engine is visited.
    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Self::All
    }
}

/// One unit of work: a problem and the configurations of it to build, run and measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Number that answers repeat.
    pub id: u64,
    /// Problem and options.
    pub case: Case,
    /// Configurations to run.
    pub selection: Selection,
    /// Configurations already done or blamed; a survey passes over them.
    pub skip: Vec<Config>,
    /// Engines whose configurations are visited.
    #[serde(default)]
    pub engines: Engines,
    /// Executions per plan.
    pub matrix: Matrix,
    /// True keeps every other worker off the device while a plan of this job executes.
    pub alone: bool,
    /// Most multiply-adds for which a plan is executed; 0 sets no limit.
    pub multiply_adds_max: i64,
    /// The special errand, where `selection` says that there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drill: Option<Box<Drill>>,
}

impl Job {
    /// The plain job of a case: the standard executions of every configuration selected, beside other workers.
    #[must_use]
    pub fn new(id: u64, case: Case, selection: Selection) -> Self {
        Self {
            id,
            case,
            selection,
            skip: Vec::new(),
            engines: Engines::All,
            matrix: Matrix::Standard,
            alone: false,
            multiply_adds_max: 0,
            drill: None,
        }
    }
}
