//! Failures that are confirmed in ways of their own: for information, by an odd workspace, by comparison.

use case::{Case, EngineChoice, Operation, Tier};

use super::{listed, run, run_on, slots};
use crate::bench::script::{How, Varied, World, planted};
use crate::event::{HuntEvent, is_misaligned};
use crate::ledger::Ledger;

#[test]
fn inexact_arithmetic_takes_one_run_to_confirm_few_to_minimize_and_one_slot_at_a_time() {
    let inexact = |engine| planted(Some(engine), How::Inexact, |_| true);
    let world = World::new([0, 1, 2].map(inexact).to_vec());
    let (summary, events) = run(&listed(&["fprop f16 nhwc n9 c99 k99 i9x9x9 f3x3x3 p1x1x1"]), &world);
    assert_eq!(summary.findings.len(), 3);
    for finding in &summary.findings {
        assert_eq!((finding.tier, finding.hits, finding.runs), (Tier::C, 1, 1));
        assert!((1..=40).contains(&finding.predicate_calls), "{}", finding.predicate_calls);
    }
    let mut at_work: i32 = 0;
    for event in &events {
        at_work += i32::from(matches!(event, HuntEvent::Confirming { .. }));
        at_work -= i32::from(matches!(event, HuntEvent::Found(_)));
        assert!(at_work <= 1, "two slots are at work for information");
    }
    let exactness = &summary.exactness["fprop e1"];
    assert_eq!(exactness.checks, 1);
    assert_eq!((exactness.fills["int2"].executions, exactness.fills["int2"].exact), (3, 0));
}

#[test]
fn what_fails_with_an_odd_workspace_only_is_told_for_information_under_a_name_of_its_own() {
    let world =
        World::new(vec![planted(Some(1), How::Crash, |case| is_misaligned(case) && case.problem.c >= 2)]);
    let (summary, _) = run(&listed(&["fprop f32 nchw n2 c6 k8 i8x8 f3x3 ws=exact@16"]), &world);
    assert_eq!(summary.findings.len(), 1);
    let finding = &summary.findings[0];
    assert_eq!((finding.tier, finding.hits), (Tier::C, 1));
    assert!(finding.signature.contains("-nchw-ws"), "{}", finding.signature);
}

#[test]
fn what_fails_without_the_odd_workspace_too_is_followed_as_the_serious_failure_it_is() {
    let world = World::new(vec![planted(Some(1), How::Crash, |case| case.problem.c >= 2)]);
    let (summary, _) = run(&listed(&["fprop f32 nchw n2 c6 k8 i8x8 f3x3 ws=exact@16"]), &world);
    assert_eq!((summary.findings.len(), summary.unsettled), (1, 0));
    let finding = &summary.findings[0];
    assert_eq!((finding.tier, finding.hits, finding.one_minimal), (Tier::B, 3, true));
    assert!(finding.signature.ends_with("-f32-nchw") && !finding.case.contains("ws="), "{finding:?}");
}

/// The only finding of a hunt over one line with engine 1 unsteady in that way.
fn unsteady(varied: Varied, line: &str) -> Case {
    let world = World::new(vec![planted(Some(1), How::Differs(varied), |case| case.problem.c >= 2)]);
    let (summary, _) = run(&listed(&[line]), &world);
    let [finding] = summary.findings.as_slice() else { panic!("one finding: {:?}", summary.findings) };
    assert!(finding.signature.starts_with("fprop-e1-nondet-judge-"), "{}", finding.signature);
    assert_eq!((finding.hits, finding.runs, finding.one_minimal), (3, 3, true));
    finding.case.parse().unwrap()
}

#[test]
fn bits_that_differ_between_repeats_keep_ten_of_them_in_the_smallest_case() {
    let case = unsteady(Varied::Nothing, "fprop f32 nchw n2 c6 k8 i8x8 f3x3");
    assert_eq!((case.problem.c, case.options.repeat), (2, 10));
}

#[test]
fn bits_that_depend_on_the_workspace_leave_its_contents_free_in_the_smallest_case() {
    let case = unsteady(Varied::Workspace, "fprop f32 nchw n2 c6 k8 i8x8 f3x3 fill=int2:1");
    assert_eq!((case.problem.c, case.options.repeat), (2, 1));
    assert!(case.options.workspace.contents.is_none() && case.options.fill.is_some());
}

#[test]
fn bits_that_depend_on_what_the_output_held_leave_that_free_in_the_smallest_case() {
    let case = unsteady(Varied::Output, "fprop f32 nchw n2 c6 k8 i8x8 f3x3 fill=int2:1 wsfill=00");
    assert_eq!((case.problem.c, case.options.repeat), (2, 1));
    assert!(case.options.output_fill.is_none() && case.options.workspace.contents.is_some());
}

#[test]
fn listed_cases_of_which_nothing_was_judged_are_named_with_the_reason() {
    let world = World::new(Vec::new());
    let refused = "fprop f32 nchw n1 c1 k1 i4 f1 engine=9";
    let (summary, _) = run(&listed(&[refused, "fprop f32 nchw n1 c1 k1 i4 f1"]), &world);
    let unjudged: Vec<(u64, &str)> =
        summary.unjudged.iter().map(|unjudged| (unjudged.index, unjudged.case.as_str())).collect();
    assert_eq!(unjudged, [(0, refused)]);
    let [(reason, 1)] = summary.unjudged[0].reasons.as_slice() else { panic!("{:?}", summary.unjudged) };
    assert!(reason.contains(" in "), "{reason}");
    assert!(!summary.judged_nothing());

    let (summary, _) = run(&listed(&[refused]), &world);
    assert!(summary.judged_nothing(), "{summary:?}");
    let on_purpose = "fprop f32 nchw n0 c1 k1 i1 f1 expect=refuse";
    let (summary, _) = run(&listed(&[on_purpose]), &world);
    assert!(!summary.judged_nothing() && summary.unjudged.is_empty(), "{summary:?}");
}

#[test]
fn problems_of_a_generator_are_never_named_as_not_judged() {
    let (summary, _) = run(&super::problems(2), &World::new(Vec::new()));
    assert!(summary.unjudged.is_empty() && !summary.judged_nothing());
}

/// Fails in a survey, whose process does much before, and alone only after a dgrad of engine 2.
fn after_a_dgrad(case: &Case) -> bool {
    let before = |earlier: &Case| {
        let second = matches!(&earlier.options.engine, EngineChoice::Pinned(config) if config.engine == 2);
        second && earlier.problem.operation == Operation::Dgrad
    };
    let surveyed = case.options.engine == EngineChoice::Any;
    case.problem.operation == Operation::Fprop && (surveyed || case.history.iter().any(before))
}

#[test]
fn a_failure_that_needs_what_ran_before_is_found_with_the_shortest_history() {
    let world = World::new(vec![planted(Some(1), How::Wrong, after_a_dgrad)]);
    let lines = [
        "wgrad f32 nchw n2 c4 k4 i6x6 f3x3",
        "dgrad f16 nhwc n4 c8 k8 i9x9 f3x3 p1x1",
        "fprop f16 nhwc n2 c3 k3 i5x5 f1x1",
    ];
    let (_, events) = run_on(slots(&world, 1), &listed(&lines), Ledger::default());
    let found: Vec<_> = events
        .iter()
        .filter_map(|event| if let HuntEvent::Found(found) = event { Some(found) } else { None })
        .collect();
    let [finding] = found.as_slice() else { panic!("one finding: {events:?}") };
    let expected = "dgrad f32 nchw n1 c1 k1 i1 f1 engine=2 ; \
                    fprop f32 nchw n1 c1 k1 i1 f1 engine=1 set=9.19.0-unknown";
    assert_eq!(finding.case.to_string(), expected);
    assert!(finding.reduction.as_ref().is_some_and(|reduction| reduction.one_minimal));
    assert_eq!(finding.original.history.len(), 7, "{}", finding.original);
}
