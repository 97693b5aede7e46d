//! The file in which a worker announces its phases. Knows its place and its bytes; draws no conclusions.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use case::Announcement;
use tempfile::TempPath;

/// Memory-backed folder that is preferred: an announcement is written several times a millisecond.
const MEMORY_FOLDER: &str = "/dev/shm";

/// A small file that outlives the worker's process because the supervisor holds it open.
#[derive(Debug)]
pub(crate) struct Board {
    file: File,
    /// Removed once the worker has opened it, or when the board goes.
    path: Option<TempPath>,
}

impl Board {
    /// An empty board under a name of its own.
    pub(crate) fn create() -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("convict-board-");
        let named = builder.tempfile_in(MEMORY_FOLDER).or_else(|_| builder.tempfile())?;
        let (file, path) = named.into_parts();
        Ok(Self { file, path: Some(path) })
    }

    /// Where the worker finds it; empty once it is hidden.
    pub(crate) fn path(&self) -> PathBuf {
        self.path.as_deref().map_or_else(PathBuf::new, Path::to_path_buf)
    }

    /// Removes the name, so that no file is left behind however the supervisor ends.
    pub(crate) fn hide(&mut self) {
        self.path = None;
    }

    /// The last announcement; `None` before the first and in the middle of one.
    pub(crate) fn read(&self) -> Option<Announcement> {
        let mut bytes = [0_u8; Announcement::BYTES];
        self.file.read_exact_at(&mut bytes, 0).ok()?;
        Announcement::decode(&bytes)
    }
}
