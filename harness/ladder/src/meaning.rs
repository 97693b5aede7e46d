//! What it means to break on a rung, in plain words, and the commands that lead on: a table. Knows words; runs nothing.

use serde::{Deserialize, Serialize};

use crate::rung::Rung;
use crate::trouble::Trouble;

/// The table: the first row that fits counts, so that those about what was asked for beside come first.
const MEANINGS: &str = include_str!("../data/meanings.json");

/// What the ladder was climbed under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stress {
    /// Device memory was taken away.
    Memory,
    /// Workspace was limited.
    Workspace,
    /// Another CUDA stack was loaded first.
    SecondStack,
    /// Plans of another version were offered.
    StalePlans,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    rungs: Vec<u8>,
    trouble: Trouble,
    /// Counts only under this stress; always where it is absent.
    #[serde(default)]
    under: Option<Stress>,
    means: String,
    next: Vec<String>,
}

/// What a break means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Meaning {
    /// In plain words.
    pub means: String,
    /// Commands that lead on, the best one first. `{case}` stands for the case line, `{problem}` for the same without
    /// the engine that it pins, `{machine}` for the options that name libraries and device, `{stress}` for those that
    /// the ladder was climbed under.
    pub next: Vec<String>,
}

/// What it means that this went wrong there, under those stresses.
#[must_use]
pub fn meaning(rung: Rung, trouble: Trouble, under: &[Stress]) -> Meaning {
    let rows: Vec<Row> = serde_json::from_str(MEANINGS).unwrap_or_default();
    let fits = |row: &Row| {
        row.rungs.contains(&rung.number())
            && row.trouble == trouble
            && row.under.is_none_or(|stress| under.contains(&stress))
    };
    match rows.into_iter().find(fits) {
        Some(Row { means, next, .. }) => Meaning { means, next },
        None => Meaning { means: String::new(), next: Vec::new() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trouble_has_a_meaning_on_each_rung_where_it_can_show() {
        let rows: Vec<Row> = serde_json::from_str(MEANINGS).expect("a table");
        for rung in Rung::ALL {
            for trouble in Trouble::ALL {
                let cannot = match (rung, trouble) {
                    (Rung::Answers, trouble) => !matches!(trouble, Trouble::Unusable | Trouble::Unhealthy),
                    (Rung::Tiny | Rung::Shapes, Trouble::Drift) => true,
                    (Rung::Shapes | Rung::Training, Trouble::StaleTaken) => true,
                    (Rung::Tiny | Rung::Shapes | Rung::Training, _) => false,
                };
                let found = meaning(rung, trouble, &[]);
                assert_eq!(found.means.is_empty(), cannot, "{rung:?} {trouble:?}");
                assert_eq!(found.next.is_empty(), cannot, "{rung:?} {trouble:?}");
            }
        }
        // No row is hidden by one above it.
        for row in &rows {
            let under: Vec<Stress> = row.under.into_iter().collect();
            for rung in Rung::ALL.into_iter().filter(|rung| row.rungs.contains(&rung.number())) {
                assert_eq!(meaning(rung, row.trouble, &under).means, row.means, "{rung:?}");
            }
        }
    }

    #[test]
    fn what_lists_or_plans_anew_is_asked_of_the_problem_and_not_of_the_engine_that_failed() {
        let rows: Vec<Row> = serde_json::from_str(MEANINGS).expect("a table");
        for command in rows.iter().flat_map(|row| &row.next) {
            let lists = command.starts_with("convict engines") || command.contains("a plan made here");
            assert!(!(lists && command.contains("{case}")), "{command}");
        }
        assert!(MEANINGS.contains("convict engines '{problem}'"));
    }

    #[test]
    fn what_was_asked_for_beside_changes_the_meaning() {
        let plain = meaning(Rung::Training, Trouble::Memory, &[]);
        let pressed = meaning(Rung::Training, Trouble::Memory, &[Stress::Workspace, Stress::Memory]);
        assert_ne!(plain, pressed);
        assert_eq!(
            meaning(Rung::Tiny, Trouble::Wrong, &[]),
            meaning(Rung::Tiny, Trouble::Wrong, &[Stress::Memory])
        );
    }
}
