//! Rules on machines that are made up: each fixture breaks one thing. Knows what must be said of it.

mod mends;
mod sets;

use std::path::Path;

use crate::forge::Forged;
use crate::machine::Device;
use crate::process::Running;
use crate::programs::{Program, Python, Seen, Step};
use crate::{Devices, Facts, Finding, Ledger, Place, Process, Severity, Source, examine};

const SITE: &str = "/opt/venv/lib/python3.11/site-packages";
const WHEEL: &str = "/opt/venv/lib/python3.11/site-packages/nvidia/cudnn/lib";
const CU13: &str = "/opt/venv/lib/python3.11/site-packages/nvidia/cu13/lib";
const SYSTEM: &str = "/usr/lib/x86_64-linux-gnu";

/// A machine of files below a folder.
struct Made {
    folder: tempfile::TempDir,
    facts: Facts,
}

impl Made {
    fn new() -> Self {
        let facts = Facts {
            variables: Vec::new(),
            python: None,
            running: None,
            executable: None,
            devices: Devices::Unknown("there is no nvidia-smi".to_owned()),
            hashes: false,
            place: Place::Here,
        };
        Self { folder: tempfile::tempdir().expect("a folder"), facts }
    }

    fn library(self, path: &str, forged: &Forged<'_>) -> Self {
        forged.write(&self.folder.path().join(&path[1..]));
        self
    }

    fn text(self, path: &str, text: &str) -> Self {
        let path = self.folder.path().join(&path[1..]);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.facts.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A full set of cuDNN 9 in a folder, without some of its parts.
    fn set(mut self, folder: &str, version: [u8; 3], without: &[&str]) -> Self {
        let path = if version[1] >= 27 { ("$ORIGIN", "") } else { ("", "$ORIGIN:$ORIGIN/../../cu13/lib") };
        let set = crate::tables::set_of(&crate::Version::new(&version.map(u32::from))).expect("a row");
        for part in set.parts.iter().filter(|part| !without.contains(&part.as_str())) {
            let name =
                if part == "shim" { "libcudnn.so.9".to_owned() } else { format!("libcudnn_{part}.so.9") };
            let tells = ["graph", "ops", "adv"].contains(&part.as_str());
            let forged = Forged {
                soname: &name,
                rpath: path.0,
                runpath: path.1,
                build_id: &version,
                version: tells.then_some(version),
                ..Forged::default()
            };
            self = self.library(&format!("{folder}/{name}"), &forged);
        }
        self
    }

    /// What a full set needs beside it.
    fn companions(self) -> Self {
        let names = ["libnvrtc.so.13", "libnvrtc-builtins.so.13.0", "libcublasLt.so.13", "libcudart.so.13"];
        names.into_iter().fold(self, |made, name| {
            made.library(&format!("{CU13}/{name}"), &Forged { soname: name, ..Forged::default() })
        })
    }

    /// A whole, clean set among a Python's packages.
    fn clean() -> Self {
        Self::new().set(WHEEL, [9, 19, 0], &[]).companions()
    }

    fn package(self, name: &str, version: &str, more: &str) -> Self {
        let text = format!("Name: {name}\nVersion: {version}\n{more}\n");
        self.text(&format!("{SITE}/{}-{version}.dist-info/METADATA", name.replace('-', "_")), &text)
    }

    fn running(mut self, maps: &[&str]) -> Self {
        let line = |path: &&str| format!("7f0-7f1 r-xp 00000000 00:2a 1 {path}\n");
        let maps = maps.iter().map(line).collect();
        self.facts.running =
            Some(Running { name: "process 7 (x)".to_owned(), pid: 7, maps, variables: None, root: None });
        self
    }

    fn ledger(self) -> Ledger {
        examine(&Source::below(self.folder.path()), self.facts)
    }

    /// What is no note.
    fn findings(self) -> Vec<Finding> {
        let mut findings = self.ledger().findings;
        findings.retain(|finding| finding.severity != Severity::Note);
        findings
    }

    /// The one finding, which is no note.
    fn only(self, rule: &str) -> Finding {
        let found = self.findings();
        assert!(found.len() == 1 && found[0].rule == rule, "{rule}: {found:#?}");
        found.into_iter().next().expect("one")
    }
}

fn names(finding: &Finding, path: &str) -> bool {
    finding.files.iter().any(|file| file == Path::new(path))
}

#[test]
fn of_a_clean_set_nothing_is_said() {
    assert_eq!(Made::clean().ledger().findings, Vec::new());
    // Every file, its version and who found it are there all the same.
    let ledger = Made::clean().ledger();
    let copy = ledger.copies.iter().find(|copy| copy.folder == Path::new(WHEEL)).expect("the set");
    assert_eq!(
        (copy.files.len(), copy.cudnn_version(9).expect("known").to_string()),
        (8, "9.19.0".to_owned())
    );
    assert_eq!(copy.found_by, ["site-packages"]);
}

#[test]
fn a_folder_with_files_of_two_releases_is_mixed() {
    let odd = Forged {
        soname: "libcudnn_ops.so.9",
        runpath: "$ORIGIN",
        version: Some([9, 28, 1]),
        ..Forged::default()
    };
    let found = Made::clean().library(&format!("{WHEEL}/libcudnn_ops.so.9"), &odd).only("mixed-set");
    assert_eq!(found.severity, Severity::Error);
    assert!(found.title.contains("9.19.0, 9.28.1"), "{found:#?}");
}

#[test]
fn a_file_of_another_size_than_its_package_installed_is_told() {
    let record =
        "nvidia/cudnn/lib/libcudnn_cnn.so.9,sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,12345\n";
    let made = Made::clean().text(&format!("{SITE}/nvidia_cudnn_cu13-9.19.0.56.dist-info/RECORD"), record);
    let found = made.only("mixed-set");
    assert!(names(&found, &format!("{WHEEL}/libcudnn_cnn.so.9")), "{found:#?}");
    let command = format!(
        "python3 -m pip install --upgrade --force-reinstall --no-deps --target {SITE} nvidia-cudnn-cu13==9.19.0.56"
    );
    assert_eq!(found.mend, command);
}

#[test]
fn a_path_that_swaps_parts_of_a_set_is_told_where_the_set_yields_to_it() {
    let other = "/srv/cudnn";
    let swapped = Made::clean().set(other, [9, 28, 1], &[]).variable("LD_LIBRARY_PATH", other);
    let found = swapped.findings();
    let error =
        found.iter().find(|one| one.rule == "parts-from-elsewhere").unwrap_or_else(|| panic!("{found:#?}"));
    assert_eq!((error.severity, error.mend.as_str()), (Severity::Error, "unset LD_LIBRARY_PATH"));
    assert!(names(error, WHEEL) && names(error, "/srv/cudnn/libcudnn_graph.so.9"), "{error:#?}");
    // 9.28 looks beside itself first, so that only programs which ask by name get the other one.
    let immune = Made::new().set(WHEEL, [9, 28, 1], &[]).companions().set(other, [9, 27, 0], &[]);
    let found = immune.variable("LD_LIBRARY_PATH", other).findings();
    assert!(found.iter().all(|one| one.rule != "parts-from-elsewhere"), "{found:#?}");
    assert!(found.iter().any(|one| one.rule == "shadowed"), "{found:#?}");
}

#[test]
fn a_part_that_a_core_asks_for_and_a_system_has_is_told() {
    // pytorch/pytorch#185512: 9.20 asks for a part that it does not ship, and a system's 9.23 has it.
    let made = Made::new().set(WHEEL, [9, 20, 0], &[]).companions().set(SYSTEM, [9, 23, 0], &[]);
    let found = made.findings();
    let error =
        found.iter().find(|one| one.rule == "parts-from-elsewhere").unwrap_or_else(|| panic!("{found:#?}"));
    assert!(names(error, &format!("{SYSTEM}/libcudnn_engines_tensor_ir.so.9")), "{error:#?}");
    assert_eq!(error.severity, Severity::Error);
}

#[test]
fn a_set_without_precompiled_engines_falls_back_silently() {
    let made = Made::new().set(WHEEL, [9, 19, 0], &["engines_precompiled", "heuristic"]).companions();
    let found = made.only("incomplete-set");
    assert_eq!(found.severity, Severity::Warning);
    assert!(names(&found, &format!("{WHEEL}/libcudnn_engines_precompiled.so.9")), "{found:#?}");
    assert!(found.evidence.iter().any(|words| words.contains("silently")), "{found:#?}");
    // A set that is meant to be so is whole.
    let jit = WHEEL.replace("cudnn", "cudnn_jit");
    let without = ["engines_precompiled", "heuristic", "ops", "cnn", "adv"];
    assert_eq!(Made::new().set(&jit, [9, 19, 0], &without).companions().findings(), Vec::new());
    let fatal =
        Made::new().set(WHEEL, [9, 19, 0], &["engines_runtime_compiled"]).companions().only("incomplete-set");
    assert_eq!(fatal.severity, Severity::Error);
}

#[test]
fn missing_companions_are_told_each() {
    let made = Made::clean();
    std::fs::remove_file(made.folder.path().join(&CU13[1..]).join("libnvrtc-builtins.so.13.0"))
        .expect("there");
    let found = made.only("no-nvrtc-builtins");
    let command = format!("python3 -m pip install --upgrade --target {SITE} nvidia-cuda-nvrtc==13.0.88");
    assert_eq!(found.mend, command);
    let made = Made::clean();
    std::fs::remove_file(made.folder.path().join(&CU13[1..]).join("libcublasLt.so.13")).expect("there");
    assert!(made.only("no-cublaslt").evidence.iter().any(|words| words.contains("ends the process")));
    let rules: Vec<&str> =
        Made::new().set(WHEEL, [9, 19, 0], &[]).findings().iter().map(|one| one.rule).collect();
    assert_eq!(rules, ["no-nvrtc", "no-cublaslt"]);
}

#[test]
fn two_majors_on_one_path_are_told_with_their_files() {
    let old = Forged { soname: "libcudnn.so.8", ..Forged::default() };
    let made = Made::clean().library("/srv/old/libcudnn.so.8.9.7", &old).set("/srv/new", [9, 19, 0], &[]);
    let found = made.variable("LD_LIBRARY_PATH", "/srv/old:/srv/new").findings();
    let two =
        found.iter().find(|one| one.rule == "two-majors-on-a-path").unwrap_or_else(|| panic!("{found:#?}"));
    assert!(names(two, "/srv/old/libcudnn.so.8.9.7") && names(two, "/srv/new/libcudnn.so.9"), "{two:#?}");
    // The new set finds no cuBLASLt; the folder of one comes last, in the same command.
    assert_eq!(two.mend, format!("export LD_LIBRARY_PATH=/srv/new:{CU13}"));
    assert!(two.evidence.iter().any(|words| words == "/srv/old: 8.9.7"), "{two:#?}");
}

#[test]
fn a_program_with_two_cudnn_parts_of_two_folders_or_removed_files_is_told() {
    let other = "/srv/cudnn";
    let maps = [format!("{WHEEL}/libcudnn.so.9"), format!("{other}/libcudnn.so.9")];
    let made = Made::clean().set(other, [9, 28, 1], &[]).running(&[&maps[0], &maps[1]]);
    let rules: Vec<&str> = made.findings().iter().map(|one| one.rule).collect();
    assert!(rules.contains(&"two-cudnn-in-process"), "{rules:?}");
    let maps = [format!("{WHEEL}/libcudnn.so.9"), format!("{other}/libcudnn_graph.so.9")];
    let found = Made::clean().set(other, [9, 28, 1], &[]).running(&[&maps[0], &maps[1]]).findings();
    let mixed = found.iter().find(|one| one.rule == "mixed-process").unwrap_or_else(|| panic!("{found:#?}"));
    assert_eq!(
        (mixed.severity, &mixed.mend),
        (Severity::Error, &format!("export LD_LIBRARY_PATH={WHEEL}:{CU13} # and start process 7 anew"))
    );
    assert!(mixed.evidence.iter().any(|words| words.contains("libcudnn_graph.so.9 (9.28.1)")), "{mixed:#?}");
    let gone = Made::clean().running(&["/old/libcudnn.so.9 (deleted)"]).only("deleted-library");
    assert!(gone.mend.starts_with("kill 7") && names(&gone, "/old/libcudnn.so.9"), "{gone:#?}");
    let stacks =
        Made::clean().running(&["/a/libcudart.so.12", "/b/libcublasLt.so.13"]).only("two-cuda-stacks");
    assert!(stacks.title.contains("12, 13"), "{stacks:#?}");
}

#[test]
fn a_driver_is_too_old_for_what_was_built_for_a_newer_cuda() {
    let version = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.06  Wed\n";
    let made = Made::clean().text("/proc/driver/nvidia/version", version).package(
        "nvidia-cudnn-cu13",
        "9.19.0.56",
        "",
    );
    let found = made.only("driver-too-old");
    assert!(found.title.contains("535.183.06") && found.title.contains("580"), "{found:#?}");
    assert!(found.mend.contains("cuda-drivers-580"), "{found:#?}");
    let version = version.replace("535.183.06", "580.65.06");
    let made = Made::clean().text("/proc/driver/nvidia/version", &version).package(
        "nvidia-cudnn-cu13",
        "9.19.0.56",
        "",
    );
    assert_eq!(made.findings(), Vec::new());
}

#[test]
fn a_pin_that_is_not_met_is_told_with_a_command_that_no_shell_misreads() {
    let pin = "Requires-Dist: nvidia-cudnn-cu13==9.19.0.56; platform_system == \"Linux\"";
    let made = || Made::clean().package("torch", "2.11.0", pin);
    assert_eq!(made().package("nvidia-cudnn-cu13", "9.19.0.56", "").findings(), Vec::new());
    let found = made().package("nvidia-cudnn-cu13", "9.20.0.48", "").only("pin-not-met");
    let pip = format!("python3 -m pip install --upgrade --target {SITE}");
    assert_eq!(found.mend, format!("{pip} nvidia-cudnn-cu13==9.19.0.56"));
    // Its own Python is asked where there is one.
    let python = "/opt/venv/bin/python3";
    let found = made().package("nvidia-cudnn-cu13", "9.20.0.48", "").text(python, "").only("pin-not-met");
    assert_eq!(found.mend, format!("{python} -m pip install nvidia-cudnn-cu13==9.19.0.56"));
    let hostile = "Requires-Dist: nvidia-cudnn-cu13==9.19.0.56'$(reboot)";
    let found = Made::clean()
        .package("torch", "2.11.0", hostile)
        .package("nvidia-cudnn-cu13", "9.1", "")
        .only("pin-not-met");
    assert_eq!(found.mend, format!("{pip} 'nvidia-cudnn-cu13==9.19.0.56'\\''$(reboot)'"));
}

#[test]
fn a_framework_that_maps_another_cudnn_than_it_pins_is_told() {
    let mut made = Made::clean().package("torch", "2.12.0", "");
    let step = Step { what: "import".to_owned(), done: true, words: String::new() };
    let files = crate::programs::mapped(&format!("7-8 r-xp 0 0:0 1 {WHEEL}/libcudnn.so.9\n"));
    let program = Program {
        name: "/opt/venv/bin/python3".to_owned(),
        pid: None,
        seen: Seen::Mapped,
        steps: vec![step],
        files,
        cudnn: crate::Version::of_cudnn(91900),
        engines: None,
    };
    let python = Python { folders: vec![SITE.into()], ..Python::default() };
    made.facts.python = Some((python, Some(program)));
    let found = made.only("other-than-pinned");
    assert!(found.title.contains("9.20.0.48") && found.title.contains("9.19.0"), "{found:#?}");
}

#[test]
fn what_is_loaded_before_everything_is_told() {
    let gone = Made::clean().variable("LD_PRELOAD", "/no/libx.so").only("stale-preload");
    assert_eq!(gone.mend, "unset LD_PRELOAD");
    let listed = Made::clean().text("/etc/ld.so.preload", "/a'b/libcudnn.so.9\n").only("stale-preload");
    assert_eq!(listed.mend, r"sudo sed -i '/\/a'\''b\/libcudnn\.so\.9/d' /etc/ld.so.preload");
    let there = format!("{WHEEL}/libcudnn.so.9");
    assert!(names(&Made::clean().variable("LD_PRELOAD", &there).only("preload"), &there));
}

#[test]
fn devices_with_errors_without_memory_or_with_another_driver_are_told() {
    let device = |errors: &str, free| Device {
        index: "0".to_owned(),
        memory_mib: [Some(1000), Some(1000 - free), Some(free)],
        ecc_uncorrected: errors.to_owned(),
        processes: vec![Process { pid: "77".to_owned(), name: "x".to_owned(), used_mib: Some(990) }],
        ..Device::default()
    };
    let with = |devices| {
        let mut made = Made::clean();
        made.facts.devices = devices;
        made
    };
    assert_eq!(with(Devices::Known(vec![device("0", 900), device("[N/A]", 900)])).findings(), Vec::new());
    let found = with(Devices::Known(vec![device("2", 900)])).only("memory-errors");
    assert_eq!(found.mend, "sudo nvidia-smi --gpu-reset -i 0");
    let found = with(Devices::Known(vec![device("0", 10)])).only("memory-held");
    assert!(found.mend.starts_with("kill 77"), "{found:#?}");
    let why = "Failed to initialize NVML: Driver/library version mismatch".to_owned();
    assert_eq!(with(Devices::Unknown(why)).only("driver-differs").mend, "sudo reboot");
}

#[test]
fn several_versions_and_switches_are_notes() {
    let blas = Forged { soname: "libcublasLt.so.13", ..Forged::default() };
    let made = Made::clean().library(&format!("{SYSTEM}/libcublasLt.so.13"), &blas);
    let ledger = made.set(SYSTEM, [9, 27, 0], &[]).variable("CUDNN_LOGLEVEL_DBG", "3").ledger();
    let notes: Vec<&str> = ledger.findings.iter().map(|finding| finding.rule).collect();
    assert!(notes.contains(&"several-versions") && notes.contains(&"variable"), "{notes:?}");
    assert!(
        ledger.findings.iter().all(|finding| finding.severity == Severity::Note),
        "{:#?}",
        ledger.findings
    );
    // Which one a program takes is for a Python to tell, unless that was just asked in vain.
    let several = |trouble: Option<&str>| {
        let mut made = Made::clean().library(&format!("{SYSTEM}/libcublasLt.so.13"), &blas);
        if let Some(why) = trouble {
            made.facts.python = Some((Python { trouble: Some(why.to_owned()), ..Python::default() }, None));
        }
        let found = made.set(SYSTEM, [9, 27, 0], &[]).ledger().findings;
        found.into_iter().find(|one| one.rule == "several-versions").expect("two versions").mend
    };
    assert_eq!(several(None), "convict doctor --python python3");
    assert_eq!(several(Some("killed after 30 s")), "");
}

#[test]
fn broken_files_loops_and_a_thousand_packages_are_counted_and_end_nothing() {
    let mut made = Made::clean()
        .text("/srv/l/libcudnn.so.9", "no library")
        .variable("LD_LIBRARY_PATH", "/srv/l:/srv/loop");
    for number in 0..1000 {
        made = made.text(&format!("{SITE}/p{number}-1.0.dist-info/METADATA"), "Name: p\nVersion: 1\n");
    }
    std::os::unix::fs::symlink("loop", made.folder.path().join("srv/loop")).expect("linked");
    let ledger = made.ledger();
    assert_eq!(ledger.trouble["libraries that can't be read"].told, ["/srv/l/libcudnn.so.9: is no ELF file"]);
    assert_eq!(ledger.trouble["links that lead in circles"].count, 1);
    let broken = ledger.copies.iter().flat_map(|copy| &copy.files).find(|file| file.broken.is_some());
    assert!(broken.is_some_and(|file| file.path == Path::new("/srv/l/libcudnn.so.9")));
}
