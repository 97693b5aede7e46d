//! The log of a minimization in its folder: written run by run, read to go on. Knows files; what the lines mean is
//! the minimizer's matter.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use case::Case;
use hunt::HuntError;
use minimizer::Replay;

use crate::failure::Failure;

/// Name of the log, as in a bundle, which takes its place at the end.
const LOG: &str = "minimize.jsonl";

/// Largest log that is read, bytes: 400 questions take less than one million.
const BYTES_MAX: u64 = 1 << 30;

/// How long a lock that somebody holds is asked for.
const LOCK_TIME: Duration = Duration::from_millis(500);

/// A file that only a finished bundle has.
const FINISHED: &str = "case.json";

/// A log that grows.
pub(crate) struct Log {
    folder: PathBuf,
    /// Its first line.
    about: String,
    file: RefCell<Option<File>>,
}

impl Log {
    /// A log in a folder that must not exist yet; it is made with the first line, so that a case that there is
    /// nothing to do about leaves nothing behind.
    pub(crate) fn new(folder: &Path, case: &Case) -> Result<Self, Failure> {
        let refuse = |why: &str| Err(Failure::Usage(format!("--out {}: {why}", folder.display())));
        if fs::symlink_metadata(folder).is_ok() {
            return refuse("exists already; name a new folder");
        }
        // Making it is the one sure way to know that it can be made.
        match fs::create_dir(folder).and_then(|()| fs::remove_dir(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return refuse("the folder that it would be in does not exist");
            }
            Err(error) => return refuse(&error.to_string()),
            Ok(()) => {}
        }
        Ok(Self { folder: folder.to_owned(), about: Replay::began(case), file: RefCell::default() })
    }

    /// The log of an interrupted minimization of that case, and what it holds. A last line that was being written is
    /// cut off.
    pub(crate) fn reopen(folder: &Path, case: &Case) -> Result<(Self, Replay), Failure> {
        let refuse = |why: &str| Failure::Usage(format!("--resume: {}: {why}", folder.display()));
        if folder.join(FINISHED).exists() {
            return Err(refuse(
                "holds a finished bundle, and a finished minimization can't be continued; minimize its case anew \
                 with --out naming another folder",
            ));
        }
        let path = folder.join(LOG);
        match fs::symlink_metadata(&path) {
            Err(error) => return Err(refuse(&format!("{LOG}: {error}"))),
            // A link leads elsewhere, and a pipe or a device never ends.
            Ok(found) if !found.is_file() => return Err(refuse(&format!("{LOG}: is no plain file"))),
            Ok(found) if found.len() > BYTES_MAX => {
                return Err(refuse(&format!("{LOG}: is larger than {BYTES_MAX} bytes")));
            }
            Ok(_) => {}
        }
        // The bundle takes the folder's place, so nothing else may be in it.
        if let Some(other) = stranger(folder).map_err(|error| refuse(&error.to_string()))? {
            return Err(refuse(&format!("holds '{}' beside the log; move it away", other.escape_debug())));
        }
        let open = || -> io::Result<(File, String)> {
            let mut file = OpenOptions::new().read(true).append(true).open(&path)?;
            // Whoever holds the lock writes on, so that nothing is read before it is free.
            lock(&file)?;
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            Ok((file, text))
        };
        let (file, text) = open().map_err(|error| {
            if error.kind() == io::ErrorKind::WouldBlock {
                refuse("another minimization is at work in this folder")
            } else {
                refuse(&format!("{LOG}: {error}"))
            }
        })?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let earlier = Replay::read(&text[..whole]).map_err(|error| refuse(&error.to_string()))?;
        if !earlier.is_about(case) {
            return Err(refuse("its log is about another case, or by a search that asks other questions"));
        }
        file.set_len(whole as u64).map_err(|error| Failure::file("log", &path, &error))?;
        let log =
            Self { folder: folder.to_owned(), about: Replay::began(case), file: RefCell::new(Some(file)) };
        Ok((log, earlier))
    }

    /// Adds a line, and sees to it that it outlives the machine's next moment.
    pub(crate) fn write(&self, line: &str) -> Result<(), HuntError> {
        self.append(line).map_err(HuntError::Record)
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let mut open = self.file.borrow_mut();
        let file = match &mut *open {
            Some(file) => file,
            closed @ None => {
                fs::create_dir(&self.folder)?;
                let mut file =
                    OpenOptions::new().append(true).create_new(true).open(self.folder.join(LOG))?;
                lock(&file)?;
                file.write_all(format!("{}\n", self.about).as_bytes())?;
                closed.insert(file)
            }
        };
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()
    }
}

/// Locks a file. A process that is just being started holds whatever its parent had open until it becomes another
/// program, so that a lock which was let go may be met for some moments more.
pub(crate) fn lock(file: &File) -> Result<(), TryLockError> {
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if start.elapsed() < LOCK_TIME => thread::sleep(LOCK_TIME / 50),
            ended => return ended,
        }
    }
}

/// The first name in a folder that is not the log's.
fn stranger(folder: &Path) -> io::Result<Option<String>> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        if name != LOG {
            return Ok(Some(name.to_string_lossy().into_owned()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(line: &str) -> Case {
        line.parse().expect("an example is a case")
    }

    #[test]
    fn a_log_is_gone_on_with_after_its_last_whole_line() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("out");
        let of = case("fprop f32 nchw n2 c1 k1 i1 f1");
        let log = Log::new(&folder, &of).expect("a new folder");
        assert!(!folder.exists(), "nothing is made before there is something to keep");
        log.write(&Replay::running(&of)).expect("written");
        assert!(Log::new(&folder, &of).is_err(), "it exists now");
        drop(log);

        let mut file = OpenOptions::new().append(true).open(folder.join(LOG)).expect("the log");
        file.write_all(b"{\"torn").expect("written");
        let (log, earlier) = Log::reopen(&folder, &of).expect("the same case");
        assert!(!earlier.is_empty());
        log.write(&Replay::answered(&of, &minimizer::Answer::Same)).expect("written");
        let text = fs::read_to_string(folder.join(LOG)).expect("the log");
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(Replay::read(&text).is_ok(), "{text}");
    }

    #[test]
    fn two_at_once_strangers_and_links_are_refused() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("out");
        let of = case("fprop f32 nchw n2 c1 k1 i1 f1");
        let refused = || Log::reopen(&folder, &of).err().map(|error| error.to_string()).expect("refused");
        let log = Log::new(&folder, &of).expect("a new folder");
        log.write(&Replay::running(&of)).expect("written");
        assert!(refused().contains("another minimization is at work"), "{}", refused());
        drop(log);
        fs::write(folder.join("notes.txt"), "precious").expect("written");
        assert!(refused().contains("holds 'notes.txt'"), "{}", refused());
        fs::remove_file(folder.join("notes.txt")).expect("removed");
        assert!(Log::reopen(&folder, &of).is_ok());
        fs::rename(folder.join(LOG), place.path().join("log")).expect("moved");
        std::os::unix::fs::symlink(place.path().join("log"), folder.join(LOG)).expect("linked");
        assert!(refused().contains("no plain file"), "{}", refused());
        fs::remove_file(folder.join(LOG)).expect("removed");
        let pipe = std::process::Command::new("mkfifo").arg(folder.join(LOG)).status().expect("mkfifo");
        assert!(pipe.success() && refused().contains("no plain file"), "{}", refused());
        fs::remove_file(folder.join(LOG)).expect("removed");
        let huge = File::create(folder.join(LOG)).expect("made");
        huge.set_len(BYTES_MAX + 1).expect("a file of holes");
        assert!(refused().contains("is larger than"), "{}", refused());
    }

    #[test]
    fn a_place_that_cannot_hold_the_folder_is_refused_before_anything_runs() {
        let place = tempfile::tempdir().expect("a folder");
        let of = case("fprop f32 nchw n2 c1 k1 i1 f1");
        let refused = |folder: &Path| Log::new(folder, &of).err().map(|error| error.to_string());
        assert!(refused(&place.path().join("no/such")).is_some_and(|line| line.contains("does not exist")));
        let dangling = place.path().join("dangling");
        std::os::unix::fs::symlink("nowhere", &dangling).expect("linked");
        assert!(refused(&dangling).is_some_and(|line| line.contains("exists already")));
        assert!(
            refused(Path::new("/proc/convict")).is_some_and(|line| line.starts_with("--out /proc/convict: "))
        );
        assert!(refused(&place.path().join("out")).is_none());
        assert!(!place.path().join("out").exists(), "nothing is left of the look");
    }

    #[test]
    fn another_case_a_finished_bundle_and_no_log_at_all_are_refused() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("out");
        let of = case("fprop f32 nchw n2 c1 k1 i1 f1");
        let refused = |case: &Case| {
            Log::reopen(&folder, case).err().map(|error| (error.code(), error.to_string())).expect("refused")
        };
        let (code, message) = refused(&of);
        assert!(code == 2 && message.contains("minimize.jsonl"), "{message}");
        let log = Log::new(&folder, &of).expect("a new folder");
        log.write(&Replay::running(&of)).expect("written");
        drop(log);
        assert!(refused(&case("fprop f32 nchw n3 c1 k1 i1 f1")).1.contains("another case"));
        fs::write(folder.join(FINISHED), "{}").expect("written");
        assert!(refused(&of).1.contains("another folder"));
    }
}
