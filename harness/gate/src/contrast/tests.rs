//! What two sides of a problem make suspicious, row by row. Runs nothing.

use corpus::Failing;

use super::*;

fn plan(engine: i64, showing: Showing) -> Plan {
    Plan { engine, options: format!("engine={engine}"), recommended: true, first: false, showing, best_us: 0 }
}

fn failed(kind: Kind) -> Showing {
    Showing::Failed(Failing { signature: "s".to_owned(), kind, summary: "w".to_owned() })
}

fn side(plans: impl IntoIterator<Item = Plan>) -> Side {
    Side { plans: plans.into_iter().collect(), before: None }
}

fn first(engine: i64, best_us: u64) -> Side {
    side([Plan { first: true, best_us, ..plan(engine, Showing::Passed) }])
}

/// What is suspected: change, kind and engine.
type Row = (Change, Option<Kind>, Option<i64>);

#[test]
fn sides_are_suspected_of_what_they_do_not_share() {
    let right = || side([plan(0, Showing::Passed)]);
    let wrong = || side([plan(0, Showing::Passed), plan(2, failed(Kind::Wrong))]);
    let chosen =
        || side([plan(0, Showing::Passed), Plan { recommended: false, ..plan(2, failed(Kind::Wrong)) }]);
    let refused = || Side { plans: Vec::new(), before: Some(Showing::Refused("no".to_owned())) };
    let crashed = || Side { plans: Vec::new(), before: Some(failed(Kind::Crash)) };
    let table: [(Side, Side, &[Row]); 13] = [
        (right(), right(), &[]),
        (right(), wrong(), &[(Change::NewlyWrong, Some(Kind::Wrong), Some(2))]),
        (wrong(), right(), &[(Change::NewlyRight, Some(Kind::Wrong), Some(2))]),
        (wrong(), wrong(), &[]),
        // Only who asks for the engine met it; now a framework may.
        (chosen(), wrong(), &[(Change::NewlyWrong, Some(Kind::Wrong), Some(2))]),
        (wrong(), chosen(), &[(Change::NewlyRight, Some(Kind::Wrong), Some(2))]),
        (right(), chosen(), &[(Change::NewlyWrong, Some(Kind::Wrong), Some(2))]),
        // Another engine with the same failure is no other failure.
        (side([plan(1, failed(Kind::Wrong))]), side([plan(7, failed(Kind::Wrong))]), &[]),
        (right(), refused(), &[(Change::NewlyRefused, None, None)]),
        (refused(), right(), &[(Change::NewlyAccepted, None, None)]),
        (refused(), refused(), &[]),
        (refused(), crashed(), &[(Change::NewlyWrong, Some(Kind::Crash), None)]),
        (
            wrong(),
            side([plan(0, Showing::Passed), plan(3, failed(Kind::Oob))]),
            &[
                (Change::NewlyWrong, Some(Kind::Oob), Some(3)),
                (Change::NewlyRight, Some(Kind::Wrong), Some(2)),
            ],
        ),
    ];
    for (index, (baseline, candidate, expected)) in table.iter().enumerate() {
        let found: Vec<Row> = suspicions(baseline, candidate, true)
            .into_iter()
            .map(|found| (found.change, found.kind, found.engine))
            .collect();
        assert_eq!(found, *expected, "row {index}");
    }
}

#[test]
fn first_choices_are_compared_by_plan_and_by_time_where_that_is_measured() {
    let changes = |one: &Side, other: &Side, timed| -> Vec<Change> {
        suspicions(one, other, timed).into_iter().map(|found| found.change).collect()
    };
    let (fast, slow) = (first(1, 100), first(2, 200));
    assert_eq!(changes(&fast, &slow, true), [Change::FirstChoice, Change::Slower]);
    assert_eq!(changes(&slow, &fast, true), [Change::FirstChoice, Change::Faster]);
    assert_eq!(changes(&fast, &slow, false), [Change::FirstChoice]);
    assert_eq!(changes(&fast, &first(1, 110), true), []);
}

#[test]
fn a_pace_is_told_where_it_is_measured_and_long_enough_to_mean_something() {
    let table = [
        ((100, 125), Some(Change::Slower)),
        ((100, 124), None),
        ((125, 100), Some(Change::Faster)),
        ((124, 100), None),
        ((100, 100), None),
        // Not measured.
        ((0, 100), None),
        ((100, 0), None),
        // The launch alone; as soon as one of them is longer it counts.
        ((10, 29), None),
        ((10, 30), Some(Change::Slower)),
    ];
    for ((baseline, candidate), expected) in table {
        assert_eq!(pace(baseline, candidate), expected, "{baseline} us, then {candidate} us");
    }
}
