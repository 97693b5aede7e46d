//! The parent side of isolation: slots, spawn, deadlines and how a child ended. The only room that spawns
//! processes; knows nothing of cuDNN and judges nothing.

mod board;
mod deadline;
mod error;
mod health;
mod interrupt;
mod process;
mod program;
mod progress;
mod slot;
mod tail;
mod variables;

pub use deadline::{Deadlines, PhaseTimes};
pub use error::HarnessError;
pub use interrupt::Interrupt;
pub use program::{NOT_STARTED, Program, ProgramEnd, become_kept, run_program};
pub use slot::{JobEvent, Slot, SpawnOptions, Tally};
pub use variables::{cleaned_environment, driver_from, removed_variables};
