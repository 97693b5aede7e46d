//! Which file the dynamic loader takes for a name, by its documented order (`man 8 ld.so`). Knows search paths; opens
//! no library, so that what a program really maps may differ where it preloads or opens libraries by itself.

use std::path::{Path, PathBuf};

use crate::cache::Cache;
use crate::elf::Elf;
use crate::source::Source;

/// Folders that are searched last on x86-64; Debian's first, where the others do not exist.
const DEFAULTS: [&str; 6] =
    ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/// Where a file was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The search path of the library that asks, before LD_LIBRARY_PATH.
    Rpath,
    /// LD_LIBRARY_PATH.
    Variable,
    /// The search path of the library that asks, after LD_LIBRARY_PATH.
    Runpath,
    /// The loader's cache.
    Cache,
    /// A default folder.
    Default,
}

impl Way {
    /// In words.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rpath => "its RPATH",
            Self::Variable => "LD_LIBRARY_PATH",
            Self::Runpath => "its RUNPATH",
            Self::Cache => "the loader's cache",
            Self::Default => "a default folder",
        }
    }
}

/// What the loader knows before any program starts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loader {
    /// The folders of LD_LIBRARY_PATH, in order.
    pub variable: Vec<PathBuf>,
    /// Its cache.
    pub cache: Cache,
}

impl Loader {
    /// The file for a name that a library asks for, which lies in that folder and has those search paths.
    #[must_use]
    pub(crate) fn find(&self, source: &Source, name: &str, asking: (&Path, &Elf)) -> Option<(PathBuf, Way)> {
        let (folder, elf) = asking;
        let paths = |list: &[String]| list.iter().map(|path| origin(path, folder)).collect::<Vec<_>>();
        // RPATH is heeded only where there is no RUNPATH.
        let rpath = if elf.runpath.is_empty() { paths(&elf.rpath) } else { Vec::new() };
        let runpath = paths(&elf.runpath);
        let in_folders = |folders: &[PathBuf], way| {
            let file =
                folders.iter().map(|folder| folder.join(name)).find(|file| source.file(file).is_some());
            file.map(|file| (file, way))
        };
        let cached = || {
            let file = self.cache.find(name).filter(|file| source.file(file).is_some());
            file.map(|file| (file.clone(), Way::Cache))
        };
        in_folders(&rpath, Way::Rpath)
            .or_else(|| in_folders(&self.variable, Way::Variable))
            .or_else(|| in_folders(&runpath, Way::Runpath))
            .or_else(cached)
            .or_else(|| in_folders(&DEFAULTS.map(PathBuf::from), Way::Default))
    }

    /// The file of a part of cuDNN 9 that its core opens at run time: the most exact name is tried first, each through
    /// the whole search.
    #[must_use]
    pub(crate) fn find_part(
        &self,
        source: &Source,
        part: &str,
        version: &crate::version::Version,
        asking: (&Path, &Elf),
    ) -> Option<(PathBuf, Way)> {
        let exact = (1..=3).rev().map(|places| format!("libcudnn_{part}.so.{}", version.short(places)));
        let mut names: Vec<String> = exact.collect();
        names.push(format!("libcudnn_{part}.so"));
        names.iter().find_map(|name| self.find(source, name, asking))
    }
}

/// Folders of a list such as LD_LIBRARY_PATH; empty and relative entries mean the working folder and are left out.
#[must_use]
pub(crate) fn folders(list: &str) -> Vec<PathBuf> {
    list.split([':', ';']).filter(|folder| folder.starts_with('/')).map(PathBuf::from).collect()
}

/// The default folders that there are.
pub(crate) fn defaults() -> impl Iterator<Item = PathBuf> {
    DEFAULTS.iter().map(PathBuf::from)
}

/// A path of a library with the place of that library put in.
fn origin(path: &str, folder: &Path) -> PathBuf {
    let folder = folder.to_string_lossy();
    let path = path.replace("$ORIGIN", &folder).replace("${ORIGIN}", &folder);
    let mut plain = PathBuf::new();
    for component in Path::new(&path).components() {
        if component == std::path::Component::ParentDir {
            plain.pop();
        } else {
            plain.push(component);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::version::Version;

    fn root(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "x").expect("written");
        }
        folder
    }

    #[test]
    fn runpath_yields_to_ld_library_path_and_rpath_does_not() {
        let root = root(&["w/lib/libcudnn_graph.so.9", "v/libcudnn_graph.so.9", "w/cublas/libz.so"]);
        let source = Source::below(root.path());
        let loader = Loader { variable: vec!["/v".into()], cache: Cache::default() };
        let new = Elf { rpath: vec!["$ORIGIN".into()], ..Elf::default() };
        let old = Elf { runpath: vec!["${ORIGIN}".into(), "$ORIGIN/../cublas".into()], ..Elf::default() };
        let find = |name: &str, elf: &Elf| loader.find(&source, name, (Path::new("/w/lib"), elf));
        let graph = "libcudnn_graph.so.9";
        assert_eq!(find(graph, &old), Some(("/v/libcudnn_graph.so.9".into(), Way::Variable)));
        assert_eq!(find(graph, &new), Some(("/w/lib/libcudnn_graph.so.9".into(), Way::Rpath)));
        assert_eq!(find("libz.so", &old), Some(("/w/cublas/libz.so".into(), Way::Runpath)));
        assert_eq!(find("libnone.so", &old), None);
    }

    #[test]
    fn a_part_is_sought_by_its_most_exact_name_first() {
        let root = root(&["v/libcudnn_graph.so.9", "w/libcudnn_graph.so.9.19.0"]);
        let source = Source::below(root.path());
        let loader = Loader { variable: vec!["/v".into()], cache: Cache::default() };
        let elf = Elf { runpath: vec!["$ORIGIN".into()], ..Elf::default() };
        let version = Version::new(&[9, 19, 0]);
        let found = loader.find_part(&source, "graph", &version, (Path::new("/w"), &elf));
        assert_eq!(found, Some(("/w/libcudnn_graph.so.9.19.0".into(), Way::Runpath)));
    }
}
