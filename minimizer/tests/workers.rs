//! Several workers, and a log of an earlier reduction: neither changes what a search asks or finds.

#[path = "regions/mod.rs"]
mod planted;

use std::collections::HashMap;

use case::{Case, Operation};
use minimizer::{Answer, Event, Limits, Minimized, Predicate, Replay, Settings, minimize};
use planted::{REGIONS, Region};

/// A predicate with helpers that run every hint at once.
struct Team<'a> {
    region: &'a Region,
    operation: Operation,
    width: usize,
    /// Answers of helpers that nobody asked for yet.
    ready: HashMap<String, Answer>,
    /// Runs of helpers.
    ahead: u32,
    /// Questions that a helper had answered already.
    saved: u32,
}

impl<'a> Team<'a> {
    fn new(region: &'a Region, start: &Case, width: usize) -> Self {
        let operation = start.problem.operation;
        Self { region, operation, width, ready: HashMap::new(), ahead: 0, saved: 0 }
    }
}

impl Predicate for Team<'_> {
    fn ask(&mut self, case: &Case) -> Answer {
        let ready = self.ready.remove(&case.to_string());
        self.saved += u32::from(ready.is_some());
        ready.unwrap_or_else(|| self.region.answer(self.operation, case))
    }

    fn width(&self) -> usize {
        self.width
    }

    fn hint(&mut self, likely: &[Case]) {
        assert!(likely.len() < self.width, "{} hints for {} workers", likely.len(), self.width);
        for case in likely {
            if !self.ready.contains_key(&case.to_string()) {
                self.ahead += 1;
                self.ready.insert(case.to_string(), self.region.answer(self.operation, case));
            }
        }
    }

    fn speculative_calls(&self) -> u32 {
        self.ahead - self.saved
    }
}

/// The result, the cases asked about in order, and the questions that helpers had answered already.
fn with_workers(region: &Region, start: &Case, width: usize) -> (Minimized, Vec<String>, u32) {
    let mut asked = Vec::new();
    let mut observe = |event: Event<'_>| {
        if let Event::Answered(step) = event {
            asked.push(serde_json::to_string(step).expect("a step has a JSON form"));
        }
    };
    let mut team = Team::new(region, start, width);
    let result = minimize(start, &mut team, &Settings::default(), &mut observe).expect("it fails");
    (result, asked, team.saved)
}

#[test]
fn the_result_is_the_same_for_any_number_of_workers() {
    let (mut calls, mut saved) = (0, [0, 0]);
    for region in REGIONS.iter().step_by(2) {
        let start: Case = region.start.parse().expect("a planted start is a case");
        let (alone, asked, _) = with_workers(region, &start, 1);
        assert_eq!(alone.speculative_calls, 0);
        calls += alone.calls;
        for (width, saved) in [2, 8].into_iter().zip(&mut saved) {
            let (result, asked_too, ready) = with_workers(region, &start, width);
            assert_eq!(asked, asked_too, "{} with {width} workers", region.name);
            assert_eq!((&result.case, result.calls, result.cached), (&alone.case, alone.calls, alone.cached));
            *saved += ready;
        }
    }
    // What looking ahead is for: a question that a helper has answered costs no time.
    assert!(saved[0] * 2 > calls, "2 workers: {} of {calls} answers were ready", saved[0]);
    assert!(saved[1] * 10 > calls * 8, "8 workers: {} of {calls} answers were ready", saved[1]);
}

/// Runs a reduction that writes its log, cut off after so many lines; the log so far comes first.
fn logged(region: &Region, start: &Case, log: &mut String, lines_max: usize) -> Option<Minimized> {
    let earlier = Replay::read(log).expect("a sound log");
    let operation = start.problem.operation;
    let mut lines = 0;
    let mut write = |line: String| {
        if lines < lines_max {
            log.push_str(&line);
            log.push('\n');
        }
        lines += 1;
    };
    let mut observe = |event: Event<'_>| match event {
        Event::Asking { case, .. } => write(Replay::running(case)),
        Event::Answered(step) => write(Replay::answered(&step.case, &step.answer)),
        Event::Recalled(_) => {}
    };
    let mut predicate = |case: &Case| region.answer(operation, case);
    let settings = Settings { earlier, ..Settings::default() };
    let result = minimize(start, &mut predicate, &settings, &mut observe).expect("it fails");
    (lines <= lines_max).then_some(result)
}

#[test]
fn a_reduction_that_is_cut_off_again_and_again_ends_where_an_uninterrupted_one_does() {
    for region in REGIONS.iter().step_by(4) {
        let start: Case = region.start.parse().expect("a planted start is a case");
        let whole = logged(region, &start, &mut String::new(), usize::MAX).expect("not cut off");
        let mut log = String::new();
        // An odd number of lines: each time one answer is missing, and a case is asked again.
        let resumed = (0..200).find_map(|_| logged(region, &start, &mut log, 21)).expect("it ends");
        assert_eq!((&resumed.case, resumed.calls), (&whole.case, whole.calls), "{}", region.name);
        assert!(resumed.one_minimal && resumed.recalled + 12 > resumed.calls, "{}", region.name);
    }
}

/// A predicate that tells whether it was asked for a process of its own.
struct Fresh(Vec<Case>);

impl Predicate for Fresh {
    fn ask(&mut self, case: &Case) -> Answer {
        if case.problem.operation == Operation::Fprop && case.problem.c >= 3 {
            Answer::Same
        } else {
            Answer::Pass
        }
    }

    fn ask_afresh(&mut self, case: &Case) -> Answer {
        self.0.push(case.clone());
        self.ask(case)
    }
}

#[test]
fn a_case_that_cut_a_reduction_off_is_asked_in_a_new_process_and_blamed_the_second_time() {
    let start: Case = "fprop f32 nchw n8 c32 k16 i14x14 f3x3 engine=4".parse().expect("a case");
    let least: Case = "fprop f32 nchw n1 c1 k1 i1x1 f1x1 engine=4".parse().expect("a case");
    let cut = |times: usize| Settings {
        earlier: Replay::read(&format!("{}\n", Replay::running(&least)).repeat(times)).expect("a log"),
        limits: Limits { calls_max: 30, ..Limits::default() },
        ..Settings::default()
    };
    let mut fresh = Fresh(Vec::new());
    minimize(&start, &mut fresh, &cut(1), &mut |_| {}).expect("it fails");
    assert_eq!(fresh.0.split_off(4), std::slice::from_ref(&least), "after four runs of the original");
    let mut fresh = Fresh(Vec::new());
    let result = minimize(&start, &mut fresh, &cut(2), &mut |_| {}).expect("it fails");
    assert!(!fresh.0.contains(&least));
    assert_eq!(result.others, [(least, "brings-the-machine-down".to_owned())]);
}
