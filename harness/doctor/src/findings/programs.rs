//! Rules about what one program maps. Knows memory maps; what lies on disk beside that is for other rules.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Finding, Severity, listed};
use crate::family::{self, Family, SHIM};
use crate::ledger::View;
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
            by_major.entry(name.and_then(|name| name.version).map(|version| version.number(0))).or_default().push(file);
        }
        for files in by_major.into_values() {
            let mut folders: Vec<&Path> = files.iter().filter_map(|file| file.path.parent()).collect();
            folders.sort_unstable();
            folders.dedup();
            if folders.len() < 2 {
                continue;
            }
            let mut versions: Vec<Option<Version>> = files.iter().map(|file| version_of(view, &file.path)).collect();
            versions.sort();
            versions.dedup();
            let one = versions.len() == 1 && versions.iter().all(Option::is_some);
            let severity = if one { Severity::Warning } else { Severity::Error };
            let by_variable = view.loader.variable.iter().filter_map(|folder| view.source.real(folder));
            let by_variable = by_variable.into_iter().any(|folder| folders.contains(&folder.as_path()));
            let mend = if by_variable { "unset LD_LIBRARY_PATH" } else { "convict doctor --python python3 --hash" };
            findings.push(Finding {
                rule: "mixed-process",
                severity,
                title: format!("{} {} parts of cuDNN from {} folders", program.name, maps(program), folders.len()),
                evidence: files.iter().map(|file| told(view, file)).collect(),
                files: paths(files),
                mend: mend.to_owned(),
            });
        }
    }
    findings
}

/// A cuDNN that refuses to plan in a program that was asked to.
pub(super) fn refused(view: &View<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for program in &view.ledger.programs {
        let Some(step) = program.steps.iter().find(|step| !step.done && step.what == "engines") else { continue };
        // Without a driver newer versions plan nothing, which is no fault of theirs.
        let mismatch = step.words.contains("status 1002");
        if program.of(Family::Cudnn).next().is_none() || !(mismatch || view.ledger.driver.release.is_some()) {
            continue;
        }
        findings.push(Finding {
            rule: "cudnn-refuses",
            severity: Severity::Error,
            title: format!("cuDNN refuses to plan one small convolution in {}", program.name),
            evidence: vec![step.words.clone(), "1002: parts of different versions; 1008: a part can't be loaded".to_owned()],
            files: paths(program.of(Family::Cudnn)),
            mend: "LD_DEBUG=libs python3 -c 'import torch; torch.backends.cudnn.version()'".to_owned(),
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
        findings.push(Finding {
            rule: "two-cuda-stacks",
            severity: Severity::Warning,
            title: format!("{} {} libraries of CUDA {}", program.name, maps(program), listed(majors.keys())),
            evidence: majors.values().flatten().map(|file| told(view, file)).collect(),
            files: paths(majors.into_values().flatten()),
            mend: "python3 -m pip list | grep -i -E 'cu1[123]|nvidia'".to_owned(),
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
            mend: "start the program anew".to_owned(),
        });
    }
    findings
}
