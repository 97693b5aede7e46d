//! Which engines are let in after which costs.

use case::Config;

use super::*;
use crate::event::VerdictKind;

fn check(engine: i64, compiled: bool, plan_us: u64) -> Check {
    Check {
        index: 0,
        config: Some(Config { engine, knobs: Vec::new() }),
        verdict: VerdictKind::Pass,
        compiled,
        plan_us,
        execute_us: 10,
        exact: Vec::new(),
    }
}

/// A hundred precompiled checks in that many seconds of work.
fn after(busy_seconds: u64) -> Focus {
    let mut focus = Focus::default();
    focus.note_busy(busy_seconds * 1_000_000);
    for engine in 0..100 {
        focus.note(Operation::Fprop, &check(engine, false, 50));
    }
    focus
}

#[test]
fn everything_is_visited_until_compilation_takes_its_time() {
    let mut focus = after(10);
    assert_eq!(focus.next(Operation::Fprop), Engines::All);
    focus.note(Operation::Fprop, &check(71, true, 100_000));
    assert_eq!(focus.next(Operation::Fprop), Engines::All);
    assert_eq!(focus.next(Operation::Wgrad), Engines::All);
}

#[test]
fn a_lack_of_compiled_checks_is_made_up_for_and_a_slow_engine_is_let_in_in_proportion() {
    let mut focus = after(10);
    focus.note(Operation::Fprop, &check(71, true, 200_000));
    focus.note(Operation::Fprop, &check(80, true, 800_000));
    let visits: Vec<Engines> = (0..8).map(|_| focus.next(Operation::Fprop)).collect();
    let slow = visits.iter().filter(|engines| engines.admit(80)).count();
    assert_eq!(slow, 2, "four times the cost, a quarter of the problems: {visits:?}");
    assert!(visits.iter().all(|engines| engines.admit(71) && !engines.admit(0)), "{visits:?}");
}

#[test]
fn with_enough_compiled_checks_the_precompiled_engines_have_a_problem_to_themselves() {
    let mut focus = after(10);
    for _ in 0..9 {
        focus.note(Operation::Fprop, &check(71, true, 100_000));
    }
    focus.note(Operation::Fprop, &check(80, true, 900_000));
    assert_eq!(focus.next(Operation::Fprop), Engines::AllBut(vec![71, 80]));
}

#[test]
fn compilation_stands_back_where_it_takes_most_of_the_time() {
    let mut focus = after(1);
    focus.note(Operation::Fprop, &check(71, true, 800_000));
    assert!(!focus.lacks_compiled());
    focus.note_busy(1_000_000);
    assert!(focus.lacks_compiled());
}

#[test]
fn an_engine_whose_kernels_do_not_serve_siblings_gets_none_after_a_few() {
    let mut focus = Focus::default();
    focus.note(Operation::Dgrad, &check(84, true, 400_000));
    focus.note(Operation::Dgrad, &check(78, true, 600_000));
    // One whose kernel was there already says nothing against siblings.
    focus.note(Operation::Dgrad, &check(78, true, 40_000));
    for _ in 0..TRIED_ENOUGH {
        assert!(focus.may_serve(Operation::Dgrad, 84));
        assert!(!focus.note_sibling(Operation::Dgrad, 84, 380_000));
        assert!(focus.note_sibling(Operation::Dgrad, 78, 50_000));
    }
    assert!(!focus.may_serve(Operation::Dgrad, 84));
    assert!(focus.may_serve(Operation::Dgrad, 78));
    assert!(focus.may_serve(Operation::Fprop, 84), "engine numbers mean nothing across passes");
}
