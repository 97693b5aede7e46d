//! The shared file in which a worker writes what it is about to do. Knows bytes and a path.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use case::{Announcement, Phase};

/// The worker's side of the board.
pub(crate) struct Board {
    file: File,
    job: Cell<u64>,
    ordinal: Cell<u32>,
    sequence: Cell<u32>,
}

impl Board {
    /// Opens the file that the supervisor made.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).open(path)?;
        Ok(Self { file, job: Cell::new(0), ordinal: Cell::new(u32::MAX), sequence: Cell::new(0) })
    }

    /// Says which job and which position in its list comes next.
    pub(crate) fn turn_to(&self, job: u64, ordinal: u32) {
        self.job.set(job);
        self.ordinal.set(ordinal);
    }

    /// Announces the phase about to be entered.
    pub(crate) fn announce(&self, phase: Phase) {
        self.sequence.set(self.sequence.get().wrapping_add(1));
        let announcement = Announcement {
            job: self.job.get(),
            ordinal: self.ordinal.get(),
            phase,
            sequence: self.sequence.get(),
        };
        // A board that can't be written only costs attribution; the run itself is unharmed.
        let _ = self.file.write_all_at(&announcement.encode(), 0);
    }
}
