//! The ladder from a machine to a training: what stands on each rung, what a run of it shows, and what it means to
//! break there. Runs benches and judges; neither spawns nor prints.

mod ground;
mod judge;
mod meaning;
mod net;
mod quick;
mod record;
mod rung;
#[cfg(test)]
mod script;
mod shapes;
mod stored;
mod train;
mod trouble;
mod twin;

pub use ground::{answers, tiny, with_limit};
pub use judge::{Break, judge};
pub use meaning::{Meaning, Stress, meaning};
pub use net::training;
pub use record::Record;
pub use rung::{Rung, Seen, Standing};
pub use shapes::{Shapes, cases, shapes};
pub use stored::{Stored, StoredPlan};
pub use train::{Trained, train};
pub use trouble::Trouble;
pub use twin::{Course, course};
