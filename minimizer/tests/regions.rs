//! The search on planted regions: known smallest cases, proofs of one-minimality, numbers of calls.

#[path = "regions/mod.rs"]
mod planted;

use case::Case;
use minimizer::{Answer, Minimized, Settings, Stop, list, minimize};
use planted::{REGIONS, Region, percentile};

const RANDOM_STARTS: usize = 20;

fn reduce(region: &Region, start: &Case) -> Minimized {
    let mut predicate = |case: &Case| region.answer(start.problem.operation, case);
    minimize(start, &mut predicate, &Settings::default(), &mut |_| {})
        .unwrap_or_else(|error| panic!("{}: {start}: {error}", region.name))
}

fn assert_one_minimal(region: &Region, result: &Minimized) {
    assert_eq!(
        region.answer(result.case.problem.operation, &result.case),
        Answer::Same,
        "{}: {}",
        region.name,
        result.case
    );
    assert_eq!(result.stop, Stop::Fixpoint, "{}: {}", region.name, result.case);
    assert!(result.one_minimal, "{}", region.name);
    for edit in list(&result.case) {
        assert_eq!(
            region.answer(edit.case.problem.operation, &edit.case),
            Answer::Pass,
            "{}: {}: {}",
            region.name,
            result.case,
            edit.name
        );
    }
}

#[test]
fn every_planted_region_is_reduced_to_its_known_smallest_case() {
    let mut wrong = Vec::new();
    for region in REGIONS {
        let start: Case = region.start.parse().unwrap_or_else(|error| panic!("{}: {error}", region.name));
        let least: Case = region.least.parse().unwrap_or_else(|error| panic!("{}: {error}", region.name));
        let result = reduce(region, &start);
        assert_one_minimal(region, &result);
        if result.case != least {
            wrong.push(format!("{}:\n  got  {}\n  want {least}", region.name, result.case));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[expect(clippy::print_stderr, reason = "the table of calls is what a reader of this test wants to see")]
fn random_starts_end_one_minimal_within_the_bounds_on_calls() {
    let mut all = Vec::new();
    for region in REGIONS {
        let mut calls = Vec::new();
        for start in region.inside(RANDOM_STARTS) {
            let result = reduce(region, &start);
            assert_one_minimal(region, &result);
            calls.push(result.calls);
        }
        all.extend(&calls);
        let (median, most) = (percentile(&mut calls, 50), percentile(&mut calls, 100));
        eprintln!("{:34} median {median:4}  most {most:4}", region.name);
    }
    let (median, most_but_5) = (percentile(&mut all, 50), percentile(&mut all, 95));
    eprintln!("{:34} median {median:4}  95 % {most_but_5:4}", "all");
    assert!(median <= 60, "median {median} calls");
    assert!(most_but_5 <= 250, "95th percentile {most_but_5} calls");
}
