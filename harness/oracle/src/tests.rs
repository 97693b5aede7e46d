//! Simulated arithmetic against the bounds: sums in random order, chopped as tensor cores chop, stay inside;
//! a missing product does not. Needs the products themselves, hence the inside of the crate.

use case::{Case, DType, Fill, FillKind, Notes, ReferenceFacts};
use proptest::prelude::*;

use crate::bounds::{Bounds, bounds};
use crate::certificate::certificate;
use crate::numeric::{output_dtype, tiny};
use crate::reference::{expected_at, for_each_product, prior_at};
use crate::sample::sample_positions;
use crate::view::{dtype_code, scale};

mod others;
mod partials;

/// Rounds towards zero to so many significand bits.
fn chop(value: f64, bits: u32) -> f64 {
    f64::from_bits(value.to_bits() & (u64::MAX << (53 - bits)))
}

/// How an engine computes.
#[derive(Clone, Copy, Debug)]
enum Arithmetic {
    /// f32 sums, chopped at each step, four products at a time.
    ChoppedF32,
    /// The same on operands chopped to TF32.
    ChoppedTf32,
    /// Every step rounded to f16.
    HalfSums,
    /// Plain f64.
    Double,
}

impl Arithmetic {
    fn sum(self, products: &[(f64, f64)]) -> f64 {
        let step = |sum: f64, part: f64| match self {
            Self::ChoppedF32 | Self::ChoppedTf32 => chop(sum + part, 24),
            Self::HalfSums => kernel::round_to(kernel::F16, sum + part),
            Self::Double => sum + part,
        };
        let product = |&(left, right): &(f64, f64)| match self {
            Self::ChoppedF32 => chop(left * right, 24),
            Self::ChoppedTf32 => chop(left, 11) * chop(right, 11),
            Self::HalfSums => kernel::round_to(kernel::F16, left * right),
            Self::Double => left * right,
        };
        products.chunks(4).fold(0.0, |sum, four| match self {
            Self::ChoppedF32 | Self::ChoppedTf32 => step(sum, four.iter().map(product).sum()),
            Self::HalfSums | Self::Double => four.iter().map(product).fold(sum, step),
        })
    }
}

fn shuffle<T>(items: &mut [T], seed: u64) {
    for index in (1..items.len()).rev() {
        let other = kernel::mix(seed ^ index as u64) % (index as u64 + 1);
        items.swap(index, usize::try_from(other).unwrap());
    }
}

fn products_of(case: &Case, fill: Fill, position: u64) -> Vec<(f64, f64)> {
    let mut products = Vec::new();
    for_each_product(case, fill, position, |left, right| products.push((left, right)));
    products
}

/// Facts over sampled outputs: at most what the whole output would give, so bounds can only be tighter.
fn facts_over(case: &Case, fill: Fill, positions: &[u64]) -> ReferenceFacts {
    let mut facts = ReferenceFacts::default();
    for position in positions {
        let expected = expected_at(case, fill, *position);
        facts.products_max = facts.products_max.max(expected.products);
        facts.abs_sum_max = facts.abs_sum_max.max(expected.abs_sum);
        facts.abs_result_max = facts.abs_result_max.max(expected.result.abs());
    }
    facts
}

/// Largest error over its bound among sampled outputs. Room for transforms is taken away first.
fn worst_ratio(case: &Case, fill: Fill, arithmetic: Arithmetic, seed: u64) -> f64 {
    let positions = sample_positions(case, 24);
    let facts = facts_over(case, fill, &positions);
    let Bounds { accumulate, output, .. } = bounds(case, &Notes::default(), &facts, fill);
    let dtype = output_dtype(case);
    let (alpha, beta) = (scale(case), case.options.beta.value());
    let ratio = |position: &u64| {
        let expected = expected_at(case, fill, *position);
        let mut products = products_of(case, fill, *position);
        shuffle(&mut products, seed ^ position);
        let prior = if beta == 0.0 { 0.0 } else { beta * prior_at(case, fill, *position) };
        let got = kernel::round_to(dtype_code(dtype), alpha * arithmetic.sum(&products) + prior);
        let bound = accumulate * expected.abs_sum + output * expected.result.abs() + tiny(dtype);
        (got - expected.result).abs() / bound
    };
    positions.iter().map(ratio).fold(0.0, f64::max)
}

/// A small case of what sums products: a pass, a mean or matrices, types with the arithmetic that fits them, and sizes.
fn drawn() -> impl Strategy<Value = (Case, Arithmetic)> {
    use Arithmetic::{ChoppedF32, ChoppedTf32, Double, HalfSums};
    let kinds = vec![
        ("f32", "tf32=off", ChoppedF32),
        ("f32", "", ChoppedTf32),
        ("f16", "", ChoppedF32),
        ("bf16", "", ChoppedF32),
        ("f16/f16", "", HalfSums),
        ("f64", "", Double),
    ];
    (
        prop::sample::select(vec!["fprop", "dgrad", "wgrad", "avgpool", "matmul"]),
        prop::sample::select(kinds),
        (1..3_u32, 1..80_u32, 1..80_u32),
        (3..9_u32, 1..4_u32, 0..3_u32, 1..3_u32),
        prop::sample::select(vec!["", "alpha=2", "alpha=0.5 beta=-2"]),
    )
        .prop_map(|(pass, (types, option, arithmetic), (n, c, k), (input, filter, pad, step), scale)| {
            let inside = pad.min(filter - 1);
            let line = match pass {
                "matmul" => format!("matmul {types} b{step} m{n} n{k} k{c} {option}"),
                "avgpool" => format!(
                    "avgpool {types} nchw n{n} c{c} i{input}x{input} f{filter}x{filter} p{inside}x{inside} \
                     s{step}x{step} {option}"
                ),
                _ => format!(
                    "{pass} {types} nchw n{n} c{c} k{k} i{input}x{input} f{filter}x{filter} p{pad}x{pad} \
                     s{step}x{step} {option} {scale}"
                ),
            };
            // Nothing is multiplied where tensor cores could narrow it.
            let tf32 = matches!(arithmetic, ChoppedTf32) && pass == "avgpool";
            (line.parse().unwrap(), if tf32 { ChoppedF32 } else { arithmetic })
        })
}

fn zero_mean() -> impl Strategy<Value = FillKind> {
    prop::sample::select(vec![FillKind::Real, FillKind::Int2, FillKind::Tern, FillKind::Sparse])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn right_arithmetic_in_any_order_stays_inside_its_bounds(
        (case, arithmetic) in drawn(),
        kind in zero_mean(),
        seed in any::<u64>(),
    ) {
        let ratio = worst_ratio(&case, Fill { kind, seed }, arithmetic, seed);
        prop_assert!(ratio <= 1.0, "{case} {arithmetic:?} {kind:?}:{seed} reaches {ratio} of its bound");
    }

    #[test]
    fn a_certificate_means_that_any_order_gives_the_one_right_value(
        (case, arithmetic) in drawn(),
        seed in any::<u64>(),
        drop in any::<prop::sample::Index>(),
    ) {
        let fill = Fill { kind: FillKind::Int2, seed };
        let positions = sample_positions(&case, 24);
        let facts = facts_over(&case, fill, &positions);
        prop_assume!(certificate(&case, &Notes::default(), &facts, fill).is_exact());
        let code = dtype_code(output_dtype(&case));
        let alpha = scale(&case);
        for position in positions {
            let expected = expected_at(&case, fill, position);
            let prior = if case.options.beta.value() == 0.0 {
                0.0
            } else {
                case.options.beta.value() * prior_at(&case, fill, position)
            };
            let mut products = products_of(&case, fill, position);
            shuffle(&mut products, seed ^ position);
            let right = kernel::round_to(code, alpha * arithmetic.sum(&products) + prior);
            prop_assert_eq!(right, kernel::round_to(code, expected.result), "{} at {}", case, position);
            // Where the type holds both results to the unit, a missing product shows.
            if !products.is_empty() && expected.abs_sum / alpha.abs().min(1.0) <= 256.0 {
                products.remove(drop.index(products.len()));
                let short = kernel::round_to(code, alpha * arithmetic.sum(&products) + prior);
                prop_assert_ne!(short, right, "{} at {}", case, position);
            }
        }
    }
}

#[test]
fn chopped_sums_of_long_reductions_keep_a_twofold_margin() {
    let case: Case = "wgrad f32 nchw n4 c2 k2 i96x96 f1x1 tf32=off".parse().unwrap();
    for seed in 0..4 {
        let ratio = worst_ratio(&case, Fill { kind: FillKind::Real, seed }, Arithmetic::ChoppedF32, seed);
        assert!(ratio <= 0.5, "seed {seed} reaches {ratio} of its bound");
    }
}

#[test]
fn data_of_one_sign_need_the_worst_case_factor_and_get_it() {
    let case: Case = "wgrad f32 nchw n4 c2 k2 i64x64 f1x1 tf32=off".parse().unwrap();
    let fill = Fill { kind: FillKind::One, seed: 0 };
    let facts = facts_over(&case, fill, &[0]);
    let square_root = (4.0 + (facts.products_max as f64).sqrt()) * f64::powi(2.0, -24);
    assert!(bounds(&case, &Notes::default(), &facts, fill).accumulate > 100.0 * square_root);
}

#[test]
fn data_that_are_mostly_zeros_on_purpose_get_the_worst_case_factor_as_well() {
    let line = "wgrad f32 nchw n4 c2 k2 i64x64 f1x1 tf32=off fill=real:3";
    let accumulate = |line: &str| {
        let case: Case = line.parse().unwrap();
        let fill = case.options.fill.unwrap();
        let facts = facts_over(&case, fill, &[0]);
        bounds(&case, &Notes::default(), &facts, fill).accumulate
    };
    let (all, few) = (accumulate(line), accumulate(&format!("{line} keep=x:0-9")));
    assert!(few > 100.0 * all, "{few} {all}");
}

#[test]
fn every_integer_fill_survives_bf16() {
    let case: Case = "fprop bf16 nchw n2 c3 k5 i9x9x3 f3x3x1".parse().unwrap();
    for kind in FillKind::ALL.into_iter().filter(|kind| kind.is_integer()) {
        for role in case::Role::ALL {
            let mut fill = crate::fill_params(&case, role, Fill { kind, seed: 3 });
            let rounded =
                |fill: &kernel::FillParams, at: i64| kernel::value(fill, [at % 2, at % 3, at, at, 0]);
            let narrow: Vec<f64> = (0..9).map(|at| rounded(&fill, at)).collect();
            fill.view.dtype = dtype_code(DType::F64);
            let exact: Vec<f64> = (0..9).map(|at| rounded(&fill, at)).collect();
            assert_eq!(narrow, exact, "{kind:?} {role:?}");
            assert!(exact.iter().all(|value| value.fract() == 0.0 && value.abs() <= 128.0));
        }
    }
}
