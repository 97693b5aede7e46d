//! Rung two on scripted benches: what breaks it, what does not, and what is told.

use exec::Interrupt;

use super::*;
use crate::rung::Standing;
use crate::script::{Script, Showed};

fn climb(script: &Script, until: Option<Instant>) -> Result<Seen, HarnessError> {
    let cases = cases(100_000).expect("the table reads");
    let allowed = Allowed { until, interrupt: Interrupt::default() };
    let asked = Shapes { cases: &cases, workspace_max: None, allowed };
    shapes(&asked, vec![script.clone(), script.clone()], || script.clone())
}

#[test]
fn the_table_holds_every_operation_with_awkward_shapes_that_a_cpu_can_do() {
    let (all, small) = (cases(0).expect("cases"), cases(2_000_000).expect("cases"));
    assert!(small.len() < all.len(), "some are for devices alone");
    for operation in Operation::ALL {
        let count = small.iter().filter(|case| case.problem.operation == operation).count();
        assert!(count >= 6, "{}: {count}", operation.name());
    }
    let lines: std::collections::BTreeSet<String> = all.iter().map(Case::to_string).collect();
    assert_eq!(lines.len(), all.len(), "each once");
}

#[test]
fn a_library_without_a_fault_holds_and_is_counted_by_operation() {
    let seen = climb(&Script::new(|_, _| Showed::Right), None).expect("a climb");
    assert_eq!((seen.standing, seen.breaks.len()), (Standing::Held, 0), "{seen:?}");
    assert!(seen.notes.iter().any(|note| note.starts_with("wgrad: ")), "{seen:?}");
}

#[test]
fn one_failure_of_many_shapes_is_one_break_and_is_tried_again() {
    let wrong = |case: &Case, _| {
        let strikes = case.problem.operation == Operation::Dgrad && case.problem.n > 1;
        if strikes { Showed::Wrong } else { Showed::Right }
    };
    let seen = climb(&Script::new(wrong), None).expect("a climb");
    let [first, ..] = &seen.breaks[..] else { panic!("{seen:?}") };
    assert_eq!((first.trouble, first.again), (Trouble::Wrong, Some((3, 3))));
    assert!(first.place == "dgrad, engine 7" && first.summary.contains("plans alike"), "{first:?}");
    assert!(first.case.as_deref().is_some_and(|case| case.contains("engine=7")), "{first:?}");
    // One for each type and layout, whatever the shapes.
    assert!(seen.breaks.len() < 8, "{seen:?}");
}

#[test]
fn what_does_not_come_back_is_told_as_that_and_what_counts_most_comes_first() {
    let script = Script::new(|case, run| {
        let is = |operation| case.problem.operation == operation;
        // The runs that try it again find nothing.
        let at_first = run < 60 && case.options.engine == EngineChoice::Any;
        match () {
            () if is(Operation::Fprop) => Showed::Dies,
            () if is(Operation::Wgrad) && at_first => Showed::Wrong,
            () => Showed::Right,
        }
    });
    let seen = climb(&script, None).expect("a climb");
    let first = seen.breaks.first().expect("breaks");
    assert_eq!((first.trouble, first.again), (Trouble::Wrong, Some((0, 3))), "{seen:?}");
    assert!(
        seen.breaks.iter().any(|one| one.trouble == Trouble::Crash && one.again == Some((3, 3))),
        "{seen:?}"
    );
}

#[test]
fn a_recommended_plan_that_is_declined_breaks_nothing_unless_there_is_no_other() {
    let some = |case: &Case, _| {
        let declines = case.problem.operation == Operation::Wgrad;
        if declines { Showed::Declines(3000, "NOT_SUPPORTED") } else { Showed::Right }
    };
    let seen = climb(&Script::new(some), None).expect("a climb");
    assert_eq!(seen.standing, Standing::Held);
    assert!(seen.notes.iter().any(|note| note.contains("declined: NOT_SUPPORTED")), "{seen:?}");
    let all = climb(&Script::new(|_, _| Showed::Declines(3000, "NOT_SUPPORTED")), None).expect("a climb");
    assert_eq!(all.breaks.first().map(|one| one.trouble), Some(Trouble::Refused), "{all:?}");
    let memory = climb(&Script::new(|_, _| Showed::Declines(4004, "DEVICE_ALLOCATION_FAILED")), None);
    assert_eq!(memory.expect("a climb").breaks.first().map(|one| one.trouble), Some(Trouble::Memory));
    let internal =
        climb(&Script::new(|_, _| Showed::Declines(4000, "INTERNAL_ERROR")), None).expect("a climb");
    assert_eq!(internal.breaks.first().map(|one| one.trouble), Some(Trouble::Status), "{internal:?}");
}

#[test]
fn a_set_that_is_lost_breaks_the_rung_and_time_that_is_over_breaks_none() {
    let lost = climb(&Script::new(|_, _| Showed::Unusable), None).expect("a climb");
    assert_eq!(lost.breaks.first().map(|one| one.trouble), Some(Trouble::Unusable), "{lost:?}");
    let late = climb(&Script::new(|_, _| Showed::Right), Some(Instant::now())).expect("a climb");
    assert_eq!((late.standing, late.breaks.len()), (Standing::Unclimbed, 0), "{late:?}");
}
