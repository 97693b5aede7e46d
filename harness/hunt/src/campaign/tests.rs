//! Whole hunts against scripted slots with planted failures. Knows their smallest cases.

mod kinds;
mod time;

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use case::{Case, DType, Kind, Operation, Selection, Tier};
use exec::Interrupt;

use super::{HuntOptions, hunt};
use crate::bench::script::{How, Planted, Script, World, planted};
use crate::error::HuntError;
use crate::event::{Entry, HuntEvent, ProblemTally, is_misaligned};
use crate::generator::{Generator, Limits};
use crate::ledger::Ledger;
use crate::source::Source;
use crate::summary::Summary;

const SET: &str = "set=9.19.0-unknown";

fn problems(count: u64) -> HuntOptions {
    let source = Source::Generated(Generator::new(1, Limits::simulator()));
    HuntOptions { problems_max: Some(count), explanation: None, ..HuntOptions::new(source) }
}

fn listed(lines: &[&str]) -> HuntOptions {
    let source = Source::Listed(lines.iter().map(|line| line.parse().unwrap()).collect());
    HuntOptions { explanation: None, ..HuntOptions::new(source) }
}

fn slots(world: &Arc<World>, count: usize) -> Vec<Script> {
    (0..count).map(|_| Script::new(world)).collect()
}

/// Runs a hunt and keeps its events.
fn run_on(slots: Vec<Script>, options: &HuntOptions, ledger: Ledger) -> (Summary, Vec<HuntEvent>) {
    let events: Mutex<Vec<HuntEvent>> = Mutex::default();
    let sink = |entry: &Entry| {
        events.lock().unwrap().push(entry.event.clone());
        Ok(())
    };
    let summary = hunt(options, slots, ledger, &Interrupt::default(), &sink).unwrap();
    (summary, events.into_inner().unwrap())
}

fn run_from(options: &HuntOptions, world: &Arc<World>, ledger: Ledger) -> (Summary, Vec<HuntEvent>) {
    run_on(slots(world, 2), options, ledger)
}

fn run(options: &HuntOptions, world: &Arc<World>) -> (Summary, Vec<HuntEvent>) {
    run_from(options, world, Ledger::default())
}

fn position(events: &[HuntEvent], wanted: impl Fn(&HuntEvent) -> bool) -> usize {
    events.iter().position(wanted).expect("the event was told")
}

fn ragged_fprop(case: &Case) -> bool {
    case.problem.operation == Operation::Fprop && case.problem.c > 4 && case.problem.c % 4 != 0
}

fn half_wgrad(case: &Case) -> bool {
    case.problem.operation == Operation::Wgrad && case.problem.dtypes.x == DType::F16 && case.problem.n >= 2
}

fn any_strided(case: &Case) -> bool {
    case.problem.operation == Operation::Dgrad && case.problem.axes.iter().any(|axis| axis.stride > 1)
}

#[test]
fn a_hunt_without_faults_ends_clean_and_counts_checks_refusals_and_engines() {
    let world = World::new(Vec::new());
    let (summary, events) = run(&problems(60), &world);
    assert_eq!(summary.problems, 60);
    assert_eq!(summary.findings, Vec::new());
    assert_eq!((summary.flaky.len(), summary.unsettled), (0, 0));
    let refused_on_purpose = summary.verdicts.get("accepted").copied().unwrap_or_default();
    assert_eq!(refused_on_purpose, 0);
    assert_eq!(summary.checks, 180);
    assert_eq!((summary.run_time_compiled, summary.precompiled), (120, 60));
    assert_eq!(summary.refusals.get("NOT_SUPPORTED in plan"), Some(&60));
    assert_eq!(summary.engines, 9);
    assert_eq!(summary.foreign_share, Some(0.9));
    assert!(matches!(events.first(), Some(HuntEvent::Started { .. })));
    assert!(matches!(events.last(), Some(HuntEvent::Finished { .. })));
}

#[test]
fn planted_faults_are_found_and_minimized_to_their_known_smallest_cases() {
    let world = World::new(vec![
        planted(Some(1), How::Wrong, ragged_fprop),
        planted(Some(2), How::Crash, half_wgrad),
        planted(Some(0), How::Device, any_strided),
    ]);
    let (summary, _) = run(&problems(300), &world);
    let found: Vec<(&str, Tier)> =
        summary.findings.iter().map(|finding| (finding.case.as_str(), finding.tier)).collect();
    let expected = [
        (format!("dgrad f32 nchw n1 c1 k1 i1 f1 s2 engine=0 {SET}"), Tier::A),
        (format!("fprop f32 nchw n1 c5 k1 i1 f1 engine=1 {SET}"), Tier::B),
        (format!("wgrad f16 nchw n2 c1 k1 i1 f1 engine=2 {SET}"), Tier::B),
    ];
    for (case, tier) in expected {
        assert!(
            found.iter().any(|(line, its)| line.starts_with(&case) && *its == tier),
            "{case} is not among {found:#?}"
        );
    }
    assert_eq!(found.len(), 3, "{found:#?}");
    for finding in &summary.findings {
        assert!(finding.one_minimal && finding.predicate_calls > 0);
        assert_eq!((finding.hits, finding.runs), (3, 3));
        assert!(finding.original.parse::<Case>().is_ok());
    }
    assert!(summary.first_finding_seconds.is_some());
}

#[test]
fn the_same_fault_under_other_types_and_layouts_is_merged_into_one_finding() {
    let world = World::new(vec![planted(Some(1), How::Wrong, |case| case.problem.c > 4)]);
    let lines = [
        "fprop f16 nhwc n2 c8 k8 i8x8 f3x3 p1x1",
        "fprop bf16 nhwc n2 c16 k8 i8x8 f3x3 p1x1",
        "fprop f32 nchw,nchw,nhwc n2 c8 k8 i8x8 f3x3 p1x1",
        "fprop f64 nchw n2 c8 k8 i8x8 f3x3 p1x1",
    ];
    let (summary, events) = run(&listed(&lines), &world);
    assert_eq!(summary.findings.len(), 1);
    let merged = events.iter().filter(|event| matches!(event, HuntEvent::Merged { .. })).count();
    assert_eq!(merged, 3);
    let minimizations = events.iter().filter(|event| matches!(event, HuntEvent::Confirming { .. })).count();
    assert_eq!(minimizations, 1, "the other three take one run each");
}

#[test]
fn a_finding_is_told_step_by_step_and_carries_what_a_bundle_needs() {
    let world = World::new(vec![planted(Some(1), How::Wrong, ragged_fprop)]);
    let (_, events) = run(&listed(&["fprop f32 nchw n2 c6 k8 i8x8 f3x3 p1x1"]), &world);
    let seen = position(&events, |event| matches!(event, HuntEvent::FaultSeen(_)));
    let confirming = position(&events, |event| matches!(event, HuntEvent::Confirming { .. }));
    let confirmed = position(&events, |event| matches!(event, HuntEvent::Confirmed(_)));
    let minimizing = position(&events, |event| matches!(event, HuntEvent::Minimizing { .. }));
    let found = position(&events, |event| matches!(event, HuntEvent::Found(_)));
    assert!(seen < confirming && confirming < confirmed && confirmed < minimizing && minimizing < found);
    let HuntEvent::Found(finding) = &events[found] else { unreachable!("found above") };
    assert_eq!(finding.signature, "fprop-e1-wrong-judge-finite-f32-nchw");
    assert_eq!(finding.fault.sameness.kind, Kind::Wrong);
    // With what it takes to see it again.
    let met =
        "fprop f32 nchw n2 c6 k8 i8x8 f3x3 p1x1 engine=1 set=9.19.0-unknown wsfill=ff fill=int2:1 out=nan";
    assert_eq!(finding.original.to_string(), met);
    assert_eq!(finding.environment.found, "inventory");
    assert!(finding.evidence.is_some());
    let reduction = finding.reduction.as_ref().unwrap();
    assert!(reduction.guarantee.contains("1-minimal"));
    assert_eq!(reduction.log.len() as u64, reduction.predicate_calls);
    assert_eq!(world.alone.load(Ordering::Relaxed), 0, "no other process can make a sum wrong");
}

#[test]
fn only_the_last_confirmation_is_alone_and_only_where_company_could_be_to_blame() {
    let world = World::new(vec![planted(Some(0), How::Device, any_strided)]);
    let (summary, _) = run(&listed(&["dgrad f32 nchw n2 c6 k8 i8x8 f3x3 p1x1 s2x2"]), &world);
    assert_eq!(summary.findings.len(), 1);
    assert_eq!(world.alone.load(Ordering::Relaxed), 3);
}

#[test]
fn a_fault_before_any_engine_is_found_without_one() {
    let world = World::new(vec![planted(None, How::Crash, |case| case.problem.k >= 6)]);
    let (summary, _) = run(&problems(60), &world);
    let lines: Vec<&str> = summary.findings.iter().map(|finding| finding.case.as_str()).collect();
    assert_eq!(lines.len(), 3, "one for each pass: {lines:?}");
    assert!(lines.contains(&"dgrad f32 nchw n1 c1 k6 i1 f1"), "{lines:?}");
}

#[test]
fn a_recommended_configuration_that_is_refused_by_an_error_is_a_finding_of_tier_a() {
    let world = World::new(vec![planted(Some(0), How::Refused, |case| case.problem.n >= 3)]);
    let (summary, _) = run(&listed(&["fprop f32 nhwc n9 c8 k8 i8x8 f3x3"]), &world);
    assert_eq!(summary.findings[0].tier, Tier::A);
    assert_eq!(summary.findings[0].case, format!("fprop f32 nchw n3 c1 k1 i1 f1 engine=0 {SET}"));
}

#[test]
fn a_wrong_output_size_that_is_accepted_stays_wrong_in_the_smallest_case() {
    let world = Arc::new(World { accepts: true, ..World::default() });
    let line = "fprop f32 nchw n2 c6 k8 i8x8 f3x3 y=6x7 expect=refuse";
    let (summary, _) = run(&HuntOptions { selection: Selection::Heuristics, ..listed(&[line]) }, &world);
    assert_eq!(summary.findings.len(), 1);
    let smallest: Case = summary.findings[0].case.parse().unwrap();
    let due: Vec<i64> = smallest.problem.axes.iter().map(case::Axis::output).collect();
    assert!(
        smallest.problem.declared_output.is_some_and(|declared| declared != due),
        "{:?}",
        summary.findings
    );
    assert!(summary.findings[0].one_minimal);
}

#[test]
fn a_fault_that_rarely_comes_back_goes_to_the_flaky_shelf() {
    // With an odd workspace one more hit would do.
    let rare = Planted { every: 9, ..planted(Some(1), How::Crash, |case| !is_misaligned(case)) };
    let world = World::new(vec![rare]);
    let (summary, events) = run(&problems(30), &world);
    assert_eq!(summary.findings, Vec::new());
    assert!(!summary.flaky.is_empty());
    for flaky in &summary.flaky {
        assert!(flaky.hits < 3 && flaky.runs <= 10, "{flaky:?}");
    }
    assert!(events.iter().any(|event| matches!(event, HuntEvent::Dropped { .. })));
}

#[test]
fn a_fault_that_comes_back_every_other_time_is_confirmed_with_its_rate_and_never_called_minimal() {
    let half = Planted { every: 2, ..planted(Some(1), How::Crash, |case| case.problem.c >= 2) };
    let world = World::new(vec![half]);
    let lines = ["fprop f32 nchw n2 c6 k8 i8x8 f3x3"; 4];
    let (summary, _) = run(&listed(&lines), &world);
    assert_eq!(summary.findings.len(), 1);
    let finding = &summary.findings[0];
    assert_eq!(finding.hits, 3);
    assert!(finding.runs > 3 && finding.runs <= 10, "{finding:?}");
}

#[test]
fn another_failure_met_while_minimizing_becomes_a_finding_of_its_own() {
    let world = World::new(vec![
        planted(Some(1), How::Wrong, |case| case.problem.c >= 8),
        planted(Some(1), How::Crash, |case| case.problem.c == 4),
    ]);
    let (summary, _) = run(&listed(&["fprop f32 nchw n2 c16 k8 i8x8 f3x3"]), &world);
    let kinds: Vec<&str> = summary.findings.iter().map(|finding| finding.signature.as_str()).collect();
    assert_eq!(kinds.len(), 2, "{kinds:?}");
    assert!(kinds.iter().any(|signature| signature.contains("-crash-")));
    assert!(kinds.iter().any(|signature| signature.contains("-wrong-")));
}

#[test]
fn a_resumed_hunt_repeats_no_finished_problem_and_keeps_findings_and_counts() {
    let world = World::new(vec![planted(Some(1), How::Wrong, ragged_fprop)]);
    let mut ledger = Ledger::default();
    let (first, events) = run(&problems(90), &world);
    for event in events {
        ledger.apply(&Entry { seconds: 1.5, event });
    }
    let before: Vec<String> = std::mem::take(&mut *world.surveyed.lock().unwrap());
    let (second, events) = run_from(&problems(150), &world, ledger);
    let after = world.surveyed.lock().unwrap();
    let generator = Generator::new(1, Limits::simulator());
    let expected: Vec<String> = (90..150).map(|index| generator.problem(index).to_string()).collect();
    assert_eq!(after.len(), 60);
    assert!(after.iter().all(|line| expected.contains(line)));
    assert_eq!(before.len(), 90);
    assert_eq!((first.problems, second.problems), (90, 150));
    assert!(second.checks > first.checks && second.seconds >= 1.5);
    assert_eq!(second.findings, first.findings);
    assert!(!events.iter().any(|event| matches!(event, HuntEvent::Found(_))));
}

#[test]
fn a_resumed_hunt_fills_the_gaps_that_other_slots_left() {
    let world = World::new(Vec::new());
    let mut ledger = Ledger::default();
    for index in [0, 2, 4, 6] {
        let event = HuntEvent::ProblemDone { index, tally: ProblemTally::default() };
        ledger.apply(&Entry { seconds: 0.0, event });
    }
    let (summary, _) = run_from(&problems(8), &world, ledger);
    let generator = Generator::new(1, Limits::simulator());
    let mut expected = [1, 3, 5, 7].map(|index| generator.problem(index).to_string());
    let mut surveyed = world.surveyed.lock().unwrap().clone();
    surveyed.sort();
    expected.sort();
    assert_eq!(surveyed, expected);
    assert_eq!(summary.problems, 8);
}

#[test]
fn a_lead_whose_confirmation_broke_off_through_our_own_trouble_is_followed_again() {
    let world = World::new(vec![planted(Some(1), How::Wrong, ragged_fprop)]);
    // Job 1 surveys, job 2 is the first run of the confirmation.
    let script = Script { broken_job: 2, ..Script::new(&world) };
    let options = listed(&["fprop f32 nchw n2 c6 k8 i8x8 f3x3 p1x1"]);
    let summary =
        hunt(&options, vec![script], Ledger::default(), &Interrupt::default(), &|_| Ok(())).unwrap();
    assert_eq!(summary.slots_lost, 0);
    assert_eq!(summary.findings.len(), 1);
}

#[test]
fn an_interruption_keeps_what_is_confirmed_and_a_resume_minimizes_it() {
    let world = World::new(vec![planted(Some(1), How::Wrong, ragged_fprop)]);
    let interrupt = Interrupt::default();
    let entries: Mutex<Vec<Entry>> = Mutex::default();
    let sink = |entry: &Entry| {
        if matches!(entry.event, HuntEvent::Confirmed(_)) {
            interrupt.set();
        }
        entries.lock().unwrap().push(entry.clone());
        Ok(())
    };
    let options = problems(300);
    let scripts = vec![Script { interrupt: interrupt.clone(), ..Script::new(&world) }];
    let summary = hunt(&options, scripts, Ledger::default(), &interrupt, &sink).unwrap();
    assert!(summary.interrupted);
    assert_eq!(summary.findings.len(), 1);
    assert!(!summary.findings[0].one_minimal);
    assert_eq!(summary.findings[0].shortfall.as_deref(), Some("not minimized: the hunt ended first"));
    assert!(summary.problems < 300);
    let mut ledger = Ledger::default();
    entries.into_inner().unwrap().iter().for_each(|entry| ledger.apply(entry));
    let (resumed, _) = run_from(&options, &world, ledger);
    assert!(!resumed.interrupted);
    assert_eq!(resumed.problems, 300);
    assert_eq!(resumed.findings.len(), 1);
    assert!(resumed.findings[0].one_minimal && resumed.findings[0].shortfall.is_none());
}

#[test]
fn a_slot_with_an_unhealthy_device_ends_and_the_others_go_on() {
    let world = World::paced(Vec::new(), Duration::from_millis(1));
    let sick = Script { healthy_jobs: 3, ..Script::new(&world) };
    let sink = |_: &Entry| Ok(());
    let scripts = vec![Script::new(&world), sick];
    let summary = hunt(&problems(40), scripts, Ledger::default(), &Interrupt::default(), &sink).unwrap();
    assert_eq!(summary.slots_lost, 1);
    assert!(summary.problems >= 39);
}

#[test]
fn a_hunt_whose_slots_are_all_lost_is_an_error_that_the_machine_answers_for() {
    let world = World::new(Vec::new());
    let scripts = (0..2).map(|_| Script { healthy_jobs: 2, ..Script::new(&world) }).collect::<Vec<Script>>();
    let error =
        hunt(&problems(40), scripts, Ledger::default(), &Interrupt::default(), &|_| Ok(())).unwrap_err();
    assert!(matches!(error, HuntError::Harness(error) if error.machine()));
}

#[test]
fn a_full_disk_ends_the_hunt_with_the_systems_reason() {
    let world = World::new(Vec::new());
    let sink = |entry: &Entry| {
        let full = matches!(entry.event, HuntEvent::ProblemDone { index: 5, .. });
        if full { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(()) }
    };
    let options = HuntOptions { problems_max: None, ..problems(0) };
    let error =
        hunt(&options, slots(&world, 2), Ledger::default(), &Interrupt::default(), &sink).unwrap_err();
    assert!(matches!(error, HuntError::Record(_)), "{error}");
}

#[test]
fn executions_that_could_show_nothing_are_made_again_under_the_full_matrix_before_they_count() {
    let world = Arc::new(World { weak: true, ..World::default() });
    let (summary, _) = run(&listed(&["fprop f32 nchw n2 c6 k8 i8x8 f3x3"]), &world);
    assert_eq!(world.jobs.load(Ordering::Relaxed), 4, "a survey and three engines again");
    assert_eq!(summary.checks, 3);
    assert_eq!(summary.verdicts.get("pass"), Some(&3));
}

#[test]
#[should_panic(expected = "scripted panic")]
fn a_slot_that_panics_takes_the_hunt_down_instead_of_leaving_the_others_waiting() {
    let world = World::new(vec![planted(Some(1), How::Wrong, |_| true)]);
    let sink = |entry: &Entry| {
        assert!(!matches!(entry.event, HuntEvent::Confirming { .. }), "scripted panic");
        Ok(())
    };
    let options = HuntOptions { problems_max: None, ..problems(0) };
    drop(hunt(&options, slots(&world, 2), Ledger::default(), &Interrupt::default(), &sink));
}

#[test]
fn a_slot_with_its_worker_can_move_to_a_thread_of_its_own() {
    fn is_bench<B: crate::Bench + Send>() {}
    is_bench::<exec::Slot>();
}

#[test]
fn a_resume_on_another_library_set_is_refused() {
    let world = World::new(Vec::new());
    let (_, events) = run(&problems(3), &world);
    let mut ledger = Ledger::default();
    for mut event in events {
        if let HuntEvent::Started { set, .. } = &mut event {
            "9.14.0-full".clone_into(set);
        }
        ledger.apply(&Entry { seconds: 0.0, event });
    }
    let error = hunt(&problems(6), slots(&world, 1), ledger, &Interrupt::default(), &|_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("9.14.0-full"), "{error}");
}

#[test]
fn findings_are_explained_after_the_hunt_and_a_resumed_hunt_explains_what_is_left() {
    let world = World::new(vec![planted(Some(1), How::Wrong, ragged_fprop)]);
    let lines = listed(&["fprop f32 nchw n2 c6 k8 i8x8 f3x3 p1x1"]);
    let (_, events) = run(&lines, &world);
    let mut ledger = Ledger::default();
    for event in events {
        ledger.apply(&Entry { seconds: 1.0, event });
    }
    let explaining = HuntOptions { explanation: Some(crate::explain::EXPLANATION), ..lines };
    let (summary, events) = run_from(&explaining, &world, ledger);
    let told = position(&events, |event| matches!(event, HuntEvent::Explaining { number: 1, of: 1, .. }));
    let found = position(&events, |event| matches!(event, HuntEvent::Explained(_)));
    assert!(told < found);
    let HuntEvent::Explained(finding) = &events[found] else { unreachable!("found above") };
    let explained = finding.explained.as_ref();
    let explanation = &explained.expect("it was explained").explanation;
    let fails = |line: &str| explanation.region.contains(&line.parse().unwrap());
    assert!(fails("fprop f16 nhwc n1 c7 k2 i4x4 f1x1") && !fails("fprop f16 nhwc n1 c8 k2 i4x4 f1x1"));
    assert_eq!(summary.findings.len(), 1);
}
