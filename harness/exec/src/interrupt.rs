//! The wish to stop, shared between threads. Knows nothing of signals; whoever handles them sets it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that a signal handler sets and every wait looks at.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks every holder of a clone to stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Takes the wish back, once everyone has stopped who was to.
    pub fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// True once someone asked.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
