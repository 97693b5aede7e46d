//! How long problems took lately, and so when to begin no more. Knows durations only.

use std::collections::VecDeque;
use std::time::Duration;

/// Problems looked back on.
const REMEMBERED: usize = 200;

/// The last durations, oldest first.
#[derive(Debug, Default)]
pub(super) struct Pace {
    recent: VecDeque<Duration>,
}

impl Pace {
    /// Adds a problem's duration.
    pub(super) fn note(&mut self, duration: Duration) {
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(duration);
    }

    /// What 95 of 100 problems stayed within; nothing where none is known.
    pub(super) fn usual(&self) -> Duration {
        let mut sorted: Vec<Duration> = self.recent.iter().copied().collect();
        sorted.sort_unstable();
        // Rounded up: of a few it is the longest.
        let position = (sorted.len() * 95).div_ceil(100).saturating_sub(1);
        sorted.get(position).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
