//! Partial results kept in 16 bits against the room that bounds have for them: such arithmetic stays inside, faults do
//! not, and how much can hide is told in numbers.

use case::{Case, DType, Fill, FillKind, Notes, ReferenceFacts};
use proptest::prelude::*;

use super::{facts_over, products_of, shuffle};
use crate::bounds::{Bounds, bounds};
use crate::certificate::certificate;
use crate::numeric::output_dtype;
use crate::reference::{Expected, expected_at, for_each_product};
use crate::sample::sample_positions;
use crate::view::dtype_code;

/// A plain tensor-core engine: no room for a transform.
fn tensor_core() -> Notes {
    Notes { numerical: vec![0], behavior: Vec::new() }
}

/// How an engine keeps what it has summed so far.
#[derive(Clone, Copy, Debug)]
enum Keeping {
    /// Each slice rounded to 16 bits, the slices added in f32.
    Slices,
    /// One sum in 16 bits, read and written again after each slice.
    RunningSum,
}

impl Keeping {
    /// The sum of so many slices, not yet rounded for the last time.
    fn sum(self, products: &[f64], slices: usize, code: u32) -> f64 {
        let slice = products.len().div_ceil(slices).max(1);
        let parts = products.chunks(slice).map(|part| part.iter().sum::<f64>());
        match self {
            Self::Slices => parts.map(|part| kernel::round_to(code, part)).sum(),
            Self::RunningSum => parts.fold(0.0, |sum, part| kernel::round_to(code, sum + part)),
        }
    }
}

fn code_of(case: &Case) -> u32 {
    dtype_code(output_dtype(case))
}

fn single(case: &Case, fill: Fill, position: u64) -> Vec<f64> {
    products_of(case, fill, position).iter().map(|(left, right)| left * right).collect()
}

fn element(bounds: &Bounds, expected: &Expected) -> f64 {
    bounds.accumulate * expected.abs_sum + bounds.output * expected.result.abs() + bounds.absolute
}

/// Largest share of its bound that the error of a sampled output reaches: the element's own where a certificate holds,
/// else the common one.
fn reached(case: &Case, fill: Fill, got: impl Fn(u64, &Expected) -> f64) -> f64 {
    let positions = sample_positions(case, 24);
    let facts = facts_over(case, fill, &positions);
    let limits = bounds(case, &tensor_core(), &facts, fill);
    let certified = certificate(case, &tensor_core(), &facts, fill).is_exact();
    let share = |position: &u64| {
        let expected = expected_at(case, fill, *position);
        let error = (kernel::round_to(code_of(case), got(*position, &expected)) - expected.result).abs();
        error / if certified { element(&limits, &expected) } else { limits.norm }
    };
    positions.iter().map(share).fold(0.0, f64::max)
}

fn shape() -> impl Strategy<Value = String> {
    (
        prop::sample::select(vec!["fprop", "dgrad", "wgrad"]),
        prop::sample::select(vec!["f16", "bf16"]),
        (1..9_u32, 1..200_u32, 1..200_u32),
        (3..12_u32, 1..4_u32, 0..3_u32, 1..3_u32),
        prop::sample::select(vec!["", "alpha=2", "alpha=0.5", "alpha=0.3"]),
    )
        .prop_map(|(pass, types, (n, c, k), (input, filter, pad, step), scale)| {
            format!(
                "{pass} {types} nchw n{n} c{c} k{k} i{input}x{input} f{filter}x{filter} p{pad}x{pad} \
                 s{step}x{step} {scale}"
            )
        })
}

fn keeping() -> impl Strategy<Value = Keeping> {
    prop::sample::select(vec![Keeping::Slices, Keeping::RunningSum])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn partial_results_kept_in_sixteen_bits_stay_inside(
        line in shape(),
        keeping in keeping(),
        slices in 2..65_usize,
        kind in prop::sample::select(vec![
            FillKind::Int2, FillKind::Int1, FillKind::Tern, FillKind::Sparse, FillKind::Ramp, FillKind::Real
        ]),
        seed in any::<u64>(),
    ) {
        let case: Case = line.parse().unwrap();
        let fill = Fill { kind, seed };
        let share = reached(&case, fill, |position, _| {
            let mut products = single(&case, fill, position);
            shuffle(&mut products, seed ^ position);
            case.options.alpha.value() * keeping.sum(&products, slices, code_of(&case))
        });
        prop_assert!(share <= 1.0, "{case} {keeping:?} in {slices}, {kind:?}:{seed} reaches {share}");
    }

    #[test]
    fn a_missing_product_cannot_hide_where_the_output_type_holds_every_sum(
        types in prop::sample::select(vec![("f16", 512_u32), ("bf16", 64)]),
        products in any::<prop::sample::Index>(),
        missing in any::<prop::sample::Index>(),
        scale in prop::sample::select(vec!["", "alpha=-2", "alpha=0.5"]),
        seed in any::<u64>(),
    ) {
        let (types, most) = types;
        let count = products.index(most as usize) + 1;
        let case: Case = format!("fprop {types} nchw n1 c{count} k3 i2x2 f1x1 {scale}").parse().unwrap();
        let fill = Fill { kind: FillKind::Int2, seed };
        let short = |position, expected: &Expected| {
            expected.result - case.options.alpha.value() * single(&case, fill, position)[missing.index(count)]
        };
        // Each output alone: a bound that some other output is outside of proves nothing about this one.
        let facts = facts_over(&case, fill, &sample_positions(&case, 24));
        let limits = bounds(&case, &Notes::default(), &facts, fill);
        for position in sample_positions(&case, 24) {
            let expected = expected_at(&case, fill, position);
            let got = kernel::round_to(code_of(&case), short(position, &expected));
            prop_assert!((got - expected.result).abs() > element(&limits, &expected), "{case} at {position}");
        }
    }
}

#[test]
fn nine_taps_of_one_sign_kept_in_sixteen_bits_stay_inside() {
    for types in ["f16", "bf16"] {
        for channels in [30, 150, 700, 1500] {
            let line = format!("fprop {types} nchw n1 c{channels} k2 i5x5 f3x3");
            let case: Case = line.parse().unwrap();
            for kind in [FillKind::One, FillKind::Index] {
                // Sums of indices leave f16.
                if types == "f16" && kind == FillKind::Index {
                    continue;
                }
                let fill = Fill { kind, seed: 5 };
                let share = reached(&case, fill, |position, _| {
                    Keeping::RunningSum.sum(&single(&case, fill, position), 9, code_of(&case))
                });
                assert!(share <= 1.0, "{case} {kind:?} reaches {share}");
            }
        }
    }
}

/// True where some output of a sum of so many products may lack one of that size unnoticed.
fn hides(dtype: DType, products: u32, missing: f64) -> bool {
    let line = format!("fprop {} nchw n1 c{products} k8 i2x2 f1x1", dtype.name());
    let case: Case = line.parse().unwrap();
    (1..4).any(|seed| {
        let fill = Fill { kind: FillKind::Int2, seed };
        let positions: Vec<u64> = (0..32).collect();
        let facts = facts_over(&case, fill, &positions);
        let limits = bounds(&case, &tensor_core(), &facts, fill);
        positions.iter().any(|position| {
            let expected = expected_at(&case, fill, *position);
            [missing, -missing].into_iter().any(|product| {
                let got = kernel::round_to(code_of(&case), expected.result - product);
                (got - expected.result).abs() <= element(&limits, &expected)
            })
        })
    })
}

#[test]
fn how_many_products_it_takes_to_hide_one_is_as_the_documentation_says() {
    for (dtype, missing, shown, hidden) in [
        (DType::Bf16, 1.0, 100, 120),
        (DType::Bf16, 4.0, 140, 200),
        (DType::F16, 1.0, 860, 1000),
        (DType::F16, 4.0, 9000, 12_000),
    ] {
        assert!(!hides(dtype, shown, missing), "{dtype:?} hides {missing} in {shown}");
        assert!(hides(dtype, hidden, missing), "{dtype:?} shows {missing} in {hidden}");
    }
}

/// Largest share of its bound that an output of a 3x3 convolution reaches under each fault.
fn faults(dtype: DType, channels: u32) -> [(&'static str, f64); 4] {
    let line = format!("fprop {} nchw n1 c{channels} k2 i6x6 f3x3 p1x1", dtype.name());
    let case: Case = line.parse().unwrap();
    let doubled: Case = format!("{case} alpha=2").parse().unwrap();
    let fill = Fill { kind: FillKind::Int2, seed: 1 };
    let lacking_a_tap = |position, _: &Expected| {
        let mut seen = 0;
        let mut sum = 0.0;
        for_each_product(&case, fill, position, |left, right| {
            // Taps follow each other within a channel, the last of nine is left out.
            seen += 1;
            sum += if seen % 9 == 0 { 0.0 } else { left * right };
        });
        sum
    };
    [
        ("a missing tap", reached(&case, fill, lacking_a_tap)),
        (
            "an output shifted by one",
            reached(&case, fill, |position, _| expected_at(&case, fill, (position + 1) % 72).result),
        ),
        ("alpha ignored", reached(&doubled, fill, |_, expected| expected.result / 2.0)),
        ("zero", reached(&case, fill, |_, _| 0.0)),
    ]
}

#[test]
fn whole_faults_show_at_every_size() {
    for dtype in [DType::F16, DType::Bf16] {
        for channels in [1, 4, 16, 64, 256, 1024, 4096] {
            for (fault, share) in faults(dtype, channels) {
                assert!(share > 5.0, "{fault} in {dtype:?} over {channels} channels reaches {share}");
            }
        }
    }
}

#[test]
fn the_room_is_for_outputs_of_sixteen_bits_on_engines_that_declare_no_reduction() {
    let of = |types: &str, numerical: &[i32], products: u64, abs_sum: f64, kind| {
        let case: Case = format!("fprop {types} nchw n1 c2 k2 i4 f3").parse().unwrap();
        let facts = ReferenceFacts {
            products_max: products,
            abs_sum_max: abs_sum,
            abs_result_max: 90.0,
            ..ReferenceFacts::default()
        };
        let notes = Notes { numerical: numerical.to_vec(), behavior: Vec::new() };
        bounds(&case, &notes, &facts, Fill { kind, seed: 1 })
    };
    let unit = f64::powi(2.0, -8);
    assert_eq!(of("bf16", &[], 64, 257.0, FillKind::Int2).partials, 3.0 * unit);
    assert_eq!(of("bf16", &[], 6400, 9e4, FillKind::Int2).partials, 27.0 / 80.0 * unit);
    assert_eq!(of("bf16", &[], 6400, 9e4, FillKind::One).partials, 4.0 * unit);
    assert_eq!(of("f16", &[], 2, 1.3, FillKind::Real).partials, f64::powi(2.0, -11));
    assert_eq!(of("f16", &[], 1, 0.9, FillKind::Real).partials, 0.0);
    // Every partial sum is an integer that the type holds: nothing is rounded, not even the output.
    let exact = of("bf16", &[], 64, 256.0, FillKind::Int2);
    assert_eq!((exact.partials, exact.output), (0.0, 0.0));
    assert!(exact.norm < 0.01, "{exact:?}");
    assert_eq!(of("f32", &[], 64, 9e4, FillKind::Int2).partials, 0.0);
    assert_eq!(of("bf16", &[2], 64, 9e4, FillKind::Int2).partials, 0.0);
    assert_eq!(of("f16/f16", &[], 64, 9e4, FillKind::Int2).partials, 0.0);
    assert_eq!(of("bf16", &[3], 64, 9e4, FillKind::Int2).partials, 0.0);
    assert_eq!(of("bf16", &[0, 5], 64, 9e4, FillKind::Int2).partials, 0.0);
    // Real data keep the plain bound element by element, and get the room in the common one.
    let (one, two) = (of("f16", &[0], 1, 1.3, FillKind::Real), of("f16", &[0], 2, 1.3, FillKind::Real));
    assert!(two.accumulate < 1e-3 * two.partials && two.norm > one.norm + 0.9 * two.partials * 1.3);
}
