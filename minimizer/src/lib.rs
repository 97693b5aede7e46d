//! Makes a failing case smaller while it fails the same way. Knows cases, an order over them and a predicate;
//! knows nothing of GPUs, libraries or what a failure is.
//!
//! `order` says what smaller means, `passes` propose, `repair` keeps proposals valid, `search` asks and
//! adopts, `edits` is the published list that the closing sweep tries edit by edit.

mod edits;
mod field;
mod lowering;
mod minimized;
mod order;
mod passes;
mod query;
mod repair;
mod search;

pub use edits::{EDIT_LIST, Edit, list};
pub use minimized::{MinimizeError, Minimized, Stop};
pub use order::Key;
pub use query::{Answer, Event, Limits, Predicate, Step};
pub use search::minimize;

#[cfg(test)]
mod tests;
