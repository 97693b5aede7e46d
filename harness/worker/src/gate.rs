//! Having the device alone: two lock files that all workers of a device share. Knows locks; the kernel releases
//! them when a worker dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often a worker that waits for the device looks again.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Longest time for which one that wants the device alone keeps others from entering while it waits.
const HOLD_TURNSTILE_MAX: Duration = Duration::from_millis(100);

/// Two files: whoever wants the device passes the turnstile and stands on the floor. One that wants it alone holds
/// the turnstile while it waits for the floor to empty, so that it can't be starved.
pub(crate) struct Gate {
    turnstile: File,
    floor: File,
}

/// The device, for as long as this lives.
pub(crate) struct Turn<'gate>(&'gate Gate);

impl Gate {
    /// Opens the two files in the campaign's folder, making them where they are missing.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let open =
            |name: &str| OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(name));
        Ok(Self { turnstile: open("turnstile")?, floor: open("floor")? })
    }

    /// Waits for the device: beside others, or alone. `waiting` is called at each look, so that whoever watches this
    /// worker does not take a turn of somebody else for a stall of its own.
    pub(crate) fn enter(&self, alone: bool, waiting: &dyn Fn()) -> io::Result<Turn<'_>> {
        loop {
            while !try_take(&self.turnstile, alone)? {
                waiting();
                std::thread::sleep(LOOK_EVERY);
            }
            let patience = Instant::now() + HOLD_TURNSTILE_MAX;
            let mut taken = try_take(&self.floor, alone)?;
            while !taken && Instant::now() < patience {
                waiting();
                std::thread::sleep(LOOK_EVERY);
                taken = try_take(&self.floor, alone)?;
            }
            self.turnstile.unlock()?;
            if taken {
                return Ok(Turn(self));
            }
            // Somebody's execution is long: the others may go on meanwhile.
            std::thread::sleep(HOLD_TURNSTILE_MAX);
        }
    }
}

/// Takes a lock, shared or for one alone, where it is free.
fn try_take(file: &File, alone: bool) -> io::Result<bool> {
    match if alone { file.try_lock() } else { file.try_lock_shared() } {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // The kernel releases the lock at the latest when the process ends.
        let _ = self.0.floor.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_is_alone_keeps_others_out_until_it_leaves() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (first, second) = (Gate::open(folder.path()), Gate::open(folder.path()));
        let (first, second) = (first.expect("opens"), second.expect("opens"));
        let alone = first.enter(true, &|| ()).expect("locks");
        assert!(second.floor.try_lock_shared().is_err());
        drop(alone);
        let beside = first.enter(false, &|| ()).expect("locks");
        assert!(second.floor.try_lock_shared().is_ok());
        drop(beside);
    }
}
