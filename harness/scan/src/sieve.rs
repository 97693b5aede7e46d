//! Which row of the guide a line belongs to, told fast: one pass looks for texts that symptoms have, and only where
//! one is found are expressions asked. Knows bytes of one line; remembers nothing.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input};

use crate::guide::{Row, rows};
use crate::status::{Status, Statuses};

/// Rows by their place, as bits.
type Rows = u128;

/// What a text tells beside rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Told {
    rows: Rows,
    cudnn: bool,
    library: bool,
}

/// Texts of cuDNN's own log.
const LIBRARY: [&str; 3] = ["! cudnn (v", "i!  ", "i! process="];

/// Texts that are words: within a longer word they mean nothing.
const WORDS: [&str; 2] = ["nan", "inf"];

/// What a line holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The row, by its place in the guide.
    pub(crate) row: Option<usize>,
    /// Where in the line it shows itself.
    pub(crate) at: usize,
    /// The status of cuDNN that it names.
    pub(crate) status: Option<Status>,
    /// True where cuDNN is named.
    pub(crate) cudnn: bool,
    /// True for a line of cuDNN's own log.
    pub(crate) library: bool,
}

/// The guide, ready for lines.
pub(crate) struct Sieve {
    pub(crate) rows: Vec<Row>,
    pub(crate) statuses: Statuses,
    texts: AhoCorasick,
    told: Vec<Told>,
    is_word: Vec<bool>,
}

impl Sieve {
    pub(crate) fn new() -> Self {
        let rows = rows();
        assert!(rows.len() <= Rows::BITS as usize, "the guide has more rows than a mask has bits");
        let mut texts: Vec<&str> = Vec::new();
        let mut told: Vec<Told> = Vec::new();
        let mut add = |text, more: Told| match texts.iter().position(|known| *known == text) {
            Some(place) => {
                let held: &mut Told = &mut told[place];
                held.rows |= more.rows;
            }
            None => {
                texts.push(text);
                told.push(more);
            }
        };
        add("cudnn", Told { cudnn: true, ..Told::default() });
        for text in LIBRARY {
            add(text, Told { library: true, ..Told::default() });
        }
        for (place, row) in rows.iter().enumerate() {
            for trigger in &row.triggers {
                add(trigger.as_str(), Told { rows: 1 << place, ..Told::default() });
            }
        }
        let is_word = texts.iter().map(|text| WORDS.contains(text)).collect();
        let texts = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .ascii_case_insensitive(true)
            .build(&texts)
            .expect("a few hundred short texts fit an automaton");
        Self { statuses: Statuses::new(), texts, told, is_word, rows }
    }

    /// True where a line may hold something; the fast question.
    pub(crate) fn may_hold(&self, line: &[u8]) -> bool {
        let mut from = 0;
        while let Some(found) = self.texts.find(Input::new(line).range(from..)) {
            if !self.is_word[found.pattern().as_usize()] || stands_alone(line, found.start(), found.end()) {
                return true;
            }
            from = found.start() + 1;
        }
        false
    }

    fn told(&self, line: &[u8]) -> Told {
        let mut all = Told::default();
        for found in self.texts.find_overlapping_iter(line) {
            let place = found.pattern().as_usize();
            if !self.is_word[place] || stands_alone(line, found.start(), found.end()) {
                let Told { rows, cudnn, library } = self.told[place];
                all =
                    Told { rows: all.rows | rows, cudnn: all.cudnn | cudnn, library: all.library | library };
            }
        }
        all
    }

    /// What a line holds; of several rows the first.
    pub(crate) fn look(&self, line: &[u8]) -> Found {
        let told = self.told(line);
        let status = if told.cudnn { self.statuses.find(line) } else { None };
        let shows = |row| Some((row, self.find(row, line, status.as_ref())?));
        let (row, at) = self.candidates(told.rows, status.as_ref()).find_map(shows).unzip();
        Found { row, at: at.unwrap_or_default(), status, cudnn: told.cudnn, library: told.library }
    }

    /// Places of rows that may take the line, in order.
    fn candidates(&self, rows: Rows, status: Option<&Status>) -> impl Iterator<Item = usize> {
        let guide = status.and_then(|status| self.rows.iter().position(|row| row.id == status.guide));
        let rows = guide.map_or(rows, |place| rows | 1 << place);
        (0..self.rows.len()).filter(move |place| rows >> place & 1 == 1)
    }

    /// A row without an expression is a candidate only through a status, which is all that it asks.
    fn find(&self, row: usize, line: &[u8], status: Option<&Status>) -> Option<usize> {
        let row = &self.rows[row];
        if row.pattern.is_none() { status.map(|status| status.at) } else { row.find(line) }
    }

    /// Identifiers of all rows that take a line, the one that counts first.
    #[cfg(test)]
    pub(crate) fn all(&self, line: &[u8]) -> Vec<&str> {
        let told = self.told(line);
        let status = if told.cudnn { self.statuses.find(line) } else { None };
        assert!(told == Told::default() || self.may_hold(line));
        let status = status.as_ref();
        let taking =
            self.candidates(told.rows, status).filter(|&place| self.find(place, line, status).is_some());
        taking.map(|place| self.rows[place].id.as_str()).collect()
    }
}

/// True for a word that no letter, digit or underscore touches. The end of a colour's code may.
fn stands_alone(line: &[u8], start: usize, end: usize) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    if line.get(end).is_some_and(is_part) {
        return false;
    }
    let before = &line[..start];
    !before.last().is_some_and(is_part) || ends_a_colour(before)
}

fn ends_a_colour(before: &[u8]) -> bool {
    let Some(code) = before.strip_suffix(b"m") else { return false };
    let digits = code.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    code[..code.len() - digits].ends_with(b"\x1b[")
}

#[cfg(test)]
mod tests {
    use super::Sieve;

    #[test]
    fn ordinary_lines_hold_nothing() {
        let sieve = Sieve::new();
        for line in [
            "2026-11-02 10:12:44 INFO trainer.py:88 step 1200 loss 0.3412 lr 1.0e-03 error: 0.01",
            "import numpy as np; np.nan_to_num(x)",
            "status: CUDNN_STATUS_SUCCESS, no error",
            "Epoch 1: val_loss improved from inf to 2.345, saving model",
            "best loss: inf",
            "device cuda:0, cudnn 9.1.0, cuda errors so far: 0",
            "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
            "information on finance in Nanjing, infinite loader",
            "I0000 00:00:1740371138.351218 cuda_dnn.cc:529] Loaded cuDNN version 90300",
            "cudaErrorNotReady is returned by a query of work that goes on",
        ] {
            assert_eq!(sieve.all(line.as_bytes()), Vec::<&str>::new(), "{line}");
        }
    }

    #[test]
    fn a_word_within_a_word_is_passed_over_and_a_coloured_one_is_not() {
        let sieve = Sieve::new();
        assert!(!sieve.may_hold(b"INFO nano inference"));
        assert!(sieve.may_hold(b"loss: \x1b[31mnan\x1b[0m"));
        assert!(sieve.may_hold(b"INFO loss=nan"));
    }
}
