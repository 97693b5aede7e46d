//! Rules about what a set of cuDNN or a compiler needs beside it: the run-time compiler, what that opens, cuBLASLt.
//! Knows which library asks for which; what a set consists of is for `sets`.

use std::path::Path;

use ::wheels::Part;

use super::mend::{self, Mend, cuda_of};
use super::{Found, Severity, listed};
use crate::copies::{Copy, Library};
use crate::family::Family;
use crate::ledger::View;
use crate::tables::{self, Set};
use crate::version::Version;

/// The first major that consists of parts which a core opens.
const PARTS_SINCE: u32 = 9;

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
pub(super) fn no_compiler(view: &View<'_>) -> Vec<Found> {
    needed(view, |set, copy, major| {
        let core = copy.cudnn(major).find(|file| file.part == "graph")?;
        (set.compiler == "external").then_some((core, Family::Nvrtc, "libnvrtc", Part::Nvrtc))
    })
}

/// A full set that does not find the cuBLASLt for which it ends the process.
pub(super) fn no_cublaslt(view: &View<'_>) -> Vec<Found> {
    needed(view, |_, copy, major| {
        let engines = copy.cudnn(major).find(|file| file.part == "engines_precompiled")?;
        Some((engines, Family::CublasLt, "libcublasLt", Part::CublasLt))
    })
}

/// A part that asks, the family and stem of what it asks for, and the wheel that has it.
type Companion<'a> = (&'a Library, Family, &'static str, Part);

fn needed(
    view: &View<'_>,
    asked: impl for<'a> Fn(&Set, &'a Copy, u32) -> Option<Companion<'a>>,
) -> Vec<Found> {
    let mut findings = Vec::new();
    for copy in &view.ledger.copies {
        for major in copy.cudnn_majors().into_iter().filter(|major| *major >= PARTS_SINCE) {
            let version = copy.cudnn_version(major).filter(|version| version.places() >= 2);
            let row = tables::set_of(version.unwrap_or(&Version::new(&[major])));
            let Some(set) = row else { continue };
            let Some((asking, family, stem, part)) = asked(set, copy, major) else { continue };
            let majors = cuda_of(view, copy, major);
            if reaches(view, copy, asking, (family, stem), &majors) {
                continue;
            }
            let names = listed(majors.iter().map(|cuda| format!("{stem}.so.{cuda}")));
            let effect = if family == Family::CublasLt {
                "cuDNN ends the process at the first heuristics query"
            } else if copy.is_jit(major) {
                "every engine of this set is compiled at run time, and refused without it (3008)"
            } else {
                "engines that are compiled at run time are refused (3008), the others work"
            };
            findings.push(Found {
                rule: if family == Family::CublasLt { "no-cublaslt" } else { "no-nvrtc" },
                severity: Severity::Warning,
                title: format!("cuDNN in {} finds no {}", copy.folder.display(), family.name()),
                evidence: vec![
                    format!("{} asks for {names}", asking.name),
                    format!("neither its own search path {:?} nor LD_LIBRARY_PATH nor the loader's cache leads to one", asking.runpath),
                    effect.to_owned(),
                ],
                files: vec![asking.within(&copy.folder)],
                mend: bring(view, copy, (family, part), &majors),
            });
        }
    }
    findings
}

/// An NVRTC without the library that it opens itself.
pub(super) fn no_builtins(view: &View<'_>) -> Vec<Found> {
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
            findings.push(Found {
                rule: "no-nvrtc-builtins",
                severity: Severity::Warning,
                title: format!("{} has no libnvrtc-builtins beside it", compiler.within(&copy.folder).display()),
                evidence: vec!["without it the compiler fails, and engines that are compiled at run time vanish from cuDNN".to_owned()],
                files: vec![compiler.within(&copy.folder)],
                mend: mend_compiler(view, copy, compiler),
            });
        }
    }
    findings
}

/// Gets a companion to where the set looks for it: among the same packages; from a folder of this machine that has it;
/// else into the set's own folder, which whatever led to the set leads to as well.
fn bring(view: &View<'_>, copy: &Copy, (family, part): (Family, Part), majors: &[u32]) -> Mend {
    let wheel = majors.iter().find_map(|cuda| mend::companion(part, *cuda));
    if let (Some(wheel), Some(site)) = (wheel, mend::site_of(copy)) {
        return Mend::Command(mend::pip_install(view, &site, &[mend::pinned(wheel)]));
    }
    let there = view.ledger.copies.iter();
    let mut there = there.filter(|other| mend::has(other, family, majors) && mend::has_no_cudnn(other));
    if let Some(other) = there.next() {
        return Mend::Path(mend::Change { last: vec![other.folder.clone()], ..mend::Change::default() });
    }
    match wheel {
        Some(wheel) => mend::refill(copy, &mend::pinned(wheel), wheel.libraries()),
        None => Mend::Words(format!(
            "put the {} of CUDA {} into {}",
            family.name(),
            listed(majors),
            copy.folder.display()
        )),
    }
}

/// What pip is asked for to get a companion again, and the folder of its libraries within the wheel: of the file's own
/// version where that is known, else the published one.
pub(super) fn requirement(view: &View<'_>, copy: &Copy, file: &Library) -> Option<(String, &'static str)> {
    let part = match file.family {
        Family::Nvrtc | Family::NvrtcBuiltins => Part::Nvrtc,
        Family::CublasLt | Family::Cublas => Part::CublasLt,
        Family::Cudnn | Family::Cudart | Family::NvJitLink | Family::Driver => return None,
    };
    let cuda = file.major().or_else(|| cuda_of(view, copy, PARTS_SINCE).first().copied())?;
    let wheel = mend::companion(part, cuda)?;
    let exact = file.version.as_ref().filter(|version| version.places() >= 3);
    let requirement =
        exact.map_or_else(|| mend::pinned(wheel), |version| format!("{}=={version}", wheel.package));
    Some((requirement, wheel.libraries()))
}

fn mend_compiler(view: &View<'_>, copy: &Copy, compiler: &Library) -> Mend {
    if let Some(owner) = &compiler.owner {
        return mend::reinstall(view, owner);
    }
    match (requirement(view, copy, compiler), mend::site_of(copy)) {
        (Some((requirement, _)), Some(site)) => Mend::Command(mend::pip_install(view, &site, &[requirement])),
        (Some((requirement, libraries)), None) => mend::refill(copy, &requirement, libraries),
        (None, _) => Mend::Words(format!("install the compiler of {} again, whole", copy.folder.display())),
    }
}
