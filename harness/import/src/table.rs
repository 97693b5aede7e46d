//! What an import holds: distinct cases with counts, and what was not imported with its reasons. Knows no file.

use std::collections::HashMap;

use case::Case;

/// Most distinct cases that are kept, and most distinct reasons: what bounds the memory of an import.
const CASES_MAX: usize = 100_000;
const REASONS_MAX: usize = 200;

/// Most characters of a reason, which may repeat what a file says.
const REASON_MAX: usize = 240;

/// Most engines that are kept for one case.
const ENGINES_MAX: usize = 64;

/// Examples kept for each reason.
const EXAMPLES_MAX: usize = 3;

/// What the counts are counts of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// Operation graphs that were described.
    Described,
    /// Plans that were made.
    Planned,
    /// Executions, or rows and nodes of a file that lists what is run.
    Executed,
}

impl Evidence {
    /// What is counted, in the plural.
    #[must_use]
    pub fn counted(self) -> &'static str {
        match self {
            Self::Described => "operation graphs",
            Self::Planned => "plans",
            Self::Executed => "executions",
        }
    }
}

/// A distinct case.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The problem, free of any engine.
    pub case: Case,
    /// How often it was met.
    pub count: u64,
    /// The file of its first meeting, by number from 0.
    pub file: usize,
    /// Line of its first meeting, from 1; of a model the node.
    pub first: u64,
    /// True where at least one meeting was within a graph of several operations.
    pub fused: bool,
    /// Engines that ran it, by global index, as far as the file tells.
    pub engines: Vec<i64>,
}

/// Something that was not imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub reason: String,
    /// How often.
    pub count: u64,
    /// Lines of the first few, from 1; of a model the nodes.
    pub lines: Vec<u64>,
}

/// Everything that a file gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// Distinct cases, most frequent first.
    pub cases: Vec<Imported>,
    /// What the counts are counts of.
    pub evidence: Evidence,
    /// What was not imported, most frequent first.
    pub refused: Vec<Refused>,
    /// What else the reader of the result should know, one line each.
    pub notes: Vec<String>,
}

impl Import {
    /// Several files as one, their numbers by their order.
    #[must_use]
    pub fn merged(imports: Vec<Self>) -> Self {
        let (mut ledger, mut refusals, mut notes) = (Ledger::default(), Refusals::default(), Vec::new());
        // Plans of one file beside executions of another are no sum of either.
        let evidence =
            imports.iter().filter(|import| !import.cases.is_empty()).map(|import| import.evidence).max();
        for (file, import) in imports.into_iter().enumerate() {
            for found in import.cases {
                ledger.add(Imported { file, ..found }, &mut refusals);
            }
            for refused in import.refused {
                refusals.merge(refused);
            }
            notes.extend(import.notes);
        }
        let evidence = evidence.unwrap_or(Evidence::Executed);
        Self { cases: ledger.sorted(), evidence, refused: refusals.sorted(), notes }
    }
}

/// Distinct cases while a file is read.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    places: HashMap<Case, usize>,
    cases: Vec<Imported>,
}

impl Ledger {
    /// Counts a meeting; the value is the case's place.
    pub(crate) fn add(&mut self, found: Imported, refusals: &mut Refusals) -> Option<usize> {
        if let Some(&place) = self.places.get(&found.case) {
            let held = &mut self.cases[place];
            held.count = held.count.saturating_add(found.count);
            held.fused |= found.fused;
            for engine in found.engines {
                note_engine(held, engine);
            }
            return Some(place);
        }
        if self.cases.len() >= CASES_MAX {
            refusals.add(format!("more than {CASES_MAX} distinct cases"), found.first);
            return None;
        }
        let place = self.cases.len();
        self.places.insert(found.case.clone(), place);
        self.cases.push(found);
        Some(place)
    }

    /// Notes an engine that ran the case at that place.
    pub(crate) fn note(&mut self, place: usize, engine: i64) {
        if let Some(held) = self.cases.get_mut(place) {
            note_engine(held, engine);
        }
    }

    /// The case at that place.
    pub(crate) fn case(&self, place: usize) -> Option<&Case> {
        self.cases.get(place).map(|found| &found.case)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// The cases, most frequent first, then in the order of their meeting.
    pub(crate) fn sorted(self) -> Vec<Imported> {
        let mut cases = self.cases;
        cases.sort_by_key(|found| (std::cmp::Reverse(found.count), found.file, found.first));
        cases
    }
}

fn note_engine(held: &mut Imported, engine: i64) {
    if held.engines.len() < ENGINES_MAX
        && let Err(place) = held.engines.binary_search(&engine)
    {
        held.engines.insert(place, engine);
    }
}

/// What was not imported while a file is read.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    by_reason: HashMap<String, Refused>,
}

impl Refusals {
    pub(crate) fn add(&mut self, reason: impl Into<String>, line: u64) {
        self.merge(Refused { reason: reason.into(), count: 1, lines: vec![line] });
    }

    fn merge(&mut self, mut refused: Refused) {
        if let Some((end, _)) = refused.reason.char_indices().nth(REASON_MAX) {
            refused.reason.truncate(end);
            refused.reason.push_str("...");
        }
        let known = self.by_reason.contains_key(&refused.reason);
        let reason = if known || self.by_reason.len() < REASONS_MAX {
            refused.reason
        } else {
            "other reasons".to_owned()
        };
        let held = self.by_reason.entry(reason.clone()).or_insert_with(|| Refused {
            reason,
            count: 0,
            lines: Vec::new(),
        });
        held.count += refused.count;
        held.lines.extend(refused.lines);
        held.lines.truncate(EXAMPLES_MAX);
    }

    pub(crate) fn sorted(self) -> Vec<Refused> {
        let mut refused: Vec<Refused> = self.by_reason.into_values().collect();
        refused.sort_by(|one, other| {
            (other.count, &one.lines, &one.reason).cmp(&(one.count, &other.lines, &other.reason))
        });
        refused
    }
}
