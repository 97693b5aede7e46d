//! What the loader would map for a program that is not run: its needs, their needs, and the parts that cuDNN would
//! open. Knows the loader's order; what a program opens by itself at run time it can't know.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use crate::elf::{self, Elf};
use crate::family::{self, Family, SHIM};
use crate::loader::{Loader, Way};
use crate::programs::{Mapped, Program, Seen, Step};
use crate::source::Source;
use crate::tables;
use crate::version::Version;

/// Most libraries of one program that are followed.
const LIBRARIES_MAX: usize = 2000;

/// Resolves a program or library; an error says why it can't be read.
pub(crate) fn resolve(
    source: &Source,
    loader: &Loader,
    file: &Path,
    name: String,
) -> Result<Program, String> {
    let start =
        source.open(file).map_err(|error| error.to_string()).and_then(|open| elf::read(open, false))?;
    let mut found: BTreeMap<String, Mapped> = BTreeMap::new();
    let (mut missing, mut seen) = (Vec::new(), 0);
    let mut left = VecDeque::from([(file.to_owned(), start)]);
    while let Some((asking, elf)) = left.pop_front() {
        let folder = asking.parent().unwrap_or(Path::new("/")).to_owned();
        for needed in &elf.needed {
            if found.contains_key(needed) || seen > LIBRARIES_MAX {
                continue;
            }
            seen += 1;
            let Some((path, way)) = loader.find(source, needed, (&folder, &elf)) else {
                missing.extend(family::read(needed).map(|_| needed.clone()));
                continue;
            };
            found.insert(needed.clone(), mapped(source, &path, needed, way));
            if let Some(next) = source.open(&path).ok().and_then(|open| elf::read(open, false).ok()) {
                // An RPATH counts for what its libraries need in turn.
                let mut next = next;
                if next.runpath.is_empty() && elf.runpath.is_empty() {
                    next.rpath.extend(
                        elf.rpath.iter().map(|path| path.replace("$ORIGIN", &folder.to_string_lossy())),
                    );
                }
                left.push_back((path, next));
            }
        }
    }
    let shim = found.values().find(|file| file.family == Family::Cudnn && file.part == SHIM).cloned();
    let mut files: Vec<Mapped> = found.into_values().filter(|file| !file.part.is_empty()).collect();
    if let Some(shim) = shim {
        files.extend(parts(source, loader, &shim.path));
    }
    files.sort_by(|one, two| one.path.cmp(&two.path));
    files.dedup_by(|one, two| one.path == two.path);
    let steps = missing.into_iter().map(|name| Step {
        what: format!("find {name}"),
        done: false,
        words: "nowhere".to_owned(),
    });
    Ok(Program {
        name,
        pid: None,
        seen: Seen::Resolved,
        steps: steps.collect(),
        files,
        cudnn: None,
        engines: None,
    })
}

fn mapped(source: &Source, path: &Path, name: &str, way: Way) -> Mapped {
    let told = family::read(name);
    // What is of no interest is followed all the same; its part stays empty.
    let (family, part) = told.map_or((Family::Driver, String::new()), |told| (told.family, told.part));
    let path = source.real(path).unwrap_or_else(|| path.to_owned());
    Mapped { path, family, part, deleted: false, way: Some(way.name().to_owned()) }
}

/// The parts that a shim, and the core that it finds, would open.
fn parts(source: &Source, loader: &Loader, shim: &Path) -> Vec<Mapped> {
    let read = |path: &Path, version| source.open(path).ok().and_then(|open| elf::read(open, version).ok());
    let folder = |path: &Path| path.parent().unwrap_or(Path::new("/")).to_owned();
    let Some(elf) = read(shim, false) else { return Vec::new() };
    let major = elf.soname.as_deref().and_then(family::read).and_then(|name| name.version);
    let Some(major) = major.filter(|version| version.number(0) >= 9) else { return Vec::new() };
    let named =
        shim.file_name().and_then(|name| name.to_str()).and_then(family::read).and_then(|name| name.version);
    let version = named.filter(|version| version.places() >= 3).unwrap_or(major);
    let Some((core, way)) = loader.find_part(source, "graph", &version, (&folder(shim), &elf)) else {
        return Vec::new();
    };
    let core_elf: Elf = read(&core, true).unwrap_or_default();
    let version: Version = core_elf.version.clone().unwrap_or(version);
    let mut found = vec![mapped(source, &core, "libcudnn_graph.so", way)];
    let set = tables::set_of(&version);
    let all = set.into_iter().flat_map(|set| set.parts.iter().chain(&set.asks));
    for part in all.filter(|part| !["shim", "graph"].contains(&part.as_str())) {
        let opened_by_core = part.starts_with("engines") || part == "heuristic";
        let asking = if opened_by_core { (folder(&core), &core_elf) } else { (folder(shim), &elf) };
        if let Some((path, way)) = loader.find_part(source, part, &version, (&asking.0, asking.1)) {
            found.push(mapped(source, &path, &format!("libcudnn_{part}.so"), way));
        }
    }
    found
}

/// The library of PyTorch that needs cuDNN.
pub(crate) fn torch_of(source: &Source, sites: &[PathBuf]) -> Option<PathBuf> {
    sites.iter().map(|site| site.join("torch/lib/libtorch_cuda.so")).find(|path| source.file(path).is_some())
}
