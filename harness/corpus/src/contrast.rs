//! How two library sets stand to each other on one problem, and on many. Knows what counts as a difference; runs
//! nothing.

use std::collections::{BTreeMap, BTreeSet};

use case::Kind;
use serde::{Deserialize, Serialize};

use crate::showing::Showing;

/// Least ratio of two times that is told, once a second look has confirmed it.
pub const RATIO_MIN: f64 = 1.25;

/// One plan of a problem on one set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Global index of its engine; means nothing on another set.
    pub engine: i64,
    /// Engine and knobs as options of a case line.
    pub options: String,
    /// True where a heuristic list has it.
    pub recommended: bool,
    /// True where heuristics A rank it first.
    pub first: bool,
    /// What it showed.
    pub showing: Showing,
    /// Microseconds of its fastest execution; 0 where none was measured.
    pub best_us: u64,
}

/// What one set does with a problem.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Plans that were asked.
    pub plans: Vec<Plan>,
    /// What was shown before there was any plan.
    pub before: Option<Showing>,
}

impl Side {
    /// All that was shown.
    pub fn showings(&self) -> impl Iterator<Item = &Showing> {
        self.before.iter().chain(self.plans.iter().map(|plan| &plan.showing))
    }

    /// Kinds of failure, each with whether a heuristic list leads to it.
    #[must_use]
    pub fn failures(&self) -> BTreeMap<Kind, bool> {
        let mut failures = BTreeMap::new();
        let before = self.before.iter().map(|showing| (showing, true));
        for (showing, recommended) in
            before.chain(self.plans.iter().map(|plan| (&plan.showing, plan.recommended)))
        {
            if let Showing::Failed(failing) = showing {
                *failures.entry(failing.kind).or_insert(false) |= recommended;
            }
        }
        failures
    }

    /// True where some plan is right.
    #[must_use]
    pub fn is_right_somewhere(&self) -> bool {
        self.showings().any(|showing| *showing == Showing::Passed)
    }

    /// True where the library declined whatever was asked.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.showings().all(|showing| matches!(showing, Showing::Refused(_)))
            && self.showings().next().is_some()
    }

    /// True where nothing can be said: not run, or trouble.
    #[must_use]
    pub fn is_unjudged(&self) -> bool {
        self.showings().next().is_none()
            || self.showings().any(|showing| matches!(showing, Showing::Trouble(_)))
            || self.showings().all(|showing| matches!(showing, Showing::Skipped(_) | Showing::Untrusted(_)))
    }

    /// The plan that heuristics A rank first.
    #[must_use]
    pub fn first(&self) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.first)
    }

    /// The first plan with a failure of that kind; one that a list leads to before all others.
    #[must_use]
    pub fn failing(&self, kind: Kind) -> Option<&Plan> {
        let is = |plan: &&Plan| matches!(&plan.showing, Showing::Failed(failing) if failing.kind == kind);
        let mut failing = self.plans.iter().filter(is);
        let first = failing.next()?;
        Some(if first.recommended { first } else { failing.find(|plan| plan.recommended).unwrap_or(first) })
    }
}

/// What is different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The candidate fails where the baseline does not.
    NewlyWrong,
    /// The candidate has no plan where the baseline is right.
    NewlyRefused,
    /// The plan that frameworks try first is slower, beyond noise.
    Slower,
    /// The baseline fails where the candidate does not.
    NewlyRight,
    /// The baseline has no plan where the candidate is right.
    NewlyAccepted,
    /// The plan that frameworks try first is faster, beyond noise.
    Faster,
    /// Heuristics rank another plan first.
    FirstChoice,
}

impl Change {
    /// All, the gravest first.
    pub const ALL: [Self; 7] = [
        Self::NewlyWrong,
        Self::NewlyRefused,
        Self::Slower,
        Self::NewlyRight,
        Self::NewlyAccepted,
        Self::Faster,
        Self::FirstChoice,
    ];

    /// Words for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NewlyWrong => "newly wrong",
            Self::NewlyRefused => "newly refused",
            Self::Slower => "slower",
            Self::NewlyRight => "newly right",
            Self::NewlyAccepted => "newly accepted",
            Self::Faster => "faster",
            Self::FirstChoice => "another first choice",
        }
    }

    /// True where an upgrade makes something worse.
    #[must_use]
    pub fn is_regression(self) -> bool {
        match self {
            Self::NewlyWrong | Self::NewlyRefused => true,
            Self::Slower | Self::NewlyRight | Self::NewlyAccepted | Self::Faster | Self::FirstChoice => false,
        }
    }
}

/// One difference on one problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The problem's line.
    pub case: String,
    /// Where it comes from: an entry's name, or a number of the hunt.
    pub source: String,
    /// What is different.
    pub change: Change,
    /// In one line, with what it was and what it is.
    pub words: String,
    /// The case that shows it on the set that fails, its plan pinned where one is to blame.
    pub repeat: String,
    /// True where a heuristic list leads to it, so that frameworks may meet it.
    pub recommended: bool,
}

/// How far a comparison came in a list of problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// All problems.
    pub all: u64,
    /// Those that were run.
    pub run: u64,
}

/// What the same problems did on two sets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contrast {
    /// The set in use, one line.
    pub baseline: String,
    /// The set to upgrade to, one line.
    pub candidate: String,
    /// Names of both sets.
    pub sets: [String; 2],
    /// Architecture that both ran on.
    pub architecture: String,
    /// Problems of the corpus, each once, and how many of them were come to before the time was over.
    #[serde(default)]
    pub listed: Coverage,
    /// Problems run on both.
    pub problems: u64,
    /// Right on both, wherever anything was judged.
    pub right: u64,
    /// Failing on both in the same kinds.
    pub wrong: u64,
    /// Refused by both.
    pub refused: u64,
    /// Not judged on one of them at least.
    pub unjudged: u64,
    /// Suspected differences that did not come back.
    pub dismissed: u64,
    /// Engines that ran at least once, by pass, on either.
    pub engines: BTreeMap<String, [BTreeSet<i64>; 2]>,
    /// What is different, the gravest first.
    pub differences: Vec<Difference>,
    /// Seconds that it took.
    pub seconds: f64,
}

impl Contrast {
    /// Differences of one sort.
    pub fn of(&self, change: Change) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(move |difference| difference.change == change)
    }

    /// True where an upgrade makes something worse.
    #[must_use]
    pub fn has_regressions(&self) -> bool {
        self.differences.iter().any(|difference| difference.change.is_regression())
    }

    /// True where the time was over before the corpus was.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.listed.run < self.listed.all
    }

    /// One line that says whether to upgrade.
    #[must_use]
    pub fn verdict(&self) -> String {
        let [baseline, candidate] = &self.sets;
        let counts: Vec<String> = Change::ALL
            .into_iter()
            .filter_map(|change| match self.of(change).count() {
                0 => None,
                count => Some(format!("{count} {}", change.name())),
            })
            .collect();
        let judged = self.problems - self.unjudged;
        let differences = if counts.is_empty() { "no difference".to_owned() } else { counts.join(", ") };
        let word = match (judged, self.has_regressions()) {
            (0, _) => "NOTHING JUDGED",
            (_, true) => "WORSE",
            (_, false) if self.is_cut_short() => "NOT WORSE SO FAR",
            (_, false) => "NOT WORSE",
        };
        let Coverage { all, run } = self.listed;
        let cut = if self.is_cut_short() {
            format!("; the time was over after {run} of {all} problems of the corpus, before the hunt")
        } else {
            String::new()
        };
        format!("{word}: {candidate} against {baseline} on {judged} problems: {differences}{cut}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::showing::Failing;

    fn plan(recommended: bool, showing: Showing) -> Plan {
        Plan { engine: 1, options: String::new(), recommended, first: false, showing, best_us: 0 }
    }

    fn failed(kind: Kind) -> Showing {
        Showing::Failed(Failing { signature: "s".to_owned(), kind, summary: "w".to_owned() })
    }

    #[test]
    fn a_side_fails_in_kinds_and_says_whether_a_list_leads_there() {
        let side = Side {
            plans: vec![
                plan(false, failed(Kind::Wrong)),
                plan(true, failed(Kind::Oob)),
                plan(true, Showing::Passed),
                plan(true, failed(Kind::Wrong)),
            ],
            before: None,
        };
        assert_eq!(side.failures(), BTreeMap::from([(Kind::Wrong, true), (Kind::Oob, true)]));
        assert!(side.failing(Kind::Wrong).is_some_and(|plan| plan.recommended));
        assert!(side.is_right_somewhere() && !side.is_refused() && !side.is_unjudged());
    }

    #[test]
    fn what_was_not_run_is_unjudged_and_what_was_declined_throughout_is_refused() {
        assert!(Side::default().is_unjudged() && !Side::default().is_refused());
        let refused = Side { plans: Vec::new(), before: Some(Showing::Refused("no".to_owned())) };
        assert!(refused.is_refused() && !refused.is_unjudged());
        let skipped = Side { plans: vec![plan(true, Showing::Skipped("memory".to_owned()))], before: None };
        assert!(skipped.is_unjudged());
    }

    #[test]
    fn the_verdict_is_one_line_that_begins_with_what_to_do() {
        let mut contrast = Contrast {
            sets: ["9.14.0-full".to_owned(), "9.19.0-full".to_owned()],
            problems: 3,
            ..Contrast::default()
        };
        assert_eq!(
            contrast.verdict(),
            "NOT WORSE: 9.19.0-full against 9.14.0-full on 3 problems: no difference"
        );
        contrast.listed = Coverage { all: 9, run: 3 };
        assert_eq!(
            contrast.verdict(),
            "NOT WORSE SO FAR: 9.19.0-full against 9.14.0-full on 3 problems: no difference; \
             the time was over after 3 of 9 problems of the corpus, before the hunt"
        );
        contrast.listed.run = 9;
        contrast.differences.push(Difference {
            case: "c".to_owned(),
            source: "s".to_owned(),
            change: Change::NewlyWrong,
            words: "w".to_owned(),
            repeat: "r".to_owned(),
            recommended: true,
        });
        assert!(contrast.verdict().starts_with("WORSE: ") && contrast.verdict().ends_with("1 newly wrong"));
        contrast.unjudged = 3;
        assert!(contrast.verdict().starts_with("NOTHING JUDGED"));
    }
}
