//! The child side: takes jobs, runs them on the foreign libraries and sends what it saw. Announces each phase
//! before it acts, so that its death tells where. Judges nothing.

mod board;
mod buffers;
mod channel;
mod drill;
mod gate;
mod hashes;
mod history;
mod inventory;
mod measure;
mod planning;
mod reference;
mod selftest;
mod serve;
mod session;
mod survey;
mod totals;
mod train;

pub use serve::serve;
