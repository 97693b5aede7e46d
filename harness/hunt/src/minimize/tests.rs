//! Minimizing one case outside a hunt, on a scripted slot.

use std::cell::RefCell;
use std::sync::atomic::Ordering;

use case::Case;

use minimizer::Replay;

use super::minimize_case;
use crate::bench::Bench;
use crate::bench::script::{How, Planted, Script, World, planted};
use crate::error::HuntError;
use crate::event::{HuntEvent, Reduction};
use crate::reduce::{Allowance, Desk};

fn case(line: &str) -> Case {
    line.parse().unwrap()
}

fn silent(_: HuntEvent) -> Result<(), HuntError> {
    Ok(())
}

#[test]
fn a_failing_case_becomes_a_minimized_finding_and_says_so_on_the_way() {
    let world = World::new(vec![planted(Some(2), How::Wrong, |case| case.problem.n % 3 == 2)]);
    let told: RefCell<Vec<HuntEvent>> = RefCell::default();
    let tell = |event| {
        told.borrow_mut().push(event);
        Ok(())
    };
    let line = case("wgrad bf16 nhwc n8 c4 k4 i7x7 f3x3 p1x1 engine=2");
    let minimized =
        minimize_case(&mut Script::new(&world), &line, Allowance::default(), &mut Desk::default(), &tell)
            .unwrap();
    let problem = &minimized.finding.case.problem;
    assert_eq!((problem.n, problem.c, problem.k, problem.axes.len()), (2, 1, 1, 1));
    let original = &minimized.finding.original;
    assert_eq!((&original.problem, &original.options.engine), (&line.problem, &line.options.engine));
    assert!(minimized.finding.reduction.unwrap().one_minimal);
    assert!(matches!(told.borrow().last(), Some(HuntEvent::Found(_))));
}

#[test]
fn a_case_without_an_engine_is_minimized_on_the_one_that_heuristics_name_first() {
    let world = World::new(vec![planted(Some(0), How::Device, |_| true)]);
    let line = case("fprop f32 nchw n8 c4 k4 i7x7 f3x3");
    let minimized =
        minimize_case(&mut Script::new(&world), &line, Allowance::default(), &mut Desk::default(), &silent)
            .unwrap();
    assert!(minimized.finding.case.to_string().contains("engine=0"));
}

#[test]
fn a_passing_a_refused_and_a_flaky_case_are_turned_away_with_the_reason() {
    let rare = Planted { every: 5, ..planted(Some(1), How::Crash, |_| true) };
    let world = World::new(vec![rare]);
    let mut script = Script::new(&world);
    for (line, reason) in [
        ("fprop f32 nchw n1 c1 k1 i1 f1 engine=0", "passes"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 engine=9", "NOT_SUPPORTED in plan"),
    ] {
        let error =
            minimize_case(&mut script, &case(line), Allowance::default(), &mut Desk::default(), &silent)
                .unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
    let flaky = case("fprop f32 nchw n1 c1 k1 i1 f1 engine=1");
    let errors: Vec<String> = (0..5)
        .filter_map(|_| {
            minimize_case(&mut script, &flaky, Allowance::default(), &mut Desk::default(), &silent).err()
        })
        .map(|error| error.to_string())
        .collect();
    assert!(
        errors.iter().any(|error| error.contains("of 10 runs") || error.contains("of 9 runs")),
        "{errors:?}"
    );
}

#[test]
fn a_limit_on_calls_leaves_the_best_so_far_and_claims_no_more() {
    let world = World::new(vec![planted(Some(2), How::Wrong, |case| case.problem.n >= 2)]);
    let line = case("wgrad bf16 nhwc n80 c40 k40 i7x7 f3x3 p1x1 engine=2");
    let allowance = Allowance { calls_max: 4, ..Allowance::default() };
    let minimized =
        minimize_case(&mut Script::new(&world), &line, allowance, &mut Desk::default(), &silent).unwrap();
    let reduction = minimized.finding.reduction.unwrap();
    assert!(!reduction.one_minimal);
    assert_eq!(reduction.predicate_calls, 4);
    assert_eq!(minimized.finding.hits, 3);
}

#[test]
fn every_question_after_a_crash_is_asked_in_a_new_process_and_after_a_wrong_result_in_the_same_one() {
    let fresh_after = |how| {
        let world = World::new(vec![planted(Some(2), how, |case| case.problem.n >= 2)]);
        let line = case("wgrad bf16 nhwc n80 c40 k40 i7x7 f3x3 p1x1 engine=2");
        let minimized = minimize_case(
            &mut Script::new(&world),
            &line,
            Allowance::default(),
            &mut Desk::default(),
            &silent,
        )
        .unwrap();
        let steps = minimized.finding.reduction.unwrap().steps.len() as u64;
        (world.fresh.load(Ordering::Relaxed), steps)
    };
    let (fresh, _) = fresh_after(How::Wrong);
    assert_eq!(fresh, 7, "two confirmations of three runs, and a fourth run of the original");
    let (fresh, steps) = fresh_after(How::Device);
    assert!(fresh > 7 + steps - 1, "{fresh} new processes for {steps} adopted cases");
}

/// A case, its world's log, and how its minimization went.
fn recorded(aides: usize, earlier: Replay, log: &RefCell<Vec<String>>) -> Reduction {
    let world = World::new(vec![planted(Some(2), How::Wrong, |case| case.problem.c * case.problem.k >= 100)]);
    let line = case("wgrad bf16 nhwc n80 c40 k40 i7x7 f3x3 p1x1 engine=2");
    let mut scripts: Vec<Script> = (0..aides).map(|_| Script::new(&world)).collect();
    let record = |line: &str| {
        log.borrow_mut().push(line.to_owned());
        Ok(())
    };
    let aides = scripts.iter_mut().map(|script| script as &mut dyn Bench).collect();
    let mut desk = Desk { aides, earlier, record: Some(&record) };
    let minimized =
        minimize_case(&mut Script::new(&world), &line, Allowance::default(), &mut desk, &silent).unwrap();
    let reduction = minimized.finding.reduction.unwrap();
    assert!(reduction.one_minimal);
    Reduction { seconds: 0.0, guarantee: String::new(), ..reduction }
}

#[test]
fn the_reduction_is_the_same_with_any_number_of_aides_and_their_runs_are_counted_apart() {
    let alone = recorded(0, Replay::default(), &RefCell::default());
    assert_eq!(alone.speculative_calls, 0);
    for aides in [1, 7] {
        let log = RefCell::default();
        let helped = recorded(aides, Replay::default(), &log);
        let runs = log.borrow().iter().filter(|line| line.starts_with("{\"running\"")).count() as u64;
        assert!(runs >= helped.predicate_calls, "{runs} runs for {} calls", helped.predicate_calls);
        assert_eq!(Reduction { speculative_calls: 0, ..helped }, alone, "{aides} aides");
    }
}

#[test]
fn a_reduction_goes_on_from_its_log_without_a_run_that_is_in_it() {
    for aides in [0, 2] {
        let log = RefCell::default();
        let whole = recorded(aides, Replay::default(), &log);
        let text =
            |lines: usize| log.borrow()[..lines].iter().map(|line| format!("{line}\n")).collect::<String>();
        // As if it had been killed over its thirtieth run.
        let earlier = Replay::read(&text(59)).unwrap();
        let rest = RefCell::default();
        let resumed = recorded(aides, earlier, &rest);
        assert!(resumed.recalled_calls >= 15, "{} calls from the log", resumed.recalled_calls);
        let resumed = Reduction { recalled_calls: 0, speculative_calls: whole.speculative_calls, ..resumed };
        assert_eq!(resumed, whole, "{aides} aides");
        if aides == 0 {
            assert_eq!(
                rest.borrow().len(),
                log.borrow().len() - 58,
                "the run that was cut off is made again"
            );
        }
    }
}
