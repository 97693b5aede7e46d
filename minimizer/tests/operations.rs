//! Operations that are no convolution: planted conditions come down to the known smallest case, and are explained in
//! the letters of their operation. Knows a table; looks into no search.

use case::Case;
use minimizer::{Answer, ExplainSettings, Settings, explain, list, minimize};

struct Row {
    start: &'static str,
    fails: fn(&Case) -> bool,
    least: &'static str,
    region: &'static str,
}

const TABLE: [Row; 6] = [
    Row {
        start: "maxpool f16 nhwc n8 c24 i30x28 f5x3 p1x1 s2x2 engine=1",
        fails: |case| case.problem.axes.last().is_some_and(|axis| axis.filter == 3),
        least: "maxpool f32 nchw n1 c1 i3 f3 engine=1",
        region: "filter[-1] = 3",
    },
    Row {
        start: "avgpool f32 nchw n4 c25 i20x9 f4x2 p2x0 engine=0",
        fails: |case| case.problem.c % 8 == 1 && case.problem.c > 8,
        least: "avgpool f32 nchw n1 c9 i1 f1 engine=0",
        region: "c mod 8 = 1",
    },
    Row {
        start: "matmul f16 row,col,row b6 m40 n48 k64 engine=3",
        fails: |case| {
            (case.problem.k / case.problem.g) % 8 == 0 && (case.problem.c / case.problem.g) % 4 == 0
        },
        least: "matmul f32 m1 n8 k4 engine=3",
        region: "n mod 8 = 0 and k mod 4 = 0",
    },
    Row {
        start: "matmul f16 b6 m40 n48 k64 engine=3",
        fails: |case| case.problem.g > 1 && case.problem.n >= 3,
        least: "matmul f32 b2 m3 n1 k1 engine=3",
        region: "b >= 2 and m >= 3",
    },
    Row {
        start: "rmsnorm bf16 nhwc n37 c300 engine=1",
        fails: |case| case.problem.c >= 100,
        least: "rmsnorm f32 nchw n1 c100 engine=1",
        region: "c >= 100",
    },
    Row {
        start: "rmsnorm f16 nchw n37 c300 engine=1 fill=int2:1",
        fails: |case| case.problem.n % 4 == 1 && case.problem.n > 1,
        least: "rmsnorm f32 nchw n5 c1 engine=1 fill=zero:1",
        region: "n mod 4 = 1",
    },
];

fn parse(line: &str) -> Case {
    line.parse().unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// What a case shows: only its own operation fails at all.
fn answer(row: &Row, case: &Case) -> Answer {
    let same = case.problem.operation == parse(row.start).problem.operation;
    if same && (row.fails)(case) { Answer::Same } else { Answer::Pass }
}

#[test]
fn planted_conditions_come_down_to_the_known_smallest_case() {
    for row in TABLE {
        let mut predicate = |case: &Case| answer(&row, case);
        let found = minimize(&parse(row.start), &mut predicate, &Settings::default(), &mut |_| {});
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", row.start));
        let mut case = found.case;
        case.options.keep = case::Keep::default();
        assert_eq!(case.to_string(), row.least, "{}", row.start);
        assert!(found.one_minimal, "{}", row.start);
    }
}

#[test]
fn conditions_are_told_in_the_letters_of_their_operation() {
    for row in TABLE {
        let mut predicate = |case: &Case| answer(&row, case);
        let explained = explain(&parse(row.least), &mut predicate, &ExplainSettings::default())
            .unwrap_or_else(|error| panic!("{}: {error}", row.least));
        let region = explained.region.to_string();
        for words in row.region.split(" and ") {
            assert!(region.contains(words), "{}: '{region}' lacks '{words}'", row.least);
        }
        for twin in &explained.twins {
            let passing = parse(&twin.case);
            assert!(!(row.fails)(&passing), "{}: {twin:?}", row.least);
        }
    }
}

#[test]
fn every_edit_of_a_case_is_a_case_of_its_operation() {
    for row in TABLE {
        let start = parse(row.start);
        let edits = list(&start);
        assert!(edits.len() > 8, "{}: {} edits", row.start, edits.len());
        for edit in edits {
            assert_eq!(edit.case.validate(), Ok(()), "{} {}", row.start, edit.name);
            assert_eq!(edit.case.problem.operation, start.problem.operation);
            assert_eq!(edit.case.problem.clone().fitted(), edit.case.problem, "{} {}", row.start, edit.name);
        }
    }
}
