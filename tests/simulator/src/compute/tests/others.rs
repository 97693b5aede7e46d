//! The engines of pooling, matrices and normalization against their definitions written out. Knows loops; shares no
//! code with the engines.

use case::{Case, Operation};

use super::{Bench, Dice, coordinates, fill, linear, run};
use crate::engine::OTHERS;
use crate::faults::tests::problem;
use crate::problem::Problem;

const OPERATIONS: [Operation; 4] =
    [Operation::MaxPool, Operation::AvgPool, Operation::MatMul, Operation::RmsNorm];

fn random(dice: &mut Dice, operation: Operation) -> Problem {
    let types = ["f32", "f16", "bf16", "f64"][dice.roll(0, 3) as usize];
    let layout = ["nchw", "nhwc"][dice.roll(0, 1) as usize];
    let order = ["row", "col"][dice.roll(0, 1) as usize];
    let (n, c, k) = (dice.roll(1, 4), dice.roll(1, 9), dice.roll(1, 30));
    let (window, other) = (dice.roll(1, 4), dice.roll(1, 3));
    let (before, after) = (dice.roll(0, window - 1), dice.roll(0, window - 1));
    let step = dice.roll(1, 3);
    let input = window + dice.roll(0, 4);
    let name = operation.name();
    let line = match operation {
        Operation::MatMul => format!("{name} {types} {order} b{n} m{c} n{window} k{k}"),
        Operation::RmsNorm => format!("{name} {types} {layout} n{n} c{k}"),
        Operation::Fprop | Operation::Dgrad | Operation::Wgrad | Operation::MaxPool | Operation::AvgPool => {
            format!(
                "{name} {types} {layout} n{n} c{c} i{input}x{} f{window}x{other} p{before}:{after}x0 s{step}x1",
                other + 2
            )
        }
    };
    problem(&line.parse::<Case>().unwrap_or_else(|error| panic!("{line}: {error}")))
}

/// The elements that a window meets, and how many it has.
fn window(problem: &Problem, at: &[i64], x: &[f64]) -> (Vec<f64>, f64) {
    let [image, taps, _] = &problem.tensors;
    let count: i64 = taps.extents[2..].iter().product();
    let of = &problem.convolution;
    let met = (0..count).filter_map(|tap| {
        let tap = coordinates(&taps.extents[2..], tap);
        let mut place = at[..2].to_vec();
        place.extend((0..problem.rank()).map(|a| at[a + 2] * of.stride[a] - of.pad_before[a] + tap[a]));
        let inside = place.iter().zip(&image.extents).all(|(at, extent)| (0..*extent).contains(at));
        inside.then(|| x[linear(&image.extents, &place)])
    });
    (met.collect(), count as f64)
}

fn define(problem: &Problem, [x, w, y]: &[Vec<f64>; 3]) -> Vec<f64> {
    let [left, right, output] = &problem.tensors;
    let one = |at: Vec<i64>| match problem.operation {
        Operation::MaxPool => window(problem, &at, x).0.into_iter().fold(f64::NEG_INFINITY, f64::max),
        Operation::AvgPool => {
            let (met, count) = window(problem, &at, x);
            met.iter().sum::<f64>() / count
        }
        Operation::MatMul => (0..left.extents[2])
            .map(|k| {
                x[linear(&left.extents, &[at[0], at[1], k])] * w[linear(&right.extents, &[at[0], k, at[2]])]
            })
            .sum(),
        Operation::RmsNorm | Operation::Fprop | Operation::Dgrad | Operation::Wgrad => {
            let row = x.chunks_exact(w.len()).nth(at[0] as usize).unwrap();
            let mean = row.iter().map(|value| value * value).sum::<f64>() / row.len() as f64;
            row[at[1] as usize] * w[at[1] as usize] / (mean + Operation::EPSILON).sqrt()
        }
    };
    (0..y.len() as i64).map(|index| one(coordinates(&output.extents, index))).collect()
}

/// Runs every engine that takes one of the random problems, with what the definition says.
fn each(seed: u64, value: fn(&mut Dice) -> f64, mut check: impl FnMut(&Problem, &[f64], Vec<f64>)) {
    let mut dice = Dice(seed);
    let mut taken = [[0; OTHERS.len()]; OPERATIONS.len()];
    for round in 0..240 {
        let problem = random(&mut dice, OPERATIONS[round % 4]);
        assert_eq!(problem.check(), Ok(()), "{problem:?}");
        let bench: Bench = fill(&problem, || value(&mut dice));
        let expected = define(&problem, &bench.values);
        for (index, engine) in OTHERS.iter().enumerate() {
            if engine.takes(&problem).is_ok() {
                taken[round % 4][index] += 1;
                check(&problem, &expected, run(&problem, engine, &bench, 0xFF));
            }
        }
    }
    for (operation, taken) in OPERATIONS.iter().zip(taken) {
        for (index, taken) in taken.into_iter().enumerate() {
            let elsewhere = match index {
                3 => *operation != Operation::MatMul,
                5 => *operation != Operation::RmsNorm,
                _ => false,
            };
            assert!(taken >= 5 || elsewhere, "{} by engine {index}: {taken}", operation.name());
        }
    }
}

#[test]
fn sums_of_small_integers_and_largest_elements_are_exact() {
    each(
        5,
        |dice| [-2.0, -1.0, 1.0, 2.0][dice.roll(0, 3) as usize],
        |problem, expected, got| {
            if matches!(problem.operation, Operation::MaxPool | Operation::MatMul) {
                assert_eq!(got, expected, "{problem:?}");
            }
        },
    );
}

#[test]
fn every_engine_stays_near_the_definitions_on_reals() {
    each(
        6,
        |dice| dice.roll(-1_000_000, 1_000_000) as f64 / 1e6,
        |problem, expected, got| {
            assert_eq!(got.len(), expected.len(), "{problem:?}");
            for (got, want) in got.iter().zip(expected) {
                assert!((got - want).abs() <= 1e-5 * want.abs().max(1.0), "{got} {want} {problem:?}");
            }
        },
    );
}

#[test]
fn a_nan_reaches_the_windows_that_meet_it_and_no_other() {
    let line = "maxpool f32 nchw n1 c1 i6 f2 s2";
    let problem = problem(&line.parse::<Case>().unwrap());
    let mut values = [1.0, f64::NAN, 3.0, 4.0, 5.0, 6.0].into_iter().cycle();
    let bench = fill(&problem, || values.next().unwrap());
    for engine in OTHERS.iter().filter(|engine| engine.takes(&problem).is_ok()) {
        let got = run(&problem, engine, &bench, 0);
        assert!(got[0].is_nan() && got[1..] == [4.0, 6.0], "{}: {got:?}", engine.name);
    }
}
