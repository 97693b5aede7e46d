//! Ways in which a library takes its process down, and who is blamed. Knows fault scripts and verdicts.

use std::path::{Path, PathBuf};

use case::{Kind, Phase, Tier, Verdict};
use hunt::Summary;
use serde_json::{Value, json};

use crate::convict::{fresh_folder, processes_with, simulate, verdict};

const CASE: &str = "fprop f32 nchw n2 c1 k1 i4 f1 engine=0";

/// Holds for that case, and neither for the one that a worker opens with nor for the one that proves it healthy.
const CONDITION: &str = "n = 2";

/// Calls that a fault can act in, and the phase that it must be blamed on.
const SITES: [(&str, Phase); 3] =
    [("heuristics", Phase::Heuristics), ("plan", Phase::Plan), ("execute", Phase::Execute)];

fn script(folder: &Path, faults: &Value) -> PathBuf {
    let path = folder.join("faults.json");
    std::fs::write(&path, faults.to_string()).expect("a fault script");
    path
}

/// Checks the case with one fault planted and gives what it is blamed for.
fn blamed(folder: &Path, what: &Value) -> (Kind, Phase, String, Option<i64>) {
    let faults = script(folder, &json!([{ "name": "planted", "when": [CONDITION], "what": what }]));
    let run = simulate(&faults, ["check", "--json", CASE]);
    assert_eq!(run.code, Some(1), "{what}: {run:?}");
    let Verdict::Fault(fault) = verdict(&run) else { panic!("{what}: no fault in {run:?}") };
    let sameness = fault.sameness;
    (sameness.kind, sameness.phase, sameness.cause, sameness.engine)
}

/// Before heuristics have answered there is no engine to blame.
fn engine_at(phase: Phase) -> Option<i64> {
    (phase > Phase::Heuristics).then_some(0)
}

#[test]
fn every_death_is_blamed_on_its_phase_and_engine() {
    let folder = fresh_folder("isolation-deaths");
    let deaths = [
        (json!("segfault"), "sigsegv"),
        (json!("abort"), "sigabrt"),
        (json!("illegal_instruction"), "sigill"),
        (json!({ "exit": 3 }), "exit_3"),
    ];
    for (site, phase) in SITES {
        for (by, cause) in &deaths {
            let what = json!({ "crash": { "site": site, "by": by } });
            let expected = (Kind::Crash, phase, (*cause).to_owned(), engine_at(phase));
            assert_eq!(blamed(&folder, &what), expected, "{what}");
        }
    }
}

#[test]
fn every_hang_is_ended_by_its_deadline_and_blamed_on_its_phase() {
    let folder = fresh_folder("isolation-hangs");
    for (site, phase) in SITES {
        let what = json!({ "hang": { "site": site } });
        let expected = (Kind::Hang, phase, "deadline".to_owned(), engine_at(phase));
        assert_eq!(blamed(&folder, &what), expected, "{what}");
    }
}

#[test]
fn a_sticky_device_error_is_blamed_on_the_wait_after_the_launch() {
    let folder = fresh_folder("isolation-sticky");
    for (error, cause) in [(700, "illegal_address"), (719, "launch_failed")] {
        let what = json!({ "sticky": { "error": error } });
        let expected = (Kind::Device, Phase::Sync, cause.to_owned(), Some(0));
        assert_eq!(blamed(&folder, &what), expected, "{what}");
    }
}

#[test]
fn a_death_costs_neither_the_other_engines_nor_the_next_problem() {
    let folder = fresh_folder("isolation-neighbours");
    let faults = script(
        &folder,
        &json!([{
            "name": "planted", "when": ["engine = 1", "n = 2"],
            "what": { "crash": { "site": "execute", "by": "segfault" } },
        }]),
    );
    let cases = folder.join("cases.txt");
    let lines = "fprop f32 nchw n2 c4 k4 i8x8 f3x3\nfprop f32 nchw n3 c4 k4 i8x8 f3x3\n";
    std::fs::write(&cases, lines).expect("case lines");
    let out = folder.join("out");
    let arguments =
        ["hunt", "--json", "--cases-from", &cases.to_string_lossy(), "--out", &out.to_string_lossy()];
    let run = simulate(&faults, arguments.map(str::to_owned));
    assert_eq!(run.code, Some(1), "{run:?}");
    let summary: Summary = serde_json::from_str(&run.stdout).expect("a summary");
    assert_eq!(summary.problems, 2);
    let [finding] = summary.findings.as_slice() else { panic!("one finding, not {:?}", summary.findings) };
    assert_eq!(finding.signature, "fprop-e1-crash-execute-sigsegv-f32-nchw");
    assert_ne!(finding.tier, Tier::C);
    let engines_that_pass = summary.verdicts["pass"];
    assert!(engines_that_pass >= 2 * (summary.engines - 1), "{summary:?}");
    assert_eq!(summary.verdicts["crash"], 1, "{summary:?}");
    let left = processes_with(&folder.to_string_lossy());
    assert!(left.is_empty(), "workers outlived their hunt: {left:?}");
}
