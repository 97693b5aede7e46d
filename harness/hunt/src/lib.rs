//! The hunt: which problems to try, what to do with what they show, when to stop. Knows jobs, verdicts and
//! findings; neither spawns nor prints.

mod generator;

pub use generator::{Generator, Limits, danger_zones};
