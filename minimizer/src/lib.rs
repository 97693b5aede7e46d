//! Makes a failing case smaller while it fails the same way. Knows cases, an order over them and a predicate;
//! knows nothing of GPUs, libraries or what a failure is.
//!
//! `order` says what smaller means, `passes` propose, `repair` keeps proposals valid, `strategy` goes through
//! the passes, `search` weighs answers and adopts, `minimize` drives it with a predicate, `edits` is the
//! published list that the closing sweep tries edit by edit. `forecast` looks ahead for whoever can work on
//! several questions at once, and `replay` gives back the answers of an interrupted reduction.

mod amplifiers;
mod closed;
mod control;
mod edits;
mod explain;
mod field;
mod forecast;
mod handle;
mod ledger;
mod lowering;
mod minimize;
mod minimized;
mod order;
mod passes;
mod query;
mod rate;
mod repair;
mod replay;
mod search;
mod strategy;

pub use edits::{EDIT_LIST, Edit, list};
pub use explain::{ExplainError, ExplainSettings, explain};
pub use minimize::minimize;
pub use minimized::{Flaky, MinimizeError, Minimized, Stop};
pub use order::Key;
pub use query::{Answer, Event, Limits, Predicate, Settings, Step};
pub use rate::Rate;
pub use replay::{Replay, ReplayError};

#[cfg(test)]
mod tests;
