//! Keeps a hunt's events in `events.jsonl`, one JSON line each, and rebuilds the ledger from them. Knows that
//! one file and its lock; knows nothing of summaries, bundles or what events mean.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::event::{Entry, Terms};
use crate::ledger::Ledger;

/// Name of the file within the hunt's folder.
pub const EVENTS_FILE: &str = "events.jsonl";

/// Name of the lock file within the hunt's folder.
const LOCK_FILE: &str = "lock";

/// Name of the folder of the findings within the hunt's folder.
pub const FINDINGS_FOLDER: &str = "findings";

/// Longest line that is read, bytes: a finding with its whole minimization takes some hundred thousand.
const LINE_MAX: u64 = 64 << 20;

/// Why a folder cannot take a hunt.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another process hunts there now.
    #[error("{}: another hunt is at work in this folder", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// It holds a hunt, and no resume was asked for.
    #[error("{}: already holds a hunt ({terms})", folder.display())]
    Occupied {
        /// The folder.
        folder: PathBuf,
        /// What that hunt tries.
        terms: Terms,
    },
    /// It holds something, but no hunt.
    #[error("{}: is not empty and holds no hunt; name another folder", folder.display())]
    Strangers {
        /// The folder.
        folder: PathBuf,
    },
    /// Something in it is of another sort than a hunt leaves.
    #[error("{}: is no plain file", path.display())]
    Strange {
        /// What it is.
        path: PathBuf,
    },
    /// A hunt was to be resumed, and there is none.
    #[error("nothing to resume in {}", folder.display())]
    Missing {
        /// The folder.
        folder: PathBuf,
    },
    /// It holds another hunt than the one to resume.
    #[error("{}: holds a hunt with {held}, not with {asked}", folder.display())]
    Differs {
        /// The folder.
        folder: PathBuf,
        /// What the hunt there tries.
        held: Terms,
        /// What was asked for.
        asked: Terms,
    },
    /// A line that is not the last one cannot be read.
    #[error("{}: line {line} is no event of this version: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// File or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl JournalError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

/// An open journal. No other process can open the same folder while it lives.
#[derive(Debug)]
pub struct Journal {
    events: Mutex<File>,
    /// Held, never read: the lock ends with the file handle.
    _lock: File,
}

impl Journal {
    /// Opens a folder for a hunt, making it where it is missing. With `resume` the ledger is what an earlier
    /// run left there; one that was killed at its very start left an empty one.
    ///
    /// # Errors
    /// A folder that is in use, holds a hunt that must not be touched or none to resume, or cannot be written.
    pub fn open(folder: &Path, terms: &Terms, resume: bool) -> Result<(Self, Ledger), JournalError> {
        if resume && std::fs::symlink_metadata(folder.join(EVENTS_FILE)).is_err() {
            return Err(JournalError::Missing { folder: folder.to_owned() });
        }
        std::fs::create_dir_all(folder).map_err(JournalError::io(folder))?;
        let path = folder.join(EVENTS_FILE);
        for file in [&path, &folder.join(LOCK_FILE)] {
            refuse_strange(file)?;
        }
        if !resume && holds_strangers(folder).map_err(JournalError::io(folder))? {
            return Err(taken(folder));
        }
        let lock = lock(folder)?;
        let mut options = OpenOptions::new();
        let mut events = options
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(JournalError::io(&path))?;
        let (ledger, end) = replay(&mut events, &path)?;
        let length = events.metadata().map_err(JournalError::io(&path))?.len();
        match ledger.terms() {
            // It began between the look at the folder and the lock.
            Some(held) if !resume => {
                return Err(JournalError::Occupied { folder: folder.to_owned(), terms: held.clone() });
            }
            Some(held) if held != terms => {
                let (folder, held) = (folder.to_owned(), held.clone());
                return Err(JournalError::Differs { folder, held, asked: terms.clone() });
            }
            // A hunt that was killed within its first event leaves the beginning of one.
            None if length > 0 && !(resume && begins_like_ours(&mut events, &path)?) => {
                return Err(JournalError::Strangers { folder: folder.to_owned() });
            }
            Some(_) | None => {}
        }
        // A process that was killed while writing leaves half a line: the next one must not continue it.
        events.set_len(end).map_err(JournalError::io(&path))?;
        events.seek(SeekFrom::Start(end)).map_err(JournalError::io(&path))?;
        Ok((Self { events: Mutex::new(events), _lock: lock }, ledger))
    }

    /// Appends an event in a single write, so that a kill loses at most that line.
    ///
    /// # Errors
    /// The system's, a full disk among them.
    pub fn record(&self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.events.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line)
    }

    /// The ledger of a hunt that may still be at work: reads and changes nothing.
    ///
    /// # Errors
    /// A file that is missing or no journal.
    pub fn read(folder: &Path) -> Result<Ledger, JournalError> {
        let path = folder.join(EVENTS_FILE);
        refuse_strange(&path)?;
        let mut file = File::open(&path).map_err(JournalError::io(&path))?;
        Ok(replay(&mut file, &path)?.0)
    }
}

/// True for a file that begins as an event does.
fn begins_like_ours(events: &mut File, path: &Path) -> Result<bool, JournalError> {
    let mut first = Vec::new();
    events.seek(SeekFrom::Start(0)).map_err(JournalError::io(path))?;
    events.take(1).read_to_end(&mut first).map_err(JournalError::io(path))?;
    Ok(first == b"{")
}

/// A link, a pipe or a device in place of a file would lead out of the folder, or never end.
fn refuse_strange(path: &Path) -> Result<(), JournalError> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(JournalError::Strange { path: path.to_owned() }),
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(JournalError::Io { path: path.to_owned(), source })
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// True where a folder holds more than a hunt leaves that was killed before its first event.
fn holds_strangers(folder: &Path) -> io::Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let own = match entry.file_name().to_str() {
            Some(LOCK_FILE) => true,
            Some(EVENTS_FILE) => entry.metadata()?.len() == 0,
            Some(FINDINGS_FOLDER) => {
                entry.file_type()?.is_dir() && std::fs::read_dir(entry.path())?.next().is_none()
            }
            Some(_) | None => false,
        };
        if !own {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Why a folder that holds something takes no new hunt. It may be anyone's, so nothing in it is touched or made.
fn taken(folder: &Path) -> JournalError {
    let at_work = File::open(folder.join(LOCK_FILE))
        .is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
    let folder = folder.to_owned();
    if at_work {
        return JournalError::Busy { folder };
    }
    match Journal::read(&folder).map(|ledger| ledger.terms().cloned()) {
        Ok(Some(terms)) => JournalError::Occupied { folder, terms },
        Err(error @ JournalError::Unreadable { .. }) => error,
        Ok(None) | Err(_) => JournalError::Strangers { folder },
    }
}

fn lock(folder: &Path) -> Result<File, JournalError> {
    let path = folder.join(LOCK_FILE);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(JournalError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::Busy { folder: folder.to_owned() }),
        Err(TryLockError::Error(source)) => Err(JournalError::Io { path, source }),
    }
}

/// Folds the whole lines of a journal; the second value is the length of what they take, bytes.
fn replay(file: &mut File, path: &Path) -> Result<(Ledger, u64), JournalError> {
    let mut reader = BufReader::new(file);
    let mut ledger = Ledger::default();
    let (mut end, mut number) = (0_u64, 0_u64);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length =
            reader.by_ref().take(LINE_MAX).read_until(b'\n', &mut line).map_err(JournalError::io(path))?;
        if line.last() != Some(&b'\n') {
            if length as u64 == LINE_MAX {
                let reason = format!("it is longer than {LINE_MAX} bytes");
                return Err(JournalError::Unreadable { file: path.to_owned(), line: number + 1, reason });
            }
            return Ok((ledger, end));
        }
        number += 1;
        let unreadable =
            |reason: String| JournalError::Unreadable { file: path.to_owned(), line: number, reason };
        let entry: Entry = serde_json::from_slice(&line).map_err(|error| unreadable(error.to_string()))?;
        if let Some(name) = entry.event.strange_name() {
            return Err(unreadable(format!("{name:?} is no name of a finding")));
        }
        ledger.apply(&entry);
        end += length as u64;
    }
}

#[cfg(test)]
mod tests;
