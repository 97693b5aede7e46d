//! How long foreign calls took. Knows durations only.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Sums the time spent inside CUDA and cuDNN on this thread.
#[derive(Debug, Default)]
pub struct Meter {
    foreign: Cell<Duration>,
}

impl Meter {
    /// Runs a foreign call and adds its duration.
    pub fn time<T>(&self, call: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let value = call();
        self.foreign.set(self.foreign.get() + start.elapsed());
        value
    }

    /// Time since the last reading, and starts anew.
    pub fn take(&self) -> Duration {
        self.foreign.replace(Duration::ZERO)
    }
}
