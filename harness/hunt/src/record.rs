//! Tells the world what happens: stamps events, keeps the ledger, hands each entry to the consumer. Knows
//! time and sums; knows nothing of files.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::error::HuntError;
use crate::event::{Entry, HuntEvent};
use crate::ledger::Ledger;

/// Where entries go. An error ends the hunt, because going on would lose what comes next.
pub type Sink<'a> = dyn Fn(&Entry) -> io::Result<()> + Sync + 'a;

/// The one place that events pass through.
pub(crate) struct Record<'a> {
    started: Instant,
    before_seconds: f64,
    ledger: Mutex<Ledger>,
    sink: &'a Sink<'a>,
}

impl<'a> Record<'a> {
    /// Goes on from where a ledger stands.
    pub(crate) fn new(ledger: Ledger, sink: &'a Sink<'a>) -> Self {
        let before_seconds = ledger.seconds();
        Self { started: Instant::now(), before_seconds, ledger: Mutex::new(ledger), sink }
    }

    /// When this run began.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Takes an event down and passes it on. The consumer runs outside the lock: writing a bundle takes
    /// seconds.
    ///
    /// # Errors
    /// The consumer's.
    pub(crate) fn tell(&self, event: HuntEvent) -> Result<(), HuntError> {
        let seconds = self.before_seconds + self.started.elapsed().as_secs_f64();
        let entry = Entry { seconds, event };
        self.ledger().apply(&entry);
        (self.sink)(&entry).map_err(HuntError::Record)
    }

    /// The state so far.
    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // A thread that panicked while holding it left whole events behind: they are applied one at a time.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
