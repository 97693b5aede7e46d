//! One hunt over the planted faults, which other modules look at too, and what it must make of each. Knows the
//! simulator's table of faults; knows nothing of how a hunt works.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use case::{Case, EngineChoice, Kind, Verdict, WorkspaceFill};
use hunt::Summary;
use simulator::faults::{Action, Planted, planted};

use crate::convict::{Run, convict, fresh_folder, verdict};

/// Time that the hunt gets: README's main job, which also must be enough for every planted fault.
const TIME: &str = "60s";

/// The hunt and its folder.
pub(crate) struct Hunted {
    pub(crate) folder: PathBuf,
    pub(crate) summary: Summary,
    run: Run,
}

/// The hunt that all tests share.
pub(crate) fn hunted() -> &'static Hunted {
    static HUNTED: OnceLock<Hunted> = OnceLock::new();
    HUNTED.get_or_init(|| {
        let folder = fresh_folder("planted");
        let out = folder.to_string_lossy();
        let run = convict(["hunt", "--simulate", "--seed", "1", "--time", TIME, "--out", &out]);
        let text = std::fs::read_to_string(folder.join("summary.json")).unwrap_or_else(|error| {
            panic!("summary.json: {error}; {run:?}");
        });
        let summary = serde_json::from_str(&text).expect("a summary");
        Hunted { folder, summary, run }
    })
}

/// A case without what a planted fault's table leaves open: the library set, and what the buffers hold.
pub(crate) fn case_of(line: &str) -> Case {
    let mut case: Case = line.parse().expect("a case line");
    let options = &mut case.options;
    (options.set, options.fill, options.output_fill, options.workspace.contents) = (None, None, None, None);
    options.keep = case::Keep::default();
    options.repeat = 1;
    case
}

pub(crate) fn minimum(fault: &Planted) -> Case {
    fault.case().unwrap_or_else(|| panic!("{}: {} is no case", fault.fault.name, fault.minimum))
}

#[test]
fn every_planted_fault_is_found_at_its_known_minimum() {
    let hunted = hunted();
    assert_eq!(hunted.run.code, Some(1), "{:?}", hunted.run);
    let mut missed = Vec::new();
    for fault in planted() {
        let signature = fault.signature().expect("the table is sound");
        let name = &fault.fault.name;
        match hunted.summary.findings.iter().find(|finding| finding.signature == signature.as_str()) {
            None => missed.push(format!("{name}: no finding {signature}")),
            Some(finding) if case_of(&finding.case) != minimum(&fault) => {
                missed.push(format!("{name}: '{}' instead of '{}'", finding.case, fault.minimum));
            }
            Some(finding) if !finding.one_minimal => missed.push(format!("{name}: sweep incomplete")),
            Some(_) => {}
        }
    }
    assert!(missed.is_empty(), "{missed:#?}\nfound: {:#?}", hunted.summary.findings);
}

/// Executions are queued together and waited for once, so a fault that ends them says nothing of which one it was:
/// the hunt has to find out.
#[test]
fn the_case_of_a_device_fault_says_which_buffer_contents_bring_it_about() {
    let device: Vec<Planted> = planted().into_iter().filter(|fault| fault.kind == Kind::Device).collect();
    assert!(device.len() >= 2);
    for fault in device {
        let signature = fault.signature().expect("the table is sound");
        let findings = &hunted().summary.findings;
        let found = findings.iter().find(|finding| finding.signature == signature.as_str());
        let line = &found.unwrap_or_else(|| panic!("no finding {signature}")).case;
        let options = line.parse::<Case>().expect("a case line").options;
        assert!(options.fill.is_some() && options.output_fill.is_some(), "{line}");
        let contents = options.workspace.contents;
        assert!(contents.is_some(), "{line}");
        if matches!(fault.fault.what, Action::FollowWorkspace { .. }) {
            assert_eq!(contents, Some(WorkspaceFill::Ones), "{line}");
        }
    }
}

/// A fault may show in more than one way (what is never written is wrong in another way where beta is not 0), but
/// always in its own pass and engine: no two planted faults share one.
#[test]
fn nothing_is_found_where_nothing_was_planted() {
    let place = |slug: &str| slug.split('-').take(2).collect::<Vec<_>>().join("-");
    let planted: BTreeSet<String> =
        planted().iter().filter_map(|fault| Some(place(fault.signature()?.as_str()))).collect();
    for finding in &hunted().summary.findings {
        assert!(planted.contains(&place(&finding.signature)), "{finding:?}");
    }
}

#[test]
fn a_summary_holds_what_its_readers_rely_on() {
    let text = std::fs::read_to_string(hunted().folder.join("summary.json")).expect("summary.json");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for field in ["seconds", "checks", "checks_per_second"] {
        assert!(summary[field].as_f64().is_some_and(|value| value > 0.0), "{field}: {}", summary[field]);
    }
    assert!(summary["verdicts"]["pass"].as_u64().is_some_and(|count| count > 0));
    let findings = summary["findings"].as_array().expect("findings");
    assert!(!findings.is_empty());
    for finding in findings {
        for field in ["signature", "tier", "original", "case", "bundle"] {
            assert!(finding[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {finding}");
        }
        for field in ["hits", "runs"] {
            assert!(finding[field].as_u64().is_some_and(|count| count > 0), "{field}: {finding}");
        }
        // What is met at the very end of the time is confirmed, and may not be minimized any more.
        let calls = finding["predicate_calls"].as_u64().expect("a count");
        assert!(calls > 0 || !finding["one_minimal"].as_bool().expect("yes or no"), "{finding}");
        let bundle = Path::new(finding["bundle"].as_str().expect("a path"));
        assert!(bundle.is_relative() && hunted().folder.join(bundle).is_dir(), "{finding}");
    }
}

#[test]
fn the_end_of_a_hunt_lists_findings_and_bundles() {
    let printed = &hunted().run.stdout;
    assert!(printed.starts_with("SIMULATOR, no GPU:"), "{printed}");
    for finding in &hunted().summary.findings {
        let bundle = hunted().folder.join(finding.bundle.as_deref().expect("a bundle"));
        for text in [&finding.signature, &finding.case, &bundle.display().to_string()] {
            assert!(printed.contains(text.as_str()), "'{text}' is missing in:\n{printed}");
        }
    }
}

#[test]
fn each_minimum_fails_and_its_nearest_smaller_neighbours_do_not_fail_that_way() {
    for fault in planted() {
        let case = minimum(&fault);
        let run = check(&case);
        assert_eq!(run.code, Some(1), "{}: {run:?}", fault.minimum);
        let Verdict::Fault(seen) = verdict(&run) else { panic!("{}: {run:?}", fault.minimum) };
        assert_eq!((seen.sameness.kind, seen.sameness.phase), (fault.kind, fault.phase), "{}", fault.minimum);
        let mut passing = 0;
        for edit in minimizer::list(&case).into_iter().take(NEIGHBOURS) {
            let run = check(&edit.case);
            match verdict(&run) {
                Verdict::Fault(other) => assert_ne!(
                    other.sameness, seen.sameness,
                    "{}: '{}' is smaller and fails too",
                    fault.minimum, edit.name
                ),
                Verdict::Pass => {
                    assert_eq!(run.code, Some(0), "{run:?}");
                    passing += 1;
                }
                Verdict::Unsupported(_) | Verdict::Untrusted(_) => {}
            }
        }
        // Without an engine to pin, the smallest case of all has nothing but other layouts below it.
        assert!(passing > 0 || engine_of(&case).is_none(), "{}: no neighbour passes", fault.minimum);
    }
}

/// Smaller neighbours that are tried of each minimum.
const NEIGHBOURS: usize = 6;

fn check(case: &Case) -> Run {
    convict(["check", "--simulate", "--json", &case.to_string()])
}

fn engine_of(case: &Case) -> Option<i64> {
    match &case.options.engine {
        EngineChoice::Pinned(config) => Some(config.engine),
        EngineChoice::Any | EngineChoice::Ranked { .. } => None,
    }
}

#[test]
fn every_kind_of_failure_is_planted_or_tried_elsewhere() {
    let planted: BTreeSet<Kind> = planted().iter().map(|fault| fault.kind).collect();
    for kind in [Kind::Wrong, Kind::Nondet, Kind::Oob, Kind::Input, Kind::Status, Kind::Device, Kind::Crash] {
        assert!(planted.contains(&kind), "{}", kind.name());
    }
    assert!(planted.contains(&Kind::Hang));
    // `cli` tries what is accepted though it had to be refused; inexact arithmetic is the oracle's own test.
}
