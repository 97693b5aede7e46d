//! Which library files this process has mapped, named without homes or users. Knows paths, hashes and build-ids;
//! knows nothing of what the libraries do.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use case::{MappedFile, place_of};
use object::Object;

use crate::hashes::{Hashes, hexadecimal};

/// Starts of the file names that matter.
const NAMES: [&str; 7] = [
    "libcudnn",
    "libcublas",
    "libnvrtc",
    "libcuda.so",
    "libcudart.so",
    "libnvidia-ptxjitcompiler",
    "libnvJitLink",
];

/// Reads the memory map and describes each file of interest; hashing is on request, since the files are large.
pub(crate) fn mapped(hashes: Option<&Hashes>) -> io::Result<Vec<MappedFile>> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    Ok(paths(&maps).into_iter().map(|path| describe(&path, hashes)).collect())
}

/// The distinct files of interest in the text of a memory map.
fn paths(maps: &str) -> Vec<PathBuf> {
    let files: BTreeSet<PathBuf> = maps
        .lines()
        .filter_map(|line| line.find('/').map(|start| PathBuf::from(&line[start..])))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
            NAMES.iter().any(|start| name.starts_with(start))
        })
        .collect();
    files.into_iter().collect()
}

fn describe(path: &Path, hashes: Option<&Hashes>) -> MappedFile {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = real.file_name().and_then(|name| name.to_str()).unwrap_or("?").to_owned();
    let version = name.split_once(".so.").map(|(_, version)| version.to_owned()).unwrap_or_default();
    MappedFile {
        place: place_of(&real),
        bytes: real.metadata().map(|data| data.len()).unwrap_or(0),
        sha256: hashes.and_then(|hashes| hashes.of(&real).ok()).unwrap_or_default(),
        build_id: build_id(&real).unwrap_or_default(),
        version,
        name,
    }
}

/// The linker's build-id; reads only the parts of the file that hold it.
fn build_id(path: &Path) -> Option<String> {
    let cache = object::ReadCache::new(File::open(path).ok()?);
    let file = object::File::parse(&cache).ok()?;
    file.build_id().ok().flatten().map(hexadecimal)
}

/// Why the cuDNN files do not belong together, naming two of them; empty where they do. All must come from one
/// folder and, where their names carry versions, carry the same one.
pub(crate) fn conflict(maps_of: &[PathBuf]) -> String {
    let parts: Vec<&PathBuf> = maps_of
        .iter()
        .filter(|path| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("libcudnn"))
        })
        .collect();
    let Some(first) = parts.first() else { return String::new() };
    for other in &parts[1..] {
        if other.parent() != first.parent() {
            return format!("{} and {} come from different folders", first.display(), other.display());
        }
        let version = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("").to_owned();
            name.split_once(".so.").map(|(_, version)| version.to_owned()).unwrap_or_default()
        };
        let (one, two) = (version(first), version(other));
        // A name that ends at the major version says nothing about the rest.
        if one.contains('.') && two.contains('.') && one != two {
            return format!("{} and {} carry different versions", first.display(), other.display());
        }
    }
    String::new()
}

/// Why the set is not what was asked for, where another stack was opened first; empty where it is. What that stack
/// opened for itself is none of the set's business, unless it answers in the place of a part of it: the loader takes a
/// library for one that is open already where both carry the same name inside.
pub(crate) fn conflict_beside(second: &Path, dispatcher: &Path, maps_of: &[PathBuf]) -> String {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (second, dispatcher) = (real(second), real(dispatcher));
    let Some(own) = dispatcher.parent() else { return String::new() };
    let (theirs, ours): (Vec<PathBuf>, Vec<PathBuf>) =
        maps_of.iter().cloned().partition(|path| path.parent() == Some(&second) && second != own);
    // `libcudnn_graph` of `libcudnn_graph.so.9.19.0`.
    let part = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        name.split_once(".so").map(|(stem, _)| stem.to_owned()).filter(|stem| stem.starts_with("libcudnn"))
    };
    let opened: Vec<String> = ours.iter().filter_map(part).collect();
    let has = |stem: &str| {
        let entries = std::fs::read_dir(own).into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| entry.path()).any(|path| part(&path).as_deref() == Some(stem))
    };
    for other in &theirs {
        if let Some(stem) = part(other).filter(|stem| !opened.contains(stem) && has(stem)) {
            let (own, other) = (own.display(), other.display());
            return format!(
                "{stem} of {own} was asked for, but {other}, which was opened before, answers in its place"
            );
        }
    }
    conflict(&ours)
}

/// The real paths of every cuDNN file that is mapped.
pub(crate) fn real_paths() -> io::Result<Vec<PathBuf>> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    Ok(paths(&maps).into_iter().map(|path| path.canonicalize().unwrap_or(path)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_gives_each_file_once() {
        let maps = "7f0-7f1 r-xp 0 00:00 1 /a/libcudnn.so.9\n7f1-7f2 r--p 0 00:00 1 /a/libcudnn.so.9\n\
                    7f2-7f3 r-xp 0 00:00 2 /b/libc.so.6\n7f3-7f4 rw-p 0 00:00 0 [heap]\n";
        assert_eq!(paths(maps), [PathBuf::from("/a/libcudnn.so.9")]);
    }

    #[test]
    fn another_stack_is_a_conflict_only_where_it_answers_in_the_place_of_a_part() {
        let folders = tempfile::tempdir().expect("a folder");
        let root = folders.path().canonicalize().expect("a path");
        let (ours, theirs) = (root.join("ours"), root.join("theirs"));
        for folder in [&ours, &theirs] {
            std::fs::create_dir(folder).expect("a folder");
            for name in ["libcudnn.so.9", "libcudnn_graph.so.9"] {
                std::fs::write(folder.join(name), "").expect("a file");
            }
        }
        let told = |mapped: &[PathBuf]| conflict_beside(&theirs, &ours.join("libcudnn.so.9"), mapped);
        let of = |folder: &Path, name: &str| folder.join(name);
        let beside = [
            of(&theirs, "libcudnn.so.9"),
            of(&theirs, "libcudnn_graph.so.9"),
            of(&ours, "libcudnn.so.9"),
            of(&ours, "libcudnn_graph.so.9"),
        ];
        assert_eq!(told(&beside), "");
        let displaced = told(&beside[..3]);
        assert!(
            displaced.contains("libcudnn_graph of") && displaced.contains("answers in its place"),
            "{displaced}"
        );
        assert!(told(&beside[..2]).starts_with("libcudnn of"), "{}", told(&beside[..2]));
        let third = [of(&ours, "libcudnn.so.9"), of(&root, "libcudnn_graph.so.9")];
        assert!(told(&third).contains("different folders"));
    }

    #[test]
    fn files_of_two_folders_or_two_versions_are_a_conflict() {
        let conflict_of = |paths: &[&str]| conflict(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(conflict_of(&["/a/libcudnn.so.9", "/a/libcudnn_graph.so.9"]), "");
        assert!(conflict_of(&["/a/libcudnn.so.9", "/b/libcudnn_graph.so.9"]).contains("different folders"));
        let mixed = ["/a/libcudnn.so.9.14.0", "/a/libcudnn_graph.so.9.19.0"];
        assert!(conflict_of(&mixed).contains("different versions"));
    }
}
