//! Rules about what one program maps. Knows memory maps; what lies on disk beside that is for other rules.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Finding, Severity, listed, quoted};
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
pub(super) fn two_cudnn(view: &View<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for program in &view.ledger.programs {
        let shims: Vec<&Mapped> = program.of(Family::Cudnn).filter(|file| file.part == SHIM).collect();
        if shims.len() < 2 {
            continue;
        }
        findings.push(Finding {
            rule: "two-cudnn-in-process",
            severity: Severity::Error,
            title: format!("{} {} {} cuDNN libraries", program.name, maps(program), shims.len()),
            evidence: shims.iter().map(|file| told(view, file)).collect(),
            files: paths(shims.iter().copied()),
            mend: "unset LD_LIBRARY_PATH LD_PRELOAD".to_owned(),
        });
    }
    findings
}

/// Parts of one cuDNN from several folders.
pub(super) fn parts_of_two_folders(view: &View<'_>) -> Vec<Finding> {
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
            let by_variable = view.loader.variable.iter().filter_map(|folder| view.source.real(folder));
            let by_variable = by_variable.into_iter().any(|folder| folders.contains(&folder.as_path()));
            let mend = if by_variable { "unset LD_LIBRARY_PATH".to_owned() } else { unmix(view, &files) };
            findings.push(Finding {
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

/// The command that leaves a program one folder of cuDNN: a system's copy goes where the program's own packages have
/// one, else the folder of the library that it names comes first.
fn unmix(view: &View<'_>, files: &[&Mapped]) -> String {
    let shim = files.iter().find(|file| file.part == SHIM).and_then(|file| file.path.parent());
    let strange = files.iter().filter(|file| file.path.parent() != shim);
    match (strange.filter_map(|file| owner(view, file)).find(|owner| owner.by == "dpkg"), shim) {
        (Some(owner), _) => super::remove(owner),
        (None, Some(folder)) => format!("export LD_LIBRARY_PATH={}", quoted(folder)),
        (None, None) => "unset LD_LIBRARY_PATH LD_PRELOAD".to_owned(),
    }
}

/// The command that puts a program's cuDNN back as its package has it.
fn put_back(view: &View<'_>, program: &Program) -> String {
    let owner = program.of(Family::Cudnn).find_map(|file| owner(view, file));
    owner.map_or_else(|| "unset LD_LIBRARY_PATH LD_PRELOAD".to_owned(), super::reinstall)
}

/// The command that takes away the libraries of the CUDA that the framework was not built for, else of the older one.
fn without_others(view: &View<'_>, majors: &BTreeMap<u32, Vec<&Mapped>>) -> String {
    let torch = view.ledger.packages.iter().find(|package| package.name == "torch");
    let wanted = torch.and_then(Package::cuda_major).filter(|major| majors.contains_key(major));
    let wanted = wanted.or_else(|| majors.keys().next_back().copied());
    let strange = majors.iter().filter(|(major, _)| Some(**major) != wanted).flat_map(|(_, files)| files);
    let owner = strange.filter_map(|file| owner(view, file)).next();
    owner.map_or_else(|| "unset LD_LIBRARY_PATH LD_PRELOAD".to_owned(), super::remove)
}

/// A cuDNN that refuses to plan in a program that was asked to.
pub(super) fn refused(view: &View<'_>) -> Vec<Finding> {
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
        findings.push(Finding {
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
pub(super) fn two_cuda_majors(view: &View<'_>) -> Vec<Finding> {
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
        findings.push(Finding {
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
pub(super) fn deleted(view: &View<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for program in &view.ledger.programs {
        let gone: Vec<&Mapped> = program.files.iter().filter(|file| file.deleted).collect();
        if gone.is_empty() {
            continue;
        }
        findings.push(Finding {
            rule: "deleted-library",
            severity: Severity::Warning,
            title: format!("{} maps libraries that were removed or replaced since it started", program.name),
            evidence: gone.iter().map(|file| file.path.display().to_string()).collect(),
            files: paths(gone),
            mend: program.pid.map_or_else(String::new, |pid| format!("kill {pid} # and start it anew")),
        });
    }
    findings
}
