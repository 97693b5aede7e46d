//! Golden vectors of onnx's reference evaluator against both references: the CPU's by definition, and the
//! twin of the device kernel. Knows the files that the scripts in `golden` write.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its own case has failed")]

use case::{Case, Fill, Operation, Role};
use oracle::{expected_at, fill_params, reference_params, sample_positions, spot_tolerance};

#[derive(serde::Deserialize)]
struct Golden {
    case: String,
    result: Vec<f64>,
    abs_sum: Vec<f64>,
    products: Vec<u64>,
}

fn check(mut against: impl FnMut(&Case, Fill, &Golden)) {
    let read = |text: &str| serde_json::from_str::<Vec<Golden>>(text).unwrap();
    let convolutions = read(include_str!("golden/convolutions.json"));
    let others = read(include_str!("golden/operations.json"));
    assert!(convolutions.len() >= 24 && others.len() >= 18);
    for golden in convolutions.iter().chain(&others) {
        let case: Case = golden.case.parse().unwrap();
        assert_eq!(case.to_string(), golden.case, "golden lines are canonical");
        against(&case, case.options.fill.unwrap(), golden);
    }
}

/// True where integers give the very number: nothing is divided and no root is taken.
fn is_exact(case: &Case, fill: Fill) -> bool {
    let rounds = matches!(case.problem.operation, Operation::AvgPool | Operation::RmsNorm);
    fill.kind.is_integer() && !rounds
}

fn close(got: f64, golden: f64, abs_sum: f64, products: u64) -> bool {
    (got - golden).abs() <= 4.0 * (products as f64 + 4.0) * f64::EPSILON * abs_sum
}

#[test]
fn the_cpu_reference_equals_an_independent_evaluator() {
    check(|case, fill, golden| {
        for (index, ((result, abs_sum), products)) in
            golden.result.iter().zip(&golden.abs_sum).zip(&golden.products).enumerate()
        {
            let expected = expected_at(case, fill, index as u64);
            assert_eq!(expected.products, *products, "{} at {index}", golden.case);
            assert!(close(expected.result, *result, *abs_sum, *products), "{} at {index}", golden.case);
            assert!(close(expected.abs_sum, *abs_sum, *abs_sum, *products), "{} at {index}", golden.case);
            if is_exact(case, fill) {
                assert_eq!(expected.result, *result, "{} at {index}", golden.case);
                assert_eq!(expected.abs_sum, *abs_sum, "{} at {index}", golden.case);
            }
        }
    });
}

#[test]
fn the_twin_of_the_device_reference_equals_an_independent_evaluator() {
    check(|case, fill, golden| {
        let [x, w, y] = Role::ALL.map(|role| {
            let mut bytes = vec![0; usize::try_from(case.problem.geometry().bytes(role)).unwrap()];
            if case.problem.operation.tensors().contains(&role) {
                kernel::twin::fill(&fill_params(case, role, fill), &mut bytes).unwrap();
            }
            bytes
        });
        let outcome = kernel::twin::reference(&reference_params(case, fill), &x, &w, &y).unwrap();
        assert_eq!(outcome.result.len(), golden.result.len(), "{}", golden.case);
        for (index, result) in golden.result.iter().enumerate() {
            let (abs_sum, products) = (golden.abs_sum[index], golden.products[index]);
            assert!(
                close(outcome.result[index], *result, abs_sum, products),
                "{} at {index}: {} is not {result}",
                golden.case,
                outcome.result[index]
            );
            assert!(close(outcome.abs_sum[index], abs_sum, abs_sum, products), "{} at {index}", golden.case);
        }
        assert_eq!(outcome.totals.products, golden.products.iter().copied().max().unwrap());
        let with_products = golden.products.iter().filter(|products| **products > 0).count();
        assert_eq!(outcome.totals.with_products, with_products as u64);
    });
}

#[test]
fn sampled_positions_agree_between_the_two_references_within_the_spot_tolerance() {
    check(|case, fill, golden| {
        let positions = sample_positions(case, 64);
        assert!(!positions.is_empty());
        for position in positions {
            let expected = expected_at(case, fill, position);
            let golden = golden.result[usize::try_from(position).unwrap()];
            assert!(oracle::agrees(&expected, golden), "{case} at {position}");
            let off = golden + 2.0 * spot_tolerance(&expected) + f64::MIN_POSITIVE;
            assert!(!oracle::agrees(&expected, off), "{case} at {position}");
        }
    });
}
