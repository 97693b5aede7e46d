//! The folder for files that live as long as a command, and what commands that were killed left of theirs. Knows names
//! and locks; knows nothing of what the files are for.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tempfile::TempDir;

/// Begin of a folder's name; as many letters and digits follow as `tempfile` gives by default.
const PREFIX: &str = "convict-";
const RANDOM: usize = 6;

/// The file that a living command holds a lock on. No other folder of convict's has one of that name.
const LOCK: &str = "scratch.lock";

/// The folder that this process uses at present.
static PRESENT: Mutex<Weak<Scratch>> = Mutex::new(Weak::new());

/// A folder that vanishes with the last who uses it.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    /// Held, never read: the lock ends with the file handle.
    _lock: File,
}

impl Scratch {
    /// The folder of this process among the system's temporary files; those of dead commands are removed there.
    pub(crate) fn shared() -> io::Result<Arc<Self>> {
        let mut present = PRESENT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scratch) = present.upgrade() {
            return Ok(scratch);
        }
        let scratch = Arc::new(Self::within(&std::env::temp_dir())?);
        *present = Arc::downgrade(&scratch);
        Ok(scratch)
    }

    fn within(place: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).rand_bytes(RANDOM).tempdir_in(place)?;
        // It gets its name when the lock is held, so that nobody takes this folder for a dead command's.
        let early = folder.path().join("early.lock");
        let lock = File::create_new(&early)?;
        lock.try_lock()?;
        fs::rename(early, folder.path().join(LOCK))?;
        let user = fs::symlink_metadata(folder.path())?.uid();
        // What cannot be removed is left: it hinders nobody.
        if let Ok(entries) = fs::read_dir(place) {
            for entry in entries.filter_map(Result::ok).filter(|entry| is_named(&entry.file_name())) {
                let _ = remove_dead(&entry.path(), user);
            }
        }
        Ok(Self { folder, _lock: lock })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn is_named(name: &std::ffi::OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    random.is_some_and(|random| {
        random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Removes a real folder of the same user whose lock nobody holds.
fn remove_dead(folder: &Path, user: u32) -> io::Result<()> {
    let found = fs::symlink_metadata(folder)?;
    let lock = folder.join(LOCK);
    if !found.is_dir() || found.uid() != user || !fs::symlink_metadata(&lock)?.is_file() {
        return Ok(());
    }
    let lock = File::open(lock)?;
    // Held until the folder is gone, so that no other command removes it as well.
    lock.try_lock()?;
    fs::remove_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_command_left_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().expect("a folder");
        let make = |name: &str, file: &str| {
            let folder = place.path().join(name);
            fs::create_dir(&folder).expect("a folder");
            fs::write(folder.join(file), "").expect("written");
            folder
        };
        let alive = Scratch::within(place.path()).expect("a folder");
        let dead = make("convict-Dead01", LOCK);
        fs::create_dir(dead.join("device-0")).expect("a folder");
        let hunt = make("convict-hunt01", "lock");
        let named = make("convict-my-own-hunt", LOCK);
        let target = make("elsewhere", LOCK);
        std::os::unix::fs::symlink(&target, place.path().join("convict-link01")).expect("linked");
        let other = Scratch::within(place.path()).expect("a folder");
        assert!(!dead.exists());
        for kept in [alive.path(), other.path(), &hunt, &named, &target.join(LOCK)] {
            assert!(kept.exists(), "{}", kept.display());
        }
        let path = other.path().to_owned();
        drop(other);
        assert!(!path.exists());
    }
}
