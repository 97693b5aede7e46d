//! Which of an ordered row of versions to try next, when a version counts as good or bad, and what was found out. Pure:
//! knows positions and answers; knows no library, case or process.

mod report;
mod rule;
mod search;

pub use report::{Interval, Report};
pub use rule::{Standing, Tally, clean_needed};
pub use search::{Answer, Search};

#[cfg(test)]
mod tests;
