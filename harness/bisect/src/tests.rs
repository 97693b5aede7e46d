//! The search against random truth tables, and the rule for failures that come and go. Knows no library.

use proptest::prelude::*;

use super::*;

/// Runs a search to its end; the positions that it tried, in order.
fn run(truth: &[Answer], tries_max: usize) -> (Search, Vec<usize>) {
    let mut search = Search::new(truth.len(), tries_max);
    let mut tried = Vec::new();
    while let Some(position) = search.next() {
        assert!(!tried.contains(&position), "{position} is tried twice");
        tried.push(position);
        search.learn(position, truth[position]);
    }
    (search, tried)
}

fn answers() -> impl Strategy<Value = Vec<Answer>> {
    let answer = prop_oneof![4 => Just(Answer::Good), 4 => Just(Answer::Bad), 1 => Just(Answer::Skip)];
    prop::collection::vec(answer, 0..40)
}

/// Good, then bad, then good, of those lengths.
fn stretch(good: usize, bad: usize, fixed: usize) -> Vec<Answer> {
    [vec![Answer::Good; good], vec![Answer::Bad; bad], vec![Answer::Good; fixed]].concat()
}

proptest! {
    #[test]
    fn what_is_reported_is_true_and_nothing_is_left_out(truth in answers(), tries_max in 0_usize..50) {
        let (search, tried) = run(&truth, tries_max);
        let report = search.report();
        prop_assert!(tried.len() <= tries_max);
        prop_assert_eq!(
            report.good.len() + report.bad.len() + report.skipped.len() + report.untried.len(),
            truth.len()
        );
        for interval in &report.intervals {
            prop_assert_eq!(truth[interval.first_bad], Answer::Bad);
            prop_assert_eq!(truth[interval.last_bad], Answer::Bad);
            for good in interval.last_good.iter().chain(&interval.first_fixed) {
                prop_assert_eq!(truth[*good], Answer::Good);
            }
            for unknown in &interval.unknown_before {
                prop_assert!(*unknown < interval.first_bad && interval.last_good < Some(*unknown));
            }
        }
    }

    #[test]
    fn with_tries_enough_every_edge_that_is_found_is_sharp(truth in answers()) {
        let (search, _) = run(&truth, usize::MAX);
        let report = search.report();
        for interval in &report.intervals {
            let skipped = |unknown: &[usize]| unknown.iter().all(|position| truth[*position] == Answer::Skip);
            prop_assert!(skipped(&interval.unknown_before) && skipped(&interval.unknown_after), "{:?}", interval);
        }
        let has = |answer| truth.contains(&answer);
        prop_assert_eq!(!report.bad.is_empty(), has(Answer::Bad));
        prop_assert_eq!(!report.good.is_empty(), has(Answer::Good));
        prop_assert_eq!(report.judged_nothing(), !has(Answer::Bad) && !has(Answer::Good));
    }

    #[test]
    fn a_single_edge_is_found_in_as_many_tries_as_halving_takes(good in 1_usize..300, bad in 1_usize..300) {
        let truth = stretch(good, bad, 0);
        let (search, tried) = run(&truth, usize::MAX);
        let report = search.report();
        prop_assert_eq!(report.intervals.len(), 1);
        prop_assert_eq!((report.intervals[0].last_good, report.intervals[0].first_bad), (Some(good - 1), good));
        let halvings = truth.len().next_power_of_two().ilog2() as usize;
        prop_assert!(tried.len() <= 2 + halvings, "{} tries of {}", tried.len(), truth.len());
    }

    #[test]
    fn a_stretch_between_good_ends_is_found_with_both_edges(
        good in 1_usize..30, bad in 1_usize..30, fixed in 1_usize..30
    ) {
        let (search, _) = run(&stretch(good, bad, fixed), usize::MAX);
        let intervals = search.report().intervals;
        prop_assert_eq!(intervals.len(), 1);
        let edges = (intervals[0].last_good, intervals[0].first_bad, intervals[0].last_bad, intervals[0].first_fixed);
        prop_assert_eq!(edges, (Some(good - 1), good, good + bad - 1, Some(good + bad)));
    }

    #[test]
    fn a_failure_that_comes_and_goes_is_missed_with_a_chance_below_one_in_twenty(
        hits in 1_u32..20, more in 0_u32..20, least in 1_u32..10
    ) {
        let bad = Tally { hits, runs: hits + more };
        let needed = clean_needed(least, bad);
        let chance = (1.0 - f64::from(hits) / f64::from(bad.runs)).powi(needed as i32);
        prop_assert!(needed >= least && (chance < 0.05 || needed >= 60), "{needed} runs: {chance}");
    }
}

#[test]
fn where_the_ends_agree_the_middle_and_the_quarters_are_tried_first() {
    let (_, tried) = run(&[Answer::Good; 9], usize::MAX);
    assert_eq!(tried[..5], [0, 8, 4, 2, 6]);
    assert_eq!(tried.len(), 9);
    let (search, tried) = run(&[Answer::Good; 9], 3);
    assert_eq!((tried.len(), search.report().untried.len()), (3, 6));
}

#[test]
fn ends_of_which_nothing_can_be_said_are_passed_over() {
    use Answer::{Bad, Good, Skip};
    let (search, tried) = run(&[Skip, Skip, Good, Bad, Skip], usize::MAX);
    assert_eq!(tried, [0, 1, 2, 4, 3]);
    let interval = &search.report().intervals[0];
    assert_eq!((interval.last_good, interval.first_bad, &interval.unknown_after[..]), (Some(2), 3, &[4][..]));
    assert!(run(&[Skip; 4], usize::MAX).0.report().judged_nothing());
    assert!(run(&[], usize::MAX).0.report().judged_nothing());
}

#[test]
fn an_answer_may_be_taken_back() {
    use Answer::{Bad, Good};
    let (mut search, _) = run(&[Good, Good, Bad], usize::MAX);
    search.learn(1, Bad);
    assert_eq!(search.report().intervals[0].first_bad, 1);
    search.learn(9, Bad);
    assert_eq!(search.answer(9), None);
}

#[test]
fn one_failure_has_to_come_back_and_good_takes_clean_runs() {
    let standing = |hits, runs, needed| Tally { hits, runs }.standing(needed);
    assert_eq!(standing(0, 2, 3), Standing::Open);
    assert_eq!(standing(0, 3, 3), Standing::Settled(Answer::Good));
    assert_eq!(standing(0, 0, 0), Standing::Open);
    assert_eq!(standing(1, 3, 3), Standing::Open);
    assert_eq!(standing(1, 20, 3), Standing::Settled(Answer::Skip));
    assert_eq!(standing(2, 2, 3), Standing::Open);
    assert_eq!(standing(3, 3, 3), Standing::Settled(Answer::Bad));
    assert_eq!(standing(2, 3, 3), Standing::Open);
    assert_eq!(clean_needed(3, Tally { hits: 3, runs: 3 }), 3);
    assert_eq!(clean_needed(3, Tally::default()), 3);
    assert_eq!(clean_needed(3, Tally { hits: 6, runs: 11 }), 5);
    assert_eq!(standing(2, 9, 3), Standing::Open);
    assert_eq!(standing(2, 10, 3), Standing::Settled(Answer::Bad));
}
