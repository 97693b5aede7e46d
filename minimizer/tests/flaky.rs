//! The search on planted regions whose failures come and go: no failure is lost, and its rate is told.

#[path = "regions/mod.rs"]
mod planted;

use case::Case;
use minimizer::{Answer, Limits, Minimized, Rate, Settings, Stop, minimize};
use planted::{REGIONS, Region, percentile};

/// Numbers in [0, 1), the same for every run.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn settings(calls_max: u32) -> Settings {
    Settings { limits: Limits { calls_max, seconds_max: f64::INFINITY }, ..Settings::default() }
}

/// Reduces a start whose failure shows in that share of the runs.
fn reduce(region: &Region, start: &Case, share: f64, seed: u64) -> Minimized {
    let mut noise = Noise(seed);
    let operation = start.problem.operation;
    let mut predicate = |case: &Case| {
        let answer = region.answer(operation, case);
        if answer == Answer::Same && noise.next() >= share { Answer::Pass } else { answer }
    };
    // As a hunt has it: it follows what came back three times.
    let seen = Rate { hits: 3, runs: (3.0 / share).ceil() as u32 };
    minimize(start, &mut predicate, &Settings { seen, ..settings(4000) }, &mut |_| {})
        .unwrap_or_else(|error| panic!("{}: {error}", region.name))
}

fn starts() -> impl Iterator<Item = (u64, &'static Region, Case)> {
    (1000..)
        .zip(REGIONS)
        .map(|(number, region)| (number, region, region.start.parse().expect("a planted start is a case")))
}

#[test]
#[expect(clippy::print_stderr, reason = "the table of calls is what a reader of this test wants to see")]
fn half_of_the_runs_failing_costs_few_calls_and_loses_no_failure() {
    let (mut calls, mut least, mut all) = (Vec::new(), 0, 0);
    for seed in 1..=5 {
        for (number, region, start) in starts() {
            let result = reduce(region, &start, 0.5, number * seed);
            let inside = region.answer(start.problem.operation, &result.case) == Answer::Same;
            assert!(inside, "{}: lost in {}", region.name, result.case);
            assert_eq!(result.stop, Stop::Fixpoint, "{}", region.name);
            let (low, high) = result.rate.interval();
            assert!(low < 0.5 + 0.15 && high > 0.5 - 0.15, "{}: {:?}", region.name, result.rate);
            all += 1;
            least += u32::from(Ok(&result.case) == region.least.parse().as_ref());
            calls.push(result.calls);
        }
    }
    let (median, most_but_5) = (percentile(&mut calls, 50), percentile(&mut calls, 95));
    eprintln!("p = 0.5: median {median}, 95 % {most_but_5}; the known minimum in {least} of {all}");
    assert!(median <= 800, "median {median} calls");
    assert!(100 * least >= 85 * all, "the known minimum in {least} of {all}");
}

#[test]
#[expect(clippy::print_stderr, reason = "the table of calls is what a reader of this test wants to see")]
fn other_rates_lose_no_failure_either() {
    for share in [0.9, 0.2] {
        let (mut calls, mut least, mut all) = (Vec::new(), 0, 0);
        for (number, region, start) in starts() {
            let result = reduce(region, &start, share, number);
            let inside = region.answer(start.problem.operation, &result.case) == Answer::Same;
            assert!(inside, "{}: lost in {}", region.name, result.case);
            all += 1;
            least += u32::from(Ok(&result.case) == region.least.parse().as_ref());
            calls.push(result.calls);
        }
        let (median, most_but_5) = (percentile(&mut calls, 50), percentile(&mut calls, 95));
        eprintln!("p = {share}: median {median}, 95 % {most_but_5}; the known minimum in {least} of {all}");
        assert!(median <= 2000, "median {median} calls");
    }
}

/// A failure that shows in one run of twenty, and in nearly every one of a hundred repeats.
#[test]
fn a_louder_form_is_found_first_and_kept_as_loud_as_it_needs_to_be() {
    let mut noise = Noise(3);
    let start: Case = "fprop f32 nchw n8 c16 k16 i14x14 f3x3 engine=7".parse().expect("a case");
    let mut predicate = |case: &Case| {
        let quiet = 0.9_f64.powi(i32::try_from(case.options.repeat).unwrap_or(i32::MAX));
        if case.problem.c >= 3 && noise.next() >= quiet { Answer::Same } else { Answer::Pass }
    };
    let seen = Rate { hits: 3, runs: 30 };
    let result = minimize(&start, &mut predicate, &Settings { seen, ..settings(4000) }, &mut |_| {})
        .expect("it was seen to fail");
    let flaky = result.flaky.expect("it comes and goes");
    assert!(flaky.amplified, "{flaky:?}");
    let problem = &result.case.problem;
    assert_eq!((problem.n, problem.c, problem.k, problem.axes.len()), (1, 3, 1, 1), "{}", result.case);
    assert!((5..=100).contains(&result.case.options.repeat), "{}", result.case);
    assert!(result.rate.share() > 0.5, "{:?}", result.rate);
}

/// A failure that never shows again after its first runs is told, not made smaller.
#[test]
fn a_failure_that_vanishes_is_told() {
    let start: Case = "fprop f32 nchw n8 c16 k16 i14x14 f3x3 engine=7".parse().expect("a case");
    let mut calls = 0;
    let mut predicate = |case: &Case| {
        calls += 1;
        // At first everything of the pass fails; then nothing does.
        if case.problem.operation == start.problem.operation && calls <= 6 {
            Answer::Same
        } else {
            Answer::Pass
        }
    };
    let result = minimize(&start, &mut predicate, &settings(4000), &mut |_| {}).expect("it failed");
    assert_eq!(result.stop, Stop::Vanished);
    assert!(result.guarantee().contains("not even the original fails any more"), "{}", result.guarantee());
    assert!(!result.one_minimal && result.case == start);
}

/// Three hits of thirty, and nothing louder: told with its rate, not followed.
#[test]
fn a_failure_that_is_too_rare_is_left_as_it_is() {
    let start: Case = "fprop f32 nchw n8 c16 k16 i14x14 f3x3 engine=7".parse().expect("a case");
    let seen = Rate { hits: 3, runs: 100 };
    let result =
        minimize(&start, &mut |_: &Case| Answer::Pass, &Settings { seen, ..settings(4000) }, &mut |_| {})
            .expect("it was seen to fail");
    assert_eq!((result.stop, result.case), (Stop::TooRare, start));
}
