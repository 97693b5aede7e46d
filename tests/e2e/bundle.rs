//! Bundles as whoever receives one meets them: hashes, a program that proves the failure, nothing private. Knows the
//! files of a bundle; how they are written is their room's matter.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use case::Kind;
use hunt::FoundSummary;
use simulator::faults::planted;

use crate::convict::{BINARY, convict, fresh_folder, turn};
use crate::planted::hunted;

/// Seconds after which a program that hangs has shown it.
const LIMIT_SECONDS: &str = "5";

/// The findings of the shared hunt that there was time to minimize: every planted one, and perhaps not what was met
/// last.
fn minimized() -> impl Iterator<Item = &'static FoundSummary> {
    hunted().summary.findings.iter().filter(|finding| finding.one_minimal)
}

/// Their bundles, with the signatures.
fn bundles() -> Vec<(String, PathBuf)> {
    let hunted = hunted();
    let bundle = |found: &FoundSummary| {
        let relative = found.bundle.as_ref().unwrap_or_else(|| panic!("{}: no bundle", found.signature));
        (found.signature.clone(), hunted.folder.join(relative))
    };
    minimized().map(bundle).collect()
}

/// The bundle of some planted fault that gives wrong values.
pub(crate) fn any_bundle() -> PathBuf {
    one_of_each_kind().remove(&Kind::Wrong).expect("a bundle of wrong values")
}

/// One bundle for each kind of failure that is planted.
fn one_of_each_kind() -> BTreeMap<Kind, PathBuf> {
    let kind_of = |signature: &str| {
        let fault = planted()
            .into_iter()
            .find(|fault| fault.signature().is_some_and(|planted| planted.as_str() == signature));
        fault.map(|fault| fault.kind)
    };
    bundles().into_iter().filter_map(|(signature, folder)| Some((kind_of(&signature)?, folder))).collect()
}

fn sums_hold(folder: &Path) -> bool {
    let mut program = Command::new("sha256sum");
    program.args(["--check", "--strict", "--quiet", reports::SUMS]).current_dir(folder);
    program.output().expect("sha256sum").status.success()
}

#[test]
fn hashes_hold_for_both_readers_until_one_byte_is_altered() {
    let (_, original) = bundles().into_iter().next().expect("a bundle");
    for (signature, folder) in bundles() {
        assert!(sums_hold(&folder), "{signature}");
        reports::read(&folder).unwrap_or_else(|error| panic!("{signature}: {error}"));
    }
    for name in [reports::CASE_TEXT, reports::PROGRAM, reports::VERDICT, reports::LIBRARY_LOG] {
        let copy = fresh_folder("bundle-altered").join("bundle");
        copy_folder(&original, &copy);
        let file = copy.join(name);
        let mut bytes = fs::read(&file).expect("a file of the bundle");
        match bytes.first_mut() {
            Some(first) => *first ^= 1,
            None => bytes.push(b'x'),
        }
        fs::write(&file, bytes).expect("the altered file");
        assert!(!sums_hold(&copy), "{name}: sha256sum did not notice");
        let error = reports::read(&copy).err().unwrap_or_else(|| panic!("{name}: nothing was noticed"));
        assert!(matches!(error, reports::BundleError::Altered { .. }), "{name}: {error}");
    }
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

#[test]
fn verify_accepts_every_bundle_and_names_each_trouble_of_a_spoilt_one() {
    for (signature, folder) in bundles() {
        let run = convict([Path::new("verify"), Path::new("--files-only"), &folder]);
        assert_eq!(run.code, Some(0), "{signature}: {run:?}");
        let bundle = reports::read(&folder).unwrap_or_else(|error| panic!("{signature}: {error}"));
        // What was written while the libraries ran is what follows from the bundle's data.
        assert!(reports::program(&bundle).is_ok_and(|text| text == bundle.program_text), "{signature}");
    }
    let copy = fresh_folder("bundle-spoilt").join("bundle");
    copy_folder(&any_bundle(), &copy);
    fs::write(copy.join("extra"), "").expect("a file too many");
    fs::write(copy.join(reports::PAGE), "").expect("an altered page");
    fs::remove_file(copy.join(reports::REGION)).expect("a file too few");
    let run = convict([Path::new("verify"), &copy]);
    assert_eq!((run.code, run.stderr.lines().count(), run.stdout.as_str()), (Some(2), 3, ""), "{run:?}");
    for name in ["extra", reports::PAGE, reports::REGION] {
        assert!(run.stderr.contains(&format!("{name}: ")), "{name}: {}", run.stderr);
    }
    let report = convict([Path::new("report"), &copy]);
    assert_eq!((report.code, report.stderr.lines().count()), (Some(2), 1), "{report:?}");
    assert_eq!(fs::read_to_string(copy.join(reports::PAGE)).expect("the page"), "", "it was written over");
}

/// The simulator's libraries under the names of the real ones.
fn libraries() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let built = Path::new(BINARY).parent().expect("a folder");
        let folder = fresh_folder("bundle-libraries");
        simulator::folder(built, &folder).expect("the simulator's folder");
        folder
    })
}

/// Builds and runs a bundle's program against the simulator, without convict.
fn run_program(bundle: &Path, faults: &str) -> Output {
    let libraries = libraries();
    let _turn = turn();
    Command::new(bundle.join(reports::SCRIPT))
        .arg(libraries.join("libcudnn.so.9"))
        .env("LD_LIBRARY_PATH", libraries)
        .env("CONVICT_SIM_FAULTS", faults)
        .env("CONVICT_TIMEOUT", LIMIT_SECONDS)
        .output()
        .expect("run.sh starts")
}

#[test]
fn a_program_of_each_kind_fails_by_itself_on_the_library_it_accuses() {
    let bundles = one_of_each_kind();
    assert!(bundles.len() >= 8, "{bundles:?}");
    for (kind, bundle) in bundles {
        let output = run_program(&bundle, "");
        assert_eq!(output.status.code(), Some(1), "{} {}: {output:?}", kind.name(), bundle.display());
    }
}

#[test]
fn the_case_as_it_was_met_fails_again_from_its_line() {
    for (signature, folder) in bundles().into_iter().filter(|(slug, _)| slug.contains("-wrong-")).take(3) {
        let line = fs::read_to_string(folder.join(reports::ORIGINAL)).expect("original.txt");
        let run = convict(["check", "--simulate", line.trim()]);
        assert_eq!(run.code, Some(1), "{signature}: {line}{run:?}");
    }
}

#[test]
fn a_program_finds_nothing_where_the_library_is_right() {
    let bundles = one_of_each_kind();
    let bundle = &bundles[&Kind::Wrong];
    let output = run_program(bundle, "none");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn every_bundle_says_how_often_its_program_proved_the_failure() {
    for (signature, folder) in bundles() {
        let text = fs::read_to_string(folder.join(reports::VERDICT)).expect("verdict.json");
        let record: reports::VerdictRecord = serde_json::from_str(&text).expect("a record");
        let verified = matches!(
            record.verification,
            reports::Verification::Runs { reproduced, runs, .. } if reproduced > 0 && runs >= reproduced
        );
        assert!(verified, "{signature}: {:?}", record.verification);
    }
}

#[test]
fn the_program_of_a_device_fault_shows_it_in_every_run() {
    let device: Vec<String> = planted()
        .iter()
        .filter(|fault| fault.kind == Kind::Device)
        .filter_map(|fault| Some(fault.signature()?.to_string()))
        .collect();
    let mut proven = 0;
    for (signature, folder) in bundles().into_iter().filter(|(signature, _)| device.contains(signature)) {
        let text = fs::read_to_string(folder.join(reports::VERDICT)).expect("verdict.json");
        let record: reports::VerdictRecord = serde_json::from_str(&text).expect("a record");
        let every = matches!(
            record.verification,
            reports::Verification::Runs { reproduced, runs, .. } if runs == 3 && reproduced == runs
        );
        assert!(every, "{signature}: {:?}", record.verification);
        proven += 1;
    }
    assert_eq!(proven, device.len(), "of {device:?}");
}

#[test]
fn no_file_names_the_host_the_user_or_a_home() {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let secrets = [read("/proc/sys/kernel/hostname"), variable("HOME"), variable("CARGO_MANIFEST_DIR")];
    for (signature, folder) in bundles() {
        for name in reports::HASHED {
            let text = String::from_utf8_lossy(&fs::read(folder.join(name)).expect("a file")).into_owned();
            for secret in secrets.iter().filter(|secret| secret.len() > 3) {
                assert!(!text.contains(secret.as_str()), "{signature}/{name} contains '{secret}'");
            }
        }
    }
}
