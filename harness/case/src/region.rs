//! Where a failure lies, in words that can be tested on any case: conditions, near cases that pass, and how the
//! failing plan is reached. Data and arithmetic; knows nothing of how it was found out.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::condition::{Atom, Quantity};
use crate::engine::{Config, Ranks};
use crate::problem::Case;

/// The nearest value of one field at which the failure is gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twin {
    /// The field, as `Quantity` and `Property` print.
    pub field: String,
    /// Its value in the failing case.
    pub fails: String,
    /// The value at which it passes.
    pub passes: String,
    /// Line of the passing case.
    pub case: String,
}

/// How many random cases were tried on one side of a region's border, and which broke the rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probes {
    /// Cases that could be judged.
    pub tested: u32,
    /// Of those, the ones that failed the same way.
    pub failed: u32,
    /// Lines of the cases that contradict the region: passing inside, failing outside.
    pub counter_examples: Vec<String>,
}

/// A conjunction of conditions, and how it did on random cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// All of these hold where the failure was seen.
    pub atoms: Vec<Atom>,
    /// Random cases in it.
    pub inside: Probes,
    /// Random cases just outside it: one condition broken.
    pub outside: Probes,
}

/// What a region's conditions are worth: whether random cases bear them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Enough random cases were tried on both sides, and nearly all agree.
    Supported,
    /// No random case was tried inside.
    Untried,
    /// Fewer random cases were tried than could tell.
    TooFew,
    /// Random cases disagree.
    Contradicted,
}

/// Fewest random cases on a side that tell anything.
const TESTED_MIN: u32 = 8;

impl Region {
    /// True where every condition holds.
    #[must_use]
    pub fn contains(&self, case: &Case) -> bool {
        self.atoms.iter().all(|atom| atom.holds(case))
    }

    /// Whether the conditions may be claimed. Everything but [`Support::Supported`] is a guess: fewer than 8 random
    /// cases inside, or less than 90 % of them failing; where there are conditions, the same for those outside with
    /// more than 25 % failing.
    #[must_use]
    pub fn support(&self) -> Support {
        let (inside, outside) = (&self.inside, &self.outside);
        let bounded = !self.atoms.is_empty();
        let share = |probes: &Probes| u64::from(probes.failed) * 100;
        if inside.tested == 0 {
            Support::Untried
        } else if inside.tested < TESTED_MIN || (bounded && outside.tested < TESTED_MIN) {
            Support::TooFew
        } else if share(inside) < u64::from(inside.tested) * 90
            || (bounded && share(outside) > u64::from(outside.tested) * 25)
        {
            Support::Contradicted
        } else {
            Support::Supported
        }
    }

    /// How many random cases failed on both sides: `63 of 64 inside failed, 0 of 61 outside`.
    #[must_use]
    pub fn counts(&self) -> String {
        let untried = "not tried on random cases";
        let inside = match self.inside.tested {
            0 => format!("inside {untried}"),
            tested => format!("{} of {tested} inside failed", self.inside.failed),
        };
        match (self.inside.tested, self.outside.tested) {
            (0, 0) => untried.to_owned(),
            _ if self.atoms.is_empty() => inside,
            (_, 0) => format!("{inside}, outside {untried}"),
            (_, tested) => format!("{inside}, {} of {tested} outside", self.outside.failed),
        }
    }
}

impl Support {
    /// What stands before the conditions of a guess; `None` where they may be claimed.
    #[must_use]
    pub fn doubt(self) -> Option<&'static str> {
        match self {
            Self::Supported => None,
            Self::Untried => Some("guess"),
            Self::TooFew => Some("guess, too few cases tried"),
            Self::Contradicted => Some("guess, random cases contradict it"),
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.atoms.is_empty() {
            return formatter.write_str("everywhere");
        }
        let atoms: Vec<String> = self.atoms.iter().map(ToString::to_string).collect();
        formatter.write_str(&atoms.join(" and "))
    }
}

/// What one cell of a map showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// The same failure.
    Fails,
    /// A right answer.
    Passes,
    /// Another failure.
    Other,
    /// Refused, invalid or not judged.
    Unjudged,
}

/// Pass and fail over the values of two fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// Field of the columns.
    pub across: Quantity,
    /// Values of the columns.
    pub columns: Vec<i64>,
    /// Field of the rows.
    pub down: Quantity,
    /// Values of the rows.
    pub rows: Vec<i64>,
    /// One list of cells per row.
    pub cells: Vec<Vec<Cell>>,
}

/// Where a failure lies, as far as probing told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// The smallest conjunction that fits what was seen.
    pub region: Region,
    /// For fields that matter, the nearest passing value.
    pub twins: Vec<Twin>,
    /// Fields whose value was changed without an effect: any value fails.
    pub any: Vec<String>,
    /// The two fields that matter most, mapped.
    pub map: Option<Map>,
    /// Cases run for it.
    pub calls: u32,
    /// False where the budget ended first.
    pub complete: bool,
}

/// How bad it is that this plan fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It is the first choice of heuristics: whoever asks for nothing special gets it.
    ByDefault,
    /// A heuristic list holds it further down: a search that times every entry may pick it.
    UnderSearch,
    /// Only an explicit choice of the engine gets it.
    ByExplicitChoice,
}

impl Severity {
    /// How a user comes to the plan, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::ByDefault => "by default: whoever asks for nothing special gets it",
            Self::UnderSearch => {
                "the plan stands in the heuristic lists, though not first: a search that times them may choose it"
            }
            Self::ByExplicitChoice => {
                "the plan stands in no heuristic list: only an explicit choice of its engine gets it"
            }
        }
    }
}

/// A plan of the same case that is right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// Engine and knobs.
    pub config: Config,
    /// Its time for one execution over the failing plan's; `None` where that one's time is unknown.
    pub time_ratio: Option<f64>,
    /// Microseconds of one execution.
    pub execute_us: u64,
}

/// How the failing plan is reached and what could be used instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// Ranks of the failing plan for the minimized case.
    pub ranks: Ranks,
    /// Ranks for the case that was first met, where heuristics may rank it otherwise.
    pub original_ranks: Ranks,
    /// What follows from the better of the two.
    pub severity: Severity,
    /// The fastest plan that is right for the same case.
    pub alternative: Option<Alternative>,
    /// Plans of the case that were right, and plans that ran.
    pub right: u32,
    /// See `right`.
    pub ran: u32,
}
