//! Rules about packages and the driver: what asks for a newer driver, which pins are not met, which library a framework
//! maps in place of the pinned one. Knows versions; reads no file.

use std::collections::BTreeMap;
use std::path::Path;

use super::mend::{self, Mend};
use super::{Found, Severity, listed};
use crate::family::{Family, SHIM};
use crate::ledger::View;
use crate::packages::{Package, Pin, meets};
use crate::tables;
use crate::version::Version;

/// Packages whose CUDA major is what their libraries need of the driver.
const NEEDY: [&str; 8] = [
    "torch",
    "nvidia-cudnn-",
    "nvidia-cuda-runtime",
    "nvidia-cublas",
    "onnxruntime-gpu",
    "tensorflow",
    "jax-cuda",
    "cupy-cuda",
];

/// Libraries for a CUDA that the driver is too old for.
pub(super) fn driver_too_old(view: &View<'_>) -> Vec<Found> {
    let driver = &view.ledger.driver;
    let Some(release) = &driver.release else { return Vec::new() };
    let mut by_major: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for package in &view.ledger.packages {
        let is_needy =
            NEEDY.iter().any(|name| package.name.starts_with(name)) && !package.name.contains("frontend");
        if let Some(major) = package.cuda_major().filter(|_| is_needy) {
            by_major.entry(major).or_default().push(format!("{} {}", package.name, package.version));
        }
    }
    for toolkit in &view.ledger.toolkits {
        if let Some(version) = &toolkit.version {
            by_major.entry(version.number(0)).or_default().push(format!("{}", toolkit.folder.display()));
        }
    }
    let mut findings = Vec::new();
    for (major, needy) in by_major {
        let Some(least) = tables::least_driver(major).filter(|least| !release.at_least(&least.driver)) else {
            continue;
        };
        let served =
            driver.cuda.as_ref().map_or_else(|| "nothing known".to_owned(), |cuda| format!("CUDA {cuda}"));
        findings.push(Found {
            rule: "driver-too-old",
            severity: Severity::Error,
            title: format!("driver {release} is older than CUDA {major} needs ({} or newer)", least.driver),
            evidence: vec![
                format!("it serves {served}"),
                format!("built for CUDA {major}: {}", listed(needy)),
                format!("known from: {} ({})", least.source, least.what),
            ],
            files: Vec::new(),
            mend: Mend::Host(format!(
                "sudo apt-get install cuda-drivers-{} # or newer",
                least.driver.number(0)
            )),
        });
    }
    findings
}

/// True for a pin whose package matters for which libraries are loaded.
fn matters(pin: &Pin) -> bool {
    ["cudnn", "cublas", "cuda-nvrtc", "cuda-runtime"].iter().any(|word| pin.package.contains(word))
}

/// A requirement of a framework that what is installed does not meet. One that belongs to an extra counts where its
/// package is there.
pub(super) fn pin_not_met(view: &View<'_>) -> Vec<Found> {
    let is_unmet = |package: &Package, pin: &Pin| {
        let missing = pin.installed.is_none() && pin.package.contains("cudnn") && package.name == "torch";
        matters(pin) && (pin.met == Some(false) || missing)
    };
    let unmet_of = |package: &'_ Package| {
        package.pins.iter().filter(|pin| is_unmet(package, pin)).cloned().collect::<Vec<Pin>>()
    };
    let all: Vec<Pin> = view.ledger.packages.iter().flat_map(unmet_of).collect();
    let mut findings = Vec::new();
    for package in &view.ledger.packages {
        let unmet = unmet_of(package);
        if unmet.is_empty() {
            continue;
        }
        let words = |pin: &Pin| {
            let installed = pin.installed.as_ref().map_or_else(|| "nothing of it".to_owned(), Clone::clone);
            let known = pin.source.map_or_else(String::new, |source| format!(" (known from: {source})"));
            let extra =
                pin.extra.as_ref().map_or_else(String::new, |extra| format!(" with its extra {extra}"));
            format!("it requires {}{extra}; installed is {installed}{known}", pin.requirement)
        };
        findings.push(Found {
            rule: "pin-not-met",
            severity: Severity::Warning,
            title: format!("{} {} is not given what it pins", package.name, package.version),
            evidence: unmet.iter().map(words).collect(),
            files: vec![package.site.clone()],
            mend: meet(view, &package.site, &all),
        });
    }
    findings
}

/// The one command that meets every requirement, each package with the version that all frameworks take; a sentence
/// where none is published that does.
fn meet(view: &View<'_>, site: &Path, unmet: &[Pin]) -> Mend {
    let mut names: Vec<&str> = unmet.iter().map(|pin| pin.package.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut wanted = Vec::new();
    for name in names {
        let pins = view
            .ledger
            .packages
            .iter()
            .flat_map(|package| package.pins.iter().map(move |pin| (package, pin)));
        let pins: Vec<(&Package, &Pin)> = pins.filter(|(_, pin)| pin.package == name).collect();
        let suits =
            |version: &str| pins.iter().all(|(_, pin)| meets(&pin.requirement, version) != Some(false));
        let exact =
            pins.iter().find_map(|(_, pin)| Some(pin.requirement.split_once("==")?.1.trim().to_owned()));
        let published = wheels::published().iter().rev().filter(|wheel| wheel.package == name);
        let found = match exact {
            Some(exact) => Some(exact).filter(|version| suits(version)),
            None => published.map(|wheel| wheel.version.to_string()).find(|version| suits(version)),
        };
        match found {
            Some(version) => wanted.push(format!("{name}=={version}")),
            None if pins.len() == 1 => wanted.push(pins[0].1.requirement.clone()),
            None => {
                let told = pins
                    .iter()
                    .map(|(package, pin)| format!("{} requires {}", package.name, pin.requirement));
                return Mend::Words(format!(
                    "no version of {name} suits all ({}): give each an environment of its own",
                    listed(told)
                ));
            }
        }
    }
    Mend::Command(mend::pip_install(view, site, &wanted))
}

/// The cuDNN that a framework pins, by its own words or by what is known of its release.
fn pinned(package: &Package) -> Option<Version> {
    let exact = |pin: &Pin| {
        let (_, version) = pin.requirement.split_once("==").filter(|_| pin.package.contains("cudnn"))?;
        Version::leading(version.trim())
    };
    let known =
        || tables::pinned(&package.name, &Version::leading(&package.version)?).map(|row| row.cudnn.clone());
    package.pins.iter().find_map(exact).or_else(known)
}

/// A program with PyTorch that maps another cuDNN than PyTorch was built with.
pub(super) fn other_than_pinned(view: &View<'_>) -> Vec<Found> {
    let torch = view.ledger.packages.iter().find(|package| package.name == "torch");
    let Some((torch, wanted)) = torch.and_then(|torch| Some((torch, pinned(torch)?))) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for program in &view.ledger.programs {
        let is_torch = program.name == "PyTorch"
            || program
                .steps
                .iter()
                .any(|step| step.done && ["torch", "import"].contains(&step.what.as_str()));
        let Some(shim) = program.of(Family::Cudnn).find(|file| file.part == SHIM).filter(|_| is_torch) else {
            continue;
        };
        let on_disk = view.ledger.file(&shim.path).and_then(|(copy, file)| copy.cudnn_version(file.major()?));
        let Some(found) = program.cudnn.as_ref().or(on_disk).filter(|found| !found.agrees(&wanted)) else {
            continue;
        };
        findings.push(Found {
            rule: "other-than-pinned",
            severity: Severity::Warning,
            title: format!(
                "{}: PyTorch {} pins cuDNN {wanted}, and gets {found}",
                program.name, torch.version
            ),
            evidence: vec![format!("{} is mapped", shim.path.display())],
            files: vec![shim.path.clone()],
            mend: give(view, torch, &wanted, &shim.path),
        });
    }
    findings
}

/// What gives a framework the cuDNN that it pins: the strange one out of its way, else the pinned one in its place.
fn give(view: &View<'_>, torch: &Package, wanted: &Version, strange: &Path) -> Mend {
    let pin = torch.pins.iter().find(|pin| pin.package.contains("cudnn"));
    let cuda = torch.cuda_major().unwrap_or(13);
    let package = pin.map_or_else(|| format!("nvidia-cudnn-cu{cuda}"), |pin| pin.package.clone());
    let install = || Mend::Command(mend::pip_install(view, &torch.site, &[format!("{package}=={wanted}")]));
    mend::keep_out(view, &[strange]).unwrap_or_else(install)
}
