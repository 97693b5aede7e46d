//! The folders that hold GPU libraries, and each file in them with what it says of itself. Knows folders and files;
//! that they do not belong together is for `findings` to say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::elf::{self, Elf};
use crate::family::{self, Family, SHIM};
use crate::hash;
use crate::owner::Owner;
use crate::source::Source;
use crate::tables;
use crate::version::Version;

/// How the version of a file is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KnownBy {
    /// Its file exports it.
    Symbol,
    /// Its name carries it.
    Name,
    /// Its build-id is that of a known wheel.
    BuildId,
    /// The package that owns it, whose record has the same size.
    Package,
}

/// One library file.
#[derive(Clone, Debug, Serialize)]
pub struct Library {
    /// Its own name, links followed within the folder.
    pub name: String,
    /// Every name of it in the folder.
    pub names: Vec<String>,
    /// Where it really lies, links followed.
    pub path: PathBuf,
    /// Its family.
    pub family: Family,
    /// Which library of the family.
    pub part: String,
    /// Its version, as exactly as it is known.
    pub version: Option<Version>,
    /// How that is known.
    pub known_by: Option<KnownBy>,
    /// Size in bytes.
    pub bytes: u64,
    /// The linker's build-id.
    pub build_id: Option<String>,
    /// SHA-256, where hashes were asked for.
    pub sha256: Option<String>,
    /// The name that others ask for it by.
    pub soname: Option<String>,
    /// Search path that comes before LD_LIBRARY_PATH.
    pub rpath: Vec<String>,
    /// Search path that comes after it.
    pub runpath: Vec<String>,
    /// Libraries that it needs at load.
    pub needed: Vec<String>,
    /// The package that it belongs to.
    pub owner: Option<Owner>,
    /// Why it can't be read.
    pub broken: Option<String>,
    /// What identifies the file.
    #[serde(skip)]
    pub identity: (u64, u64),
}

/// A name of a library behind which there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Odd {
    /// The name.
    pub name: String,
    /// What is there instead, in words: `is a folder, not a regular file`.
    pub what: &'static str,
}

/// One folder with libraries.
#[derive(Clone, Debug, Serialize)]
pub struct Copy {
    /// The folder, links followed.
    pub folder: PathBuf,
    /// Who leads there.
    pub found_by: Vec<String>,
    /// Its libraries, by family and name.
    pub files: Vec<Library>,
    /// Names of libraries behind which there is no file.
    pub odd: Vec<Odd>,
}

impl Library {
    /// Its facts as the loader needs them.
    pub(crate) fn elf(&self) -> Elf {
        Elf { rpath: self.rpath.clone(), runpath: self.runpath.clone(), ..Elf::default() }
    }

    /// The major number in its name or soname.
    #[must_use]
    pub fn major(&self) -> Option<u32> {
        let named =
            |name: &str| family::read(name).and_then(|name| name.version).map(|version| version.number(0));
        self.soname.as_deref().and_then(named).or_else(|| self.names.iter().find_map(|name| named(name)))
    }

    /// Where its name says that it is, which is what a loader sees.
    pub(crate) fn within(&self, folder: &Path) -> PathBuf {
        folder.join(&self.name)
    }
}

impl Copy {
    /// Its files of cuDNN of one major version.
    pub fn cudnn(&self, major: u32) -> impl Iterator<Item = &Library> {
        self.files.iter().filter(move |file| file.family == Family::Cudnn && file.major() == Some(major))
    }

    /// The library of cuDNN that programs open.
    #[must_use]
    pub fn shim(&self, major: u32) -> Option<&Library> {
        self.cudnn(major).find(|file| file.part == SHIM)
    }

    /// The majors of cuDNN that it holds.
    #[must_use]
    pub fn cudnn_majors(&self) -> Vec<u32> {
        let mut majors: Vec<u32> = self
            .files
            .iter()
            .filter(|file| file.family == Family::Cudnn)
            .filter_map(Library::major)
            .collect();
        majors.sort_unstable();
        majors.dedup();
        majors
    }

    /// True for a set that is meant to compile all of its engines at run time: one of that wheel, or files of that
    /// wheel alone in a folder that is no full wheel's. A full set that lost its precompiled engines has files beside
    /// those.
    #[must_use]
    pub fn is_jit(&self, major: u32) -> bool {
        let owner = self.cudnn(major).find_map(|file| file.owner.as_ref());
        if let Some(owner) = owner {
            return owner.package.contains("cudnn-jit");
        }
        if self.folder.ends_with("nvidia/cudnn/lib") || self.folder.ends_with("nvidia/cudnn_jit/lib") {
            return self.folder.ends_with("nvidia/cudnn_jit/lib");
        }
        let version = self.cudnn_version(major).filter(|version| version.places() >= 2).cloned();
        let Some(set) = tables::set_of(&version.unwrap_or_else(|| Version::new(&[major]))) else {
            return false;
        };
        let odd = self.odd.iter().filter_map(|odd| family::read(&odd.name));
        let odd = odd.filter(|name| {
            name.family == Family::Cudnn
                && name.version.as_ref().is_some_and(|version| version.number(0) == major)
        });
        let mut parts = self.cudnn(major).map(|file| file.part.clone()).chain(odd.map(|name| name.part));
        !set.jit.is_empty() && parts.all(|part| set.jit.contains(&part))
    }

    /// The version of its cuDNN of that major: what the core says of itself, else what any file says, most exact first.
    #[must_use]
    pub fn cudnn_version(&self, major: u32) -> Option<&Version> {
        let core = self.cudnn(major).find(|file| file.part == "graph" && file.version.is_some());
        let core = core.and_then(|file| file.version.as_ref());
        let known = || {
            self.cudnn(major).filter_map(|file| file.version.as_ref()).max_by_key(|version| version.places())
        };
        core.filter(|version| version.places() >= 3).or_else(known)
    }
}

/// What is asked of every file.
pub(crate) struct Asked<'a> {
    pub(crate) source: &'a Source,
    pub(crate) hashes: bool,
    pub(crate) owner: &'a dyn Fn(&Path) -> Option<Owner>,
}

/// Reads the folders; one that two ways lead to is read once, and one without libraries is left out.
pub(crate) fn read(asked: &Asked<'_>, folders: &[(PathBuf, String)]) -> Vec<Copy> {
    let mut order: Vec<(PathBuf, Vec<String>)> = Vec::new();
    let mut index: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for (folder, found_by) in folders {
        let Some(real) = asked.source.real(folder) else { continue };
        let place = *index.entry(real.clone()).or_insert_with(|| {
            order.push((real, Vec::new()));
            order.len() - 1
        });
        if !order[place].1.contains(found_by) {
            order[place].1.push(found_by.clone());
        }
    }
    let copies = order.into_iter().map(|(folder, found_by)| {
        let (files, odd) = files_of(asked, &folder);
        Copy { folder, found_by, files, odd }
    });
    copies.filter(|copy| !(copy.files.is_empty() && copy.odd.is_empty())).collect()
}

fn files_of(asked: &Asked<'_>, folder: &Path) -> (Vec<Library>, Vec<Odd>) {
    let mut odd = Vec::new();
    let mut by_path: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for name in asked.source.names(folder) {
        if family::read(&name).is_none() {
            continue;
        }
        let path = folder.join(&name);
        let real = asked.source.real(&path);
        let Some(what) = asked.source.oddity(&path) else {
            by_path.entry(real.unwrap_or(path)).or_default().push(name);
            continue;
        };
        // A circle was told when it was followed.
        if what.contains("nowhere") {
            asked.source.complain("links that lead nowhere", path.display().to_string());
        } else if real.is_some() {
            asked.source.complain("names of libraries that are none", format!("{}: {what}", path.display()));
        }
        odd.push(Odd { name, what });
    }
    let mut files: Vec<Library> =
        by_path.into_iter().filter_map(|(path, names)| library(asked, folder, path, names)).collect();
    files.sort_by(|one, two| (one.family, &one.name).cmp(&(two.family, &two.name)));
    (files, odd)
}

/// Describes one file; nothing where it is none.
pub(crate) fn library(
    asked: &Asked<'_>,
    folder: &Path,
    path: PathBuf,
    names: Vec<String>,
) -> Option<Library> {
    let (bytes, identity) = asked.source.file(&path)?;
    // The most exact name is the file's own, unless it lies elsewhere.
    let own = path.file_name().and_then(|name| name.to_str()).filter(|_| path.parent() == Some(folder));
    let longest = names.iter().max_by_key(|name| name.len())?;
    let name = own.map_or_else(|| longest.clone(), str::to_owned);
    let told = family::read(&name).or_else(|| family::read(longest))?;
    let wants_version = told.family == Family::Cudnn
        && ["graph", "ops", "adv", "ops_infer", "adv_infer"].contains(&told.part.as_str());
    let read = asked.source.open(&path).map_err(|error| error.to_string());
    let (elf, broken) = match read.and_then(|file| elf::read(file, wants_version)) {
        Ok(elf) if elf.cut.is_none() => (elf, None),
        Ok(elf) => {
            let cut = elf.cut.clone();
            (elf, cut)
        }
        Err(why) => {
            asked.source.complain("libraries that can't be read", format!("{}: {why}", path.display()));
            (Elf::default(), Some(why))
        }
    };
    let owner = (asked.owner)(&path).or_else(|| (asked.owner)(&folder.join(&name)));
    let sha256 = if asked.hashes { asked.source.open(&path).and_then(hash::sha256).ok() } else { None };
    let (version, known_by) = version_of(&elf, &names, owner.as_ref(), told.family).unzip();
    Some(Library {
        name,
        names,
        family: told.family,
        part: told.part,
        version,
        known_by,
        bytes,
        build_id: elf.build_id,
        sha256,
        soname: elf.soname,
        rpath: elf.rpath,
        runpath: elf.runpath,
        needed: elf.needed,
        owner,
        broken,
        identity,
        path,
    })
}

/// The version of a file, by the evidence that is nearest to it.
fn version_of(
    elf: &Elf,
    names: &[String],
    owner: Option<&Owner>,
    family: Family,
) -> Option<(Version, KnownBy)> {
    let symbol = elf.version.clone().map(|version| (version, KnownBy::Symbol));
    let named = || names.iter().filter_map(|name| family::read(name)?.version).max_by_key(Version::places);
    let exact = if family == Family::NvrtcBuiltins { 2 } else { 3 };
    let named = named().filter(|version| version.places() >= exact).map(|version| (version, KnownBy::Name));
    let build = || {
        let version = tables::version_of_build(elf.build_id.as_deref()?)?;
        Some((version.clone(), KnownBy::BuildId))
    };
    let package = || {
        let owner = owner.filter(|owner| !owner.altered)?;
        Some((Version::leading(&owner.version)?, KnownBy::Package))
    };
    symbol.or(named).or_else(build).or_else(package)
}
