//! Examples: how a search begins, how it ends early, what it claims; values that lowering tries; repair.

use std::time::Duration;

use case::Case;

use crate::lowering::Lowering;
use crate::repair::repair;
use crate::{Answer, Event, Key, Limits, MinimizeError, Minimized, Settings, Stop, list, minimize};

fn parse(line: &str) -> Case {
    line.parse().expect("an example is a case")
}

fn start() -> Case {
    parse("fprop f16 nhwc n8 c32 k16 i14x14 f3x3 p1x1 engine=4")
}

fn settings(limits: &Limits) -> Settings {
    Settings { limits: *limits, ..Settings::default() }
}

fn reduce(limits: &Limits, mut answer: impl FnMut(&Case) -> Answer) -> Result<Minimized, MinimizeError> {
    minimize(&start(), &mut answer, &settings(limits), &mut |_| {})
}

fn inside(holds: bool) -> Answer {
    if holds { Answer::Same } else { Answer::Pass }
}

fn of_the_pass(case: &Case, holds: bool) -> Answer {
    inside(case.problem.operation == start().problem.operation && holds)
}

#[test]
fn an_original_that_does_not_fail_as_pinned_is_refused_with_the_reason() {
    for (answer, error) in [
        (Answer::Pass, MinimizeError::Passes),
        (Answer::Other("slug".to_owned()), MinimizeError::Other("slug".to_owned())),
        (Answer::Invalid("declined".to_owned()), MinimizeError::Invalid("declined".to_owned())),
        (Answer::Infra("lost".to_owned()), MinimizeError::Infra("lost".to_owned())),
    ] {
        assert_eq!(reduce(&Limits::default(), |_| answer.clone()).err(), Some(error));
    }
    let none = Limits { calls_max: 0, ..Limits::default() };
    assert_eq!(reduce(&none, |_| Answer::Same).err(), Some(MinimizeError::NoBudget));
    let mut broken = start();
    broken.problem.n = 0;
    let error = minimize(&broken, &mut |_: &Case| Answer::Same, &Settings::default(), &mut |_| {});
    assert_eq!(error.err().map(|error| error.to_string()), broken.validate().err().map(|e| e.to_string()));
}

#[test]
fn a_predicate_that_accepts_everything_is_told_from_an_engine_that_always_fails() {
    let error = reduce(&Limits::default(), |_| Answer::Same).expect_err("it can't say no");
    assert_eq!(error, MinimizeError::AcceptsAnything("fprop f32 nchw n1 c1 k1 i1 f1 engine=4".to_owned()));
    assert!(error.to_string().starts_with("a case that can't fail fails"), "{error}");

    // The control is another pass, which has other inputs.
    let kept = parse("wgrad f32 nchw n1 c1 k1 i1 f1 engine=4 fill=zero:1 keep=y:0");
    let error = minimize(&kept, &mut |_: &Case| Answer::Same, &Settings::default(), &mut |_| {});
    assert!(matches!(error, Err(MinimizeError::AcceptsAnything(_))), "{error:?}");

    let operation = start().problem.operation;
    let result = reduce(&Limits::default(), |case| inside(case.problem.operation == operation));
    let result = result.expect("it fails");
    assert_eq!(result.case.to_string(), "fprop f32 nchw n1 c1 k1 i1 f1 engine=4");
    assert!(result.never_refused && result.one_minimal);
    assert!(result.guarantee().contains("accepted every smaller case"), "{}", result.guarantee());
}

#[test]
fn an_invalid_answer_is_never_adopted() {
    let result = reduce(&Limits::default(), |case| {
        if *case == start() { Answer::Same } else { Answer::Invalid("declined".to_owned()) }
    })
    .expect("it fails");
    assert_eq!(result.case, start());
    assert!(result.one_minimal && result.accepted.is_empty());
}

#[test]
fn the_guarantee_states_the_sweep_or_its_gap() {
    let whole = reduce(&Limits::default(), |case| inside(case.problem.c >= 3)).expect("it fails");
    let text = whole.guarantee();
    assert!(
        text.contains(&format!("edit list v3: each of its {} single edits", whole.sweep_total)),
        "{text}"
    );
    assert!(text.contains(&format!("{} calls", whole.calls)), "{text}");

    let few = Limits { calls_max: 8, ..Limits::default() };
    let cut = reduce(&few, |case| inside(case.problem.c >= 3)).expect("it fails");
    assert_eq!((cut.calls, &cut.stop, cut.one_minimal), (8, &Stop::Calls, false));
    let gap = format!("sweep incomplete ({} of {} edits of list v3 tried)", cut.swept, cut.sweep_total);
    assert!(cut.guarantee().contains(&gap), "{}", cut.guarantee());
}

#[test]
fn a_slow_predicate_is_stopped_by_the_clock() {
    let short = Limits { seconds_max: 0.02, ..Limits::default() };
    let result = reduce(&short, |case| {
        std::thread::sleep(Duration::from_millis(5));
        inside(case.problem.c >= 3)
    })
    .expect("it fails");
    assert_eq!(result.stop, Stop::Seconds);
    assert!(result.calls <= 5, "{} calls", result.calls);
}

#[test]
fn trouble_of_the_machine_is_asked_again_once() {
    let mut calls = 0;
    let result = reduce(&Limits::default(), |case| {
        calls += 1;
        if calls % 2 == 1 { Answer::Infra("device lost".to_owned()) } else { inside(case.problem.c >= 3) }
    })
    .expect("it fails");
    assert_eq!(result.case.to_string(), "fprop f32 nchw n1 c3 k1 i1 f1 engine=4");
    assert_eq!(result.stop, Stop::Fixpoint);
}

#[test]
fn a_machine_that_stays_in_trouble_ends_the_search_with_the_best_so_far() {
    let result = reduce(&Limits::default(), |case| {
        if case.problem.n == 1 { Answer::Infra("device lost".to_owned()) } else { of_the_pass(case, true) }
    })
    .expect("it fails");
    // Only the cases of batch 1 stay unanswered, and they never come three in a row.
    assert_eq!(result.case.problem.n, 2);
    assert!(!result.one_minimal && result.swept < result.sweep_total);
    assert!(result.guarantee().contains("some edits could not be answered"), "{}", result.guarantee());

    let mut calls = 0;
    let lost = reduce(&Limits::default(), |_| {
        calls += 1;
        if calls > 5 { Answer::Infra("device lost".to_owned()) } else { Answer::Same }
    })
    .expect("it fails");
    assert_eq!(lost.stop, Stop::Lost("device lost".to_owned()));
    assert_eq!(lost.accepted.len(), 1);
}

#[test]
fn other_failures_met_on_the_way_are_kept() {
    let result = reduce(&Limits::default(), |case| match case.problem.c {
        9.. => Answer::Same,
        4..9 => Answer::Other("another".to_owned()),
        _ => Answer::Pass,
    })
    .expect("it fails");
    assert_eq!(result.case.problem.c, 9);
    assert!(result.others.iter().any(|(case, slug)| case.problem.c == 8 && slug == "another"));
}

#[test]
fn a_step_has_a_json_line_of_its_own() {
    let mut lines = Vec::new();
    let mut log = |event: Event<'_>| {
        if let Event::Answered(step) = event {
            lines.push(serde_json::to_string(step).expect("a step has a JSON form"));
        }
    };
    let mut predicate = |case: &Case| inside(case.problem.c >= 3);
    minimize(&start(), &mut predicate, &Settings::default(), &mut log).expect("it fails");
    assert!(lines[0].starts_with(r#"{"call":1,"pass":"original","case":{"format":1,"#), "{}", lines[0]);
    assert!(lines[4].ends_with(r#""answer":"pass","accepted":false}"#), "{}", lines[4]);
    assert!(lines.iter().all(|line| !line.contains('\n')));
}

/// Lowers a value under a predicate; returns the end and every value tried.
fn lower(value: i64, settled: bool, holds: impl Fn(i64) -> bool) -> (i64, Vec<i64>) {
    let (mut now, mut tried) = (value, Vec::new());
    let mut lowering = Lowering::new(1, value, settled);
    while let Some(probe) = lowering.probe() {
        tried.push(probe);
        if holds(probe) {
            now = probe;
        }
        lowering.learn(probe, now, now == probe);
    }
    (now, tried)
}

#[test]
fn lowering_finds_thresholds_residues_and_islands() {
    assert_eq!(lower(500, false, |_| true), (1, vec![1]));
    assert_eq!(lower(1000, false, |value| value >= 100).0, 100);
    assert_eq!(lower(1_000_000, false, |value| value >= 1000).0, 1000);
    assert_eq!(lower(224, false, |value| value % 32 == 0).0, 32);
    assert_eq!(lower(304, false, |value| value % 64 > 32).0, 33);
    assert_eq!(lower(30, false, |value| (24..32).contains(&value)).0, 24);
}

#[test]
fn a_settled_value_is_only_tried_at_its_ends() {
    assert_eq!(lower(100, true, |value| value >= 100), (100, vec![1, 99]));
    assert_eq!(lower(100, true, |value| value >= 60).0, 60);
}

#[test]
fn values_of_lowering_are_few() {
    for threshold in [2, 3, 17, 100, 4000] {
        let tried = lower(1 << 20, false, |value| value >= threshold).1.len();
        assert!(tried <= 40, "{tried} values for {threshold}");
    }
}

#[test]
fn repair_keeps_pads_within_the_filter_and_one_output() {
    let current = parse("fprop f32 nchw n1 c1 k1 i3 f3 p2");
    let mut shorter = current.clone();
    shorter.problem.axes[0].filter = 1;
    assert_eq!(repair(&current, shorter).to_string(), "fprop f32 nchw n1 c1 k1 i3 f1");
    let mut unpadded = parse("fprop f32 nchw n1 c1 k1 i1 f5 p2");
    unpadded.problem.axes[0].pad_before = 0;
    assert_eq!(repair(&current, unpadded).to_string(), "fprop f32 nchw n1 c1 k1 i3 f5 p0:2");
}

#[test]
fn repair_leaves_pads_alone_that_were_beyond_the_filter_already() {
    let current = parse("fprop f32 nchw n1 c1 k1 i8 f3 p5");
    let mut shorter = current.clone();
    shorter.problem.axes[0].filter = 1;
    assert_eq!(repair(&current, shorter).to_string(), "fprop f32 nchw n1 c1 k1 i8 f1 p5");
}

#[test]
fn smaller_means_what_the_order_page_says() {
    for (smaller, larger) in [
        ("fprop f32 nchw n64 c64 k64 i99 f9", "fprop f32 nchw n1 c1 k1 i1 f1 repeat=2"),
        ("fprop f32 nchw n64 c64 k64 i99 f9", "fprop f32 nchw n1 c1 k1 i1 f1 ws=exact@128"),
        ("fprop f32 nchw n64 c64 k64 i99 f9", "fprop f32 nchw n1 c1 k1 i1x1 f1x1"),
        ("fprop f32 nchw n64 c64 k64 i99 f1", "fprop f32 nchw n1 c1 k1 i1 f2 p1"),
        ("fprop bf16 nhwc n1 c1 k1 i1 f1", "fprop f32 nchw n2 c1 k1 i1 f1"),
        ("fprop f32 nchw n1 c2 k1 i1 f1", "fprop f32 nchw n2 c1 k1 i1 f1"),
        ("fprop f32 nchw n1 c1 k1 i1x2 f1x1", "fprop f32 nchw n1 c1 k1 i2x1 f1x1"),
        ("fprop f32 nchw n1 c1 k1 i1 f1", "fprop f64 nchw n1 c1 k1 i1 f1"),
        ("fprop f64 nchw n1 c1 k1 i1 f1", "fprop f16 nchw n1 c1 k1 i1 f1"),
        ("fprop f16 nchw n1 c1 k1 i1 f1", "fprop bf16 nchw n1 c1 k1 i1 f1"),
        ("fprop bf16 nhwc n1 c1 k1 i1 f1", "fprop f16,f16,f32 nchw n1 c1 k1 i1 f1"),
        ("fprop f32 nchw n1 c1 k1 i1 f1", "fprop f32 nhwc n1 c1 k1 i1 f1"),
        ("fprop f32 nhwc n1 c1 k1 i1 f1", "fprop f32 nchw,nhwc,nchw n1 c1 k1 i1 f1"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 fill=one:9", "fprop f32 nchw n1 c1 k1 i1 f1 fill=int2:1"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 fill=one:1", "fprop f32 nchw n1 c1 k1 i1 f1 fill=one:2"),
        (
            "fprop f32 nchw n1 c1 k1 i9 f9 fill=one:1 keep=x:3-4,w:8",
            "fprop f32 nchw n1 c1 k1 i9 f9 fill=one:1 keep=x:0-3",
        ),
        ("fprop f32 nchw n1 c1 k1 i9 f9 fill=one:1 keep=x:3-4", "fprop f32 nchw n1 c1 k1 i9 f9 fill=one:1"),
        (
            "fprop f32 nchw n1 c1 k1 i9 f9 fill=one:1",
            "fprop f32 nchw n1 c1 k1 i9 f9 fill=int2:1 keep=x:0,w:0",
        ),
        ("fprop f32 nchw n1 c1 k1 i8 f1 fill=one:1", "fprop f32 nchw n1 c1 k1 i9 f1 fill=one:1 keep=x:0"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 wsfill=00", "fprop f32 nchw n1 c1 k1 i1 f1 wsfill=ff"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 ws=exact@128", "fprop f32 nchw n1 c1 k1 i1 f1 ws=exact@16"),
    ] {
        assert!(Key::of(&parse(smaller)) < Key::of(&parse(larger)), "{smaller} against {larger}");
    }
}

#[test]
fn the_smallest_case_has_no_listed_edit() {
    assert_eq!(list(&parse("wgrad f32 nchw n1 c1 k1 i1 f1 engine=9")), []);
}

#[test]
fn kept_elements_go_with_the_extents_that_their_positions_were_counted_in() {
    let current = parse("fprop f32 nchw n2 c2 k1 i3 f1 fill=int2:1 keep=x:11,w:1");
    let mut fewer = current.clone();
    fewer.problem.n = 1;
    assert_eq!(repair(&current, fewer).to_string(), "fprop f32 nchw n1 c2 k1 i3 f1 fill=int2:1");
    let mut wider = current.clone();
    wider.problem.k = 2;
    assert_eq!(repair(&current, wider).to_string(), "fprop f32 nchw n2 c2 k2 i3 f1 fill=int2:1");
    let mut plainer = current.clone();
    plainer.options.fill = Some(case::Fill { kind: case::FillKind::One, seed: 1 });
    assert_eq!(
        repair(&current, plainer).to_string(),
        "fprop f32 nchw n2 c2 k1 i3 f1 fill=one:1 keep=x:11,w:1"
    );
}

/// True where the element of that position keeps its value.
fn keeps(case: &Case, role: case::Role, position: i64) -> bool {
    case.options.keep.of(role).is_none_or(|kept| (kept.first..=kept.last).contains(&position))
}

#[test]
fn inputs_come_down_to_the_one_product_that_is_wrong() {
    use case::Role::{W, X};
    let line = "fprop f32 nchw n2 c16 k8 i8x9 f3x3 engine=4 fill=int2:77";
    let start = parse(line);
    for (x, w) in [(0, 0), (1717, 1003), (2303, 1151), (1024, 511)] {
        let mut predicate = |case: &Case| {
            let zeros = case.options.fill.is_some_and(|fill| fill.kind == case::FillKind::Zero);
            inside(!zeros && case.problem == start.problem && keeps(case, X, x) && keeps(case, W, w))
        };
        let mut asked = 0;
        let mut inputs = |event: Event<'_>| {
            if let Event::Answered(step) = event {
                asked += u32::from(step.pass == "inputs");
            }
        };
        let result = minimize(&start, &mut predicate, &Settings::default(), &mut inputs).expect("it fails");
        let least = format!("{} keep=x:{x},w:{w}", line.replace("int2:77", "one:1"));
        assert_eq!(result.case.to_string(), least);
        assert!(result.one_minimal);
        // 2304 and 1152 elements: 12 and 11 bisections, half of which lose the failure in their first half.
        assert!(asked <= 2 * (12 + 11), "{asked} questions");
    }
}

#[test]
fn a_run_of_inputs_that_matters_is_bisected_at_both_ends() {
    let start = parse("wgrad f32 nchw n1 c1 k1 i1000 f1 engine=4 fill=int2:77");
    let mut calls = 0;
    let mut predicate = |case: &Case| {
        calls += 1;
        let plain = case.options.fill.is_some_and(|fill| fill.seed == 77);
        let run = (411..=427).all(|position| keeps(case, case::Role::X, position));
        inside(case.problem == start.problem && plain && run && keeps(case, case::Role::Y, 999))
    };
    let result = minimize(&start, &mut predicate, &Settings::default(), &mut |_| {}).expect("it fails");
    let least = "wgrad f32 nchw n1 c1 k1 i1000 f1 engine=4 fill=int1:77 keep=x:411-427,y:999";
    assert_eq!(result.case.to_string(), least);
    assert!(result.one_minimal);
    assert!(calls <= 110, "{calls} calls");
}

#[test]
fn inputs_are_left_alone_where_they_are_few_or_open_or_the_output_is_large() {
    let kept = |line: &str| list(&parse(line)).iter().filter(|edit| edit.name.contains("kept")).count();
    assert_eq!(kept("fprop f32 nchw n1 c1 k1 i8 f1 fill=one:1"), 4);
    assert_eq!(kept("fprop f32 nchw n1 c1 k1 i7 f1 fill=one:1"), 0);
    assert_eq!(kept("fprop f32 nchw n1 c1 k1 i8 f1 fill=zero:1"), 0);
    assert_eq!(kept("fprop f32 nchw n1 c1 k1 i8 f1"), 0);
    assert_eq!(kept("fprop f32 nchw n1 c1 k1 i65536 f1 fill=one:1"), 4);
    assert_eq!(kept("fprop f32 nchw n1 c1 k1 i65537 f1 fill=one:1"), 0);
    assert_eq!(kept("fprop f32 nchw n1 c1 k1 i8 f1 fill=one:1 keep=x:3-4"), 2);
    assert_eq!(kept("fprop f32 nchw n1 c1 k1 i8 f1 fill=one:1 keep=x:3"), 0);
}

#[test]
fn contents_come_down_to_the_fewest_inputs_that_a_line_can_name() {
    let dense = parse("fprop f32 nchw n1 c1 k1 i1 f1 engine=4 fill=int2:77");
    let mut predicate = |case: &Case| {
        let fill = case.options.fill.expect("pinned");
        of_the_pass(
            case,
            fill.kind == case::FillKind::Int2 || fill == case::Fill { kind: case::FillKind::Onehot, seed: 3 },
        )
    };
    let result = minimize(&dense, &mut predicate, &Settings::default(), &mut |_| {}).expect("it fails");
    assert_eq!(result.case.to_string(), "fprop f32 nchw n1 c1 k1 i1 f1 engine=4 fill=onehot:3");
    let mut of_its_seed = |case: &Case| {
        of_the_pass(case, case.options.fill.is_some_and(|fill| fill.kind.is_integer() && fill.seed == 77))
    };
    let result = minimize(&dense, &mut of_its_seed, &Settings::default(), &mut |_| {}).expect("it fails");
    assert_eq!(result.case.to_string(), "fprop f32 nchw n1 c1 k1 i1 f1 engine=4 fill=int1:77");
}
