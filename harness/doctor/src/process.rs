//! A running process as `/proc` tells of it: what it maps, its environment, and the file system that it sees. Knows
//! those files; that the process may end at any moment is no error.

use std::path::{Path, PathBuf};

use crate::source::Source;

/// Most bytes of a memory map and of an environment.
const MAPS_MAX: u64 = 64 << 20;
const ENVIRONMENT_MAX: u64 = 4 << 20;

/// What is told where a process can't be looked at.
const TROUBLE: &str = "processes that can't be looked at";

/// A running process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// What it is, in words.
    pub name: String,
    /// Its number.
    pub pid: u32,
    /// The text of its memory map.
    pub maps: String,
    /// Its environment, where that may be read.
    pub variables: Option<Vec<(String, String)>>,
    /// Its root folder as we see it, where it sees other files than we do.
    pub root: Option<PathBuf>,
}

/// Looks at a process; one that is not there, has ended meanwhile or belongs to somebody else is counted.
#[must_use]
pub fn running(source: &Source, pid: u32) -> Option<Running> {
    let folder = PathBuf::from(format!("/proc/{pid}"));
    let told = |why: &str| source.complain(TROUBLE, format!("process {pid}: {why}"));
    if !source.is_folder(&folder) {
        told("there is none, or it has ended");
        return None;
    }
    let maps = source.text(&folder.join("maps"), MAPS_MAX).unwrap_or_default();
    if maps.is_empty() {
        told(
            "its memory map is empty or not ours to read: it has ended, belongs to the kernel or to another user",
        );
        return None;
    }
    let name = source.text(&folder.join("comm"), 256).unwrap_or_default();
    let variables = source.text(&folder.join("environ"), ENVIRONMENT_MAX);
    let root = foreign_root(source, &folder).filter(|root| {
        let is_open = std::fs::read_dir(root).is_ok();
        if !is_open {
            told("it lives in a container whose files are not ours to read; run this as its user");
        }
        is_open
    });
    Some(Running {
        name: format!("process {pid} ({})", name.trim()),
        pid,
        maps,
        variables: variables.map(|text| variables_of(&text)),
        root,
    })
}

/// The root of a process that lives in another name space of mounts.
fn foreign_root(source: &Source, folder: &Path) -> Option<PathBuf> {
    let space = |folder: &Path| source.link(&folder.join("ns/mnt"));
    let (its, ours) = (space(folder)?, space(Path::new("/proc/self"))?);
    (its != ours).then(|| source.root().join(folder.strip_prefix("/").unwrap_or(folder)).join("root"))
}

/// The variables between zero bytes.
fn variables_of(text: &str) -> Vec<(String, String)> {
    let pairs = text.split('\0').filter_map(|variable| variable.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_with_its_environment_and_one_that_is_gone_is_counted() {
        let here = Source::below(Path::new("/"));
        let own = running(&here, std::process::id()).expect("this process");
        assert!(own.maps.lines().count() > 3 && own.root.is_none(), "{own:?}");
        assert_eq!(
            own.variables.is_some_and(|all| all.iter().any(|(name, _)| name == "PATH")),
            std::env::var_os("PATH").is_some()
        );
        // No process has the highest number (`kernel.pid_max` is at most 2^22).
        assert_eq!(running(&here, 1 << 30), None);
        assert_eq!(here.trouble()[TROUBLE].told, ["process 1073741824: there is none, or it has ended"]);
    }

    #[test]
    fn a_process_that_ends_while_it_is_looked_at_is_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(folder.path().join("proc/7")).expect("made");
        std::fs::write(folder.path().join("proc/7/maps"), "").expect("written");
        let source = Source::below(folder.path());
        assert_eq!(running(&source, 7), None);
        assert!(source.trouble()[TROUBLE].told[0].contains("it has ended"));
    }
}
