//! What a replay shows, in the forms that pipelines read. Knows records; runs nothing.

mod github;
mod junit;
mod summary;

use std::collections::BTreeMap;

use corpus::{Record, State};

pub use github::annotations;
pub use junit::junit;
pub(crate) use junit::named_as_in_the_schema;
pub use summary::summary;

/// A replay that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Replayed<'a> {
    /// What was tested, one line.
    pub described: &'a str,
    /// True where what is no longer true counts as a regression too.
    pub strict: bool,
    /// How long it took.
    pub seconds: f64,
    /// Every entry.
    pub records: &'a [Record],
    /// What of the corpus could not be read, a line each.
    pub troubles: &'a [String],
    /// Reviews that are due, a line each.
    pub warnings: &'a [String],
}

impl Replayed<'_> {
    /// Entries that keep a pipeline from going on.
    pub fn regressions(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| record.state.is_regression(self.strict))
    }

    /// Entries of which the machine or convict lost track.
    pub fn lost(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| record.state == State::Infra)
    }

    /// The last word.
    #[must_use]
    pub fn verdict(&self) -> String {
        let (regressions, lost) = (self.regressions().count(), self.lost().count());
        let mut parts = match (regressions, lost) {
            (0, 0) => Vec::new(),
            (0, lost) => vec![format!("{lost} entries could not be run")],
            (1, _) => vec!["1 regression".to_owned()],
            (count, _) => vec![format!("{count} regressions")],
        };
        match self.troubles.len() {
            0 => {}
            1 => parts.push("1 entry could not be read".to_owned()),
            count => parts.push(format!("{count} entries could not be read")),
        }
        if parts.is_empty() { "no regression".to_owned() } else { parts.join(", ") }
    }

    /// How many entries stand how, in the order in which states are summed up; states without any are left out.
    #[must_use]
    pub fn counts(&self) -> Vec<(State, usize)> {
        let mut counts = BTreeMap::new();
        for record in self.records {
            *counts.entry(record.state).or_insert(0) += 1;
        }
        State::ALL.into_iter().filter_map(|state| counts.get(&state).map(|count| (state, *count))).collect()
    }

    /// The counts in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let parts: Vec<String> =
            self.counts().iter().map(|(state, count)| format!("{count} {}", state.name())).collect();
        let counts = if parts.is_empty() { "none was run".to_owned() } else { parts.join(", ") };
        format!("{} entries in {:.1} s: {counts}", self.records.len(), self.seconds)
    }
}

#[cfg(test)]
mod tests;
