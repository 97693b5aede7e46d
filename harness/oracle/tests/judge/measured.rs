//! Outputs that are wrong in a known way, measured by the twins and judged.

use case::{Case, FillKind, Kind, OutputFill, Recipe, Tier, Verdict};
use oracle::{judge, poison_bits};
use proptest::prelude::*;

use crate::scene::{LINE, case, fault, notes, perfect, run};

/// Kind, cause and tier of the fault that outputs produced so have on an engine with these notes.
fn seen(
    case: &Case,
    numerical: &[i32],
    produce: impl Fn(&Recipe, usize, f64) -> f64,
) -> Option<(Kind, String, Tier)> {
    match judge(case, &run(case, &notes(numerical), produce)) {
        Verdict::Fault(found) => Some((found.sameness.kind, found.sameness.cause, found.tier)),
        Verdict::Pass => None,
        verdict @ (Verdict::Unsupported(_) | Verdict::Untrusted(_)) => panic!("{verdict:?}"),
    }
}

fn wrong(cause: &str) -> Option<(Kind, String, Tier)> {
    Some((Kind::Wrong, cause.to_owned(), Tier::B))
}

/// What a poisoned output holds where nothing was written.
fn poison(recipe: &Recipe) -> f64 {
    kernel::decode_bits(kernel::F16, poison_bits(case::DType::F16, recipe.output))
}

#[test]
fn one_output_off_by_one_unit_is_wrong_and_its_numbers_are_told() {
    let case = case(LINE);
    let outcome = run(&case, &notes(&[]), |_, index, exact| if index == 21 { exact + 1.0 } else { exact });
    let found = fault(judge(&case, &outcome));
    assert_eq!(found.sameness.cause, "finite");
    assert!(
        found.summary.starts_with("1 of 32 outputs wrong (finite), first at (n0 k1 h1 w1); sums are exact"),
        "{}",
        found.summary
    );
    assert!(found.summary.contains("<= 2^24"), "{}", found.summary);
}

#[test]
fn the_excerpt_gives_the_first_wrong_value() {
    let case = case(LINE);
    let mut outcome = run(&case, &notes(&[]), |_, index, exact| exact + f64::from(u8::from(index == 21)));
    let excerpt = vec![(21, "17".to_owned(), "21".to_owned())];
    outcome.observation.as_mut().unwrap().executions[0].excerpt = excerpt;
    let summary = fault(judge(&case, &outcome)).summary;
    assert!(summary.contains("first at (n0 k1 h1 w1): got 17, expected 21; sums are exact"), "{summary}");
}

#[test]
fn value_classes_follow_their_order() {
    let case = case(LINE);
    let nan = |_: &Recipe, index, exact| match index {
        3 => f64::NAN,
        4 => 0.0,
        5 => exact + 1.0,
        _ => exact,
    };
    // A hardware NaN is no NaN poison, whose every bit is set.
    assert_eq!(seen(&case, &[], nan), wrong("nan"));
    assert_eq!(seen(&case, &[], |_, index, exact| if index < 9 { 0.0 } else { exact }), wrong("zero"));
    let mixed = |_: &Recipe, index, exact| match index {
        0 => 0.0,
        1 => exact + 2.0,
        _ => exact,
    };
    assert_eq!(seen(&case, &[], mixed), wrong("finite"));
    let infinite = |_: &Recipe, index, exact| if index == 0 { f64::INFINITY } else { exact };
    assert_eq!(seen(&case, &[], infinite), wrong("finite"));
}

#[test]
fn an_unwritten_output_is_stale_whatever_the_poison() {
    for pinned in ["out=finite", "out=nan"] {
        let case = case(&format!("{LINE} {pinned}"));
        let skip = |recipe: &Recipe, index, exact| if index == 9 { poison(recipe) } else { exact };
        let mut outcome = run(&case, &notes(&[]), skip);
        if pinned == "out=nan" {
            // The encoder makes every NaN the quiet one; the device would keep the poison's own bits.
            for execution in &mut outcome.observation.as_mut().unwrap().executions {
                assert_eq!((execution.recipe.output, execution.census.nan), (OutputFill::Nan, 1));
                execution.census.stale = 1;
                execution.census.first_stale = 9;
            }
        }
        let found = fault(judge(&case, &outcome));
        assert_eq!((found.sameness.kind, found.sameness.cause.as_str()), (Kind::Wrong, "stale"), "{pinned}");
    }
}

#[test]
fn inexact_sums_inside_the_bound_are_told_once_as_tier_c() {
    // Two f32 units off a sum of 18 products of integers: no order of summation does that.
    let f32_case = case("fprop f32 nchw n1 c2 k2 i4x4 f3x3 p1x1 engine=7");
    let nudge = |_: &Recipe, _, exact: f64| exact * (1.0 + 2.0_f64.powi(-22));
    let inexact = Some((Kind::Inexact, "undeclared".to_owned(), Tier::C));
    assert_eq!(seen(&f32_case, &[], nudge), inexact);
    // A declared transform is bound by the max norm and promises no bits.
    assert_eq!(seen(&f32_case, &[3], nudge), None);
    assert_eq!(seen(&f32_case, &[5], nudge), None);
}

#[test]
fn a_transform_is_wrong_only_outside_its_own_bound() {
    let f32_case = case("fprop f32 nchw n1 c2 k2 i4x4 f3x3 p1x1 engine=7");
    let off = |by: f64| move |_: &Recipe, index, exact| if index == 5 { exact + by } else { exact };
    for numerical in [[3], [5]] {
        assert_eq!(seen(&f32_case, &numerical, off(2e-5)), None, "{numerical:?}");
        assert_eq!(seen(&f32_case, &numerical, off(0.01)), wrong("finite"), "{numerical:?}");
    }
    // Plain tensor-core sums have no such excuse.
    assert_eq!(seen(&f32_case, &[0], off(2e-4)), wrong("finite"));
}

#[test]
fn reduced_precision_beyond_even_a_generous_bound_is_told_as_declared() {
    let case = case(LINE);
    let slightly = |_: &Recipe, _, exact: f64| exact * (1.0 + 2.0_f64.powi(-10));
    let grossly = |_: &Recipe, index, exact| if index == 5 { exact + 3.0 } else { exact };
    assert_eq!(seen(&case, &[2], slightly), Some((Kind::Inexact, "undeclared".to_owned(), Tier::C)));
    assert_eq!(seen(&case, &[2], grossly), Some((Kind::Wrong, "finite".to_owned(), Tier::C)));
    // Unwritten or NaN outputs are nothing that a note about precision explains.
    let nan = |_: &Recipe, index, exact| if index == 5 { f64::NAN } else { exact };
    assert_eq!(seen(&case, &[2], nan), wrong("nan"));
}

#[test]
fn real_data_are_judged_by_their_bound() {
    let case = case(&format!("{LINE} fill=real:5"));
    let off = |by: f64| move |_: &Recipe, _, exact: f64| exact * (1.0 + by);
    assert_eq!(seen(&case, &[], off(2.0_f64.powi(-22))), None);
    // Some bits more could be those of partial results.
    assert_eq!(seen(&case, &[], off(2.0_f64.powi(-6))), wrong("finite"));
}

/// Measured on cuDNN 9.19: f16 and bf16 engines round the convolution to the output's type before they add beta
/// times the prior value, so that a cancellation shows that rounding in full.
#[test]
fn rounding_before_the_prior_value_is_added_is_no_fault() {
    for (types, unit) in [("f16", 2.0_f64.powi(-11)), ("bf16", 2.0_f64.powi(-8))] {
        for fill in ["real:3", "int2:1"] {
            let case =
                case(&format!("dgrad {types} nchw n1 c8 k128 i9x9 f3x3 p1x1 engine=24 beta=1 fill={fill}"));
            // The convolution is at most the result and a prior of at most 2.
            let early = |_: &Recipe, _, exact: f64| exact + unit * (exact.abs() + 0.9);
            let grossly = |_: &Recipe, _, exact: f64| exact + 40.0 * unit * (exact.abs() + 2.0);
            assert!(!matches!(seen(&case, &[], early), Some((Kind::Wrong, _, _))), "{types} {fill}");
            assert_eq!(seen(&case, &[], grossly), wrong("finite"), "{types} {fill}");
        }
    }
}

/// Measured on cuDNN 9.19: bf16 wgrad with a split reduction passed its statistical bound by a few percent.
#[test]
fn without_a_certificate_a_little_over_the_bound_is_informative_and_four_times_is_wrong() {
    let case = case("fprop f32 nchw n1 c2 k2 i4x4 f3x3 p1x1 engine=7 fill=real:5");
    let over = |times: f64| {
        let mut outcome = run(&case, &notes(&[0]), |_, _, exact| exact * (1.0 + 2.0_f64.powi(-6)));
        for execution in &mut outcome.observation.as_mut().unwrap().executions {
            execution.census.ratio_max = times;
        }
        fault(judge(&case, &outcome)).sameness.kind
    };
    assert_eq!(over(1.04), Kind::Inexact);
    assert_eq!(over(4.0), Kind::Inexact);
    assert_eq!(over(4.1), Kind::Wrong);
}

#[test]
fn a_lost_or_leaked_nan_counts_only_where_the_note_promises_it() {
    for types in ["f32", "f16"] {
        let case = case(&format!("fprop {types} nchw n1 c2 k2 i4x4 f3x3 p1x1 engine=7 fill=nan:5"));
        assert_eq!(seen(&case, &[9], |_, _, exact| exact), None);
        let lost = |_: &Recipe, _, exact: f64| if exact.is_nan() { 0.0 } else { exact };
        assert_eq!(seen(&case, &[], lost), None);
        assert!(matches!(seen(&case, &[9], lost), Some((Kind::Wrong, _, Tier::B))));
        let leaked = |_: &Recipe, _, _| f64::NAN;
        assert_eq!(seen(&case, &[9], leaked), wrong("nan"));
        assert_eq!(seen(&case, &[], leaked), None);
    }
}

#[test]
fn infinity_is_excused_only_where_sums_may_leave_f16() {
    let overflow = |_: &Recipe, index, exact| if index == 5 { f64::INFINITY } else { exact };
    let half_sums = case("fprop f16/f16 nchw n1 c1040 k1 i3x3 f1x1 engine=7 fill=ramp:1");
    assert_eq!(seen(&half_sums, &[], overflow), None);
    assert_eq!(seen(&case(LINE), &[], overflow), wrong("finite"));
}

#[test]
fn a_perfect_run_passes_on_every_engine() {
    for line in [
        LINE,
        "fprop bf16 nhwc n2 c3 k4 i5 f3 p1",
        "dgrad f32 nchw n1 c4 k6 g2 i8x7 f3x2 p1:2x0:1 s3x2",
        "wgrad f64 nchw n2 c2 k2 g2 i4x3x5 f2x2x3 p1x1x1 s1x2x1",
        "dgrad f16 nhwc n1 c3 k2 i5x5 f2x2 alpha=2 beta=-0.5",
        "wgrad f32 nchw n2 c2 k2 i4x4 f3x3 p1x1 alpha=0.3 beta=1.7 fill=real:1",
        "fprop f16/f16 nhwc n1 c16 k4 i5x5 f3x3 fill=index:1",
    ] {
        let case = case(line);
        for note in (-1..10).chain([77]) {
            let verdict = judge(&case, &perfect(&case, &notes(&[note])));
            assert_eq!(verdict, Verdict::Pass, "{line} with note {note}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn an_output_that_misses_one_integer_product_is_wrong_on_each_engine_that_sums(
        line in 0..LINES.len(),
        output in any::<prop::sample::Index>(),
        product in prop::sample::select(vec![-4.0, -2.0, -1.0, 1.0, 2.0, 4.0]),
        note in prop::sample::select(vec![-1, 0, 4, 9]),
    ) {
        let case = case(LINES[line]);
        let outputs = case.problem.geometry().elements(case.problem.operation.output());
        let missing = output.index(usize::try_from(outputs).unwrap());
        let drop = |recipe: &Recipe, index, exact| {
            if index == missing && recipe.fill.kind == FillKind::Int2 { exact - product } else { exact }
        };
        let found = seen(&case, &[note], drop);
        prop_assert!(matches!(found, Some((Kind::Wrong, _, Tier::B))), "{case}: {found:?}");
    }
}

/// Reductions of 18 to 578 products, whose results each output type holds to the unit.
const LINES: [&str; 5] = [
    "fprop f16 nchw n1 c32 k2 i4x4 f3x3 p1x1 engine=7",
    "fprop bf16 nchw n1 c2 k2 i4x4 f3x3 p1x1 engine=7",
    "dgrad f32 nhwc n1 c2 k64 i6x5 f3x3 s2x2 engine=7",
    "wgrad f32 nchw n2 c2 k2 i17x17 f2x2 p1x1 engine=7",
    "wgrad f64 nhwc n2 c4 k2 g2 i9x9 f3x3 engine=7",
];

#[test]
fn infinities_beyond_f16_are_informative_where_operands_are_declared_narrower_and_wrong_elsewhere() {
    let large = case("fprop f32 nchw n1 c2 k2 i4x4 f3x3 p1x1 engine=7 alpha=65536 fill=int2:1");
    let overflow = |_: &Recipe, _, exact: f64| if exact.abs() > 65504.0 { f64::INFINITY } else { exact };
    let (kind, _, tier) = seen(&large, &[1], overflow).expect("it is seen");
    assert_eq!((kind, tier), (Kind::Wrong, Tier::C));
    assert_eq!(seen(&large, &[], overflow), wrong("finite"));
    let mixed = |recipe: &Recipe, index, exact| if index == 3 { 1.0 } else { overflow(recipe, index, exact) };
    assert_eq!(seen(&large, &[1], mixed), wrong("finite"), "one is wrong and not infinite");
    let small = case("fprop f32 nchw n1 c2 k2 i4x4 f3x3 p1x1 engine=7 fill=int2:1");
    let infinite = |_: &Recipe, index, exact| if index == 0 { f64::INFINITY } else { exact };
    assert_eq!(seen(&small, &[1], infinite), wrong("finite"), "f16 holds the result");
}
