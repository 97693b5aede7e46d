//! Work shared out among benches, each with a thread of its own: who takes what, and what happens to the work of a
//! bench that fails. Knows no entry.

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use exec::{HarnessError, Interrupt};

/// Troubles in a row after which a bench is given up.
const STRIKES_MAX: u32 = 3;

/// What all work is bounded by.
#[derive(Clone, Debug)]
pub struct Allowed {
    /// When everything has to be over.
    pub until: Option<Instant>,
    /// Set where somebody asks to stop.
    pub interrupt: Interrupt,
}

impl Allowed {
    /// True once nothing new may begin.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.interrupt.is_set() || self.is_late()
    }

    /// True once the time is over.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Does every piece of work on some bench. `work` gives false where its bench had trouble; a bench with too much of it
/// in a row, or that is in quarantine, takes no more. Gives back the benches that can be used further, and the pieces
/// that nobody took.
pub fn share<B: Send, T: Sync>(
    benches: Vec<B>,
    pieces: &[T],
    allowed: &Allowed,
    work: impl Fn(&mut B, &T) -> Result<(), HarnessError> + Sync,
) -> (Vec<B>, usize) {
    let next = AtomicUsize::new(0);
    let usable = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let threads: Vec<_> = benches
            .into_iter()
            .map(|mut bench| {
                let (next, usable, work) = (&next, &usable, &work);
                scope.spawn(move || {
                    let mut strikes = 0;
                    while !allowed.is_over() && strikes < STRIKES_MAX {
                        let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                        match work(&mut bench, piece) {
                            Ok(()) => strikes = 0,
                            Err(HarnessError::Unhealthy { .. }) => strikes = STRIKES_MAX,
                            Err(_) => strikes += 1,
                        }
                    }
                    if strikes < STRIKES_MAX {
                        usable.lock().unwrap_or_else(PoisonError::into_inner).push(bench);
                    }
                })
            })
            .collect();
        for thread in threads {
            if let Err(panic) = thread.join() {
                panic::resume_unwind(panic);
            }
        }
    });
    let taken = next.into_inner().min(pieces.len());
    (usable.into_inner().unwrap_or_else(PoisonError::into_inner), pieces.len() - taken)
}
