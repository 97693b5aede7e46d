//! The rungs and how each was found. Knows their order and words; climbs none.

use serde::Serialize;

use crate::judge::Break;

/// A rung of the ladder, from the ground up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rung {
    /// Driver and library set load.
    Answers,
    /// One tiny convolution.
    Tiny,
    /// Awkward shapes on every plan that heuristics recommend.
    Shapes,
    /// A short training.
    Training,
}

impl Rung {
    /// The rungs, lowest first.
    pub const ALL: [Self; 4] = [Self::Answers, Self::Tiny, Self::Shapes, Self::Training];

    /// Its number, from 0.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// What stands on it, in a few words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Answers => "the machine answers",
            Self::Tiny => "one tiny convolution",
            Self::Shapes => "awkward shapes, every recommended plan",
            Self::Training => "a short training",
        }
    }
}

impl Serialize for Rung {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.number())
    }
}

/// How a rung was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It held.
    Held,
    /// It broke.
    Broke,
    /// Nobody stood on it.
    Unclimbed,
}

/// What was seen of a rung.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seen {
    /// Which.
    pub rung: Rung,
    /// What stands on it.
    pub name: &'static str,
    /// How it was found.
    pub standing: Standing,
    /// Time spent on it.
    pub seconds: f64,
    /// One line: what was run and what came of it.
    pub words: String,
    /// Lines that are no break and should be known.
    pub notes: Vec<String>,
    /// Everything that is wrong, what counts most first.
    pub breaks: Vec<Break>,
}

impl Seen {
    /// A rung that broke where something is wrong and held where nothing is.
    #[must_use]
    pub(crate) fn new(rung: Rung, words: String, breaks: Vec<Break>) -> Self {
        let standing = if breaks.is_empty() { Standing::Held } else { Standing::Broke };
        Self { rung, name: rung.name(), standing, seconds: 0.0, words, notes: Vec::new(), breaks }
    }

    /// A rung that nobody stood on, and why.
    #[must_use]
    pub fn unclimbed(rung: Rung, why: &str) -> Self {
        Self { standing: Standing::Unclimbed, ..Self::new(rung, why.to_owned(), Vec::new()) }
    }
}
