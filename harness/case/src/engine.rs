//! Which plan of a problem is meant: an engine with knobs, or a heuristic list and rank. Knows numbers only;
//! what they mean belongs to one library set.

use serde::{Deserialize, Serialize};

/// One knob of an engine and the value chosen for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knob {
    /// Knob type number (`cudnnBackendKnobType_t`).
    pub knob: i64,
    /// Value within the range that the engine states.
    pub value: i64,
}

/// An engine configuration: global engine index and knob choices sorted by knob type; no knobs means defaults.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Global engine index of the operation.
    pub engine: i64,
    /// Choices that differ from the defaults or that a heuristic list spelled out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub knobs: Vec<Knob>,
}

/// A list of recommendations that cuDNN gives for a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum HeuristicMode {
    /// `CUDNN_HEUR_MODE_A`: fast decision, what frameworks ask first.
    A,
    /// `CUDNN_HEUR_MODE_B`: slower, claimed more accurate.
    B,
    /// `CUDNN_HEUR_MODE_FALLBACK`: configurations meant to work when the others do not.
    #[serde(rename = "fallback")]
    Fallback,
}

impl HeuristicMode {
    /// The lists in the order in which they are asked.
    pub const ALL: [Self; 3] = [Self::A, Self::B, Self::Fallback];

    /// The word of the one-line text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::Fallback => "fallback",
        }
    }

    /// The mode of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// What a case says about the plan to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum EngineChoice {
    /// Nothing: a survey takes every engine, a single check takes rank 0 of heuristics A.
    #[default]
    Any,
    /// This configuration.
    Pinned(Config),
    /// The configuration at a rank (from 0) of a heuristic list.
    Ranked {
        /// The list.
        mode: HeuristicMode,
        /// Position in it, from 0.
        rank: u32,
    },
}

/// Where a configuration stands in each heuristic list, from 0; absent where the list does not hold it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranks {
    /// Rank in mode A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<u32>,
    /// Rank in mode B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<u32>,
    /// Rank in the fallback list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<u32>,
}

impl Ranks {
    /// True when some list recommends the configuration.
    #[must_use]
    pub fn recommended(self) -> bool {
        self.a.is_some() || self.b.is_some() || self.fallback.is_some()
    }

    /// Notes a rank, keeping the best one of a list.
    pub fn note(&mut self, mode: HeuristicMode, rank: u32) {
        let slot = match mode {
            HeuristicMode::A => &mut self.a,
            HeuristicMode::B => &mut self.b,
            HeuristicMode::Fallback => &mut self.fallback,
        };
        *slot = Some(slot.map_or(rank, |known| known.min(rank)));
    }
}

impl std::fmt::Display for Ranks {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut separator = "";
        for (name, rank) in [("A", self.a), ("B", self.b), ("fallback", self.fallback)] {
            if let Some(rank) = rank {
                write!(formatter, "{separator}{name}#{rank}")?;
                separator = " ";
            }
        }
        if separator.is_empty() { formatter.write_str("in no list") } else { Ok(()) }
    }
}
