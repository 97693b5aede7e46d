//! Normalization and pooling in simulated arithmetic against their bounds; matrices and means are drawn with the
//! convolutions.

use case::{Case, DType, Fill, FillKind, Notes, Operation};
use proptest::prelude::*;

use super::{chop, facts_over, products_of, shuffle};
use crate::bounds::{Bounds, bounds};
use crate::certificate::certificate;
use crate::numeric::{output_dtype, tiny};
use crate::reference::expected_at;
use crate::sample::sample_positions;
use crate::view::dtype_code;

/// An element's place in its row, by row-major position.
fn normalized(case: &Case, fill: Fill, position: u64, lost: usize, seed: u64) -> f64 {
    let mut squares = products_of(case, fill, position);
    shuffle(&mut squares, seed);
    squares.truncate(squares.len() - lost);
    let (chopped, single) = (|value| chop(value, 24), case.problem.dtypes.compute != DType::F64);
    let round = |value: f64| if single { chopped(value) } else { value };
    let sum = squares.iter().fold(0.0, |sum, (left, right)| round(sum + round(left * right)));
    let mean = round(sum / case.problem.c as f64);
    // As a fast inverse root is: off by up to two units.
    let root = round(round(mean + Operation::EPSILON).sqrt().recip()) * (1.0 - f64::powi(2.0, -23));
    let params = [case::Role::X, case::Role::W].map(|role| crate::fill_params(case, role, fill));
    let at = crate::coordinates(case, position);
    let value = kernel::value(&params[0], [at[0], at[1], 0, 0, 0]);
    let weight = kernel::value(&params[1], [0, at[1], 0, 0, 0]);
    let root = if single { root } else { (mean + Operation::EPSILON).sqrt().recip() };
    kernel::round_to(dtype_code(output_dtype(case)), round(round(value * root) * weight))
}

/// Largest error over its bound, with so many squares of each row lost.
fn worst(case: &Case, fill: Fill, lost: usize, seed: u64) -> f64 {
    let positions = sample_positions(case, 24);
    let facts = facts_over(case, fill, &positions);
    let Bounds { accumulate, output, .. } = bounds(case, &Notes::default(), &facts, fill);
    let ratio = |position: &u64| {
        let expected = expected_at(case, fill, *position);
        let bound = accumulate * expected.abs_sum + output * expected.result.abs() + tiny(output_dtype(case));
        (normalized(case, fill, *position, lost, seed ^ position) - expected.result).abs() / bound
    };
    positions.iter().map(ratio).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn normalization_in_chopped_sums_stays_inside_its_bounds(
        types in prop::sample::select(vec!["f32", "f16", "bf16", "f64", "f16,f32,f16"]),
        (n, c) in (1..4_u32, 1..300_u32),
        kind in prop::sample::select(vec![FillKind::Real, FillKind::Int2, FillKind::Ramp]),
        seed in any::<u64>(),
    ) {
        let case: Case = format!("rmsnorm {types} nchw n{n} c{c}").parse().unwrap();
        let ratio = worst(&case, Fill { kind, seed }, 0, seed);
        prop_assert!(ratio <= 1.0, "{case} {kind:?}:{seed} reaches {ratio} of its bound");
    }
}

#[test]
fn a_square_that_is_missing_from_a_row_shows() {
    for line in ["rmsnorm f32 nchw n2 c7", "rmsnorm f32 nchw n2 c1000", "rmsnorm f64 nchw n1 c4096"] {
        let case: Case = line.parse().unwrap();
        for seed in 0..4 {
            let ratio = worst(&case, Fill { kind: FillKind::Int2, seed }, 1, seed);
            assert!(ratio > 1.0, "{line} int2:{seed} reaches {ratio} of its bound");
        }
    }
}

#[test]
fn the_largest_element_is_exact_whatever_the_data_and_a_mean_where_its_window_is_a_power_of_two() {
    let exact = |line: &str, kind| {
        let case: Case = line.parse().unwrap();
        let fill = Fill { kind, seed: 3 };
        let facts = facts_over(&case, fill, &sample_positions(&case, 24));
        certificate(&case, &Notes::default(), &facts, fill).is_exact()
    };
    for (line, real, integer) in [
        ("maxpool f32 nchw n1 c2 i7x7 f3x3 p1x1", true, true),
        ("maxpool f16,f16,f32 nhwc n1 c2 i7x7 f3x3", true, true),
        // What is compared in f16 may be rounded before.
        ("maxpool f32,f32,f16/f16 nchw n1 c2 i7 f3", false, true),
        ("avgpool f32 nchw n1 c2 i7x7 f2x4 p1x0", false, true),
        ("avgpool f32 nchw n1 c2 i7x7 f3x3", false, false),
        ("avgpool f32 nchw n1 c1 i40x40 f32x16", false, false),
        ("matmul f16 b2 m4 n4 k64", false, true),
        ("rmsnorm f32 nchw n2 c8", false, false),
    ] {
        assert_eq!(exact(line, FillKind::Real), real, "{line}");
        assert_eq!(exact(line, FillKind::Int2), integer, "{line}");
    }
}

#[test]
fn the_bound_of_a_largest_element_is_one_rounding_of_a_narrower_output() {
    let of = |line: &str, numerical: &[i32]| {
        let case: Case = line.parse().unwrap();
        let fill = Fill { kind: FillKind::Real, seed: 1 };
        let facts = facts_over(&case, fill, &sample_positions(&case, 8));
        let notes = Notes { numerical: numerical.to_vec(), behavior: Vec::new() };
        let Bounds { accumulate, output, absolute, .. } = bounds(&case, &notes, &facts, fill);
        (accumulate, output, absolute <= 1e-30)
    };
    assert_eq!(of("maxpool f32 nchw n1 c1 i5 f2", &[]), (0.0, 0.0, true));
    assert_eq!(of("maxpool f16,f16,f32 nchw n1 c1 i5 f2", &[]), (0.0, 0.0, true));
    let (accumulate, output, _) = of("maxpool f32,f32,f16 nchw n1 c1 i5 f2", &[]);
    // Two roundings, as every output of 16 bits is granted.
    assert_eq!((accumulate, output), (0.0, f64::powi(2.0, -10)));
}

#[test]
fn positions_have_the_letters_of_their_operation() {
    let shown = |line: &str, at| crate::print_position(&line.parse().unwrap(), at);
    assert_eq!(shown("maxpool f32 nchw n2 c3 i4x4 f2x2 s2x2", 23), "(n1 c2 h1 w1)");
    assert_eq!(shown("matmul f32 b2 m3 n4 k5", 23), "(b1 m2 n3)");
    assert_eq!(shown("rmsnorm f32 nchw n2 c5", 8), "(n1 c3)");
}
