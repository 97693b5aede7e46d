//! A comparison on pairs of benches that follow scripts. Knows no process and no library.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use exec::Interrupt;

use super::*;
use crate::script::{Library, Script, Showed};

const LINE: &str = "fprop f32 nchw n1 c1 k1 i4 f1";

/// What was found, in how many runs on both sets, and what was told meanwhile.
struct Seen {
    contrast: Contrast,
    runs: [u32; 2],
    told: Vec<Change>,
}

fn problem(line: &str) -> Problem {
    Problem { case: line.parse().expect("a case"), source: "x".to_owned() }
}

/// Two problems, of which the stream repeats the first one.
fn run(libraries: [Library; 2], multiply_adds_max: i64) -> Seen {
    let interrupt = Interrupt::default();
    let runs = [Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0))];
    let bench = |index: usize| Script {
        library: libraries[index],
        runs: Arc::clone(&runs[index]),
        fresh: Arc::new(AtomicU32::new(0)),
        limit: None,
        interrupt: interrupt.clone(),
    };
    let stream = |number: u64| (number == 0).then(|| problem(LINE));
    let asked = Compare {
        listed: &[problem(LINE)],
        stream: &stream,
        selection: Selection::All,
        multiply_adds_max,
        timed: false,
        allowed: Allowed { until: None, interrupt: interrupt.clone() },
    };
    let told = Mutex::new(Vec::new());
    let contrast = compare(&asked, vec![(bench(0), bench(1))], &|difference| {
        told.lock().expect("a list").push(difference.change);
    });
    let runs = runs.each_ref().map(|counter| counter.load(Ordering::Relaxed));
    Seen { contrast, runs, told: told.into_inner().expect("a list") }
}

const DECLINES: Library = |_, _| Showed::Declines;
const DIES: Library = |_, _| Showed::Dies;

#[test]
fn a_difference_is_told_once_it_has_come_back_twice() {
    let seen = run([DECLINES, DIES], 0);
    assert_eq!((seen.told.as_slice(), seen.runs), ([Change::NewlyWrong].as_slice(), [3, 3]));
    assert!(seen.contrast.has_regressions(), "{:?}", seen.contrast);
    let seen = run([DIES, DECLINES], 0);
    assert_eq!((seen.told.as_slice(), seen.runs), ([Change::NewlyRight].as_slice(), [3, 3]));
    assert!(!seen.contrast.has_regressions(), "{:?}", seen.contrast);
}

#[test]
fn a_difference_that_does_not_come_back_is_dismissed_and_counted() {
    let seen = run([DECLINES, |_, run| if run < 2 { Showed::Dies } else { Showed::Declines }], 0);
    assert_eq!((seen.contrast.dismissed, seen.contrast.differences.len(), seen.runs), (1, 0, [3, 3]));
    assert!(seen.told.is_empty());
}

#[test]
fn a_problem_is_compared_once_and_what_both_sets_do_is_no_difference() {
    let seen = run([DIES, DIES], 0);
    assert_eq!((seen.contrast.problems, seen.contrast.wrong, seen.runs), (1, 1, [1, 1]));
    let seen = run([DECLINES, DECLINES], 0);
    assert_eq!((seen.contrast.problems, seen.contrast.refused, seen.runs), (1, 1, [1, 1]));
}

#[test]
fn trouble_and_too_much_work_leave_a_problem_unjudged_and_blame_no_set() {
    let seen = run([DECLINES, |_, _| Showed::Trouble], 0);
    assert_eq!((seen.contrast.problems, seen.contrast.unjudged), (1, 1));
    assert!(seen.contrast.differences.is_empty() && seen.contrast.verdict().starts_with("NOTHING JUDGED"));
    let seen = run([DECLINES, DIES], 3);
    assert_eq!((seen.contrast.unjudged, seen.runs), (1, [0, 0]));
}
