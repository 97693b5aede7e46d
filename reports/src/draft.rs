//! Files and folders that come into being beside their place and then take it, so that nobody meets half of one. Knows
//! names and renames; whatever it did not make it neither follows nor removes.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Names a draft, between the name that it will have and two numbers.
const MARK: &str = ".draft-";

/// Names tried for a draft: leftovers of killed runs may hold some.
const NAMES_MAX: u32 = 1000;

/// A name beside a path that nothing bears. It begins with a dot, as names of findings never do.
///
/// # Errors
/// Every name is taken.
pub fn free(path: &Path) -> io::Result<PathBuf> {
    let is_free =
        |draft: &PathBuf| fs::symlink_metadata(draft).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    (0..NAMES_MAX).map(|number| named(path, number)).find(is_free).ok_or_else(all_taken)
}

fn named(path: &Path, number: u32) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}{MARK}{}-{number}", std::process::id()))
}

fn all_taken() -> io::Error {
    io::Error::new(ErrorKind::AlreadyExists, "every name for a draft beside it is taken")
}

/// True for the name of a draft that this program makes: a dot, a name, the mark, a process and a number.
#[must_use]
pub fn is_draft(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.strip_prefix('.')
        .and_then(|rest| rest.rsplit_once(MARK))
        .and_then(|(name, numbers)| Some((name, numbers.split_once('-')?)))
        .is_some_and(|(name, (process, number))| !name.is_empty() && is_number(process) && is_number(number))
}

/// Writes a file so that a reader, or a kill, never meets half of it.
///
/// # Errors
/// The system's; no draft is left then.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (draft, mut file) = beside(path, |draft| File::create_new(draft))?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // It is this call's own; an error here would hide the one that led to it.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// A new folder beside a path, under a draft's name.
///
/// # Errors
/// The system's.
pub fn folder(path: &Path) -> io::Result<PathBuf> {
    beside(path, |draft| fs::create_dir(draft)).map(|(draft, ())| draft)
}

/// Makes what did not exist before, whatever is planted in its place.
fn beside<T>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    for number in 0..NAMES_MAX {
        let draft = named(path, number);
        match make(&draft) {
            Ok(made) => return Ok((draft, made)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(all_taken())
}

/// Puts a folder in the place of another, or where there is none. What that one held and the new one lacks was put
/// there by someone else, and stays.
///
/// # Errors
/// A place that holds something else than a folder, or the system's; the old folder is where it was then, unless
/// moving what stays was what failed.
pub fn put(draft: &Path, folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => fs::rename(draft, folder),
        Err(error) => Err(error),
        Ok(found) if !found.is_dir() => Err(io::Error::new(ErrorKind::NotADirectory, "is no folder")),
        Ok(_) => {
            let old = free(folder)?;
            fs::rename(folder, &old)?;
            if let Err(error) = fs::rename(draft, folder) {
                let _ = fs::rename(&old, folder);
                return Err(error);
            }
            keep_others(&old, folder)?;
            fs::remove_dir_all(&old)
        }
    }
}

fn keep_others(old: &Path, new: &Path) -> io::Result<()> {
    for entry in fs::read_dir(old)? {
        let entry = entry?;
        let place = new.join(entry.file_name());
        match fs::symlink_metadata(&place) {
            Err(error) if error.kind() == ErrorKind::NotFound => fs::rename(entry.path(), &place)?,
            Err(error) => return Err(error),
            Ok(found) if found.is_dir() && entry.file_type()?.is_dir() => keep_others(&entry.path(), &place)?,
            Ok(_) => {}
        }
    }
    Ok(())
}

/// Removes a folder. It bears a draft's name from the first moment on, so that a kill leaves no half of it.
///
/// # Errors
/// The system's.
pub fn discard(folder: &Path) -> io::Result<()> {
    let draft = free(folder)?;
    fs::rename(folder, &draft)?;
    fs::remove_dir_all(draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &Path) -> String {
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// A folder with files, each with its own name as its text.
    fn folder(place: &Path, names: &[&str]) {
        for name in names {
            let path = place.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, format!("{name} of {}", place.display())).expect("written");
        }
    }

    #[test]
    fn only_names_that_this_program_gives_are_drafts() {
        let place = tempfile::tempdir().expect("a folder");
        let given = free(&place.path().join("fprop-e1.x")).expect("a name");
        let given = given.file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(is_draft(given), "{given}");
        let twice = free(Path::new(given)).expect("a name");
        assert!(is_draft(twice.to_str().expect("a name")), "a draft of a draft");
        for other in [
            ".hidden",
            "mine.new",
            "x.draft-1-2",
            ".draft-1-2",
            ".x.draft-1",
            ".x.draft-1-",
            ".x.draft-1-2-3",
        ] {
            assert!(!is_draft(other), "{other}");
        }
    }

    #[test]
    fn a_file_is_written_beside_what_is_planted_and_follows_no_link() {
        let place = tempfile::tempdir().expect("a folder");
        let (victim, path) = (place.path().join("victim"), place.path().join("summary.json"));
        fs::write(&victim, "precious").expect("written");
        for number in 0..3 {
            std::os::unix::fs::symlink(&victim, named(&path, number)).expect("linked");
        }
        std::os::unix::fs::symlink(&victim, &path).expect("linked");
        write_whole(&path, b"new").expect("written");
        assert_eq!(text(&path), "new");
        assert_eq!(text(&victim), "precious");
        assert!(named(&path, 2).is_symlink(), "what is not ours stays");
        assert!(!named(&path, 3).exists(), "the draft became the file");
    }

    #[test]
    fn a_file_that_cannot_take_its_place_leaves_no_draft() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("summary.json");
        fs::create_dir(&path).expect("a folder in its place");
        assert!(write_whole(&path, b"new").is_err());
        assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_folder_takes_the_place_of_another_and_keeps_what_someone_put_there() {
        let place = tempfile::tempdir().expect("a folder");
        let (draft, old) = (place.path().join("draft"), place.path().join("out"));
        folder(&draft, &["case.txt", "logs/library.log"]);
        folder(&old, &["case.txt", "notes.txt", "logs/library.log", "logs/mine.log", "more/notes.txt"]);
        let sibling = place.path().join("out.new");
        folder(&sibling, &["precious"]);
        put(&draft, &old).expect("put");
        assert!(text(&old.join("case.txt")).contains("draft"));
        assert!(text(&old.join("logs/library.log")).contains("draft"));
        for kept in ["notes.txt", "logs/mine.log", "more/notes.txt"] {
            assert!(text(&old.join(kept)).contains("out"), "{kept}");
        }
        assert!(sibling.join("precious").exists());
        assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 2, "no draft is left");
        discard(&old).expect("discarded");
        assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_link_in_the_place_of_a_folder_is_refused() {
        let place = tempfile::tempdir().expect("a folder");
        let (draft, elsewhere) = (place.path().join("draft"), place.path().join("elsewhere"));
        folder(&draft, &["case.txt"]);
        folder(&elsewhere, &["precious"]);
        std::os::unix::fs::symlink(&elsewhere, place.path().join("out")).expect("linked");
        assert!(put(&draft, &place.path().join("out")).is_err());
        assert!(elsewhere.join("precious").exists() && place.path().join("out").is_symlink());
    }
}
