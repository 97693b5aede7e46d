//! A hunt over the operations that are no convolution, and what it must make of the faults that are planted in them.
//! Knows the simulator's table of those; knows nothing of how a hunt works.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use case::{Case, Operation};
use hunt::Summary;
use reports::Verification;
use simulator::faults::planted_others;

use crate::convict::{Run, convict, fresh_folder, simulate};
use crate::planted::{case_of, minimum};

/// Problems that the hunt gets: all planted faults are met well before their end.
const PROBLEMS: &str = "160";

const OPERATIONS: &str = "maxpool,avgpool,matmul,rmsnorm";

struct Hunted {
    folder: PathBuf,
    summary: Summary,
    run: Run,
}

/// The hunt that all tests here share.
fn hunted() -> &'static Hunted {
    static HUNTED: OnceLock<Hunted> = OnceLock::new();
    HUNTED.get_or_init(|| {
        let folder = fresh_folder("operations");
        let out = folder.to_string_lossy();
        let arguments =
            ["hunt", "--simulate", "--operations", OPERATIONS, "--cases", PROBLEMS, "--out", &out];
        let run = convict(arguments);
        let text = fs::read_to_string(folder.join("summary.json")).unwrap_or_else(|error| {
            panic!("summary.json: {error}; {run:?}");
        });
        Hunted { summary: serde_json::from_str(&text).expect("a summary"), folder, run }
    })
}

#[test]
fn every_planted_fault_is_found_at_its_known_minimum_and_nothing_else_is() {
    let hunted = hunted();
    assert_eq!(hunted.run.code, Some(1), "{:?}", hunted.run);
    let mut missed = Vec::new();
    for fault in planted_others() {
        let signature = fault.signature().expect("the table is sound");
        match hunted.summary.findings.iter().find(|finding| finding.signature == signature.as_str()) {
            None => missed.push(format!("{}: no finding {signature}", fault.minimum)),
            Some(finding) if case_of(&finding.case) != minimum(&fault) => {
                missed.push(format!("'{}' instead of '{}'", finding.case, fault.minimum));
            }
            Some(finding) if !finding.one_minimal => missed.push(format!("{}: no sweep", fault.minimum)),
            Some(_) => {}
        }
    }
    let found = &hunted.summary.findings;
    assert!(missed.is_empty(), "{missed:#?}\nfound: {found:#?}");
    assert_eq!(found.len(), planted_others().len(), "{found:#?}");
}

/// The bundle of each finding, by its signature.
fn bundles() -> BTreeMap<String, PathBuf> {
    let hunted = hunted();
    let bundle = |found: &hunt::FoundSummary| {
        let relative = found.bundle.as_ref().unwrap_or_else(|| panic!("{}: no bundle", found.signature));
        (found.signature.clone(), hunted.folder.join(relative))
    };
    hunted.summary.findings.iter().map(bundle).collect()
}

#[test]
fn every_bundle_is_whole_and_one_of_each_operation_proves_itself_again() {
    let mut one_of_each: BTreeMap<&str, PathBuf> = BTreeMap::new();
    for (signature, folder) in bundles() {
        let run = convict([Path::new("verify"), Path::new("--files-only"), &folder]);
        assert_eq!(run.code, Some(0), "{signature}: {run:?}");
        let bundle = reports::read(&folder).unwrap_or_else(|error| panic!("{signature}: {error}"));
        let tried = &bundle.verdict.verification;
        assert!(
            matches!(tried, Verification::Runs { reproduced, runs, .. } if reproduced == runs),
            "{tried:?}"
        );
        one_of_each.insert(bundle.case.problem.operation.name(), folder);
    }
    assert_eq!(one_of_each.len(), 4, "{one_of_each:?}");
    for (operation, folder) in one_of_each {
        let name = folder.display().to_string();
        let run = convict(["verify", "--simulate", "--runs", "1", &name]);
        assert_eq!(run.code, Some(0), "{operation}: {run:?}");
        assert!(run.stdout.contains("verdict    holds\n"), "{operation}: {run:?}");
    }
}

#[test]
fn forms_that_hold_convolutions_only_say_so() {
    for (signature, folder) in bundles() {
        for name in ["graph.json", "conv_fuzzer_cmd.txt", "repro_torch.py", "repro_fe.py", "guards/guard.py"]
        {
            let text =
                fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
            let words = text.to_lowercase().replace('_', " ");
            let says = words.contains("not expressible") || words.contains("cannot hold the case");
            assert!(says && text.lines().count() < 30, "{signature} {name}: {text}");
        }
    }
}

#[test]
fn where_no_fault_is_planted_nothing_is_found() {
    let out = fresh_folder("operations-clean");
    let out = out.to_string_lossy();
    let arguments =
        ["hunt", "--json", "--seed", "5", "--operations", OPERATIONS, "--cases", "160", "--out", &out];
    let run = simulate(Path::new("none"), arguments);
    assert_eq!(run.code, Some(0), "{run:?}");
    let summary: Summary = serde_json::from_str(&run.stdout).expect("a summary");
    assert!(summary.findings.is_empty() && summary.flaky.is_empty(), "false alarms: {summary:?}");
    let passed = summary.verdicts["pass"];
    assert!(summary.checks >= 300 && passed * 100 >= summary.checks * 95, "{summary:?}");
}

#[test]
fn a_case_is_checked_shown_and_listed_like_a_convolution() {
    for (line, words) in [
        ("maxpool f16 nhwc n8 c64 i14x14 f3x3 p1x1 s2x2", "largest element of each window"),
        ("avgpool f32 nchw n1 c3 i5x6x7 f2x2x2", "mean of each window"),
        ("matmul f16 row,col,row b4 m64 n128 k32", "product of 4 matrices 64x32 with matrices 32x128"),
        ("rmsnorm bf16 nchw n32 c100", "root mean square normalization, 32 rows of 100"),
    ] {
        let case: Case = line.parse().expect("a case line");
        assert_eq!(case.to_string(), line);
        let shown = convict(["show", line]);
        assert!(shown.code == Some(0) && shown.stdout.contains(words), "{shown:?}");
        let checked = simulate(Path::new("none"), ["check", line]);
        assert_eq!(checked.code, Some(0), "{checked:?}");
        let engines = simulate(Path::new("none"), ["engines", line]);
        assert!(engines.code == Some(0) && engines.stdout.lines().count() > 3, "{engines:?}");
    }
}

#[test]
fn a_hunt_goes_on_only_over_the_operations_that_it_began_with() {
    let folder = fresh_folder("operations-resume");
    let out = folder.to_string_lossy();
    let hunt = |operations: &str, more: &[&str]| {
        let arguments = ["hunt", "--operations", operations, "--cases", "4", "--out", &out];
        simulate(Path::new("none"), arguments.iter().chain(more).copied())
    };
    assert_eq!(hunt("matmul,maxpool", &[]).code, Some(0));
    assert_eq!(hunt("maxpool,matmul", &["--resume"]).code, Some(0));
    let other = hunt("matmul", &["--resume"]);
    assert_eq!((other.code, other.stderr.lines().count()), (Some(2), 1), "{other:?}");
    let unknown = hunt("pool", &[]);
    assert_eq!(unknown.code, Some(2));
    for operation in Operation::ALL {
        assert!(unknown.stderr.contains(operation.name()), "{unknown:?}");
    }
}
