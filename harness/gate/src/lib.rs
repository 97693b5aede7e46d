//! The gate before an upgrade: entries of a corpus run on one library set, problems compared on two. Knows how often to
//! look and what to say; neither spawns nor prints.

mod ask;
mod compare;
mod contrast;
mod floor;
mod replay;
#[cfg(test)]
mod script;

pub use ask::Asking;
pub use compare::{Compare, Problem, compare};
pub use floor::{Allowed, share};
pub use replay::{Ended, Replay, preflight, replay};
