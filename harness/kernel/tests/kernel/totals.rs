//! Totals on cases small enough to count by hand, and refusals. Knows the twins only.

use kernel::{
    CompareParams, CompareTotals, DiffParams, DiffTotals, ElementwiseParams, F16, F32, FillKind, FillParams,
    NONE, PATTERN_CONSTANT, PATTERN_HASH, ReferenceParams, Refusal, Step, VerifyTotals, Zone, ZoneTotals,
    encode, stream_word, twin,
};

use crate::packed;

fn halves(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|&value| (encode(F16, value) as u16).to_le_bytes()).collect()
}

fn compare(got: &[f64], result: &[f64], change: impl FnOnce(&mut CompareParams)) -> CompareTotals {
    let mut params = CompareParams {
        got: packed(F16, [1, 1, 1, 1, got.len() as i64]),
        accumulate: 0.125,
        output: 0.0,
        absolute: 0.0,
        norm_bound: 3.0,
        ..CompareParams::default()
    };
    change(&mut params);
    twin::compare(&params, &halves(got), result, &vec![8.0; got.len()]).expect("slices fit")
}

#[test]
fn equal_values_leave_only_a_count() {
    let values = [1.0, -2.0, 0.0, f64::NAN, f64::INFINITY];
    let totals = compare(&values, &[1.0, -2.0, -0.0, f64::NAN, 1e9], |_| {});
    assert_eq!(totals, CompareTotals { checked: 5, ..CompareTotals::START });
}

#[test]
fn each_departure_is_counted_with_its_place() {
    let got = [1.0, 2.5, f64::NAN, 0.0, f64::INFINITY, 7.0, 1.0];
    let result = [1.0, 2.0, 3.0, 4.0, 5.0, 5.0, f64::NAN];
    let totals = compare(&got, &result, |params| {
        params.poison = 0xdead_0000 | encode(F16, 7.0);
        params.poison_known = 1;
    });
    let expected = CompareTotals {
        checked: 7,
        differing: 6,
        first_differing: 1,
        last_differing: 6,
        nan: 1,
        first_nan: 2,
        stale: 1,
        first_stale: 5,
        zero: 1,
        infinite: 1,
        over_element: 5,
        first_over_element: 2,
        over_norm: 4,
        first_over_norm: 2,
        max_error_bits: 4.0f64.to_bits(),
        max_ratio_bits: 4.0f64.to_bits(),
        beyond_rounded: 4.0f64.to_bits(),
    };
    assert_eq!(totals, expected);
}

#[test]
fn an_element_may_round_and_still_equal_the_rounded_result() {
    let totals = compare(&[2048.0], &[2049.0], |params| params.accumulate = 0.0);
    assert_eq!((totals.differing, totals.over_element), (0, 1));
    assert_eq!(f64::from_bits(totals.max_error_bits), 1.0);
    assert_eq!(f64::from_bits(totals.max_ratio_bits), f64::INFINITY);
    assert_eq!(totals.beyond_rounded, 0);
}

#[test]
fn poison_is_no_staleness_where_it_is_the_right_answer_or_unknown() {
    let poison = |known| {
        move |params: &mut CompareParams| {
            params.poison = encode(F16, 1.0);
            params.poison_known = known;
        }
    };
    assert_eq!(compare(&[1.0], &[1.0], poison(1)).stale, 0);
    assert_eq!(compare(&[1.0], &[2.0], poison(1)).stale, 1);
    assert_eq!(compare(&[1.0], &[2.0], poison(0)).stale, 0);
}

#[test]
fn verify_counts_changed_bits_even_where_values_are_equal() {
    let view = packed(F32, [1, 1, 1, 1, 6]);
    let params = FillParams { view, kind: FillKind::Zero.into(), ..FillParams::default() };
    let mut bytes = vec![0; 24];
    bytes[11] = 0x80; // -0
    bytes[20] = 1;
    assert_eq!(twin::verify(&params, &bytes).unwrap(), VerifyTotals { differing: 2, first: 2 });
}

#[test]
fn zones_count_bytes_and_remember_the_outermost() {
    for pattern in [PATTERN_CONSTANT, PATTERN_HASH] {
        let zone = Zone { bytes: 29, pattern, argument: 0x1a5, ..Zone::default() };
        let mut bytes = [0x77; 32];
        twin::paint(&zone, &mut bytes).unwrap();
        assert_eq!(bytes[29..], [0x77; 3]);
        assert_eq!(twin::check(&zone, &bytes).unwrap(), ZoneTotals::START);
        let first = if pattern == PATTERN_HASH { stream_word(0x1a5, 0) as u8 } else { 0xa5 };
        assert_eq!(bytes[0], first);
        for offset in [28, 3, 9] {
            bytes[offset] ^= 0x10;
        }
        bytes[30] = 0;
        let expected = ZoneTotals { changed: 3, first: 3, last: 28 };
        assert_eq!(twin::check(&zone, &bytes).unwrap(), expected);
    }
}

#[test]
fn diff_counts_elements_not_bytes() {
    let params = DiffParams { bytes_per_element: 3, count: 4, ..DiffParams::default() };
    let a = [0; 12];
    let mut b = a;
    assert_eq!(twin::diff(&params, &a, &b).unwrap(), DiffTotals { differing: 0, first: NONE });
    b[4] = 1;
    b[5] = 1;
    b[11] = 1;
    assert_eq!(twin::diff(&params, &a, &b).unwrap(), DiffTotals { differing: 2, first: 1 });
}

#[test]
fn malformed_parameters_are_refused_and_nothing_panics() {
    let view = packed(F32, [1, 1, 1, 2, 3]);
    let params = FillParams { view, ..FillParams::default() };
    assert_eq!(twin::verify(&params, &[0; 23]), Err(Refusal::Short { needed: 24, actual: 23 }));
    let with = |change: fn(&mut FillParams)| {
        let mut params = params;
        change(&mut params);
        twin::fill(&params, &mut [0; 24])
    };
    assert_eq!(with(|fill| fill.kind = 11), Err(Refusal::Kind(11)));
    assert_eq!(with(|fill| fill.view.dtype = 3), Err(Refusal::Dtype(3)));
    assert_eq!(with(|fill| fill.view.stride[0] = -1), Err(Refusal::View));
    assert_eq!(with(|fill| fill.view.extent[0] = i64::MIN), Err(Refusal::View));
    assert_eq!(with(|fill| fill.view.extent = [i64::MAX; 5]), Err(Refusal::View));
    let zone = Zone { bytes: 1, pattern: 2, ..Zone::default() };
    assert_eq!(twin::paint(&zone, &mut [0]), Err(Refusal::Pattern(2)));
    let extreme =
        ReferenceParams { lanes: 1, groups: i64::MIN, pad_before: [i64::MIN; 3], ..Default::default() };
    assert_eq!(twin::reference(&extreme, &[], &[], &[]), Err(Refusal::Geometry));
    let lanes = ReferenceParams { lanes: 3, ..Default::default() };
    assert_eq!(twin::reference(&lanes, &[], &[], &[]), Err(Refusal::Lanes(3)));
}

#[test]
fn a_step_of_a_training_keeps_nan_and_moves_weights_against_their_gradient() {
    let step = |step: Step, a: &[f64], b: &[f64], change: fn(&mut ElementwiseParams)| {
        let count = a.len() as u64;
        let mut params = ElementwiseParams {
            op: step.into(),
            dtype: F16,
            count,
            factor: 0.5,
            ..ElementwiseParams::default()
        };
        change(&mut params);
        let mut out = halves(&vec![9.0; params.count as usize]);
        let mut master: Vec<u8> = (0..count).flat_map(|_| 1.0_f32.to_le_bytes()).collect();
        twin::elementwise(&params, [&halves(a), &halves(b)], &mut out, &mut master).expect("slices fit");
        out.chunks(2).map(|bits| kernel::decode(F16, bits)).collect::<Vec<f64>>()
    };
    let relu = step(Step::Relu, &[-1.0, 2.0, f64::NAN], &[], |_| ());
    assert!(relu[..2] == [0.0, 2.0] && relu[2].is_nan());
    assert_eq!(step(Step::ReluBack, &[-1.0, 0.0, 3.0], &[5.0, 6.0, 7.0], |_| ()), [0.0, 0.0, 7.0]);
    assert_eq!(step(Step::LossBack, &[3.0], &[1.0], |_| ()), [1.0]);
    assert_eq!(step(Step::Update, &[1.0, -1.0], &[], |_| ()), [0.5, 1.5]);
    let planes = |params: &mut ElementwiseParams| {
        (params.count, params.inner, params.channels) = (2, 2, 2);
    };
    assert_eq!(step(Step::Average, &[1.0, 3.0, 10.0, 20.0], &[], planes), [2.0, 15.0]);
    let last = |params: &mut ElementwiseParams| {
        (params.count, params.inner, params.channels, params.channels_last) = (2, 2, 2, 1);
    };
    assert_eq!(step(Step::Average, &[1.0, 3.0, 10.0, 20.0], &[], last), [5.5, 11.5]);
    let uneven =
        ElementwiseParams { op: Step::Average.into(), count: 3, channels: 2, ..ElementwiseParams::default() };
    assert_eq!(twin::elementwise(&uneven, [&[], &[]], &mut [], &mut []), Err(Refusal::View));
}
