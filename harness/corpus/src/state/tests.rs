//! What an expectation makes of what was shown. Runs nothing.

use super::*;

const SIGNATURE: &str = "fprop-e7-wrong-judge-nan-f32-nchw";

fn expectation(text: &str) -> Expectation {
    let base = r#"{"cudnn_from": null, "cudnn_to": null, "configuration": null, "architectures": [], "rate": null,
        "reason": "seen", "ticket": null, "resolution": null, "owner": null, "review_by": null, "#;
    serde_json::from_str(&format!("{base}{text}}}")).expect("an expectation")
}

fn failed(signature: &str, kind: Kind) -> Showing {
    Showing::Failed(Failing { signature: signature.to_owned(), kind, summary: "1 of 2 differ".to_owned() })
}

fn known() -> Showing {
    failed(SIGNATURE, Kind::Wrong)
}

fn other() -> Showing {
    failed("fprop-e7-crash-execute-sigsegv-f32-nchw", Kind::Crash)
}

fn refused() -> Showing {
    Showing::Refused("NOT_SUPPORTED in plan".to_owned())
}

fn state(expected: Option<&str>, runs: &[Showing]) -> State {
    let expectation = expected.map(expectation);
    question(expectation.as_ref()).standing(runs).state
}

fn question(expectation: Option<&Expectation>) -> Question<'_> {
    Question {
        expectation,
        signature: Some(SIGNATURE),
        engine_free: false,
        every_engine: false,
        must_refuse: false,
    }
}

#[test]
fn each_showing_stands_to_each_expectation_as_the_table_says() {
    const PASS: &str = r#""expect": "pass""#;
    const FAIL: &str = r#""expect": "fail""#;
    const REFUSED: &str = r#""expect": "refused""#;
    const FLAKY: &str = r#""expect": "flaky", "rate": 0.5"#;
    const TOLD: &str = r#""expect": "fail", "basis": "reported""#;
    let untrusted = Showing::Untrusted("weak".to_owned());
    let skipped = Showing::Skipped("memory".to_owned());
    let trouble = Showing::Trouble("no device".to_owned());
    let table: [(Showing, [State; 6]); 7] = [
        (Showing::Passed, [State::Pass, State::Pass, State::Xpass, State::Xpass, State::Xpass, State::Pass]),
        (known(), [State::Fail, State::Fail, State::Xfail, State::Fail, State::Flaky, State::Xfail]),
        (other(), [State::Fail, State::Fail, State::Changed, State::Fail, State::Changed, State::Fail]),
        (
            refused(),
            [
                State::Unsupported,
                State::Unsupported,
                State::Unsupported,
                State::Pass,
                State::Unsupported,
                State::Unsupported,
            ],
        ),
        (untrusted, [State::Untrusted; 6]),
        (skipped, [State::Skipped; 6]),
        (trouble, [State::Infra; 6]),
    ];
    for (showing, states) in table {
        let expected = [None, Some(PASS), Some(FAIL), Some(REFUSED), Some(FLAKY), Some(TOLD)];
        for (text, wanted) in expected.into_iter().zip(states) {
            // A rate is given twice in this text where it is flaky; the base's null must not stand.
            let text = text.map(str::to_owned);
            let runs = std::slice::from_ref(&showing);
            let expectation = text.as_deref().map(flaky_or_plain);
            let found = question(expectation.as_ref()).standing(runs).state;
            assert_eq!(found, wanted, "{text:?} {showing:?}");
        }
    }
}

/// An expectation whose rate, if any, stands in the text.
fn flaky_or_plain(text: &str) -> Expectation {
    let Some((expect, rate)) = text.split_once(", \"rate\": ") else { return expectation(text) };
    Expectation { rate: rate.parse().ok(), ..expectation(expect) }
}

#[test]
fn a_failure_among_right_results_counts() {
    assert_eq!(state(None, &[Showing::Passed, known()]), State::Fail);
    let standing = question(None).standing(&[known(), Showing::Passed, Showing::Passed]);
    assert_eq!(standing.state, State::Fail);
    assert!(standing.why.contains("in 1 of 3 runs"), "{}", standing.why);
}

#[test]
fn the_engine_free_form_knows_the_kind_alone_and_its_success_says_nothing_of_the_engine() {
    let fails = expectation(r#""expect": "fail""#);
    let free = Question { engine_free: true, ..question(Some(&fails)) };
    let renumbered = failed("fprop-e9-wrong-judge-nan-f32-nchw", Kind::Wrong);
    assert_eq!(free.standing(&[renumbered]).state, State::Xfail);
    assert_eq!(free.standing(&[Showing::Passed]).state, State::Pass);
    assert!(!free.wants_more(&[Showing::Passed]));
    let wide = Question { every_engine: true, ..free };
    assert_eq!(wide.standing(&[Showing::Passed]).state, State::Xpass);
}

#[test]
fn surprises_are_looked_at_three_times_and_the_expected_once() {
    let fails = expectation(r#""expect": "fail""#);
    let expecting = question(Some(&fails));
    assert!(expecting.wants_more(&[]));
    assert!(!expecting.wants_more(&[known()]));
    assert!(
        expecting.wants_more(&vec![Showing::Passed; 2]) && !expecting.wants_more(&vec![Showing::Passed; 3])
    );
    let nothing = question(None);
    assert!(!nothing.wants_more(&[Showing::Passed]));
    assert!(nothing.wants_more(&[known()]) && nothing.wants_more(&[known(), Showing::Passed]));
    assert!(!nothing.wants_more(&[known(), Showing::Passed, Showing::Passed]));
    assert!(!nothing.wants_more(&[refused()]));
}

#[test]
fn what_comes_and_goes_is_waited_for_as_long_as_its_rate_asks() {
    let needed = |rate: f64| {
        let flaky = Expectation { rate: Some(rate), ..expectation(r#""expect": "flaky""#) };
        let question = question(Some(&flaky));
        (1..100).find(|runs| !question.wants_more(&vec![Showing::Passed; *runs])).expect("an end")
    };
    // 0.5^5 = 0.031 is the first power below 0.05; 0.9^29 = 0.047; a rate near 0 ends at the most.
    assert_eq!((needed(0.5), needed(0.1), needed(0.001)), (5, 29, 30));
}

#[test]
fn only_what_got_worse_is_a_regression_and_strictness_adds_what_is_no_longer_true() {
    let failing =
        |strict| State::ALL.into_iter().filter(|state| state.is_regression(strict)).collect::<Vec<_>>();
    assert_eq!(failing(false), [State::Fail]);
    assert_eq!(failing(true), [State::Fail, State::Changed, State::Xpass]);
}

#[test]
fn a_case_that_is_right_only_if_refused_passes_where_a_refusal_is_expected() {
    let refused = expectation(r#""expect": "refused""#);
    let plain = question(Some(&refused));
    assert_eq!(plain.standing(&[Showing::Passed]).state, State::Xpass);
    let must = Question { must_refuse: true, ..plain };
    assert_eq!(must.standing(&[Showing::Passed]).state, State::Pass);
    assert_eq!(must.standing(&[other(), other(), other()]).state, State::Fail);
}
