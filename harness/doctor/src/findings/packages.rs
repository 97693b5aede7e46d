//! Rules about packages and the driver: what asks for a newer driver, which pins are not met, which library a framework
//! maps in place of the pinned one. Knows versions; reads no file.

use std::collections::BTreeMap;

use super::{Finding, Severity, listed, shell};
use crate::family::{Family, SHIM};
use crate::ledger::View;
use crate::packages::{Package, Pin};
use crate::tables;
use crate::version::Version;

/// Packages whose CUDA major is what their libraries need of the driver.
const NEEDY: [&str; 6] =
    ["torch", "nvidia-cudnn-", "nvidia-cuda-runtime", "nvidia-cublas", "onnxruntime-gpu", "tensorflow"];

/// Libraries for a CUDA that the driver is too old for.
pub(super) fn driver_too_old(view: &View<'_>) -> Vec<Finding> {
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
        findings.push(Finding {
            rule: "driver-too-old",
            severity: Severity::Error,
            title: format!("driver {release} is older than CUDA {major} needs ({} or newer)", least.driver),
            evidence: vec![
                format!("it serves {served}"),
                format!("built for CUDA {major}: {}", listed(needy)),
                format!("known from: {} ({})", least.source, least.what),
            ],
            files: Vec::new(),
            mend: format!(
                "sudo apt-get install cuda-drivers-{} # or newer; of a container, on its host",
                least.driver.number(0)
            ),
        });
    }
    findings
}

/// True for a pin whose package matters for which libraries are loaded.
fn matters(pin: &Pin) -> bool {
    ["cudnn", "cublas", "cuda-nvrtc", "cuda-runtime"].iter().any(|word| pin.package.contains(word))
}

/// A requirement of a framework that what is installed does not meet.
pub(super) fn pin_not_met(view: &View<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &view.ledger.packages {
        let is_unmet = |pin: &&Pin| {
            let missing = pin.installed.is_none() && pin.package.contains("cudnn") && package.name == "torch";
            matters(pin) && (pin.met == Some(false) || missing)
        };
        let unmet: Vec<&Pin> = package.pins.iter().filter(is_unmet).collect();
        if unmet.is_empty() {
            continue;
        }
        let words = |pin: &&Pin| {
            let installed = pin.installed.as_ref().map_or_else(|| "nothing of it".to_owned(), Clone::clone);
            format!("it requires {}; installed is {installed}", pin.requirement)
        };
        findings.push(Finding {
            rule: "pin-not-met",
            severity: Severity::Warning,
            title: format!("{} {} is not given what it pins", package.name, package.version),
            evidence: unmet.iter().map(words).collect(),
            files: vec![package.site.clone()],
            mend: format!(
                "python3 -m pip install {}",
                unmet.iter().map(|pin| shell(&pin.requirement)).collect::<Vec<_>>().join(" ")
            ),
        });
    }
    findings
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
pub(super) fn other_than_pinned(view: &View<'_>) -> Vec<Finding> {
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
        findings.push(Finding {
            rule: "other-than-pinned",
            severity: Severity::Warning,
            title: format!(
                "{}: PyTorch {} pins cuDNN {wanted}, and gets {found}",
                program.name, torch.version
            ),
            evidence: vec![format!("{} is mapped", shim.path.display())],
            files: vec![shim.path.clone()],
            mend: "unset LD_LIBRARY_PATH LD_PRELOAD".to_owned(),
        });
    }
    findings
}
