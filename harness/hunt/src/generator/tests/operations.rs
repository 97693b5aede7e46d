//! Streams of other operations: valid, affordable, and awkward in the ways that convolutions are.

use case::{Case, Expect, Operation, Role};

use super::{DEVICE, Generator, Limits};
use crate::generator::Operations;

const OTHERS: [Operation; 4] =
    [Operation::MaxPool, Operation::AvgPool, Operation::MatMul, Operation::RmsNorm];

fn stream(limits: Limits, operations: &[Operation]) -> Generator {
    Generator::new(7, limits).over(Operations::of(operations).unwrap())
}

fn draws(limits: Limits, count: u64) -> Vec<Case> {
    let generator = stream(limits, &OTHERS);
    (0..count).map(|index| generator.problem(index)).collect()
}

#[test]
fn every_problem_is_valid_affordable_and_survives_its_text() {
    let tiny = Limits { bytes_max: 4096, elements_max: 500, multiply_adds_max: 1000 };
    for limits in [DEVICE, Limits::simulator(), tiny] {
        for (index, case) in draws(limits, 4000).into_iter().enumerate() {
            let geometry = case.problem.geometry();
            assert_eq!(case.problem.operation, OTHERS[index % 4], "{case}");
            assert_eq!(case.validate(), Ok(()), "{case}");
            assert!(geometry.total_bytes() <= limits.bytes_max, "{case}");
            assert!(geometry.multiply_adds() <= limits.multiply_adds_max, "{case}");
            let elements = Role::ALL.map(|role| geometry.elements(role));
            assert!(elements.into_iter().all(|elements| elements <= limits.elements_max), "{case}");
            assert_eq!(case.to_string().parse::<Case>().as_ref(), Ok(&case));
        }
    }
}

#[test]
fn operations_take_turns_over_one_geometry_and_convolutions_stay_what_they_were() {
    let plain = Generator::new(7, DEVICE);
    let mixed = stream(DEVICE, &[Operation::MatMul, Operation::Fprop, Operation::MatMul]);
    let names: Vec<Operation> = (0..4).map(|index| mixed.problem(index).problem.operation).collect();
    assert_eq!(names, [Operation::Fprop, Operation::MatMul, Operation::Fprop, Operation::MatMul]);
    assert_eq!(Operations::of(&[]), None);
    let convolutions = stream(DEVICE, &Operation::CONVOLUTIONS);
    assert!((0..60).all(|index| plain.problem(index) == convolutions.problem(index)));
    for index in 0..60 {
        let sibling = mixed.sibling(index, 1);
        assert!(sibling.is_none_or(|case| case.problem.operation == mixed.problem(index).problem.operation));
    }
}

#[test]
fn a_hunt_for_plans_meets_every_operation_in_integers_too_and_none_that_is_invalid() {
    let mut integers = [0; OTHERS.len()];
    for index in 0..4000 {
        for (place, operation) in OTHERS.into_iter().enumerate() {
            let alone = Generator::planning(11).over(Operations::of(&[operation]).unwrap());
            let case = alone.problem(index);
            assert_eq!((case.problem.operation, case.validate()), (operation, Ok(())), "{case}");
            assert_eq!(case.to_string().parse::<Case>().as_ref(), Ok(&case));
            integers[place] += u32::from(case.problem.dtypes.x == case::DType::I8);
        }
        let mixed = Generator::planning(11).over(Operations::of(&OTHERS).unwrap()).problem(index);
        assert_eq!(mixed.validate(), Ok(()), "{mixed}");
        assert_eq!(mixed.to_string().parse::<Case>().as_ref(), Ok(&mixed));
    }
    assert!(integers.iter().all(|met| *met > 400), "{integers:?}");
}

#[test]
fn awkward_shapes_of_every_operation_are_met() {
    let cases = draws(DEVICE, 24_000);
    let met = |wanted: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| wanted(case)).count();
    let pools = |wanted: fn(&case::Axis) -> bool| {
        met(&|case| case.problem.operation.is_pooling() && case.problem.axes.iter().any(wanted))
    };
    let matrices = |wanted: fn(i64, i64, i64, i64) -> bool| {
        met(&|case| {
            let problem = &case.problem;
            let (b, m) = (problem.g, problem.n);
            problem.operation == Operation::MatMul && wanted(b, m, problem.k / b, problem.c / b)
        })
    };
    let rows = |wanted: fn(i64, i64) -> bool| {
        met(&|case| case.problem.operation == Operation::RmsNorm && wanted(case.problem.n, case.problem.c))
    };
    for (what, count) in [
        ("asymmetric padding", pools(|axis| axis.pad_before != axis.pad_after)),
        ("window of the whole input", pools(|axis| axis.filter == axis.input && axis.input > 1)),
        ("window beyond the input", pools(|axis| axis.filter > axis.input)),
        ("steps beyond the window", pools(|axis| axis.stride > axis.filter)),
        ("three axes", met(&|case| case.problem.operation.is_pooling() && case.problem.axes.len() == 3)),
        ("batches", matrices(|b, _, _, _| b > 1)),
        ("single rows", matrices(|_, m, n, k| m == 1 && n > 1 && k > 1)),
        ("ragged matrices", matrices(|_, m, n, k| m % 8 != 0 && n % 8 != 0 && k % 8 != 0)),
        ("aligned matrices", matrices(|_, _, n, k| n % 8 == 0 && k % 8 == 0)),
        ("long sums", matrices(|_, _, _, k| k >= 1024)),
        (
            "mixed orders",
            met(&|case| case.problem.operation == Operation::MatMul && !case.problem.layouts.is_uniform()),
        ),
        ("long rows", rows(|_, c| c >= 4096)),
        ("odd rows", rows(|n, c| n % 2 == 1 && c % 8 != 0)),
        ("many rows", rows(|n, _| n > 65_535)),
        ("other types", met(&|case| case.problem.dtypes.x != case::DType::F32)),
        ("must be refused", met(&|case| case.options.expect == Expect::Refuse)),
    ] {
        assert!(count >= 15, "{what}: met {count} times");
    }
}
