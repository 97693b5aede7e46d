//! What a replay's pages and files say, record by record. Knows no entry and no library.

use corpus::Showing;

use super::*;

fn record(id: &str, state: State, why: &str) -> Record {
    Record {
        id: id.to_owned(),
        file: "corpus/seeds/a,b.json".to_owned(),
        case: "fprop f32 nchw n1 c1 k1 i4 f1".to_owned(),
        engine_free: false,
        state,
        why: why.to_owned(),
        runs: vec![Showing::Passed],
        seconds: 0.25,
        signature: Some("fprop-e7-wrong-judge-nan-f32-nchw".to_owned()),
        ticket: Some("https://example.org/1".to_owned()),
    }
}

fn replayed(records: &[Record], strict: bool) -> Replayed<'_> {
    Replayed { described: "cuDNN 9.19.0", strict, seconds: 1.5, records, troubles: &[], warnings: &[] }
}

#[test]
fn the_counts_are_told_in_one_line() {
    let records = [
        record("a", State::Pass, "right"),
        record("b", State::Fail, "bad"),
        record("c", State::Pass, "right"),
    ];
    assert_eq!(replayed(&records, false).line(), "3 entries in 1.5 s: 1 FAIL, 2 PASS");
}

#[test]
fn each_state_has_its_element_and_strictness_turns_two_of_them_into_failures() {
    let records: Vec<Record> =
        State::ALL.into_iter().map(|state| record(state.name(), state, "why")).collect();
    let attributes = |strict| {
        let text = junit(&replayed(&records, strict)).expect("a file");
        let line = text.lines().find(|line| line.contains("<testsuite ")).expect("a suite").to_owned();
        let read = |name: &str| {
            let value = line.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
            value.and_then(|text| text.parse::<u32>().ok()).unwrap_or_else(|| panic!("{name} in {line}"))
        };
        [read("tests"), read("failures"), read("errors"), read("skipped")]
    };
    assert_eq!(attributes(false), [10, 1, 1, 7]);
    assert_eq!(attributes(true), [10, 3, 1, 5]);
    let text = junit(&replayed(&records, false)).expect("a file");
    assert_eq!(text.matches("<skipped").count(), 7, "{text}");
    assert!(text.contains("ticket     https://example.org/1"), "{text}");
}

#[test]
fn no_text_ends_an_element_or_a_command_early() {
    let records = [record("a<b", State::Fail, "x\"]]><y>\u{1b}[31m\n::warning::z %41")];
    let text = junit(&replayed(&records, false)).expect("a file");
    assert!(!text.contains("<y>") && !text.contains('\u{1b}') && !text.contains("a<b"), "{text}");
    let lines = annotations(&replayed(&records, false));
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].lines().count(), 1, "{lines:?}");
    assert!(lines[0].starts_with("::error file=corpus/seeds/a%2Cb.json,title=FAIL a<b::x"), "{lines:?}");
    assert!(lines[0].contains("%0A") && lines[0].contains("%2541"), "{lines:?}");
    let page = summary(&replayed(&records, false));
    assert!(page.contains("convict replay: 1 regression") && !page.contains("<y>"), "{page}");
}

#[test]
fn at_most_ten_annotations_are_made_and_the_last_one_counts_the_others() {
    let records = |count: usize| vec![record("a", State::Fail, "bad"); count];
    assert_eq!(annotations(&replayed(&records(10), false)).len(), 10);
    let many = records(25);
    let lines = annotations(&replayed(&many, false));
    assert_eq!(lines.len(), 10);
    assert!(lines[9].contains("16 more entries"), "{}", lines[9]);
    assert!(annotations(&replayed(&[record("a", State::Xpass, "right")], false)).is_empty());
}

#[test]
fn a_page_stays_below_the_limit_and_says_what_it_leaves_out() {
    let records = vec![record("a", State::Fail, &"bad ".repeat(500)); 1000];
    let page = summary(&replayed(&records, false));
    assert!(page.len() < 1 << 20, "{}", page.len());
    let left: usize =
        page.lines().last().and_then(|line| line.split(' ').next()?.parse().ok()).expect("a count");
    assert_eq!(left + page.matches("| FAIL | a").count(), 1000);
}
