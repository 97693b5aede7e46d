//! Explanations of faults on a scripted slot.

use std::sync::atomic::Ordering;
use std::time::Instant;

use case::Case;

use super::{accuse, explain_finding, kin};
use crate::bench::script::{How, Script, World, planted};
use crate::error::HuntError;
use crate::reduce::Allowance;

const ALLOWANCE: Allowance = Allowance { calls_max: 200, seconds_max: 60.0 };

fn case(line: &str) -> Case {
    line.parse().unwrap()
}

#[test]
fn the_conditions_of_a_scripted_fault_are_found_with_twins_and_counts() {
    let world =
        World::new(vec![planted(Some(2), How::Wrong, |case| case.problem.n % 3 == 2 && case.problem.k >= 5)]);
    let mut script = Script::new(&world);
    let finding = accuse(&mut script, &case("wgrad f32 nchw n2 c1 k5 i1 f1 engine=2")).unwrap();
    let crate::event::Explained { explanation, reach } =
        explain_finding(&mut script, &finding, ALLOWANCE, None).unwrap();
    let mut atoms: Vec<String> = explanation.region.atoms.iter().map(ToString::to_string).collect();
    atoms.sort();
    assert_eq!(atoms, ["k >= 5", "n mod 3 = 2"]);
    let (inside, outside) = (&explanation.region.inside, &explanation.region.outside);
    assert!(inside.tested > 20 && inside.failed == inside.tested, "{inside:?}");
    assert!(outside.tested > 20 && outside.failed == 0, "{outside:?}");
    let twins: Vec<_> = explanation.twins.iter().map(|twin| (&*twin.field, &*twin.passes)).collect();
    assert_eq!(twins, [("n", "1"), ("k", "4")]);
    assert!(explanation.any.contains(&"c".to_owned()), "{:?}", explanation.any);
    assert!(explanation.map.is_some() && explanation.complete && explanation.calls <= 200);
    assert_eq!(reach.right, 2);
}

#[test]
fn an_engine_is_explained_with_all_data_where_it_fails_with_those_too() {
    let world = World::new(vec![planted(Some(2), How::Wrong, |case| {
        case.problem.k >= 5 && (case.options.fill.is_none() || case.problem.n >= 3)
    })]);
    let mut script = Script::new(&world);
    let line = "wgrad f32 nchw n3 c1 k5 i1 f1 engine=2 fill=one:1 wsfill=ff out=nan";
    let finding = accuse(&mut script, &case(line)).unwrap();
    let explained = explain_finding(&mut script, &finding, ALLOWANCE, None).unwrap();
    assert_eq!(explained.explanation.region.to_string(), "k >= 5");
    let twin = &explained.explanation.twins[0];
    assert!(!twin.case.contains("fill"), "{}", twin.case);
}

#[test]
fn a_failure_that_its_data_bring_about_is_explained_with_them() {
    let world = World::new(vec![planted(Some(2), How::Wrong, |case| {
        case.problem.k >= 5 && case.options.fill.is_some()
    })]);
    let mut script = Script::new(&world);
    let line = "wgrad f32 nchw n1 c1 k5 i1 f1 engine=2 fill=one:1 wsfill=ff out=nan";
    let finding = accuse(&mut script, &case(line)).unwrap();
    let explained = explain_finding(&mut script, &finding, ALLOWANCE, None).unwrap();
    assert_eq!(explained.explanation.region.to_string(), "k >= 5");
    assert!(explained.explanation.twins[0].case.contains("fill=one:1"));
}

#[test]
fn a_case_that_keeps_few_inputs_is_explained_with_all_of_them_where_those_fail_too() {
    let line = "wgrad f32 nchw n1 c2 k5 i3 f1 engine=2 fill=one:1 wsfill=ff out=nan";
    let home = |world| {
        let mut script = Script::new(&world);
        let finding = accuse(&mut script, &case(&format!("{line} keep=x:4,y:0"))).unwrap();
        let explained = explain_finding(&mut script, &finding, ALLOWANCE, None).unwrap();
        assert_eq!(explained.explanation.region.to_string(), "k >= 5");
        explained.explanation.twins[0].case.clone()
    };
    let with_its_fill = |case: &Case| case.problem.k >= 5 && case.options.fill.is_some();
    let twin = home(World::new(vec![planted(Some(2), How::Wrong, with_its_fill)]));
    assert!(twin.contains("fill=one:1") && !twin.contains("keep="), "{twin}");
    // Kinds without a class of values never look at other contents, and need it all the same.
    let twin = home(World::new(vec![planted(Some(2), How::Crash, with_its_fill)]));
    assert!(twin.contains("fill=one:1") && !twin.contains("keep="), "{twin}");
}

#[test]
fn other_ways_to_be_wrong_lie_in_the_same_region() {
    let world = World::new(vec![planted(Some(2), How::Wrong, |_| true)]);
    let mut script = Script::new(&world);
    let finding = accuse(&mut script, &case("wgrad f32 nchw n1 c1 k5 i1 f1 engine=2")).unwrap();
    let heard = |slug: &str| kin(&finding, minimizer::Answer::Other(slug.to_owned()));
    assert_eq!(heard("wgrad-e2-wrong-judge-nan-f16-nhwc"), minimizer::Answer::Same);
    for other in
        ["wgrad-e22-wrong-judge-nan-f16-nhwc", "wgrad-e2-inexact", "dgrad-e2-wrong-judge-nan-f32-nchw"]
    {
        assert_eq!(heard(other), minimizer::Answer::Other(other.to_owned()));
    }
}

#[test]
fn a_case_that_passes_or_is_refused_is_not_explained() {
    let world = World::new(vec![]);
    let mut script = Script::new(&world);
    for (line, reason) in [
        ("fprop f32 nchw n1 c1 k1 i1 f1 engine=0", "the case passes: nothing to explain"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 engine=9", "the case is refused: NOT_SUPPORTED in plan"),
    ] {
        let error = accuse(&mut script, &case(line)).unwrap_err();
        assert!(matches!(error, HuntError::Passes(_)), "{error}");
        assert_eq!(error.to_string(), reason);
    }
}

#[test]
fn trouble_of_the_machine_ends_the_questions_and_is_told() {
    let world = World::new(vec![planted(Some(2), How::Wrong, |_| true)]);
    let mut script = Script::new(&world);
    let finding = accuse(&mut script, &case("wgrad f32 nchw n2 c1 k5 i1 f1 engine=2")).unwrap();
    script.healthy_jobs = 10;
    let error = explain_finding(&mut script, &finding, ALLOWANCE, None).unwrap_err();
    assert!(matches!(error, HuntError::Harness(_)), "{error}");
    assert!(world.jobs.load(Ordering::Relaxed) <= 13);
}

#[test]
fn without_time_nothing_is_asked() {
    let world = World::new(vec![planted(Some(2), How::Wrong, |_| true)]);
    let mut script = Script::new(&world);
    let finding = accuse(&mut script, &case("wgrad f32 nchw n2 c1 k5 i1 f1 engine=2")).unwrap();
    let error = explain_finding(&mut script, &finding, ALLOWANCE, Some(Instant::now())).unwrap_err();
    assert_eq!(error.to_string(), "the limits allow no call of the predicate");
}
