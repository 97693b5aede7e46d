//! The folder that holds one folder for each unpacked wheel. Knows where they lie and that a folder with its final name
//! is whole; fetches nothing.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::WheelError;
use crate::table::Wheel;

/// Digits of the hash in a folder's name.
const HASH_DIGITS: usize = 16;

/// Unpacked wheels.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache that the environment names: `CONVICT_CACHE`, else a folder in the user's cache.
    ///
    /// # Errors
    /// `NoPlace`.
    pub fn usual(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, WheelError> {
        let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // The rule of XDG: a relative path there means nothing.
        let xdg = folder("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
        let users = xdg.or_else(|| folder("HOME").map(|home| home.join(".cache")));
        let root = folder("CONVICT_CACHE").or_else(|| users.map(|users| users.join("convict")));
        Ok(Self { root: root.ok_or(WheelError::NoPlace)? })
    }

    /// A cache in that folder, which is made when a wheel is fetched.
    #[must_use]
    pub fn within(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Where it is.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of a wheel, there or not: named by file and hash, so that another file is never taken for it.
    #[must_use]
    pub fn folder(&self, wheel: &Wheel) -> PathBuf {
        let hash: String = wheel.sha256.chars().take(HASH_DIGITS).collect();
        self.root.join(format!("{}-{hash}", wheel.file.trim_end_matches(".whl")))
    }

    /// True where the wheel is there, whole: every file that its list names, by size. A folder gets its name when it is
    /// whole, and a user or a full disk can still do things to it.
    #[must_use]
    pub fn holds(&self, wheel: &Wheel) -> bool {
        is_whole(&self.folder(wheel))
    }

    /// The folder of a wheel's libraries within the cache.
    #[must_use]
    pub fn libraries(&self, wheel: &Wheel) -> PathBuf {
        self.folder(wheel).join(wheel.libraries())
    }
}

/// True for a folder in which a wheel was unpacked and that still holds all of it.
pub(crate) fn is_whole(folder: &Path) -> bool {
    let Some(record) = record(folder).and_then(|file| fs::read_to_string(file).ok()) else { return false };
    let mut listed = record.lines().filter_map(listed).peekable();
    let is_there =
        |(name, bytes): (&str, u64)| fs::metadata(folder.join(name)).is_ok_and(|found| found.len() == bytes);
    listed.peek().is_some() && listed.all(is_there)
}

/// The list of a wheel's files, by the rules of the binary distribution format: `NAME-VERSION.dist-info/RECORD`.
fn record(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let lists = entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".dist-info"));
    lists.map(|entry| entry.path().join("RECORD")).find(|file| file.is_file())
}

/// Name and bytes in a line of the list: `NAME,HASH,BYTES`. The list itself has neither hash nor bytes.
pub(crate) fn listed(line: &str) -> Option<(&str, u64)> {
    let (rest, bytes) = line.rsplit_once(',')?;
    let (name, _) = rest.rsplit_once(',')?;
    Some((name.trim_matches('"'), bytes.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_whole_while_each_listed_file_has_its_size() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(!is_whole(folder.path()), "empty");
        let list = folder.path().join("x-1.dist-info");
        fs::create_dir(&list).expect("made");
        fs::write(list.join("RECORD"), "lib/a.so,sha256=x,3\n\"b,c\",sha256=y,1\nx-1.dist-info/RECORD,,\n")
            .expect("written");
        assert!(!is_whole(folder.path()), "nothing of what is listed");
        fs::create_dir(folder.path().join("lib")).expect("made");
        fs::write(folder.path().join("lib/a.so"), "elf").expect("written");
        fs::write(folder.path().join("b,c"), "x").expect("written");
        assert!(is_whole(folder.path()));
        fs::write(folder.path().join("lib/a.so"), "el").expect("cut");
        assert!(!is_whole(folder.path()), "one is cut");
    }

    #[test]
    fn the_cache_is_where_the_environment_says() {
        let place = |set: &[(&str, &str)]| {
            let variable =
                |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
            Cache::usual(variable).map(|cache| cache.root).ok()
        };
        let (own, xdg, home) = (("CONVICT_CACHE", "/c"), ("XDG_CACHE_HOME", "/x"), ("HOME", "/h"));
        assert_eq!(place(&[own, xdg, home]), Some("/c".into()));
        assert_eq!(place(&[("CONVICT_CACHE", ""), xdg, home]), Some("/x/convict".into()));
        assert_eq!(place(&[("XDG_CACHE_HOME", "x"), home]), Some("/h/.cache/convict".into()));
        assert_eq!(place(&[]), None);
    }
}
