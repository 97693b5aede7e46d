//! A library without faults gives no findings, and a hunt that looks at nothing is noticed. Knows sums only.

use std::path::Path;

use hunt::Summary;

use crate::convict::{fresh_folder, simulate};

/// Problems of the fault-free hunt: some thousand checks.
const PROBLEMS: &str = "150";

#[test]
fn where_no_fault_is_planted_nothing_is_found() {
    let out = fresh_folder("canary");
    let out = out.to_string_lossy();
    let arguments = ["hunt", "--json", "--seed", "11", "--cases", PROBLEMS, "--out", &out];
    let run = simulate(Path::new("none"), arguments);
    assert_eq!(run.code, Some(0), "{run:?}");
    let summary: Summary = serde_json::from_str(&run.stdout).expect("a summary");
    assert!(summary.findings.is_empty() && summary.flaky.is_empty(), "false alarms: {summary:?}");
    assert_eq!((summary.unsettled, summary.slots_lost), (0, 0), "{summary:?}");
    assert!(summary.checks >= 1_000, "a canary that sees too little: {summary:?}");
    let passed = summary.verdicts["pass"];
    assert!(passed * 100 >= summary.checks * 95, "too many checks say nothing: {:?}", summary.verdicts);
}
