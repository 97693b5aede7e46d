//! Hunts without a GPU: over what is planted in the simulator's plans, and over real libraries where they can be had.
//! Knows the simulator's table of faults and folders of NVIDIA's libraries; knows nothing of how a hunt works.

use std::fs;
use std::path::{Path, PathBuf};

use hunt::{FoundSummary, Summary};
use simulator::faults::planted_in_plans;

use crate::convict::{Run, convict, fresh_folder};
use crate::planted::{case_of, minimum};

fn summary(folder: &Path, run: &Run) -> Summary {
    let text = fs::read_to_string(folder.join("summary.json"))
        .unwrap_or_else(|error| panic!("summary.json: {error}; {run:?}"));
    serde_json::from_str(&text).expect("a summary")
}

/// A hunt for plans on the simulator.
fn simulated(name: &str, more: &[&str]) -> (PathBuf, Run) {
    let folder = fresh_folder(name);
    let out = folder.display().to_string();
    let fixed = ["hunt", "--plan-only", "--simulate", "--arch", "sm_90", "--workers", "2", "--out", &out];
    let run = convict(fixed.iter().chain(more));
    (folder, run)
}

#[test]
fn every_fault_planted_in_plans_is_found_at_its_known_minimum_and_proved_by_its_program() {
    let (folder, run) = simulated("plan-only", &["--cases", "1500"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stdout.starts_with("SIMULATOR, no GPU: "), "{run:?}");
    let summary = summary(&folder, &run);
    let mut missed = Vec::new();
    for fault in planted_in_plans() {
        let signature = fault.signature().expect("the table is sound");
        let name = &fault.fault.name;
        match summary.findings.iter().find(|finding| finding.signature == signature.as_str()) {
            None => missed.push(format!("{name}: no finding {signature}")),
            Some(finding) if case_of(&finding.case) != minimum(&fault) => {
                missed.push(format!("{name}: '{}' instead of '{}'", finding.case, fault.minimum));
            }
            Some(finding) => missed.extend(untold(&folder, finding).map(|what| format!("{name}: {what}"))),
        }
    }
    assert!(missed.is_empty(), "{missed:#?}\nfound: {:#?}", summary.findings);
}

/// What the bundle of a finding lacks.
fn untold(folder: &Path, finding: &FoundSummary) -> Option<String> {
    let bundle = folder.join(finding.bundle.as_ref().expect("a bundle"));
    let verdict = fs::read_to_string(bundle.join("verdict.json")).expect("a verdict");
    let verdict: serde_json::Value = serde_json::from_str(&verdict).expect("JSON");
    let program = fs::read_to_string(bundle.join("repro.cpp")).expect("a program");
    if !program.contains("\\\"deviceName\\\"") {
        return Some("its program names no device".to_owned());
    }
    let runs = &verdict["verification"]["runs"];
    (runs["reproduced"] != 3).then(|| format!("its program: {}", verdict["verification"]))
}
