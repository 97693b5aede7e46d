//! The fold over events: counts, the gap-tolerant set of finished problems, what stays open.

use case::{Config, FillKind, Kind, Selection};

use super::Ledger;
use crate::event::{Check, Entry, HuntEvent, ProblemTally, Terms, VerdictKind};
use crate::summary::ExactCount;

fn fold(events: impl IntoIterator<Item = HuntEvent>) -> Ledger {
    let mut ledger = Ledger::default();
    for (position, event) in events.into_iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "a few events")]
        ledger.apply(&Entry { seconds: position as f64, event });
    }
    ledger
}

fn done(index: u64) -> HuntEvent {
    HuntEvent::ProblemDone { index, tally: ProblemTally::default() }
}

fn checked(index: u64, engine: i64, verdict: VerdictKind, compiled: bool) -> HuntEvent {
    let config = Some(Config { engine, knobs: Vec::new() });
    HuntEvent::Checked(Check {
        index,
        config,
        verdict,
        compiled,
        plan_us: 0,
        execute_us: 0,
        exact: Vec::new(),
    })
}

#[test]
fn finished_problems_may_come_in_any_order() {
    let ledger = fold([0, 3, 1, 7].map(done));
    assert_eq!(ledger.next(), 2);
    let finished: Vec<u64> = (0..9).filter(|index| ledger.is_finished(*index)).collect();
    assert_eq!(finished, [0, 1, 3, 7]);
    assert_eq!(fold([2, 1, 0].map(done)).next(), 3);
}

#[test]
fn checks_count_by_verdict_by_kind_of_engine_and_by_engine_of_a_pass() {
    let started = |index, line: &str| HuntEvent::ProblemStarted {
        index,
        case: line.to_owned(),
        engines: case::Engines::All,
    };
    let ledger = fold([
        started(0, "fprop f32 nchw n1 c1 k1 i1 f1"),
        started(1, "dgrad f32 nchw n1 c1 k1 i1 f1"),
        checked(0, 4, VerdictKind::Pass, true),
        checked(0, 4, VerdictKind::Fault(Kind::Wrong), true),
        checked(1, 4, VerdictKind::Pass, false),
        checked(1, 5, VerdictKind::Untrusted, false),
        HuntEvent::ProblemDone {
            index: 0,
            tally: ProblemTally {
                refusals: vec![("NOT_SUPPORTED in plan".to_owned(), 7)],
                foreign_us: 3,
                busy_us: 4,
                ..ProblemTally::default()
            },
        },
    ]);
    let summary = ledger.summary();
    let verdicts: Vec<(&str, u64)> =
        summary.verdicts.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
    assert_eq!(verdicts, [("pass", 2), ("unsupported", 7), ("untrusted", 1), ("wrong", 1)]);
    assert_eq!((summary.checks, summary.run_time_compiled, summary.precompiled), (4, 2, 2));
    assert_eq!((summary.engines, summary.problems), (3, 1));
    assert_eq!(summary.foreign_share, Some(0.75));
    assert!((summary.checks_per_second - 4.0 / 6.0).abs() < 1e-9);
    assert_eq!(ledger.progress().checks, summary.checks);
}

#[test]
fn an_interruption_is_forgotten_when_the_hunt_goes_on() {
    let terms = Terms { seed: Some(1), listed: None, digest: 2, selection: Selection::All };
    let started =
        HuntEvent::Started { terms, environment: Box::default(), set: "9.19.0-full".to_owned(), slots: 1 };
    assert!(fold([started.clone(), HuntEvent::Interrupted]).summary().interrupted);
    assert!(!fold([started.clone(), HuntEvent::Interrupted, started]).summary().interrupted);
}

#[test]
fn exact_executions_are_counted_by_engine_of_a_pass_and_by_kind_of_data() {
    let config = Some(Config { engine: 4, knobs: Vec::new() });
    let check = |exact: &[(FillKind, bool)]| {
        let verdict = VerdictKind::Pass;
        HuntEvent::Checked(Check {
            index: 0,
            config: config.clone(),
            verdict,
            compiled: false,
            plan_us: 0,
            execute_us: 0,
            exact: exact.to_vec(),
        })
    };
    let ledger = fold([
        HuntEvent::ProblemStarted {
            index: 0,
            case: "dgrad f32 nchw n1 c1 k1 i1 f1".to_owned(),
            engines: case::Engines::All,
        },
        check(&[(FillKind::Int2, true), (FillKind::Int2, false), (FillKind::Tern, true)]),
        check(&[(FillKind::Int2, true)]),
        check(&[]),
    ]);
    let summary = ledger.summary();
    assert_eq!(summary.exactness.len(), 1);
    let exactness = &summary.exactness["dgrad e4"];
    assert_eq!(exactness.checks, 2);
    assert_eq!(exactness.fills["int2"], ExactCount { executions: 3, exact: 2 });
    assert_eq!(exactness.fills["tern"], ExactCount { executions: 1, exact: 1 });
}

#[test]
fn a_check_of_an_earlier_version_without_exactness_still_reads() {
    let text = [
        r#"{"seconds":1.0,"event":"checked","index":3,"#,
        r#""config":{"engine":2},"verdict":"pass","compiled":true}"#,
    ]
    .concat();
    let entry: Entry = serde_json::from_str(&text).unwrap();
    let HuntEvent::Checked(check) = entry.event else { panic!("another event was read") };
    assert_eq!((check.index, check.compiled, check.exact.len()), (3, true, 0));
}
