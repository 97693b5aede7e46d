//! Every kernel again, in plain Rust on byte slices. Knows the same parameters and ignores their addresses;
//! refuses what a kernel could only read wildly.

mod compare;
mod elementwise;
mod fill;
mod guard;
mod reference;

pub use compare::compare;
pub use elementwise::elementwise;
pub use fill::{fill, verify};
pub use guard::{check, diff, paint};
pub use reference::{ReferenceOutcome, reference};
