//! The file system as the doctor reads it: below a root, with links followed inside it, every read bounded, and what
//! could not be read counted. Knows paths and bytes; writes nothing and starts nothing.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

/// Links that one path may lead through: Linux's own limit.
const LINKS_MAX: usize = 40;

/// Most entries of one folder that are looked at.
const ENTRIES_MAX: usize = 50_000;

/// What is told of each kind of trouble, at most.
const TOLD_MAX: usize = 5;

/// Things that could not be read, by kind: how many, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// How often.
    pub count: usize,
    /// The first ones, in words.
    pub told: Vec<String>,
}

/// Files below a root folder.
#[derive(Debug)]
pub struct Source {
    root: PathBuf,
    trouble: RefCell<BTreeMap<&'static str, Trouble>>,
    complaints: RefCell<BTreeSet<(&'static str, String)>>,
    known: RefCell<BTreeMap<PathBuf, Option<PathBuf>>>,
    loops: RefCell<BTreeSet<PathBuf>>,
}

impl Source {
    /// Everything below that folder; paths that are asked for are paths within it.
    #[must_use]
    pub fn below(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            trouble: RefCell::default(),
            complaints: RefCell::default(),
            known: RefCell::default(),
            loops: RefCell::default(),
        }
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Remembers that something could not be read; the same thing counts once.
    pub(crate) fn complain(&self, kind: &'static str, words: String) {
        if !self.complaints.borrow_mut().insert((kind, words.clone())) {
            return;
        }
        let mut all = self.trouble.borrow_mut();
        let trouble = all.entry(kind).or_default();
        trouble.count += 1;
        if trouble.told.len() < TOLD_MAX {
            trouble.told.push(words);
        }
    }

    /// What could not be read so far.
    #[must_use]
    pub fn trouble(&self) -> BTreeMap<&'static str, Trouble> {
        self.trouble.borrow().clone()
    }

    /// Where a path of the inside lies outside, without following it.
    fn outside(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The path without links, as the inside sees it: absolute targets start at the root, and `..` never leaves it.
    /// Nothing where it leads nowhere; a loop is counted.
    #[must_use]
    pub fn real(&self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.known.borrow().get(path) {
            return known.clone();
        }
        let real = self.follow(path);
        self.known.borrow_mut().insert(path.to_owned(), real.clone());
        real
    }

    fn follow(&self, path: &Path) -> Option<PathBuf> {
        let mut left: Vec<PathBuf> = parts(path);
        left.reverse();
        let (mut real, mut links) = (PathBuf::from("/"), 0);
        while let Some(part) = left.pop() {
            if part.as_os_str() == ".." {
                real.pop();
                continue;
            }
            let next = real.join(&part);
            let data = fs::symlink_metadata(self.outside(&next)).ok()?;
            if !data.file_type().is_symlink() {
                real = next;
                continue;
            }
            links += 1;
            if links > LINKS_MAX {
                self.complain("links that lead in circles", next.display().to_string());
                self.loops.borrow_mut().insert(path.to_owned());
                return None;
            }
            let target = fs::read_link(self.outside(&next)).ok()?;
            if target.is_absolute() {
                real = PathBuf::from("/");
            }
            left.extend(parts(&target).into_iter().rev());
        }
        if real.to_str().is_none() {
            self.complain("names that are no UTF-8", real.display().to_string());
            return None;
        }
        Some(real)
    }

    /// True where there is a file or folder.
    #[must_use]
    pub fn exists(&self, path: &Path) -> bool {
        self.real(path).is_some()
    }

    /// True where there is a folder.
    #[must_use]
    pub fn is_folder(&self, path: &Path) -> bool {
        self.real(path).is_some_and(|real| self.outside(&real).is_dir())
    }

    /// The target of a link itself, of `/proc` for instance.
    #[must_use]
    pub fn link(&self, path: &Path) -> Option<PathBuf> {
        fs::read_link(self.outside(path)).ok()
    }

    /// Size and inode (with its device) of what the path leads to, where that is a plain file.
    #[must_use]
    pub fn file(&self, path: &Path) -> Option<(u64, (u64, u64))> {
        let data = fs::metadata(self.outside(&self.real(path)?)).ok()?;
        data.is_file().then(|| (data.len(), (data.dev(), data.ino())))
    }

    /// What keeps the path from being a plain file, in words; nothing where it is one.
    #[must_use]
    pub fn oddity(&self, path: &Path) -> Option<&'static str> {
        let Some(real) = self.real(path) else {
            let outside = self.outside(path);
            return Some(match fs::symlink_metadata(outside) {
                _ if self.loops.borrow().contains(path) => "is a link that leads in circles",
                Ok(data) if data.file_type().is_symlink() => "is a link that leads nowhere",
                Ok(_) | Err(_) => "is not there",
            });
        };
        let kind = fs::metadata(self.outside(&real)).ok()?.file_type();
        let table = [
            (kind.is_dir(), "is a folder, not a regular file"),
            (kind.is_fifo(), "is a pipe, not a regular file"),
            (kind.is_socket(), "is a socket, not a regular file"),
            (kind.is_char_device() || kind.is_block_device(), "is a device, not a regular file"),
        ];
        table.into_iter().find_map(|(holds, words)| holds.then_some(words))
    }

    /// Opens a plain file; a pipe would keep the reader waiting.
    pub(crate) fn open(&self, path: &Path) -> io::Result<File> {
        let real = self.real(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let outside = self.outside(&real);
        if !fs::metadata(&outside)?.is_file() {
            return Err(io::Error::other("is no plain file"));
        }
        File::open(outside)
    }

    /// The beginning of a file as text, at most so many bytes; nothing where there is none. A file that is there and
    /// can't be read is counted.
    #[must_use]
    pub fn text(&self, path: &Path, most: u64) -> Option<String> {
        self.bytes(path, most).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The beginning of a file.
    #[must_use]
    pub fn bytes(&self, path: &Path, most: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)) {
            Ok(_) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                self.complain("files that can't be read", format!("{}: {error}", path.display()));
                None
            }
        }
    }

    /// The names in a folder, sorted; empty where there is none. A folder that is there and can't be read is counted.
    #[must_use]
    pub fn names(&self, path: &Path) -> Vec<String> {
        let Some(real) = self.real(path) else { return Vec::new() };
        let entries = match fs::read_dir(self.outside(&real)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Vec::new(),
            Err(error) => {
                self.complain("folders that can't be read", format!("{}: {error}", path.display()));
                return Vec::new();
            }
        };
        let names = entries.take(ENTRIES_MAX).filter_map(Result::ok);
        let mut names: Vec<String> =
            names.filter_map(|entry| OsStr::to_str(&entry.file_name()).map(str::to_owned)).collect();
        names.sort();
        names
    }
}

/// The names that a path consists of, `..` among them.
fn parts(path: &Path) -> Vec<PathBuf> {
    let part = |component: Component<'_>| match component {
        Component::Normal(name) => Some(PathBuf::from(name)),
        Component::ParentDir => Some(PathBuf::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn at(path: &str) -> &Path {
        Path::new(path)
    }

    #[test]
    fn links_are_followed_inside_the_root_and_never_out_of_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        fs::create_dir_all(root.join("usr/lib")).expect("made");
        fs::write(root.join("usr/lib/a.so.1"), "x").expect("written");
        symlink("/usr/lib", root.join("lib")).expect("linked");
        symlink("a.so.1", root.join("usr/lib/a.so")).expect("linked");
        symlink("../../../../etc/passwd", root.join("usr/lib/out")).expect("linked");
        let source = Source::below(root);
        assert_eq!(source.real(at("/lib/a.so")), Some("/usr/lib/a.so.1".into()));
        assert_eq!(source.text(at("/lib/a.so"), 9).as_deref(), Some("x"));
        assert_eq!(source.real(at("/usr/lib/out")), None);
        assert!(source.trouble().is_empty());
    }

    #[test]
    fn a_loop_of_links_and_a_folder_that_cannot_be_read_are_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        symlink("b", folder.path().join("a")).expect("linked");
        symlink("a", folder.path().join("b")).expect("linked");
        let source = Source::below(folder.path());
        assert_eq!((source.real(at("/a")), source.names(at("/a")).len()), (None, 0));
        assert_eq!(source.trouble()["links that lead in circles"].count, 1);
        assert_eq!(source.oddity(at("/a")), Some("is a link that leads in circles"));
        symlink("/none", folder.path().join("c")).expect("linked");
        fs::write(folder.path().join("d"), "").expect("written");
        let odd = ["/c", "/d", "/e", "/"].map(|path| source.oddity(at(path)));
        let folder_words = Some("is a folder, not a regular file");
        assert_eq!(odd, [Some("is a link that leads nowhere"), None, Some("is not there"), folder_words]);
        assert!(source.text(at("/"), 1).is_none());
        assert_eq!(source.trouble()["files that can't be read"].told, ["/: is no plain file"]);
    }
}
