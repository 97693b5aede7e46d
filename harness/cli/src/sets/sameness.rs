//! Whether two names mean the same library set. Compares files; knows nothing of what they do.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Place, Set};
use crate::failure::Failure;

/// Bytes that are compared at a time.
const CHUNK: usize = 1 << 20;

/// Refuses two names of one set: there is nothing to compare.
pub(crate) fn require_two(one: &Set, other: &Set) -> Result<(), Failure> {
    let same = are_same(&one.place, &other.place)
        .map_err(|error| Failure::Machine(format!("{} and {}: {error}", one.name(), other.name())))?;
    if same {
        return Err(Failure::Usage(format!(
            "{} and {} are the same library set, file for file; name two different ones",
            one.name(),
            other.name()
        )));
    }
    Ok(())
}

/// True where both lead to the same files, or to files of the same contents.
fn are_same(one: &Place, other: &Place) -> io::Result<bool> {
    match (one, other) {
        (Place::Simulated { script, library }, Place::Simulated { script: second, library: beside }) => {
            Ok(library == beside && have_same_contents(script, second)?)
        }
        (Place::Real { library, .. }, Place::Real { library: second, .. }) => {
            Ok(library == second || hold_same_cudnn(library, second)?)
        }
        (Place::Simulated { .. }, Place::Real { .. }) | (Place::Real { .. }, Place::Simulated { .. }) => {
            Ok(false)
        }
    }
}

/// The parts of cuDNN in a folder, by name.
fn parts(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut parts = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("libcudnn") {
            parts.push(entry.path());
        }
    }
    parts.sort_by(|one, other| one.file_name().cmp(&other.file_name()));
    Ok(parts)
}

fn hold_same_cudnn(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (parts(one)?, parts(other)?);
    let names = |parts: &[PathBuf]| {
        parts.iter().filter_map(|part| part.file_name().map(ToOwned::to_owned)).collect::<Vec<_>>()
    };
    if names(&one) != names(&other) {
        return Ok(false);
    }
    for (first, second) in one.iter().zip(&other) {
        if !have_same_contents(first, second)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn have_same_contents(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut first, mut second) = (vec![0; CHUNK], vec![0; CHUNK]);
    loop {
        let bytes = one.read(&mut first)?;
        if bytes == 0 {
            return Ok(true);
        }
        match other.read_exact(&mut second[..bytes]) {
            // It shrank meanwhile.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            done => done?,
        }
        if first[..bytes] != second[..bytes] {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(contents: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in contents {
            fs::write(folder.path().join(name), text).expect("written");
        }
        folder
    }

    #[test]
    fn sets_are_the_same_where_every_part_of_cudnn_is() {
        let real = |folder: &tempfile::TempDir| Place::Real {
            library: folder.path().to_owned(),
            companions: Vec::new(),
        };
        let first = set(&[("libcudnn.so.9", "a"), ("libcudnn_graph.so.9", "b"), ("other", "1")]);
        let copy = set(&[("libcudnn_graph.so.9", "b"), ("libcudnn.so.9", "a"), ("other", "2")]);
        let changed = set(&[("libcudnn.so.9", "a"), ("libcudnn_graph.so.9", "c")]);
        let partial = set(&[("libcudnn.so.9", "a")]);
        let same = |other: &tempfile::TempDir| are_same(&real(&first), &real(other)).expect("read");
        assert!(same(&first) && same(&copy) && !same(&changed) && !same(&partial));
    }

    #[test]
    fn simulated_sets_are_the_same_where_their_scripts_are() {
        let simulated = |folder: &tempfile::TempDir| Place::Simulated {
            script: folder.path().join("faults.json"),
            library: None,
        };
        let (first, copy, other) =
            (set(&[("faults.json", "[]")]), set(&[("faults.json", "[]")]), set(&[("faults.json", "{}")]));
        assert!(are_same(&simulated(&first), &simulated(&copy)).expect("read"));
        assert!(!are_same(&simulated(&first), &simulated(&other)).expect("read"));
    }
}
