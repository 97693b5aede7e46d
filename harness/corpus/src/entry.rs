//! One entry and its one form as JSON. Knows what an entry must say; reads no file.

use case::{Case, EngineChoice};
use serde::{Deserialize, Serialize};

use crate::error::EntryError;
use crate::expectation::Expectation;
use crate::facts::{Configuration, SetFacts};

/// Number of the form.
pub(crate) const FORMAT: u64 = 1;

/// Longest entry that is read, bytes.
pub(crate) const BYTES_MAX: u64 = 1 << 20;

/// A case that is worth running again, with what is expected of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Number of the form.
    pub format: u64,
    /// What deduplicates its failure; absent where convict has not seen one.
    pub signature: Option<String>,
    /// The case line.
    pub case: String,
    /// The same without an engine: weaker, but it survives a renumbering.
    pub engine_free_case: String,
    /// Where it was told; absent in bundles, which tell their own story.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// What is expected where.
    pub expectations: Vec<Expectation>,
}

/// Where a case was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// A thread, a file, or `convict`.
    pub source: String,
    /// Public link.
    pub url: Option<String>,
    /// The day it was told.
    pub date: Option<crate::date::Date>,
    /// Versions as told.
    pub cudnn: Option<String>,
    /// What happened, one line.
    pub symptom: String,
}

/// The form alone: what a newer convict wrote need not be readable otherwise.
#[derive(Deserialize)]
struct Form {
    format: u64,
}

impl Entry {
    /// An entry of this form.
    #[must_use]
    pub fn new(case: &Case, signature: Option<String>, expectations: Vec<Expectation>) -> Self {
        Self {
            format: FORMAT,
            signature,
            case: case.to_string(),
            engine_free_case: engine_free(case).to_string(),
            provenance: None,
            expectations,
        }
    }

    /// Reads the canonical form, and refuses any other.
    ///
    /// # Errors
    /// What is wrong, in one line.
    pub fn read(text: &str) -> Result<Self, EntryError> {
        let json = |error: serde_json::Error| EntryError::Json(error.to_string());
        if let Some(words) = strange(text) {
            return Err(EntryError::Content(words.to_owned()));
        }
        let form: Form = serde_json::from_str(text).map_err(json)?;
        if form.format > FORMAT {
            return Err(EntryError::Newer(form.format));
        }
        let entry: Self = serde_json::from_str(text).map_err(json)?;
        entry.check()?;
        let canonical = entry.print();
        if canonical == text {
            return Ok(entry);
        }
        let pairs = text.lines().map(Some).chain(std::iter::repeat(None)).zip(canonical.lines());
        let different = pairs.enumerate().find(|(_, (found, expected))| *found != Some(*expected));
        Err(match different {
            Some((line, (_, expected))) => {
                EntryError::Form { line: line + 1, expected: expected.trim().to_owned() }
            }
            None => EntryError::Content("does not end with one newline after the last brace".to_owned()),
        })
    }

    /// The canonical form.
    #[must_use]
    pub fn print(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// What it must say to be of use.
    fn check(&self) -> Result<(), EntryError> {
        let content = |words: String| Err(EntryError::Content(words));
        if self.format != FORMAT {
            return content(format!("format: '{}' is not {FORMAT}, the one known", self.format));
        }
        let case = self.parse("case", &self.case)?;
        self.parse("engine_free_case", &self.engine_free_case)?;
        if engine_free(&case).to_string() != self.engine_free_case {
            return content(format!("engine_free_case: expected '{}'", engine_free(&case)));
        }
        for (field, text) in self.words() {
            if text.contains(case::is_wild) {
                let shown = case::one_line(text);
                return content(format!("{field}: '{shown}' has characters that do not show as themselves"));
            }
        }
        for (index, expectation) in self.expectations.iter().enumerate() {
            if let Some(words) = expectation.complaint() {
                return content(format!("expectation {}: {words}", index + 1));
            }
            let contradicts = |(_, other): &(usize, &Expectation)| {
                expectation.overlaps(other) && !expectation.agrees(other)
            };
            let others = self.expectations.iter().enumerate().skip(index + 1);
            if let Some((other, _)) = others.clone().find(contradicts) {
                return content(format!(
                    "expectations {} and {} contradict each other: both hold for some library set",
                    index + 1,
                    other + 1
                ));
            }
        }
        Ok(())
    }

    /// What it says in free words, by field.
    fn words(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let told = self.provenance.iter().flat_map(|told| {
            let words = [("source", Some(&told.source)), ("symptom", Some(&told.symptom))];
            words.into_iter().chain([("url", told.url.as_ref()), ("cudnn", told.cudnn.as_ref())])
        });
        let expected = self.expectations.iter().flat_map(|one| {
            let words = [("reason", Some(&one.reason)), ("ticket", one.ticket.as_ref())];
            words.into_iter().chain([("resolution", one.resolution.as_ref()), ("owner", one.owner.as_ref())])
        });
        let words = told.chain(expected).chain([("signature", self.signature.as_ref())]);
        words.filter_map(|(field, text)| Some((field, text?.as_str())))
    }

    fn parse(&self, field: &str, line: &str) -> Result<Case, EntryError> {
        let case: Case =
            line.parse().map_err(|error| EntryError::Content(format!("{field}: bad case: {error}")))?;
        if case.to_string() == line {
            return Ok(case);
        }
        Err(EntryError::Content(format!("{field}: not in canonical form, which is '{case}'")))
    }

    /// The case to run on a set, and true where that is the engine-free form of one that pins an engine: engine numbers
    /// belong to their own set, and no real one's to the simulator.
    #[must_use]
    pub fn case_on(&self, set: &SetFacts) -> Option<(Case, bool)> {
        let case: Case = self.case.parse().ok()?;
        let at_home =
            case.options.set.as_ref().is_some_and(|named| *named == set.name && !set.is_simulated());
        let spoken_of = case.options.set.is_none() || set.is_simulated();
        let at_home = at_home || (spoken_of && self.expectation_on(set).is_some());
        let simulators = |one: &Expectation| one.configuration == Some(Configuration::Simulator);
        // Where nobody says whose number it is, it is taken at its word.
        let unclaimed = case.options.set.is_none() && self.expectations.is_empty();
        let numbers_of_the_simulator =
            !self.expectations.is_empty() && self.expectations.iter().all(simulators);
        let at_home = at_home && (set.is_simulated() || !numbers_of_the_simulator);
        if pins_engine(&case) && !at_home && !unclaimed {
            return self.engine_free_case.parse().ok().map(|free| (free, true));
        }
        Some((case, false))
    }

    /// What is expected on a set; nothing where no expectation speaks of it.
    #[must_use]
    pub fn expectation_on(&self, set: &SetFacts) -> Option<&Expectation> {
        self.expectations.iter().find(|expectation| expectation.applies(set))
    }

    /// Expectations that are due for a look.
    pub fn overdue(&self, today: crate::date::Date) -> impl Iterator<Item = &Expectation> {
        self.expectations.iter().filter(move |one| one.review_by.is_some_and(|due| due < today))
    }
}

/// What an editor or a copy did to a file, which the words of a parser would not tell.
fn strange(text: &str) -> Option<&'static str> {
    match () {
        () if text.trim().is_empty() => Some("is empty"),
        () if text.starts_with('\u{feff}') => Some("begins with a byte order mark: remove it"),
        () if text.contains('\r') => Some("has carriage returns: its lines end with a newline alone"),
        () => None,
    }
}

fn pins_engine(case: &Case) -> bool {
    match case.options.engine {
        EngineChoice::Pinned(_) => true,
        EngineChoice::Ranked { .. } | EngineChoice::Any => false,
    }
}

/// The case without an engine and without the library set that its number belonged to.
#[must_use]
pub fn engine_free(case: &Case) -> Case {
    let mut free = case.clone();
    for one in free.history.iter_mut().map(|before| &mut before.options).chain([&mut free.options]) {
        one.engine = EngineChoice::Any;
        one.set = None;
    }
    free
}

#[cfg(test)]
mod tests;
