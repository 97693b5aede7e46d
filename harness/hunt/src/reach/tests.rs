//! How plans are reached on a scripted slot: engine 0 leads list A, the others are in none.

use case::{Case, Ranks, Reach, Severity};

use super::{better, reach};
use crate::bench::script::{How, Planted, Script, World, planted};
use crate::explain::accuse;

fn reached(fault: Planted, line: &str) -> Reach {
    let world = World::new(vec![fault]);
    let mut script = Script::new(&world);
    let case: Case = line.parse().unwrap();
    let finding = accuse(&mut script, &case).unwrap();
    reach(&mut script, &finding).unwrap()
}

#[test]
fn the_first_choice_of_heuristics_is_what_everybody_gets() {
    let reach = reached(planted(Some(0), How::Wrong, |_| true), "fprop f32 nchw n1 c1 k1 i1 f1 engine=0");
    assert_eq!((reach.severity, reach.ranks.a), (Severity::ByDefault, Some(0)));
    assert_eq!((reach.right, reach.ran), (2, 3), "engine 9 declines");
    let alternative = reach.alternative.expect("two engines are right");
    assert_eq!(
        (alternative.config.engine, alternative.execute_us, alternative.time_ratio),
        (1, 3, Some(1.0))
    );
}

#[test]
fn an_engine_in_no_list_takes_an_explicit_choice_and_a_dead_one_has_no_time() {
    let reach = reached(planted(Some(2), How::Crash, |_| true), "fprop f32 nchw n1 c1 k1 i1 f1 engine=2");
    assert_eq!((reach.severity, reach.ranks), (Severity::ByExplicitChoice, Ranks::default()));
    assert_eq!(reach.alternative.map(|alternative| alternative.time_ratio), Some(None));
}

#[test]
fn a_failure_before_any_engine_meets_everybody() {
    let reach = reached(planted(None, How::Crash, |_| true), "fprop f32 nchw n1 c1 k1 i1 f1");
    assert_eq!((reach.severity, reach.alternative, reach.ran), (Severity::ByDefault, None, 0));
}

#[test]
fn of_two_ranks_the_better_one_counts_in_each_list() {
    let one = Ranks { a: Some(3), b: None, fallback: Some(1) };
    let other = Ranks { a: Some(2), b: Some(7), fallback: None };
    assert_eq!(better(one, other), Ranks { a: Some(2), b: Some(7), fallback: Some(1) });
}
