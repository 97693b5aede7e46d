//! The gate before an upgrade: entries of a corpus run on one library set, problems compared on two; and
//! what a job asks of a machine before it starts. Knows how often to look and what to say; neither spawns nor prints.

mod ask;
mod compare;
mod contrast;
mod floor;
mod preflight;
mod replay;
#[cfg(test)]
mod script;
mod thresholds;

pub use ask::Asking;
pub use compare::{Compare, Problem, compare};
pub use floor::{Allowed, share};
pub use preflight::{Convolution, convolution, preflight};
pub use replay::{Ended, Replay, replay};
pub use thresholds::{
    Asked, Bytes, Capability, Release, SetName, Source, ThresholdError, Thresholds, Unmet,
    parse as parse_thresholds,
};
