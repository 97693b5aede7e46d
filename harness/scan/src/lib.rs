//! What the log of a training run says of cuDNN, CUDA and the GPU: symptoms, when they were met, which came first, and
//! what to do next. Knows texts through a reader; opens no file, prints nothing, runs nothing.

mod change;
mod command;
mod diagnosis;
mod guide;
mod lines;
mod moment;
mod report;
mod scanner;
mod shape;
mod sieve;
mod status;
mod tally;
mod text;

pub use change::Change;
pub use command::shell_word;
pub use diagnosis::Relation;
pub use guide::{Cause, Group, Severity, When};
pub use lines::LINE_MAX;
pub use moment::Moment;
pub use report::{FileRead, Scan, Symptom};
pub use scanner::Scanner;
pub use status::{Named, Version};
pub use tally::{Occurrence, Suspect};
