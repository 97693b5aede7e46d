//! Rules about one set of cuDNN on disk: whether its files belong together, what the loader would put in their place,
//! and what is missing. Knows no program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::mend::{self, Mend};
use super::{Found, Severity, listed};
use crate::copies::{Copy, Library};
use crate::family::SHIM;
use crate::ledger::View;
use crate::loader::Way;
use crate::tables::{self, Set};
use crate::version::Version;

/// The first major that consists of parts which a core opens.
const PARTS_SINCE: u32 = 9;

/// Engines without which cuDNN falls back to those that it compiles at run time, and says nothing.
const SILENT: [&str; 2] = ["engines_precompiled", "heuristic"];

/// A folder that holds cuDNN files of two releases, or files that are not those which its package installed.
pub(super) fn two_versions_in_a_folder(view: &View<'_>) -> Vec<Found> {
    let each = |copy: &Copy| {
        copy.cudnn_majors().into_iter().filter_map(|major| mixed(view, copy, major)).collect::<Vec<_>>()
    };
    view.ledger.copies.iter().flat_map(each).collect()
}

fn mixed(view: &View<'_>, copy: &Copy, major: u32) -> Option<Found> {
    // What can't be loaded has a finding of its own.
    let files: Vec<&Library> = copy.cudnn(major).filter(|file| file.broken.is_none()).collect();
    let altered: Vec<&Library> = files
        .iter()
        .copied()
        .filter(|file| file.owner.as_ref().is_some_and(|owner| is_altered(file, owner)))
        .collect();
    let mut versions: BTreeMap<Version, Vec<&Library>> = BTreeMap::new();
    for file in &files {
        let exact = file.version.as_ref().filter(|version| version.places() >= 3);
        if let Some(version) = exact {
            versions.entry(version.short(3)).or_default().push(file);
        }
    }
    if versions.len() < 2 && altered.is_empty() {
        return None;
    }
    let mut evidence: Vec<String> = versions
        .iter()
        .map(|(version, files)| format!("{version}: {}", listed(files.iter().map(|file| &file.name))))
        .collect();
    for file in &altered {
        if let Some(owner) = &file.owner {
            let bytes =
                owner.bytes.map_or_else(|| "another size".to_owned(), |bytes| format!("{bytes} bytes"));
            evidence.push(format!(
                "{} has {} bytes; {} {} installed {bytes}",
                file.name, file.bytes, owner.package, owner.version
            ));
        }
    }
    // Two whole releases may lie side by side where every name carries its version, as distributions have it.
    let all_exact =
        files.iter().all(|file| file.known_by == Some(crate::copies::KnownBy::Name)) && altered.is_empty();
    let severity = if all_exact { Severity::Warning } else { Severity::Error };
    let what = if versions.len() < 2 {
        "holds cuDNN files that are not those of its package".to_owned()
    } else {
        format!("holds cuDNN files of {} releases: {}", versions.len(), listed(versions.keys()))
    };
    let odd = minority(&versions).into_iter().chain(altered.iter().copied());
    let mut about: Vec<PathBuf> = odd.map(|file| file.within(&copy.folder)).collect();
    about.sort();
    about.dedup();
    Some(Found {
        rule: "mixed-set",
        severity,
        title: format!("{} {what}", copy.folder.display()),
        evidence,
        files: about,
        mend: mend::whole(view, copy, major, &files),
    })
}

fn is_altered(file: &Library, owner: &crate::owner::Owner) -> bool {
    owner.altered
        || matches!((&file.sha256, &owner.sha256), (Some(found), Some(recorded)) if found != recorded)
}

/// The files of all versions but the most frequent one; of all where none is.
fn minority<'a>(versions: &BTreeMap<Version, Vec<&'a Library>>) -> Vec<&'a Library> {
    let most = versions.values().map(Vec::len).max().unwrap_or(0);
    let frequent = versions.values().filter(|files| files.len() == most).count();
    if versions.len() < 2 {
        return Vec::new();
    }
    versions.values().filter(|files| frequent > 1 || files.len() < most).flatten().copied().collect()
}

/// A set whose parts the loader would take from another folder: by a search path that comes before the set's own, or
/// because the set lacks a part which its core asks for. Every check of versions by cuDNN itself passes then.
pub(super) fn parts_from_elsewhere(view: &View<'_>) -> Vec<Found> {
    let mut findings = Vec::new();
    for copy in &view.ledger.copies {
        for major in copy.cudnn_majors().into_iter().filter(|major| *major >= PARTS_SINCE) {
            let mut by_folder: BTreeMap<PathBuf, Vec<(String, PathBuf, Way)>> = BTreeMap::new();
            for (part, path, way) in opened(view, copy, major) {
                let real = view.source.real(&path).unwrap_or_else(|| path.clone());
                let own = copy.cudnn(major).any(|file| file.part == part && file.path == real);
                let folder = path.parent().and_then(|folder| view.source.real(folder));
                if let Some(folder) = folder.filter(|folder| !own && *folder != copy.folder) {
                    by_folder.entry(folder).or_default().push((part, path, way));
                }
            }
            findings.extend(
                by_folder.into_iter().map(|(folder, parts)| elsewhere(view, (copy, major), &folder, &parts)),
            );
        }
    }
    findings
}

/// The parts that a set's shim and core would open, each with the file that the loader takes.
fn opened(view: &View<'_>, copy: &Copy, major: u32) -> Vec<(String, PathBuf, Way)> {
    let Some(shim) = copy.shim(major) else { return Vec::new() };
    let version = copy.cudnn_version(major).cloned().unwrap_or_else(|| Version::new(&[major]));
    let Some(set) = set_of(copy, major) else { return Vec::new() };
    let core = copy.cudnn(major).find(|file| file.part == "graph").unwrap_or(shim);
    let parts = set.parts.iter().chain(&set.asks).filter(|part| *part != SHIM);
    let one = |part: &String| {
        let opened_by_core = part.starts_with("engines") || part == "heuristic";
        let elf = if opened_by_core { core.elf() } else { shim.elf() };
        let (path, way) = view.loader.find_part(view.source, part, &version, (&copy.folder, &elf))?;
        Some((part.clone(), path, way))
    };
    parts.filter_map(one).collect()
}

fn elsewhere(
    view: &View<'_>,
    (copy, major): (&Copy, u32),
    folder: &Path,
    parts: &[(String, PathBuf, Way)],
) -> Found {
    let version = copy.cudnn_version(major);
    let named = |version: Option<&Version>| {
        version.map_or_else(|| "of unknown version".to_owned(), ToString::to_string)
    };
    let other = view
        .ledger
        .copies
        .iter()
        .find(|other| other.folder == folder)
        .and_then(|other| other.cudnn_version(major));
    let other = parts.iter().find_map(|(_, path, _)| view.ledger.file(path)?.1.version.as_ref()).or(other);
    let same = matches!((version, other), (Some(one), Some(two)) if one.agrees(two));
    let is_used =
        view.ledger.programs.iter().any(|program| program.cudnn_folders().contains(&copy.folder.as_path()));
    let is_chosen = is_used || copy.found_by.iter().any(|by| by == "site-packages");
    let has = |part: &str| copy.cudnn(major).any(|file| file.part == part);
    let lacking: Vec<&str> = parts.iter().map(|(part, ..)| part.as_str()).filter(|part| !has(part)).collect();
    let severity = match (same, is_chosen) {
        (true, _) => Severity::Note,
        (false, true) => Severity::Error,
        (false, false) => Severity::Warning,
    };
    let mut evidence: Vec<String> = parts
        .iter()
        .map(|(part, path, way)| format!("{part}: {} through {}", path.display(), way.name()))
        .collect();
    let own_path = copy
        .shim(major)
        .map(|shim| if shim.rpath.is_empty() { ("RUNPATH", "after") } else { ("RPATH", "before") });
    if let Some((kind, order)) = own_path {
        evidence.push(format!("the set itself searches by {kind}, which comes {order} LD_LIBRARY_PATH"));
    }
    if !lacking.is_empty() {
        evidence.push(format!("the set has no {} of its own", listed(&lacking)));
    }
    let mend = mend_elsewhere(view, (copy, major), folder, parts, &lacking);
    let title = format!(
        "cuDNN {} in {} would run with {} of {} from {}",
        named(version),
        copy.folder.display(),
        listed(parts.iter().map(|(part, ..)| part)),
        named(other),
        folder.display()
    );
    let mut files = vec![copy.folder.clone(), folder.to_owned()];
    files.extend(parts.iter().map(|(_, path, _)| path.clone()));
    Found { rule: "parts-from-elsewhere", severity, title, evidence, files, mend }
}

/// What keeps another folder's parts out of a set: that folder out of LD_LIBRARY_PATH; the set's own parts where it
/// lacks them; the strange files gone where the set's own core asks for what no set of its version has; else the set's
/// folder in front.
fn mend_elsewhere(
    view: &View<'_>,
    (copy, major): (&Copy, u32),
    folder: &Path,
    parts: &[(String, PathBuf, Way)],
    lacking: &[&str],
) -> Mend {
    let by_variable = parts.iter().any(|(.., way)| *way == Way::Variable);
    let own = set_of(copy, major).map(|set| if copy.is_jit(major) { &set.jit } else { &set.parts });
    let is_incomplete =
        own.is_some_and(|own| lacking.iter().any(|part| own.iter().any(|known| known == part)));
    match (by_variable, is_incomplete) {
        (false, true) => return mend_lacking(view, (copy, major), None),
        (true, false) => return mend::without(vec![folder.to_owned()]),
        // Without that folder the set would lack parts.
        (true, true) => {
            return match mend_lacking(view, (copy, major), None) {
                Mend::Path(mut change) => {
                    change.without.push(folder.to_owned());
                    Mend::Path(change)
                }
                Mend::Command(command) => {
                    let change = mend::Change { without: vec![folder.to_owned()], ..mend::Change::default() };
                    Mend::Both(command, change)
                }
                other
                @ (Mend::Host(_) | Mend::Shell(_) | Mend::Words(_) | Mend::Both(..) | Mend::Nothing) => other,
            };
        }
        (false, false) if lacking.is_empty() => return mend::first(&copy.folder),
        (false, false) => {}
    }
    let other = view.ledger.copies.iter().find(|other| other.folder == folder);
    let strange: Vec<&Library> = other
        .into_iter()
        .flat_map(|other| other.cudnn(major))
        .filter(|file| lacking.contains(&file.part.as_str()))
        .collect();
    match other {
        Some(other) if !strange.is_empty() => mend::take_away(view, other, &strange),
        Some(_) | None => Mend::Words(format!("take the cuDNN of {} away", folder.display())),
    }
}

/// The row of a set; where its version is not known, the oldest of its major, which asks for the least.
fn set_of(copy: &Copy, major: u32) -> Option<&'static Set> {
    let version = copy.cudnn_version(major).filter(|version| version.places() >= 2);
    tables::set_of(version.unwrap_or(&Version::new(&[major])))
}

/// A set without some of its parts, which it does not find elsewhere either.
pub(super) fn incomplete(view: &View<'_>) -> Vec<Found> {
    let mut findings = Vec::new();
    for copy in &view.ledger.copies {
        for major in copy.cudnn_majors() {
            let (Some(shim), Some(set)) = (copy.shim(major), set_of(copy, major)) else { continue };
            let wanted = if copy.is_jit(major) { &set.jit } else { &set.parts };
            let found = opened(view, copy, major);
            // A file that can't be loaded has a finding of its own.
            let has = |part: &str| copy.cudnn(major).any(|file| file.part == part);
            let reached = |part: &str| found.iter().any(|(known, ..)| known == part);
            let missing: Vec<&str> = wanted
                .iter()
                .map(String::as_str)
                .filter(|part| !(has(part) || (reached(part) && major >= PARTS_SINCE)))
                .collect();
            if !missing.is_empty() {
                findings.push(lacking(view, (copy, major), (shim, set), &missing));
            }
        }
    }
    findings
}

fn lacking(
    view: &View<'_>,
    (copy, major): (&Copy, u32),
    (shim, set): (&Library, &Set),
    missing: &[&str],
) -> Found {
    let fatal =
        |part: &&str| part.starts_with("engines_r") || part.starts_with("engines_t") || **part == *"graph";
    let severity = if missing.iter().any(fatal) { Severity::Error } else { Severity::Warning };
    let effect = if missing.iter().any(fatal) {
        "it can plan nothing (SUBLIBRARY_LOADING_FAILED)"
    } else if missing.iter().any(|part| SILENT.contains(part)) {
        "it falls silently to engines that are compiled at run time, fewer and with other numbers"
    } else {
        "calls that need them are refused"
    };
    let version = copy.cudnn_version(major).map_or_else(|| format!("{major}"), ToString::to_string);
    let mut evidence = vec![format!(
        "missing: {}",
        listed(missing.iter().map(|part| format!("libcudnn_{part}.so.{major}")))
    )];
    evidence.push(format!("there: {}", listed(copy.cudnn(major).map(|file| &file.name))));
    evidence.push(effect.to_owned());
    let odd = copy.odd.iter().filter(|odd| {
        crate::family::read(&odd.name).is_some_and(|name| missing.contains(&name.part.as_str()))
    });
    evidence.extend(odd.map(|odd| format!("{} {}", odd.name, odd.what)));
    evidence.push(format!("known from: {}", set.source));
    let files = std::iter::once(shim.within(&copy.folder))
        .chain(missing.iter().map(|part| copy.folder.join(format!("libcudnn_{part}.so.{major}"))));
    Found {
        rule: "incomplete-set",
        severity,
        title: format!("cuDNN {version} in {} lacks {}", copy.folder.display(), listed(missing)),
        evidence,
        files: files.collect(),
        mend: mend_lacking(view, (copy, major), Some(shim)),
    }
}

/// A set that LD_LIBRARY_PATH leads to and that no package owns is left out where the Python's packages hold a whole
/// one; else it is made whole.
fn mend_lacking(view: &View<'_>, (copy, major): (&Copy, u32), shim: Option<&Library>) -> Mend {
    let is_owned = copy.cudnn(major).any(|file| file.owner.is_some());
    let on_path = mend::on_variable(view, [copy.folder.as_path()]);
    if !is_owned && !on_path.is_empty() && mend::other_set(view, &copy.folder, major).is_some() {
        return mend::without(on_path);
    }
    mend::whole(view, copy, major, shim.as_slice())
}
