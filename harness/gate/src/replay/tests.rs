//! A replay on benches that follow a script. Knows no process and no library.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use corpus::{Configuration, Entry, Expectation};
use exec::Interrupt;

use super::*;
use crate::script::{Library, Script, Showed};

const FAILS: &str = r#"{"cudnn_from": null, "cudnn_to": null, "configuration": null, "architectures": [],
    "expect": "fail", "rate": null, "reason": "seen", "ticket": "https://example.org/1", "resolution": null,
    "owner": null, "review_by": null}"#;

fn entry(line: &str, expectation: Option<&str>) -> Listed {
    let expectations: Vec<Expectation> =
        expectation.map(|text| serde_json::from_str(text).expect("an expectation")).into_iter().collect();
    Listed {
        id: line.split(' ').next().expect("a word").to_owned(),
        path: PathBuf::from("x.json"),
        entry: Entry::new(&line.parse().expect("a case"), None, expectations),
    }
}

struct Seen {
    ended: Ended,
    runs: u32,
    fresh: u32,
    told: Vec<String>,
}

fn run(listed: &[Listed], library: Library) -> Seen {
    run_with(listed, library, |_| {})
}

fn run_with(listed: &[Listed], library: Library, change: impl FnOnce(&mut Replay<'_>)) -> Seen {
    let set = SetFacts {
        name: "9.19.0-full".to_owned(),
        version: "9.19.0".parse().expect("a version"),
        configuration: Some(Configuration::Full),
        architecture: "sm_90".to_owned(),
    };
    let (runs, fresh) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let interrupt = Interrupt::default();
    let bench = || Script {
        library,
        runs: Arc::clone(&runs),
        fresh: Arc::clone(&fresh),
        limit: None,
        interrupt: interrupt.clone(),
    };
    let mut asked = Replay {
        listed,
        set: &set,
        asking: Asking {
            engines: Selection::Single,
            multiply_adds_max: 0,
            time: None,
            looking_for_one: false,
        },
        allowed: Allowed { until: None, interrupt: interrupt.clone() },
        plans_only: false,
    };
    change(&mut asked);
    let told = Mutex::new(Vec::new());
    let ended = replay(&asked, vec![bench(), bench()], bench, &|record| {
        told.lock().expect("a list").push(record.id.clone());
    });
    let count = |counter: &AtomicU32| counter.load(Ordering::Relaxed);
    Seen { ended, runs: count(&runs), fresh: count(&fresh), told: told.into_inner().expect("a list") }
}

fn states(seen: &Seen) -> Vec<State> {
    seen.ended.records.iter().map(|record| record.state).collect()
}

#[test]
fn each_entry_is_told_once_and_stands_in_the_order_of_the_list() {
    let listed =
        [entry("fprop f32 nchw n1 c1 k1 i4 f1", None), entry("dgrad f32 nchw n1 c1 k1 i4 f1", Some(FAILS))];
    let seen = run(&listed, |case, _| {
        if case.problem.operation == case::Operation::Fprop { Showed::Declines } else { Showed::Dies }
    });
    assert_eq!(states(&seen), [State::Unsupported, State::Xfail]);
    let mut told = seen.told.clone();
    told.sort();
    assert_eq!(told, ["dgrad", "fprop"]);
    assert_eq!(seen.ended.records[1].ticket.as_deref(), Some("https://example.org/1"));
    // What was expected is not run again.
    assert_eq!((seen.runs, seen.fresh), (2, 0));
}

#[test]
fn an_unexpected_failure_is_run_again_in_fresh_processes_and_its_rate_told() {
    let listed = [entry("fprop f32 nchw n1 c1 k1 i4 f1", None)];
    let seen = run(&listed, |_, run| if run == 1 { Showed::Declines } else { Showed::Dies });
    // A refusal ends the repetition: it is no right result.
    assert_eq!(states(&seen), [State::Fail]);
    let seen = run(&listed, |_, _| Showed::Dies);
    assert_eq!((seen.runs, seen.fresh), (3, 2));
    assert!(seen.ended.records[0].why.contains("in 3 of 3 runs"), "{:?}", seen.ended.records[0]);
}

#[test]
fn trouble_on_one_bench_is_tried_once_more_alone_and_blames_no_library() {
    let listed = [entry("fprop f32 nchw n1 c1 k1 i4 f1", None)];
    let seen = run(&listed, |_, run| if run == 0 { Showed::Trouble } else { Showed::Declines });
    assert_eq!(states(&seen), [State::Unsupported]);
    let seen = run(&listed, |_, _| Showed::Trouble);
    assert_eq!(states(&seen), [State::Infra]);
    assert!(seen.ended.records[0].why.contains("a full disk"));
    assert_eq!(seen.told.len(), 1);
}

#[test]
fn what_is_too_much_or_takes_too_long_is_skipped_and_says_why() {
    let listed = [entry("fprop f32 nchw n1 c1 k1 i400 f1", None)];
    let seen = run_with(&listed, |_, _| Showed::Dies, |replay| replay.asking.multiply_adds_max = 100);
    assert_eq!((states(&seen), seen.runs), (vec![State::Skipped], 0));
    assert_eq!(seen.ended.records[0].why, "more than the 100 multiply-adds that are run here");
    let limit = |replay: &mut Replay<'_>| replay.asking.time = Some(Duration::from_millis(1));
    let slow: Library = |_, _| {
        std::thread::sleep(Duration::from_millis(2));
        Showed::Late
    };
    let seen = run_with(&listed, slow, limit);
    assert_eq!(states(&seen), [State::Skipped]);
    assert_eq!(seen.ended.records[0].why, "not done within 0.001 s");
}

#[test]
fn when_the_time_is_over_or_somebody_interrupts_the_rest_is_skipped() {
    let listed = [entry("fprop f32 nchw n1 c1 k1 i4 f1", None), entry("dgrad f32 nchw n1 c1 k1 i4 f1", None)];
    let seen = run_with(&listed, |_, _| Showed::Dies, |replay| replay.allowed.until = Some(Instant::now()));
    assert_eq!((states(&seen), seen.runs), (vec![State::Skipped; 2], 0));
    assert_eq!(seen.ended.records[0].why, "the time for all was over");
    let seen = run(&listed, |_, _| Showed::Interrupts);
    assert!(seen.ended.interrupted);
    assert_eq!(states(&seen), [State::Skipped; 2]);
    assert!(seen.ended.records.iter().any(|record| record.why == "interrupted"));
}

#[test]
fn benches_that_all_fail_leave_entries_that_say_so() {
    let listed: Vec<Listed> =
        (1..20).map(|size| entry(&format!("fprop f32 nchw n1 c1 k1 i{size} f1"), None)).collect();
    let seen = run(&listed, |_, _| Showed::Trouble);
    assert!(states(&seen).iter().all(|state| *state == State::Infra));
    assert_eq!(seen.told.len(), listed.len());
    assert!(seen.runs < listed.len() as u32, "three strikes end a bench");
}

#[test]
fn a_plan_says_all_of_what_must_be_refused_or_fails_before_anything_is_executed() {
    let fails: Expectation = serde_json::from_str(FAILS).expect("an expectation");
    let piece = |signature, engine_free| Piece {
        position: 0,
        case: "dgrad i8 nchw n1 c1 k1 i1x1x1 f1x1x1".parse().expect("a case"),
        question: Question {
            expectation: Some(&fails),
            signature,
            engine_free,
            every_engine: false,
            must_refuse: false,
        },
    };
    for (signature, shown) in [
        (Some("dgrad-e25-status-plan-internal_error-i8-nchw"), true),
        (Some("wgrad-none-crash-heuristics-sigsegv-f32-nchw"), true),
        (Some("wgrad-e20-wrong-judge-nan-f32-nchw"), false),
        (Some("avgpool-e1-status-execute-not_supported-f32-nchw"), false),
        (None, false),
    ] {
        assert_eq!(piece(signature, false).is_shown_by_plans(), shown, "{signature:?}");
        // Without its engine the case asks another, whose plan says nothing of the known failure.
        assert!(!piece(signature, true).is_shown_by_plans(), "{signature:?}");
    }
    let mut other = piece(Some("dgrad-e25-status-plan-internal_error-i8-nchw"), false);
    other.question.expectation = None;
    assert!(!other.is_shown_by_plans());
    other.question.must_refuse = true;
    assert!(other.is_shown_by_plans());
}
