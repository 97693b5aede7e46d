//! Files that a command writes beside what it prints, such as `--junit FILE`: their places are looked at before the
//! work begins, and they are written whole when it is done. Knows places; knows no form.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use reports::draft;

use crate::failure::Failure;

/// A file to be written.
#[derive(Debug)]
pub(crate) struct Side {
    /// The option or variable that names it.
    name: &'static str,
    path: PathBuf,
}

impl Side {
    /// Looks whether something can be written there that is none of the files that are read.
    pub(crate) fn claim<'a>(
        name: &'static str,
        path: &Path,
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> Result<Self, Failure> {
        let refuse = |why: &str| Err(Failure::Usage(format!("{name} {}: {why}", path.display())));
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if path.file_name().is_none() || path.is_dir() {
            return refuse("is a folder; name a file");
        }
        if !parent.unwrap_or(Path::new(".")).is_dir() {
            return refuse("its folder is not there; make it first");
        }
        if inputs.into_iter().any(|input| are_one(input, path)) {
            return refuse("is one of the files to read; name another one");
        }
        // What is there and can't be written will not be writable later either.
        match fs::metadata(path).map(|found| found.is_file()) {
            Ok(true) => match OpenOptions::new().append(true).open(path) {
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    return refuse("may not be written");
                }
                Ok(_) | Err(_) => {}
            },
            Ok(false) => {}
            Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => {}
            Err(error) => return refuse(&error.to_string()),
        }
        Ok(Self { name, path: path.to_owned() })
    }

    /// Writes it. A plain file is never met half written; a pipe or a device is written as it is.
    pub(crate) fn put(&self, text: &str) -> Result<(), Failure> {
        let failed = |error| Failure::file(self.name, &self.path, &error);
        let there = fs::metadata(&self.path);
        if there.as_ref().is_ok_and(|found| !found.is_file()) {
            return fs::write(&self.path, text).map_err(failed);
        }
        // A link stays one.
        let place = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        draft::write_whole(&place, text.as_bytes()).map_err(failed)
    }

    /// Adds to it.
    pub(crate) fn append(&self, text: &str) -> Result<(), Failure> {
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| Failure::file(self.name, &self.path, &error))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// True for two names of one file.
fn are_one(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_read_is_not_written_by_any_of_its_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let (log, link, hard) =
            (folder.path().join("log"), folder.path().join("link"), folder.path().join("hard"));
        fs::write(&log, "words").expect("written");
        std::os::unix::fs::symlink(&log, &link).expect("a link");
        fs::hard_link(&log, &hard).expect("a link");
        for name in [&log, &link, &hard, &folder.path().join("./log")] {
            let refused = Side::claim("--out", name, [log.as_path()]).expect_err("refused");
            assert_eq!(refused.code(), 2);
            assert!(
                refused.to_string().ends_with("is one of the files to read; name another one"),
                "{refused}"
            );
        }
        assert_eq!(fs::read(&log).expect("still there"), b"words");
    }

    #[test]
    fn a_link_is_written_through_and_a_place_without_a_folder_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        Side::claim("--junit", &link, []).and_then(|side| side.put("new")).expect("written");
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).expect("there"), b"new");
        for (path, why) in
            [("none/x", "its folder is not there; make it first"), (".", "is a folder; name a file")]
        {
            let refused = Side::claim("--junit", &folder.path().join(path), []).expect_err("refused");
            assert!(refused.to_string().ends_with(why), "{refused}");
        }
    }
}
