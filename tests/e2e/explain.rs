//! `convict explain` on planted faults: it must give the planted conditions. Knows the simulator's table.

use std::path::Path;

use case::Case;
use serde_json::Value;
use simulator::faults::planted;

use crate::convict::{convict, simulate};

/// Planted faults by their smallest case, with the conditions that must be found, sorted. Where the table says `n > 1`
/// beside a remainder of 1, the least that fails is 5.
const TABLE: [(&str, &[&str]); 5] = [
    ("fprop f16 nchw n1 c8 k8 i1 f1 engine=4", &["c mod 8 = 0", "k mod 8 = 0"]),
    ("dgrad f32 nchw n1 c1 k1 i5 f5 engine=2", &["filter[-1] = 5"]),
    ("fprop f32 nchw n1 c1 k1 i1 f1 s2 engine=3", &["stride[-1] >= 2"]),
    ("dgrad f32 nchw n5 c1 k1 i1 f1 engine=10", &["n >= 5"]),
    ("fprop f32 nchw n5 c1 k1 i1 f1 engine=1", &["n >= 5", "n mod 4 = 1"]),
];

fn explained(case: &str) -> Value {
    let run = convict(["explain", "--simulate", "--json", case]);
    assert_eq!(run.code, Some(0), "{run:?}");
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

#[test]
fn the_planted_conditions_are_found() {
    for (line, conditions) in TABLE {
        assert!(planted().iter().any(|fault| fault.minimum == line), "{line}");
        let report = explained(line);
        let expression = report["expression"].as_str().expect("an expression");
        let mut found: Vec<&str> = expression.split(" and ").collect();
        found.sort_unstable();
        // A channel count and its share of one group differ only where there are groups.
        let found: Vec<String> = found.iter().map(|atom| atom.replace("/g", "")).collect();
        assert_eq!(found, conditions, "{line}: {report}");
        let inside = &report["explanation"]["region"]["inside"];
        assert!(inside["tested"].as_u64().is_some_and(|tested| tested >= 8), "{line}: {inside}");
        assert_eq!(inside["failed"], inside["tested"], "{line}");
    }
}

#[test]
fn a_person_reads_region_twins_counts_and_what_to_use_instead() {
    let run = convict(["explain", "--simulate", "dgrad f32 nchw n5 c1 k1 i1 f1 engine=10"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    for part in ["fails where     n >= 5", "random cases fail", "use instead     engine ", "reached   "] {
        assert!(run.stdout.contains(part), "'{part}' is missing in {run:?}");
    }
    let twin = run.stdout.lines().find(|line| line.trim_start().starts_with("n ")).expect("a twin of n");
    let case = &twin[twin.find("dgrad").expect("its case")..];
    assert_eq!(case.trim().parse::<Case>().expect("a case line").problem.n, 4);
}

#[test]
fn what_does_not_fail_is_not_explained() {
    let run = simulate(Path::new("none"), ["explain", "fprop f32 nchw n1 c1 k1 i1 f1 engine=0"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert_eq!(run.stderr, "convict: the case passes: nothing to explain\n");
    let run = simulate(Path::new("none"), ["explain", "no-such-bundle"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
}

#[test]
fn a_bundle_takes_what_was_found_and_stays_whole() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("bundle");
    let (case, bundle) = ("dgrad f32 nchw n5 c1 k1 i1 f1 engine=10", folder.to_str().expect("a name"));
    let run = convict(["minimize", "--simulate", case, "--out", bundle]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file of the bundle");
    let (program, page) = (read("repro.cpp"), read("report.md"));
    let run = convict(["explain", "--simulate", "--update", "--calls", "40", bundle]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let region: Value = serde_json::from_str(&read("region.json")).expect("JSON");
    assert!(region["calls"].as_u64().is_some_and(|calls| (1..=40).contains(&calls)), "{region}");
    assert_eq!(read("repro.cpp"), program, "the program stays");
    assert_ne!(read("report.md"), page, "the page tells of it");
    let verified = convict(["verify", "--files-only", bundle]);
    assert_eq!(verified.code, Some(0), "{verified:?}");

    let run = convict(["explain", "--simulate", "--update", case]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("is no bundle"), "{run:?}");
}
