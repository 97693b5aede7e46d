//! Rules about where libraries lie and what leads to them: search paths, preloads, several versions, variables. Knows
//! folders; knows no set from within.

use std::path::{Path, PathBuf};

use super::mend::{self, Mend, quoted};
use super::{Found, Severity, listed};
use crate::copies::Copy;
use crate::family::{self, Family};
use crate::ledger::{Place, View};
use crate::owner::Owner;
use crate::tables;
use crate::version::Version;

fn named(version: Option<&Version>) -> String {
    version.map_or_else(|| "of unknown version".to_owned(), ToString::to_string)
}

/// The folders of LD_LIBRARY_PATH that hold libraries, in its order.
fn on_path<'a>(view: &'a View<'_>) -> Vec<&'a Copy> {
    let real = view.loader.variable.iter().filter_map(|folder| view.source.real(folder));
    real.filter_map(|folder| view.ledger.copies.iter().find(|copy| copy.folder == folder)).collect()
}

/// A cuDNN of LD_LIBRARY_PATH that comes before the one of the Python's packages.
pub(super) fn shadowed(view: &View<'_>) -> Vec<Found> {
    let path = on_path(view);
    let in_site = |copy: &&Copy| copy.found_by.iter().any(|by| by == "site-packages");
    let mut findings = Vec::new();
    for wheel in view.ledger.copies.iter().filter(in_site) {
        for major in wheel.cudnn_majors().into_iter().filter(|major| wheel.shim(*major).is_some()) {
            let Some(first) = path.iter().find(|copy| copy.shim(major).is_some()) else { continue };
            if first.folder == wheel.folder {
                continue;
            }
            let (before, after) = (first.cudnn_version(major), wheel.cudnn_version(major));
            let same = matches!((before, after), (Some(one), Some(two)) if one.agrees(two));
            let files = [*first, wheel].map(|copy| copy.shim(major).map(|shim| shim.within(&copy.folder)));
            findings.push(Found {
                rule: "shadowed",
                severity: if same { Severity::Note } else { Severity::Warning },
                title: format!(
                    "LD_LIBRARY_PATH puts cuDNN {} of {} before {} of {}",
                    named(before),
                    first.folder.display(),
                    named(after),
                    wheel.folder.display()
                ),
                evidence: vec![
                    "programs that open cuDNN by its name, and cudnn-frontend, take the first".to_owned(),
                ],
                files: files.into_iter().flatten().collect(),
                mend: mend::without(vec![first.folder.clone()]),
            });
        }
    }
    findings
}

/// cuDNN of two majors on one path.
pub(super) fn old_beside_new(view: &View<'_>) -> Vec<Found> {
    let cached = view
        .loader
        .cache
        .entries()
        .filter(|(name, _)| family::read(name).is_some_and(|name| name.family == Family::Cudnn));
    let cached: Vec<PathBuf> = cached.filter_map(|(_, path)| view.source.real(path.parent()?)).collect();
    let cached = view.ledger.copies.iter().filter(|copy| cached.contains(&copy.folder)).collect();
    let single = view.ledger.copies.iter().map(|copy| (copy.folder.display().to_string(), vec![copy]));
    let paths = [("LD_LIBRARY_PATH".to_owned(), on_path(view)), ("the loader's cache".to_owned(), cached)];
    let mut findings: Vec<Found> = Vec::new();
    for (path, copies) in paths.into_iter().chain(single) {
        let mut found: Vec<(u32, &Copy)> = Vec::new();
        for copy in copies {
            found.extend(
                copy.cudnn_majors()
                    .into_iter()
                    .filter(|major| copy.shim(*major).is_some())
                    .map(|major| (major, copy)),
            );
        }
        let mut majors: Vec<u32> = found.iter().map(|(major, _)| *major).collect();
        majors.sort_unstable();
        majors.dedup();
        let files: Vec<PathBuf> =
            found.iter().filter_map(|(major, copy)| Some(copy.shim(*major)?.within(&copy.folder))).collect();
        if majors.len() < 2 || findings.iter().any(|known| known.files == files) {
            continue;
        }
        let told = |(major, copy): &(u32, &Copy)| {
            format!("{}: {}", copy.folder.display(), named(copy.cudnn_version(*major)))
        };
        findings.push(Found {
            rule: "two-majors-on-a-path",
            severity: Severity::Warning,
            title: format!("cuDNN {} lie on one path: {path}", listed(&majors)),
            evidence: found.iter().map(told).collect(),
            mend: mend_majors(view, &path, &found),
            files,
        });
    }
    findings
}

fn mend_majors(view: &View<'_>, path: &str, found: &[(u32, &Copy)]) -> Mend {
    let newest = found.iter().map(|(major, _)| *major).max().unwrap_or_default();
    let old: Vec<(u32, &Copy)> = found.iter().filter(|(major, _)| *major < newest).copied().collect();
    let is_apart = |copy: &Copy| copy.shim(newest).is_none();
    if path == "LD_LIBRARY_PATH" && old.iter().all(|(_, copy)| is_apart(copy)) {
        return mend::without(old.iter().map(|(_, copy)| copy.folder.clone()).collect());
    }
    let Some((major, copy)) = old.first() else { return Mend::Nothing };
    let files: Vec<_> = copy.cudnn(*major).collect();
    let owner: Option<&Owner> = files.iter().find_map(|file| file.owner.as_ref());
    match owner {
        Some(owner) => mend::remove(view, owner),
        None if path == "the loader's cache" => mend::take_away(view, copy, &files),
        None => Mend::Command(format!("rm {}/libcudnn*.so.{major}*", quoted(&copy.folder))),
    }
}

/// A library that every program loads first although it is not there, or is a cuDNN.
pub(super) fn preloaded(view: &View<'_>) -> Vec<Found> {
    let mut findings = Vec::new();
    for (name, by) in &view.ledger.preloads {
        let path = Path::new(name);
        let gone = name.starts_with('/') && view.source.file(path).is_none();
        let told = path.file_name().and_then(|name| name.to_str()).and_then(family::read);
        if !gone && told.is_none() {
            continue;
        }
        let (rule, what) = match (gone, told) {
            (true, _) => ("stale-preload", "a file that is not there".to_owned()),
            (false, told) => (
                "preload",
                told.map_or_else(String::new, |told| format!("a library of {}", told.family.name())),
            ),
        };
        findings.push(Found {
            rule,
            severity: Severity::Warning,
            title: format!("{by} has every program load {what}: {name}"),
            evidence: vec!["what is preloaded comes before every search".to_owned()],
            files: vec![path.to_owned()],
            mend: mend::no_preload(name, by),
        });
    }
    findings
}

/// What is worth knowing and wrong with nobody: several versions, and variables that switch behaviour.
pub(super) fn notes(view: &View<'_>) -> Vec<Found> {
    let mut findings: Vec<Found> = several(view).into_iter().collect();
    for variable in &view.ledger.variables {
        if let Some(switch) = tables::switches().iter().find(|switch| switch.name == variable.name) {
            findings.push(Found {
                rule: "variable",
                severity: Severity::Note,
                title: format!("{}={} is set: {}", variable.name, variable.value, switch.says),
                evidence: vec![format!("known from: {}", switch.source)],
                files: Vec::new(),
                mend: Mend::Shell(format!("unset {}", variable.name)),
            });
        }
    }
    findings
}

/// Several versions of cuDNN, and which of them each program takes.
fn several(view: &View<'_>) -> Option<Found> {
    let mut found: Vec<(&Copy, Option<Version>)> = Vec::new();
    for copy in &view.ledger.copies {
        let majors = copy.cudnn_majors().into_iter().filter(|major| copy.shim(*major).is_some());
        found.extend(majors.map(|major| (copy, copy.cudnn_version(major).map(|version| version.short(3)))));
    }
    let mut versions: Vec<&Option<Version>> = found.iter().map(|(_, version)| version).collect();
    versions.sort();
    versions.dedup();
    if versions.len() < 2 {
        return None;
    }
    let mut evidence: Vec<String> = found
        .iter()
        .map(|(copy, version)| {
            format!("{}: {} ({})", copy.folder.display(), named(version.as_ref()), listed(&copy.found_by))
        })
        .collect();
    for program in &view.ledger.programs {
        for folder in program.cudnn_folders() {
            let version = found
                .iter()
                .find(|(copy, _)| copy.folder == folder)
                .and_then(|(_, version)| version.as_ref());
            evidence.push(format!(
                "{} takes {} of {}",
                program.name,
                named(version.or(program.cudnn.as_ref())),
                folder.display()
            ));
        }
    }
    let has_failed = view.ledger.python.as_ref().is_some_and(|python| python.trouble.is_some());
    Some(Found {
        rule: "several-versions",
        severity: Severity::Note,
        title: format!(
            "{} versions of cuDNN are installed: {}",
            versions.len(),
            listed(versions.iter().map(|version| named(version.as_ref())))
        ),
        files: found.iter().map(|(copy, _)| copy.folder.clone()).collect(),
        evidence,
        // Which of them a program takes is told where one was looked at; one that failed would fail again.
        mend: match (view.ledger.programs.is_empty() && !has_failed, view.place) {
            (true, Place::Here) => Mend::Command("convict doctor --python python3".to_owned()),
            (true, Place::Below(_) | Place::Container(_)) | (false, _) => Mend::Nothing,
        },
    })
}
