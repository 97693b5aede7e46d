//! Properties of the search under random cases and random predicates. Knows the public surface only.

use std::collections::HashSet;

use case::{Case, DType, Layout, Operation};
use minimizer::{Answer, Event, Key, Limits, Minimized, Settings, Stop, list, minimize};
use proptest::prelude::*;

/// A number of a case that a predicate may look at.
type Number = fn(&Case) -> i64;

const NUMBERS: [Number; 10] = [
    |case| case.problem.n,
    |case| case.problem.c,
    |case| case.problem.k,
    |case| case.problem.g,
    |case| case.problem.c / case.problem.g,
    |case| case.problem.axes[0].input,
    |case| case.problem.axes[case.problem.axes.len() - 1].input,
    |case| case.problem.axes[0].output(),
    |case| case.problem.axes[0].filter,
    |case| case.problem.axes[0].stride,
];

/// A condition that holds on the case it was made from.
#[derive(Clone, Debug)]
enum Atom {
    AtLeast { number: usize, least: i64 },
    Residue { number: usize, modulus: i64, residue: i64 },
    Product { numbers: [usize; 2], least: i64 },
    Difference { numbers: [usize; 2], difference: i64 },
    Island { number: usize, low: i64, high: i64 },
    Type(DType),
    XLayout(Layout),
    Rank(usize),
    Padded,
    Misaligned,
}

impl Atom {
    fn of(case: &Case, kind: u8, numbers: [usize; 2], fraction: i64) -> Self {
        let [number, other] = numbers;
        let value = NUMBERS[number](case);
        let modulus = [2, 3, 4, 8, 16, 32][usize::from(kind) % 6];
        match kind % 10 {
            0 => Self::AtLeast { number, least: value * fraction / 100 },
            1 => Self::Residue { number, modulus, residue: value % modulus },
            2 => Self::Product { numbers, least: value * NUMBERS[other](case) * fraction / 100 },
            3 => Self::Difference { numbers, difference: value - NUMBERS[other](case) },
            4 => Self::Island { number, low: value * fraction / 100, high: value + 2 },
            5 => Self::Type(case.problem.dtypes.x),
            6 => Self::XLayout(case.problem.layouts.x),
            7 => Self::Rank(case.problem.axes.len()),
            8 if case.problem.axes.iter().any(|axis| axis.pad_before > 0) => Self::Padded,
            _ if case.options.workspace.alignment < 256 => Self::Misaligned,
            _ => Self::AtLeast { number: other, least: NUMBERS[other](case) },
        }
    }

    fn holds(&self, case: &Case) -> bool {
        let number = |index: &usize| NUMBERS[*index](case);
        match self {
            Self::AtLeast { number: index, least } => number(index) >= *least,
            Self::Residue { number: index, modulus, residue } => number(index) % modulus == *residue,
            Self::Product { numbers: [one, two], least } => number(one) * number(two) >= *least,
            Self::Difference { numbers: [one, two], difference } => number(one) - number(two) == *difference,
            Self::Island { number: index, low, high } => (*low..=*high).contains(&number(index)),
            Self::Type(dtype) => case.problem.dtypes.x == *dtype,
            Self::XLayout(layout) => case.problem.layouts.x == *layout,
            Self::Rank(rank) => case.problem.axes.len() == *rank,
            Self::Padded => case.problem.axes.iter().any(|axis| axis.pad_before > 0),
            Self::Misaligned => case.options.workspace.alignment < 256,
        }
    }
}

/// Spare input, filter, pads before and after, stride, dilation.
type Numbers = (i64, i64, i64, i64, i64, i64);

fn axis_text(axes: &[Numbers]) -> String {
    let join = |of: fn(&Numbers) -> String| axes.iter().map(of).collect::<Vec<_>>().join("x");
    format!(
        "i{} f{} p{} s{} d{}",
        join(|axis| ((axis.1 - 1) * axis.5 + axis.0).to_string()),
        join(|axis| axis.1.to_string()),
        join(|axis| format!("{}:{}", axis.2, axis.3)),
        join(|axis| axis.4.to_string()),
        join(|axis| axis.5.to_string()),
    )
}

fn any_case() -> impl Strategy<Value = Case> {
    let axis = (1..=60_i64, 1..=5_i64, 0..=3_i64, 0..=3_i64, 1..=3_i64, 1..=2_i64);
    let options = prop::sample::select(vec![
        "",
        " engine=3 knobs=1:2,3:4,9:0 fill=real:7 wsfill=rand:3 out=finite",
        " engine=3 ws=+100@16 fill=int2:1",
        " engine=3 fill=one:4 keep=INPUT:0",
        " heur=A#1 tf32=off ws=max:1MiB beta=0.3 alpha=-7 repeat=10",
        " engine=0 set=9.19.0-full beta=0.5 wsfill=ff repeat=3",
    ]);
    let words = (
        prop::sample::select(vec!["fprop", "dgrad", "wgrad"]),
        prop::sample::select(vec![
            "f32",
            "f64",
            "f16",
            "bf16",
            "f16,f16,f32",
            "f32/f64",
            "bf16,bf16,f32/f64",
        ]),
        prop::sample::select(vec!["nchw", "nhwc", "nchw,nhwc,nchw", "nhwc,nchw,nhwc"]),
    );
    let sizes = (1..=40_i64, 1..=70_i64, 1..=70_i64, 1..=4_i64);
    (words, sizes, prop::collection::vec(axis, 1..=3), options).prop_map(
        |((operation, dtypes, layouts), (n, c, k, g), axes, options)| {
            let (axes, c, k) = (axis_text(&axes), c * g, k * g);
            let options = options.replace("INPUT", if operation == "dgrad" { "w" } else { "x" });
            format!("{operation} {dtypes} {layouts} n{n} c{c} k{k} g{g} {axes}{options}")
                .parse()
                .expect("valid by construction")
        },
    )
}

/// A case and a conjunction that holds on it.
fn failing() -> impl Strategy<Value = (Case, Vec<Atom>)> {
    let atom = (any::<u8>(), 0..NUMBERS.len(), 0..NUMBERS.len(), 1..=100_i64);
    (any_case(), prop::collection::vec(atom, 0..=3)).prop_map(|(case, atoms)| {
        let atoms = atoms
            .into_iter()
            .map(|(kind, one, two, fraction)| Atom::of(&case, kind, [one, two], fraction))
            .collect();
        (case, atoms)
    })
}

/// Same inside; outside, an answer that depends on the case alone.
fn answer(atoms: &[Atom], case: &Case) -> Answer {
    if atoms.iter().all(|atom| atom.holds(case)) {
        return Answer::Same;
    }
    match case.problem.n % 3 {
        0 => Answer::Other("fprop-e3-other".to_owned()),
        1 => Answer::Pass,
        _ => Answer::Invalid("refused".to_owned()),
    }
}

/// The same for a failure of one pass: what another pass does is another failure.
fn pinned(operation: Operation, atoms: &[Atom], case: &Case) -> Answer {
    if case.problem.operation == operation {
        return answer(atoms, case);
    }
    Answer::Other("of-another-pass".to_owned())
}

fn reduce(case: &Case, atoms: &[Atom], limits: &Limits) -> (Minimized, Vec<Case>) {
    let mut asked = Vec::new();
    let operation = case.problem.operation;
    let mut predicate = |case: &Case| {
        asked.push(case.clone());
        pinned(operation, atoms, case)
    };
    let settings = Settings { limits: *limits, ..Settings::default() };
    let result = minimize(case, &mut predicate, &settings, &mut |_| {}).expect("the original fails");
    (result, asked)
}

const WIDE: Limits = Limits { calls_max: 2000, seconds_max: f64::INFINITY };

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn the_result_fails_the_same_way_and_no_listed_edit_makes_it_smaller((case, atoms) in failing()) {
        let (result, _) = reduce(&case, &atoms, &WIDE);
        prop_assert_eq!(answer(&atoms, &result.case), Answer::Same);
        prop_assert!(Key::of(&result.case) <= Key::of(&case));
        prop_assert_eq!(&result.stop, &Stop::Fixpoint);
        prop_assert!(result.one_minimal);
        // A tie of two numbers makes an edit of either alone fail: walking along it may take any number of calls.
        let tied = atoms.iter().any(|atom| matches!(atom, Atom::Difference { .. }));
        prop_assert!(tied || result.calls <= Limits::default().calls_max, "{} calls", result.calls);
        prop_assert_eq!(result.swept, result.sweep_total);
        for edit in list(&result.case) {
            prop_assert_ne!(answer(&atoms, &edit.case), Answer::Same, "{}: {}", result.case, edit.name);
        }
    }

    #[test]
    fn only_valid_cases_are_asked_and_only_the_best_one_twice((case, atoms) in failing()) {
        let (result, asked) = reduce(&case, &atoms, &WIDE);
        prop_assert_eq!(asked.len(), usize::try_from(result.calls).expect("small"));
        let different: HashSet<&Case> = asked.iter().collect();
        // Three more runs of the original, a check each fifty answers, one of the result.
        prop_assert!(asked.len() - different.len() <= 3 + asked.len() / 50 + 1);
        let asked_list = &asked;
        for asked in &different {
            let times = asked_list.iter().filter(|other| *other == *asked).count();
            prop_assert!(times == 1 || pinned(case.problem.operation, &atoms, asked) == Answer::Same);
        }
        for asked in &asked {
            prop_assert_eq!(asked.validate(), Ok(()), "{}", asked);
        }
    }

    #[test]
    fn engine_operation_set_and_expectation_are_never_edited((case, atoms) in failing()) {
        use case::{Config, EngineChoice};
        let engine = |case: &Case| match &case.options.engine {
            EngineChoice::Pinned(config) => {
                EngineChoice::Pinned(Config { engine: config.engine, knobs: Vec::new() })
            }
            other @ (EngineChoice::Any | EngineChoice::Ranked { .. }) => other.clone(),
        };
        let kept = |case: &Case| (engine(case), case.options.set.clone(), case.options.expect);
        let (result, asked) = reduce(&case, &atoms, &WIDE);
        for asked in &asked {
            prop_assert_eq!(kept(asked), kept(&case));
        }
        // Another pass is asked about once at the most: as the control.
        let others = asked.iter().filter(|asked| asked.problem.operation != case.problem.operation);
        prop_assert!(others.count() <= 1);
        prop_assert_eq!(result.case.problem.operation, case.problem.operation);
    }

    #[test]
    fn contents_that_are_pinned_stay_pinned_and_others_stay_open((case, atoms) in failing()) {
        let pinned = |case: &Case| {
            let options = &case.options;
            (options.fill.is_some(), options.workspace.contents.is_some(), options.output_fill.is_some())
        };
        for asked in reduce(&case, &atoms, &WIDE).1 {
            prop_assert_eq!(pinned(&asked), pinned(&case));
        }
    }

    #[test]
    fn the_same_search_asks_the_same_questions((case, atoms) in failing()) {
        let (first, asked) = reduce(&case, &atoms, &WIDE);
        let (second, asked_again) = reduce(&case, &atoms, &WIDE);
        prop_assert_eq!(asked, asked_again);
        prop_assert_eq!(first.case, second.case);
    }

    #[test]
    fn a_search_cut_short_is_a_prefix_of_the_whole_one((case, atoms) in failing(), calls_max in 1..60_u32) {
        let (_, whole) = reduce(&case, &atoms, &WIDE);
        let (cut, asked) = reduce(&case, &atoms, &Limits { calls_max, ..WIDE });
        prop_assert!(cut.calls <= calls_max);
        prop_assert!(whole.starts_with(&asked));
        prop_assert_eq!(answer(&atoms, &cut.case), Answer::Same);
        if asked.len() < whole.len() {
            prop_assert_eq!(cut.stop, Stop::Calls);
        }
    }

    #[test]
    fn every_call_is_announced_and_accepted_cases_only_get_smaller((case, atoms) in failing()) {
        let mut open = None;
        let mut best = case.clone();
        let mut best_key = Key::of(&case);
        let mut troubles = Vec::new();
        let mut observe = |event: Event<'_>| match event {
            Event::Asking { call, case, .. } => open = Some((call, case.clone())),
            Event::Recalled(step) => troubles.push(format!("{} out of nowhere", step.case)),
            Event::Answered(step) => {
                if open.take() != Some((step.call, step.case.clone())) {
                    troubles.push(format!("call {} was not announced", step.call));
                }
                if step.accepted {
                    let key = Key::of(&step.case);
                    if key >= best_key || step.answer != Answer::Same {
                        troubles.push(format!("{} follows {best}", step.case));
                    }
                    (best, best_key) = (step.case.clone(), key);
                }
            }
        };
        let mut predicate = |asked: &Case| pinned(case.problem.operation, &atoms, asked);
        let settings = Settings { limits: WIDE, ..Settings::default() };
        let result = minimize(&case, &mut predicate, &settings, &mut observe).expect("the original fails");
        prop_assert!(troubles.is_empty(), "{:?}", troubles);
        prop_assert_eq!(&result.case, &best);
        prop_assert!(result.others.iter().all(|(other, _)| matches!(
            pinned(case.problem.operation, &atoms, other),
            Answer::Other(_)
        )));
    }

    #[test]
    fn the_order_is_total(one in any_case(), two in any_case()) {
        let (first, second) = (Key::of(&one), Key::of(&two));
        prop_assert_eq!(first == second, one == two);
        prop_assert_eq!(first < second, second > first);
    }

    #[test]
    fn every_listed_edit_is_valid_smaller_and_listed_once(case in any_case()) {
        let edits = list(&case);
        for edit in &edits {
            prop_assert_eq!(edit.case.validate(), Ok(()), "{}: {}", edit.name, edit.case);
            prop_assert!(Key::of(&edit.case) < Key::of(&case), "{}: {}", edit.name, edit.case);
        }
        let cases: HashSet<&Case> = edits.iter().map(|edit| &edit.case).collect();
        let names: HashSet<&str> = edits.iter().map(|edit| edit.name.as_str()).collect();
        prop_assert_eq!((cases.len(), names.len()), (edits.len(), edits.len()));
    }
}
