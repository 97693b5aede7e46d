//! What the program executes, against what a check executes.

use case::{Case, Fill, Kind, Matrix, Recipe};

use super::{EXECUTIONS_MIN, Schedule};
use crate::sample::Sample;

/// Every execution of a schedule, in order.
fn executions(schedule: &Schedule) -> Vec<Recipe> {
    let round = || {
        schedule
            .rows
            .iter()
            .flat_map(|(recipe, times)| std::iter::repeat_n(*recipe, usize::try_from(*times).unwrap()))
    };
    (0..schedule.rounds).flat_map(|_| round()).collect()
}

/// Every execution of a check of that case, in order.
fn checked(line: &str) -> Vec<Recipe> {
    let case: Case = line.parse().unwrap();
    let recipes = oracle::recipes(&case, Matrix::Standard);
    recipes.into_iter().map(|recipe| Recipe { repeats: None, ..recipe }).collect()
}

const LINE: &str = "fprop f16 nchw n1 c18 k12 g3 i43x139 f3x3 p1x1 s2x2 engine=71";

#[test]
fn what_ended_a_batch_runs_exactly_what_a_check_runs() {
    for options in [
        "",
        " wsfill=ff",
        " wsfill=00 fill=int2:2 out=finite",
        " wsfill=00 fill=int2:2 out=finite repeat=3",
        " fill=one:1",
        " out=nan",
        " fill=real:7 beta=2",
        " wsfill=rand:4 fill=real:7 beta=-1",
        " beta=1",
        " repeat=7",
        " fill=one:1 out=nan repeat=2",
    ] {
        let line = format!("{LINE}{options}");
        for kind in [Kind::Device, Kind::Crash, Kind::Hang] {
            let schedule = Schedule::of(&Sample::new(kind, &line).finding());
            assert_eq!(executions(&schedule), checked(&line), "{kind:?}: {line}");
        }
    }
}

#[test]
fn contents_that_a_device_fault_pins_are_executed_once() {
    let line = format!("{LINE} wsfill=ff fill=int2:1 out=nan");
    let schedule = Schedule::of(&Sample::new(Kind::Device, &line).finding());
    assert_eq!(executions(&schedule).len(), 1);
}

#[test]
fn many_repeats_stay_few_rows() {
    let schedule = Schedule::of(&Sample::new(Kind::Hang, &format!("{LINE} repeat=10000")).finding());
    assert_eq!((schedule.rows.len(), executions(&schedule).len()), (4, 10_002));
}

#[test]
fn contents_that_showed_a_failure_are_executed_again_and_again() {
    let line = format!("{LINE} fill=one:5");
    let schedule = Schedule::of(&Sample::new(Kind::Wrong, &line).finding());
    let made = executions(&schedule);
    assert_eq!(made.len(), usize::try_from(EXECUTIONS_MIN).unwrap());
    assert!(made.iter().all(|recipe| recipe.fill == Fill { kind: case::FillKind::One, seed: 5 }));
    let schedule = Schedule::of(&Sample::new(Kind::Wrong, &format!("{line} repeat=25")).finding());
    assert_eq!(executions(&schedule).len(), 25);
}
