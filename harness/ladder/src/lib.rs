//! The ladder from a machine to a training: what stands on each rung, what a training run shows, and what it means to
//! break somewhere. Judges; neither spawns nor prints.

mod net;
mod twin;

pub use net::training;
pub use twin::{Course, course};
