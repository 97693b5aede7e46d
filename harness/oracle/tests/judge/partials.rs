//! Partial results kept in 16 bits: what an H200 showed, judged again from its recorded numbers, and the faults that
//! must not pass for it.

use std::collections::BTreeMap;

use case::{Case, Fault, FillKind, Kind, Notes, Recipe, Tier, Verdict};
use oracle::{coordinates, expected_at, judge};
use proptest::prelude::*;

use crate::scene::{case, fault, notes, run};

/// Judges a run whose outputs are right but for those recorded, given by coordinates; each recorded right value is the
/// reference's.
fn recorded(line: &str, notes: &Notes, wrong: &[(&[i64], f64, f64)]) -> Fault {
    let case = case(line);
    let (dtype, fill) = (oracle::dtype_code(case.problem.dtypes.x), case.options.fill.unwrap());
    let outputs = case.problem.geometry().elements(case.problem.operation.output()).unsigned_abs();
    let mut got = BTreeMap::new();
    for (at, value, expected) in wrong {
        let position = (0..outputs).find(|position| coordinates(&case, *position) == *at).unwrap();
        assert_eq!(kernel::round_to(dtype, expected_at(&case, fill, position).result), *expected, "{at:?}");
        got.insert(usize::try_from(position).unwrap(), *value);
    }
    let produce = |_: &Recipe, index, exact: f64| got.get(&index).copied().unwrap_or(exact);
    fault(judge(&case, &run(&case, notes, produce)))
}

const E2: &str = "dgrad f16 nchw n1 c1 k1 i3x40 f2x1 engine=2 wsfill=00 fill=real:3 out=nan";
const E47: &str = "wgrad bf16 nchw n5 c2 k32 i189 f1 engine=47 knobs=0:38 wsfill=00 fill=int2:1 out=nan";

#[test]
fn what_an_h200_keeps_in_sixteen_bits_is_informative() {
    let e2: [(&[i64], f64, f64); 6] = [
        (&[0, 0, 1, 27], -0.043_060_302_734_375, -0.043_182_373_046_875),
        (&[0, 0, 1, 33], -0.328_857_421_875, -0.328_613_281_25),
        (&[0, 0, 1, 34], 0.310_302_734_375, 0.310_058_593_75),
        (&[0, 0, 1, 36], -0.069_885_253_906_25, -0.069_702_148_437_5),
        (&[0, 0, 1, 37], -1.194_335_937_5, -1.195_312_5),
        (&[0, 0, 1, 39], 0.007_995_605_468_75, 0.008_094_787_597_656_25),
    ];
    let found = recorded(E2, &notes(&[]), &e2);
    assert_eq!((found.sameness.kind, found.tier), (Kind::Inexact, Tier::C));
    assert!(
        found.summary.starts_with("4 of 120 outputs inexact, first at (n0 c0 h1 w27)"),
        "{}",
        found.summary
    );
    assert!(found.summary.contains("; explained by partial results kept in f16; "), "{}", found.summary);
    // The error and its share of the plain bound are those that were recorded.
    assert!(found.summary.contains("largest error 5.3453e-4, 5.205e0 times"), "{}", found.summary);

    let found = recorded(E47, &notes(&[0]), &[(&[31, 1, 0], -302.0, -304.0)]);
    assert_eq!((found.sameness.kind, found.sameness.cause.as_str()), (Kind::Inexact, "undeclared"));
    assert_eq!(found.tier, Tier::C);
    assert!(found.summary.contains("; explained by partial results kept in bf16; "), "{}", found.summary);
    assert!(found.summary.contains("largest error 3.0000e0"), "{}", found.summary);
}

#[test]
fn so_are_the_first_outputs_recorded_of_four_older_findings() {
    let rows: [(&str, &[i64], f64, f64); 4] = [
        (
            "dgrad f16 nchw n1 c7 k12 i3x35 f2x1 engine=2 wsfill=00 fill=real:3 out=nan",
            &[0, 1, 1, 34],
            0.001_899_719_238_281_25,
            0.002_077_102_661_132_812_5,
        ),
        (
            "dgrad bf16 nhwc n1 c3 k364 i17 f1 engine=63 knobs=25:1 wsfill=00 fill=ramp:1 out=nan",
            &[0, 0, 6],
            23.0,
            22.0,
        ),
        (
            "wgrad bf16 nchw n2 c1 k27 i17 f1 engine=47 knobs=0:4 wsfill=00 fill=ramp:1 out=nan",
            &[3, 0, 0],
            -292.0,
            -294.0,
        ),
        (
            "wgrad f16 nhwc n7 c3 k6 i72 f1 engine=62 knobs=25:1 wsfill=00 fill=real:3 out=nan",
            &[0, 0, 0],
            3.34375,
            3.339_843_75,
        ),
    ];
    for (line, at, got, expected) in rows {
        let declared: &[i32] = if line.starts_with("dgrad f16") { &[] } else { &[0] };
        let found = recorded(line, &notes(declared), &[(at, got, expected)]);
        assert_eq!((found.sameness.kind, found.tier), (Kind::Inexact, Tier::C), "{line}: {}", found.summary);
        assert!(found.summary.contains("explained by partial results"), "{}", found.summary);
    }
}

/// The faults of the same hunts in 16 bits that are none of this.
#[test]
fn an_ignored_alpha_and_lost_outputs_of_an_h200_stay_wrong() {
    let line =
        "fprop bf16 nchw n1 c512 k136 i1x1x1 f1x1x1 s1x2x1 engine=72 wsfill=ff fill=int2:1 out=nan alpha=0.5";
    let found = recorded(line, &notes(&[]), &[(&[0, 0, 0, 0, 0], -89.0, -44.5)]);
    assert_eq!((found.sameness.kind, found.tier), (Kind::Wrong, Tier::B), "{}", found.summary);

    let line = "wgrad f16 nhwc n8 c2 k14 i4095x2 f3x1 p1x0 s1x2 engine=69 wsfill=ff fill=int2:1 out=nan";
    let found = recorded(line, &notes(&[]), &[(&[0, 0, 2, 0], 0.0, -820.0)]);
    assert_eq!((found.sameness.cause.as_str(), found.tier), ("zero", Tier::B), "{}", found.summary);
}

#[test]
fn beyond_the_room_for_partial_results_it_is_wrong() {
    let e47 = recorded(E47, &notes(&[0]), &[(&[31, 1, 0], -336.0, -304.0)]);
    assert_eq!((e47.sameness.kind, e47.tier), (Kind::Wrong, Tier::B), "{}", e47.summary);
    let e2 = recorded(E2, &notes(&[]), &[(&[0, 0, 1, 27], -0.048, -0.043_182_373_046_875)]);
    assert_eq!((e2.sameness.kind, e2.tier), (Kind::Wrong, Tier::B), "{}", e2.summary);
}

#[test]
fn one_unit_counts_where_sixteen_bits_hold_every_sum() {
    // At most 256 products of +-1, so that bf16 rounds nothing; its next values above 128 are 1 apart.
    let case = case("fprop bf16 nchw n1 c256 k2 i4x4 f1x1 engine=7 fill=one:1");
    let off = |_: &Recipe, index, exact: f64| if index == 5 { exact - 1.0 } else { exact };
    let found = fault(judge(&case, &run(&case, &notes(&[]), off)));
    assert_eq!((found.sameness.kind, found.tier), (Kind::Wrong, Tier::B), "{}", found.summary);
}

/// What a broken engine writes, from the right values at an output and at the next one.
type Broken = fn(f64, f64) -> f64;

/// Kinds of output that no rounding explains, each in every output.
const FAULTS: [(&str, Broken); 5] = [
    ("shifted by one output", |_, next| next),
    ("alpha ignored", |right, _| right / 2.0),
    ("alpha applied twice", |right, _| right * 2.0),
    ("zero", |_, _| 0.0),
    ("NaN", |_, _| f64::NAN),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn faults_on_integers_are_wrong_however_long_the_sums(
        types in prop::sample::select(vec!["f16", "bf16"]),
        shape in prop::sample::select(vec![
            "fprop TYPES nchw n1 c300 k2 i4x4 f3x3 p1x1 engine=7 alpha=2",
            "dgrad TYPES nhwc n1 c2 k700 i5x4 f2x2 engine=7 alpha=2",
            "wgrad TYPES nchw n2 c2 k2 i37x37 f2x2 engine=7 alpha=2",
        ]),
        chosen in 0..FAULTS.len(),
        seed in 0..1000_u64,
    ) {
        let case: Case = format!("{} fill=int2:{seed}", shape.replace("TYPES", types)).parse().unwrap();
        let (name, broken) = FAULTS[chosen];
        let outputs = case.problem.geometry().elements(case.problem.operation.output()).unsigned_abs();
        let right: Vec<f64> = (0..outputs)
            .map(|position| expected_at(&case, case.options.fill.unwrap(), position).result)
            .collect();
        let produce = |recipe: &Recipe, index: usize, exact: f64| {
            assert_eq!(recipe.fill.kind, FillKind::Int2);
            broken(exact, right[(index + 1) % right.len()])
        };
        let verdict = judge(&case, &run(&case, &notes(&[]), produce));
        let Verdict::Fault(found) = verdict else { panic!("{name}: {verdict:?}") };
        prop_assert_eq!((found.sameness.kind, found.tier), (Kind::Wrong, Tier::B), "{}: {}", name, found.summary);
    }
}
