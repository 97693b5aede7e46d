//! The words and signs that the page uses, in a line each.

use super::model::{Block, Line};

/// Each with what it means.
const WORDS: [(&str, &str); 18] = [
    (
        "convict",
        "a program that runs random convolutions through cuDNN, checks every result, and makes failures small",
    ),
    (
        "tier A, B, C",
        "A: a heuristic list recommends the plan; B: only an explicit choice of engine gets it; C: for information",
    ),
    (
        "heuristic lists",
        "cuDNN's recommendations for a problem: A (fast), B (slower), fallback (for when the others do not run)",
    ),
    ("A#1, fallback#0", "places in those lists, counted from 0: the second of A, the first of fallback"),
    (
        "input[-1]",
        "the innermost axis, the width; [-2] is the next outer one; filter, pad, stride, output likewise",
    ),
    ("c/g, k/g", "channels of x and of y in one group"),
    ("a mod 8 = 2", "a divided by 8 leaves 2"),
    (
        "guess",
        "conditions that fit what was seen, with fewer than 8 random cases on a side, or with cases that disagree",
    ),
    (
        "int1, int2, tern",
        "data: random whole numbers, of -1 and 1, of -2, -1, 1 and 2, or of -1, 0 and 1, so that sums are exact",
    ),
    ("one, zero", "data: every element 1, or 0"),
    ("onehot", "data: a single 1 among zeros, which shows what an output read"),
    ("index, ramp", "data: small whole numbers that encode the coordinates, or that grow along memory"),
    (
        "keep=x:17,w:0-3",
        "data: these elements of x and w alone, counted row-major from 0; every other one is 0",
    ),
    ("real", "data: random fractions from -1 to 1; results are judged by a bound"),
    (
        "set=9.19.0-full",
        "the library set that engine numbers belong to: version of cuDNN, and whether all engines are there",
    ),
    (
        "edit list v3",
        "the numbered list of single changes that make a case smaller, each tried on the smallest case",
    ),
    (
        "the element's bound",
        "most that rounding can make one output wrong: shares of its sum of absolute products and of itself",
    ),
    ("out=nan, wsfill=ff", "what output and workspace held before: NaN, or a byte in all of it"),
];

pub(super) fn blocks() -> Vec<Block> {
    vec![Block::facts(WORDS.map(|(word, meaning)| (word, Line::from(meaning))))]
}
