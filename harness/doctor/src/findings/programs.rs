//! Rules about what one program maps. Knows memory maps; what lies on disk beside that is for other rules.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::mend::{self, Mend};
use super::{Found, Severity, listed};
use crate::family::{self, Family, SHIM};
use crate::ledger::View;
use crate::owner::Owner;
use crate::packages::Package;
use crate::programs::{Mapped, Program, Seen};
use crate::version::Version;

/// The version of a mapped file, as the disk tells it.
fn version_of(view: &View<'_>, path: &Path) -> Option<Version> {
    let (copy, file) = view.ledger.file(path)?;
    let set = file.major().and_then(|major| copy.cudnn_version(major));
    file.version.clone().or_else(|| set.cloned()).map(|version| version.short(3))
}

fn told(view: &View<'_>, file: &Mapped) -> String {
    let version = version_of(view, &file.path).map_or_else(String::new, |version| format!(" ({version})"));
    let way = file.way.as_ref().map_or_else(String::new, |way| format!(" through {way}"));
    format!("{}{version}{way}", file.path.display())
}

fn maps(program: &Program) -> &'static str {
    match program.seen {
        Seen::Mapped => "maps",
        Seen::Resolved => "would map",
    }
}

fn paths<'a>(files: impl IntoIterator<Item = &'a Mapped>) -> Vec<PathBuf> {
    files.into_iter().map(|file| file.path.clone()).collect()
}

/// Two cuDNN in one process.
pub(super) fn two_cudnn(view: &View<'_>) -> Vec<Found> {
    let mut findings = Vec::new();
    for program in &view.ledger.programs {
        let shims: Vec<&Mapped> = program.of(Family::Cudnn).filter(|file| file.part == SHIM).collect();
        if shims.len() < 2 {
            continue;
        }
        findings.push(Found {
            rule: "two-cudnn-in-process",
            severity: Severity::Error,
            title: format!("{} {} {} cuDNN libraries", program.name, maps(program), shims.len()),
            evidence: shims.iter().map(|file| told(view, file)).collect(),
            files: paths(shims.iter().copied()),
            mend: one_of(view, &shims),
        });
    }
    findings
}

/// Parts of one cuDNN from several folders.
pub(super) fn parts_of_two_folders(view: &View<'_>) -> Vec<Found> {
    let mut findings = Vec::new();
    for program in &view.ledger.programs {
        let mut by_major: BTreeMap<Option<u32>, Vec<&Mapped>> = BTreeMap::new();
        for file in program.of(Family::Cudnn) {
            let name = file.path.file_name().and_then(|name| name.to_str()).and_then(family::read);
            by_major
                .entry(name.and_then(|name| name.version).map(|version| version.number(0)))
                .or_default()
                .push(file);
        }
        for files in by_major.into_values() {
            let mut folders: Vec<&Path> = files.iter().filter_map(|file| file.path.parent()).collect();
            folders.sort_unstable();
            folders.dedup();
            if folders.len() < 2 {
                continue;
            }
            let mut versions: Vec<Option<Version>> =
                files.iter().map(|file| version_of(view, &file.path)).collect();
            versions.sort();
            versions.dedup();
            let one = versions.len() == 1 && versions.iter().all(Option::is_some);
            let severity = if one { Severity::Warning } else { Severity::Error };
            let mend = unmix(view, &files);
            findings.push(Found {
                rule: "mixed-process",
                severity,
                title: format!(
                    "{} {} parts of cuDNN from {} folders",
                    program.name,
                    maps(program),
                    folders.len()
                ),
                evidence: files.iter().map(|file| told(view, file)).collect(),
                files: paths(files),
                mend,
            });
        }
    }
    findings
}

/// The package of a mapped file.
fn owner<'a>(view: &'a View<'_>, file: &Mapped) -> Option<&'a Owner> {
    view.ledger.file(&file.path)?.1.owner.as_ref()
}

/// The library that a program is meant to have: one of a Python's packages, else the first.
fn meant<'a>(view: &View<'_>, shims: &[&'a Mapped]) -> Option<&'a Mapped> {
    let in_site = |file: &&&Mapped| {
        let copy = view.ledger.file(&file.path).map(|(copy, _)| copy);
        copy.is_some_and(|copy| copy.found_by.iter().any(|by| by == "site-packages"))
    };
    shims.iter().find(in_site).or_else(|| shims.first()).copied()
}

/// What leaves a program one cuDNN.
fn one_of(view: &View<'_>, shims: &[&Mapped]) -> Mend {
    let Some(kept) = meant(view, shims) else { return Mend::Nothing };
    let strange: Vec<&Path> =
        shims.iter().map(|file| file.path.as_path()).filter(|path| *path != kept.path).collect();
    let words = format!(
        "the program opens each by its path: have it open {} alone, and not {}",
        kept.path.display(),
        listed(strange.iter().map(|path| path.display()))
    );
    mend::keep_out(view, &strange).unwrap_or(Mend::Words(words))
}

/// What leaves a program one folder of cuDNN: strange folders out of LD_LIBRARY_PATH, a preload or a system's copy
/// gone, else the folder of the library that it names in front.
fn unmix(view: &View<'_>, files: &[&Mapped]) -> Mend {
    let shims: Vec<&Mapped> = files.iter().copied().filter(|file| file.part == SHIM).collect();
    let folder = meant(view, &shims).and_then(|shim| shim.path.parent());
    let Some(folder) = folder else {
        let words =
            "the program opens parts of cuDNN by their paths: have it open libcudnn.so alone".to_owned();
        return Mend::Words(words);
    };
    let strange: Vec<&Path> =
        files.iter().map(|file| file.path.as_path()).filter(|path| path.parent() != Some(folder)).collect();
    mend::keep_out(view, &strange).unwrap_or_else(|| mend::first(folder))
}

/// What puts a program's cuDNN back as its package has it.
fn put_back(view: &View<'_>, program: &Program) -> Mend {
    if let Some(owner) = program.of(Family::Cudnn).find_map(|file| owner(view, file)) {
        return mend::reinstall(view, owner);
    }
    let folders = mend::on_variable(view, program.cudnn_folders());
    if !folders.is_empty() {
        return mend::without(folders);
    }
    let shim = program.of(Family::Cudnn).find(|file| file.part == SHIM);
    let found = shim.and_then(|shim| view.ledger.file(&shim.path));
    match found.and_then(|(copy, file)| Some((copy, file.major()?))) {
        Some((copy, major)) => mend::whole(view, copy, major, &[]),
        None => {
            Mend::Words("install the program's cuDNN again, all of its files from one release".to_owned())
        }
    }
}

/// What takes away the libraries of the CUDA that the framework was not built for, else of the older one. A package
/// that another one asks for stays.
fn without_others(view: &View<'_>, majors: &BTreeMap<u32, Vec<&Mapped>>) -> Mend {
    let torch = view.ledger.packages.iter().find(|package| package.name == "torch");
    let wanted = torch.and_then(Package::cuda_major).filter(|major| majors.contains_key(major));
    let wanted = wanted.or_else(|| majors.keys().next_back().copied());
    let strange = majors.iter().filter(|(major, _)| Some(**major) != wanted);
    let strange: Vec<&Mapped> = strange.flat_map(|(_, files)| files.iter().copied()).collect();
    let paths: Vec<&Path> = strange.iter().map(|file| file.path.as_path()).collect();
    let words = format!(
        "two of the program's parts bring a CUDA each: run what takes {} in a process of its own, or install builds for \
         one CUDA",
        listed(paths.iter().map(|path| path.display()))
    );
    let unpinned = |owner: &&Owner| {
        let pins = view.ledger.packages.iter().flat_map(|package| &package.pins);
        owner.by != "pip" || pins.into_iter().all(|pin| pin.package != owner.package)
    };
    let owner = || strange.iter().filter_map(|file| owner(view, file)).find(unpinned);
    let known = mend::keep_out(view, &paths).or_else(|| Some(mend::remove(view, owner()?)));
    known.unwrap_or(Mend::Words(words))
}

/// A cuDNN that refuses to plan in a program that was asked to.
pub(super) fn refused(view: &View<'_>) -> Vec<Found> {
    let mut findings = Vec::new();
    for program in &view.ledger.programs {
        let Some(step) = program.steps.iter().find(|step| !step.done && step.what == "engines") else {
            continue;
        };
        // Without a driver newer versions plan nothing, which is no fault of theirs.
        let mismatch = step.words.contains("status 1002");
        if program.of(Family::Cudnn).next().is_none() || !(mismatch || view.ledger.driver.release.is_some()) {
            continue;
        }
        findings.push(Found {
            rule: "cudnn-refuses",
            severity: Severity::Error,
            title: format!("cuDNN refuses to plan one small convolution in {}", program.name),
            evidence: vec![
                step.words.clone(),
                "1002: parts of different versions; 1008: a part can't be loaded".to_owned(),
            ],
            files: paths(program.of(Family::Cudnn)),
            mend: put_back(view, program),
        });
    }
    findings
}

/// CUDA libraries of two majors in one process.
pub(super) fn two_cuda_majors(view: &View<'_>) -> Vec<Found> {
    let mut findings = Vec::new();
    for program in &view.ledger.programs {
        let mut majors: BTreeMap<u32, Vec<&Mapped>> = BTreeMap::new();
        for file in program.files.iter().filter(|file| file.family.counts_as_cuda()) {
            let name = file.path.file_name().and_then(|name| name.to_str()).and_then(family::read);
            if let Some(version) = name.and_then(|name| name.version) {
                majors.entry(version.number(0)).or_default().push(file);
            }
        }
        if majors.len() < 2 {
            continue;
        }
        let mend = without_others(view, &majors);
        findings.push(Found {
            rule: "two-cuda-stacks",
            severity: Severity::Warning,
            title: format!("{} {} libraries of CUDA {}", program.name, maps(program), listed(majors.keys())),
            evidence: majors.values().flatten().map(|file| told(view, file)).collect(),
            files: paths(majors.into_values().flatten()),
            mend,
        });
    }
    findings
}

/// Libraries that were removed or replaced under a running program.
pub(super) fn deleted(view: &View<'_>) -> Vec<Found> {
    let mut findings = Vec::new();
    for program in &view.ledger.programs {
        let gone: Vec<&Mapped> = program.files.iter().filter(|file| file.deleted).collect();
        if gone.is_empty() {
            continue;
        }
        findings.push(Found {
            rule: "deleted-library",
            severity: Severity::Warning,
            title: format!("{} maps libraries that were removed or replaced since it started", program.name),
            evidence: gone.iter().map(|file| file.path.display().to_string()).collect(),
            files: paths(gone),
            mend: program.pid.map_or_else(
                || Mend::Words("start the program anew".to_owned()),
                |pid| Mend::Host(format!("kill {pid} # and start it anew")),
            ),
        });
    }
    findings
}
