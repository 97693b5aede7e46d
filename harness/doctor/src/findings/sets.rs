//! Rules about one set of cuDNN on disk: whether its files belong together, what the loader would put in their place,
//! and what is missing. Knows no program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Finding, Severity, listed, quoted};
use crate::copies::{Copy, Library};
use crate::family::{Family, SHIM};
use crate::ledger::View;
use crate::loader::Way;
use crate::tables::{self, Set};
use crate::version::Version;

/// The first major that consists of parts which a core opens.
const PARTS_SINCE: u32 = 9;

/// Engines without which cuDNN falls back to those that it compiles at run time, and says nothing.
const SILENT: [&str; 2] = ["engines_precompiled", "heuristic"];

/// How a set is put back as its package has it.
fn reinstall(copy: &Copy, files: &[&Library]) -> String {
    let owner =
        files.iter().chain(&copy.cudnn(PARTS_SINCE).collect::<Vec<_>>()).find_map(|file| file.owner.as_ref());
    let unowned = || {
        let version = copy.cudnn_majors().into_iter().find_map(|major| copy.cudnn_version(major));
        let version = version.map_or_else(|| "9".to_owned(), |version| version.short(3).to_string());
        format!(
            "convict sets --fetch wheel:{version} # and use that folder instead of {}",
            quoted(&copy.folder)
        )
    };
    owner.map_or_else(unowned, super::reinstall)
}

/// A folder that holds cuDNN files of two releases, or files that are not those which its package installed.
pub(super) fn two_versions_in_a_folder(view: &View<'_>) -> Vec<Finding> {
    let each = |copy: &Copy| {
        copy.cudnn_majors().into_iter().filter_map(|major| mixed(copy, major)).collect::<Vec<_>>()
    };
    view.ledger.copies.iter().flat_map(each).collect()
}

fn mixed(copy: &Copy, major: u32) -> Option<Finding> {
    let files: Vec<&Library> = copy.cudnn(major).collect();
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
    Some(Finding {
        rule: "mixed-set",
        severity,
        title: format!("{} {what}", copy.folder.display()),
        evidence,
        files: about,
        mend: reinstall(copy, &files),
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
pub(super) fn parts_from_elsewhere(view: &View<'_>) -> Vec<Finding> {
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
) -> Finding {
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
    let by_variable = parts.iter().any(|(.., way)| *way == Way::Variable);
    let mend = match (by_variable, lacking.is_empty()) {
        (true, _) => "unset LD_LIBRARY_PATH".to_owned(),
        (false, true) => format!("export LD_LIBRARY_PATH={}", quoted(&copy.folder)),
        (false, false) => format!("sudo apt-get remove --purge 'libcudnn{major}*'"),
    };
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
    Finding { rule: "parts-from-elsewhere", severity, title, evidence, files, mend }
}

/// The row of a set; where its version is not known, the oldest of its major, which asks for the least.
fn set_of(copy: &Copy, major: u32) -> Option<&'static Set> {
    let version = copy.cudnn_version(major).filter(|version| version.places() >= 2);
    tables::set_of(version.unwrap_or(&Version::new(&[major])))
}

/// True for a set that is meant to compile all of its engines at run time.
fn is_jit(copy: &Copy, major: u32) -> bool {
    let named = copy.folder.components().any(|part| part.as_os_str() == "cudnn_jit");
    let owned = |file: &Library| file.owner.as_ref().is_some_and(|owner| owner.package.contains("cudnn-jit"));
    named || copy.cudnn(major).any(owned)
}

/// A set without some of its parts, which it does not find elsewhere either.
pub(super) fn incomplete(view: &View<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for copy in &view.ledger.copies {
        for major in copy.cudnn_majors() {
            let (Some(shim), Some(set)) = (copy.shim(major), set_of(copy, major)) else { continue };
            let wanted = if is_jit(copy, major) { &set.jit } else { &set.parts };
            let found = opened(view, copy, major);
            let has = |part: &str| copy.cudnn(major).any(|file| file.part == part && file.broken.is_none());
            let reached = |part: &str| found.iter().any(|(known, ..)| known == part);
            let missing: Vec<&str> = wanted
                .iter()
                .map(String::as_str)
                .filter(|part| !(has(part) || (reached(part) && major >= PARTS_SINCE)))
                .collect();
            if !missing.is_empty() {
                findings.push(lacking((copy, major), shim, set, &missing));
            }
        }
    }
    findings
}

fn lacking((copy, major): (&Copy, u32), shim: &Library, set: &Set, missing: &[&str]) -> Finding {
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
    let broken =
        copy.cudnn(major).filter_map(|file| Some(format!("{}: {}", file.name, file.broken.as_ref()?)));
    let mut evidence = vec![format!(
        "missing: {}",
        listed(missing.iter().map(|part| format!("libcudnn_{part}.so.{major}")))
    )];
    evidence.push(format!("there: {}", listed(copy.cudnn(major).map(|file| &file.name))));
    evidence.push(effect.to_owned());
    evidence.extend(broken);
    evidence.push(format!("known from: {}", set.source));
    let files = std::iter::once(shim.within(&copy.folder))
        .chain(missing.iter().map(|part| copy.folder.join(format!("libcudnn_{part}.so.{major}"))));
    Finding {
        rule: "incomplete-set",
        severity,
        title: format!("cuDNN {version} in {} lacks {}", copy.folder.display(), listed(missing)),
        evidence,
        files: files.collect(),
        mend: reinstall(copy, &[shim]),
    }
}

/// The CUDA majors that a set may be built for: what its package says, else the two that there are.
fn cuda_of(copy: &Copy, major: u32) -> Vec<u32> {
    let owner = copy.cudnn(major).find_map(|file| file.owner.as_ref());
    let suffix = owner.and_then(|owner| {
        let text = if owner.package.contains("cu") { &owner.package } else { &owner.version };
        ["cu13", "cu12", "cu11", "cuda-13", "cuda-12", "cuda13", "cuda12"]
            .iter()
            .find(|word| text.contains(**word))
    });
    let number = suffix
        .and_then(|word| word.trim_start_matches(|character: char| !character.is_ascii_digit()).parse().ok());
    number.map_or_else(|| vec![13, 12], |number| vec![number])
}

/// True where a set finds a companion library: through its own search, beside it, in the same packages, or because a
/// program maps one.
fn reaches(
    view: &View<'_>,
    copy: &Copy,
    asking: &Library,
    (family, stem): (Family, &str),
    majors: &[u32],
) -> bool {
    let elf = asking.elf();
    let by_loader = majors.iter().any(|cuda| {
        view.loader.find(view.source, &format!("{stem}.so.{cuda}"), (&copy.folder, &elf)).is_some()
    });
    let site = |folder: &Path| folder.ancestors().nth(3).map(Path::to_owned);
    let own_site =
        site(&copy.folder).filter(|_| copy.folder.components().any(|part| part.as_os_str() == "nvidia"));
    let fits =
        |file: &Library| file.family == family && file.major().is_some_and(|major| majors.contains(&major));
    let beside = own_site.is_some()
        && view
            .ledger
            .copies
            .iter()
            .any(|other| site(&other.folder) == own_site && other.files.iter().any(fits));
    let mapped = view.ledger.programs.iter().any(|program| program.of(family).next().is_some());
    by_loader || beside || mapped
}

/// A set that compiles at run time with an NVRTC from outside, which it does not find.
pub(super) fn no_compiler(view: &View<'_>) -> Vec<Finding> {
    companions(view, |set, copy, major| {
        let core = copy.cudnn(major).find(|file| file.part == "graph")?;
        (set.compiler == "external").then_some((core, Family::Nvrtc, "libnvrtc", "nvidia-cuda-nvrtc"))
    })
}

/// A full set that does not find the cuBLASLt for which it ends the process.
pub(super) fn no_cublaslt(view: &View<'_>) -> Vec<Finding> {
    companions(view, |_, copy, major| {
        let engines = copy.cudnn(major).find(|file| file.part == "engines_precompiled")?;
        Some((engines, Family::CublasLt, "libcublasLt", "nvidia-cublas"))
    })
}

/// A part that asks, the family and stem of what it asks for, and the package that has it.
type Companion<'a> = (&'a Library, Family, &'static str, &'static str);

fn companions(
    view: &View<'_>,
    asked: impl for<'a> Fn(&Set, &'a Copy, u32) -> Option<Companion<'a>>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for copy in &view.ledger.copies {
        for major in copy.cudnn_majors().into_iter().filter(|major| *major >= PARTS_SINCE) {
            let Some(set) = set_of(copy, major) else { continue };
            let Some((asking, family, stem, package)) = asked(set, copy, major) else { continue };
            let majors = cuda_of(copy, major);
            if reaches(view, copy, asking, (family, stem), &majors) {
                continue;
            }
            let names = listed(majors.iter().map(|cuda| format!("{stem}.so.{cuda}")));
            let effect = if family == Family::CublasLt {
                "cuDNN ends the process at the first heuristics query"
            } else {
                "engines that are compiled at run time are refused (3008), the others work"
            };
            let cuda = majors.first().copied().unwrap_or(13);
            let package = if cuda < 13 { format!("{package}-cu{cuda}") } else { package.to_owned() };
            findings.push(Finding {
                rule: if family == Family::CublasLt { "no-cublaslt" } else { "no-nvrtc" },
                severity: Severity::Warning,
                title: format!("cuDNN in {} finds no {}", copy.folder.display(), family.name()),
                evidence: vec![
                    format!("{} asks for {names}", asking.name),
                    format!("neither its own search path {:?} nor LD_LIBRARY_PATH nor the loader's cache leads to one", asking.runpath),
                    effect.to_owned(),
                ],
                files: vec![asking.within(&copy.folder)],
                mend: format!("python3 -m pip install {package}"),
            });
        }
    }
    findings
}

/// An NVRTC without the library that it opens itself.
pub(super) fn no_builtins(view: &View<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for copy in &view.ledger.copies {
        let compilers =
            copy.files.iter().filter(|file| file.family == Family::Nvrtc && !file.part.ends_with(".alt"));
        for compiler in compilers.filter(|file| file.broken.is_none()) {
            let major = compiler.major();
            let fits = |file: &&Library| file.family == Family::NvrtcBuiltins && file.major() == major;
            let elsewhere = || {
                let paths = view.loader.variable.iter().filter_map(|folder| view.source.real(folder));
                paths.into_iter().any(|folder| {
                    view.ledger
                        .copies
                        .iter()
                        .any(|other| other.folder == folder && other.files.iter().any(|file| fits(&file)))
                })
            };
            let cached =
                view.loader.cache.entries().any(|(name, _)| name.starts_with("libnvrtc-builtins.so"));
            // Before CUDA 11 the compiler brought its own under another name.
            if copy.files.iter().any(|file| fits(&file))
                || elsewhere()
                || cached
                || major.is_none_or(|major| major < 11)
            {
                continue;
            }
            findings.push(Finding {
                rule: "no-nvrtc-builtins",
                severity: Severity::Warning,
                title: format!("{} has no libnvrtc-builtins beside it", compiler.within(&copy.folder).display()),
                evidence: vec!["without it the compiler fails, and engines that are compiled at run time vanish from cuDNN".to_owned()],
                files: vec![compiler.within(&copy.folder)],
                mend: reinstall_compiler(compiler),
            });
        }
    }
    findings
}

fn reinstall_compiler(compiler: &Library) -> String {
    let package = match compiler.major() {
        Some(major) if major < 13 => format!("nvidia-cuda-nvrtc-cu{major}"),
        Some(_) | None => "nvidia-cuda-nvrtc".to_owned(),
    };
    let unowned = || format!("python3 -m pip install {package}");
    compiler.owner.as_ref().map_or_else(unowned, super::reinstall)
}
