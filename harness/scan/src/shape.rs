//! What lines of one shape hold, remembered: a log in which something fails a million times says it in the same words,
//! with other numbers. Knows which numbers mean something to an expression; knows no symptom.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use regex::Regex;

use crate::sieve::Found;

/// Longest line whose shape is remembered, and most shapes at once: what bounds memory and lost work.
const LINE_MAX: usize = 512;
const SHAPES_MAX: usize = 2048;

/// What lines of one shape have in common.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) found: Found,
    /// True where a version is shown.
    pub(crate) is_versioned: bool,
    /// Where a rank stands.
    pub(crate) rank: Option<Range<usize>>,
    /// True where an epoch or a step is shown.
    pub(crate) has_moment: bool,
}

/// Lines by their shape: their bytes with every digit as 0, but for numbers that an expression names.
pub(crate) struct Shapes {
    /// Numbers that stand in expressions and texts.
    named: HashSet<Vec<u8>>,
    known: HashMap<Box<[u8]>, Rc<Known>>,
    /// The shape that was asked about last.
    asked: Vec<u8>,
}

impl Shapes {
    /// Shapes for those expressions and texts.
    pub(crate) fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let counts = Regex::new(r"\{\d+(?:,\d*)?\}").expect("a constant expression that every test compiles");
        let number = Regex::new(r"\d+").expect("a constant expression that every test compiles");
        let mut named = HashSet::new();
        for text in texts {
            let text = counts.replace_all(text, "");
            named.extend(number.find_iter(&text).map(|number| number.as_str().as_bytes().to_vec()));
        }
        Self { named, known: HashMap::new(), asked: Vec::new() }
    }

    /// What is known of a line's shape; nothing of one that is too long.
    pub(crate) fn known(&mut self, line: &[u8]) -> Option<Rc<Known>> {
        self.asked.clear();
        if line.len() > LINE_MAX {
            return None;
        }
        self.asked.extend_from_slice(line);
        let mut place = 0;
        while let Some(next) = line[place..].iter().position(u8::is_ascii_digit) {
            let start = place + next;
            let end = line[start..]
                .iter()
                .position(|byte| !byte.is_ascii_digit())
                .map_or(line.len(), |end| start + end);
            if !self.named.contains(&line[start..end]) {
                self.asked[start..end].fill(b'0');
            }
            place = end;
        }
        self.known.get(&self.asked[..]).map(Rc::clone)
    }

    /// Remembers what a line of the shape that was asked about last holds.
    pub(crate) fn remember(&mut self, known: &Rc<Known>) {
        if self.asked.is_empty() {
            return;
        }
        if self.known.len() >= SHAPES_MAX {
            self.known.clear();
        }
        self.known.insert(self.asked.as_slice().into(), Rc::clone(known));
    }
}
