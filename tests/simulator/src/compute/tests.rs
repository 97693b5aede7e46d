//! Every engine against the definition written out, on random small problems. Knows loops; shares no code with the
//! engines.

use case::{Layout, Operation};

use super::{Work, operate};
use crate::element::{decode, encode};
use crate::engine::{ENGINES, Engine};
use crate::problem::{Convolution, Problem, Tensor};

mod others;

/// Random numbers of a fixed stream.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, least: i64, most: i64) -> i64 {
        self.0 = kernel::mix(self.0.wrapping_add(0x9E37_79B9_7F4A_7C15));
        least + (self.0 % (most - least + 1) as u64) as i64
    }
}

fn random_problem(dice: &mut Dice, operation: Operation) -> Problem {
    let rank = dice.roll(1, 3) as usize;
    let [f32s, f64s, halves, brain] = [0, 1, 2, 9];
    let dtype = [f32s, f32s, halves, brain, f64s][dice.roll(0, 4) as usize];
    let (n, g, c, k) = (dice.roll(1, 3), dice.roll(1, 2), dice.roll(1, 4), dice.roll(1, 4));
    let mut column = |least, most| (0..rank).map(|_| dice.roll(least, most)).collect::<Vec<i64>>();
    let three = column(0, 3)[0] == 0;
    let filter = if three { vec![3; rank] } else { column(1, 3) };
    let (before, after) = (column(0, 2), column(0, 2));
    let plain = column(0, 1)[0] == 0;
    let (stride, dilation) =
        if plain { (vec![1; rank], vec![1; rank]) } else { (column(1, 3), column(1, 2)) };
    let input: Vec<i64> = column(0, 4)
        .iter()
        .zip(filter.iter().zip(&dilation))
        .map(|(more, (f, d))| (f - 1) * d + 1 + more)
        .collect();
    let output: Vec<i64> = (0..rank)
        .map(|a| (input[a] + before[a] + after[a] - (filter[a] - 1) * dilation[a] - 1) / stride[a] + 1)
        .collect();
    let layout = Layout::ALL[dice.roll(0, 1) as usize];
    let tensor = |id: i64, lead: [i64; 2], spatial: &[i64]| {
        let extents: Vec<i64> = lead.iter().chain(spatial).copied().collect();
        Tensor { dtype, strides: layout.strides(&extents), extents, alignment: 16, id, vector: 1 }
    };
    Problem {
        operation,
        tensors: [
            tensor(1, [n, g * c], &input),
            tensor(2, [g * k, c], &filter),
            tensor(3, [n, g * k], &output),
        ],
        convolution: Convolution {
            compute: if dtype == f64s { f64s } else { f32s },
            mode: 1,
            pad_before: before,
            pad_after: after,
            stride,
            dilation,
        },
        alpha: [1.0, 2.0, -0.5][dice.roll(0, 2) as usize],
        beta: [0.0, 0.0, 1.0][dice.roll(0, 2) as usize],
    }
}

/// Coordinates of a linear index.
fn coordinates(extents: &[i64], mut index: i64) -> Vec<i64> {
    let mut at: Vec<i64> = extents
        .iter()
        .rev()
        .map(|extent| {
            let here = index % extent;
            index /= extent;
            here
        })
        .collect();
    at.reverse();
    at
}

fn linear(extents: &[i64], at: &[i64]) -> usize {
    extents.iter().zip(at).fold(0, |sum, (extent, at)| sum * extent + at) as usize
}

/// The definition: every response and every tap that meets the image add one product to the pass's output.
fn define(problem: &Problem, values: &[Vec<f64>; 3]) -> Vec<f64> {
    let [x, w, y] = &problem.tensors;
    let groups = problem.groups();
    let per_group = w.extents[0] / groups;
    let output = problem.operation.output().index();
    let mut sums = vec![0.0; values[output].len()];
    for at_y in (0..values[2].len() as i64).map(|index| coordinates(&y.extents, index)) {
        for at_w in (0..values[1].len() as i64).map(|index| coordinates(&w.extents, index)) {
            if at_w[0] != at_y[1] {
                continue;
            }
            let mut at_x = vec![at_y[0], at_y[1] / per_group * w.extents[1] + at_w[1]];
            let of = &problem.convolution;
            at_x.extend(
                (0..problem.rank())
                    .map(|a| at_y[a + 2] * of.stride[a] + at_w[a + 2] * of.dilation[a] - of.pad_before[a]),
            );
            if at_x.iter().zip(&x.extents).any(|(at, extent)| !(0..*extent).contains(at)) {
                continue;
            }
            let at = [linear(&x.extents, &at_x), linear(&w.extents, &at_w), linear(&y.extents, &at_y)];
            let [a, b] = [0, 1].map(|input| problem.operation.inputs()[input].index());
            sums[at[output]] += values[a][at[a]] * values[b][at[b]];
        }
    }
    let prior = &values[output];
    sums.iter().zip(prior).map(|(sum, prior)| problem.alpha * sum + problem.beta * prior).collect()
}

struct Bench {
    values: [Vec<f64>; 3],
    bytes: [Vec<u8>; 3],
}

fn fill(problem: &Problem, mut value: impl FnMut() -> f64) -> Bench {
    let values = problem
        .tensors
        .each_ref()
        .map(|tensor| (0..tensor.extents.iter().product::<i64>()).map(|_| value()).collect::<Vec<f64>>());
    let bytes = [0, 1, 2].map(|index| {
        let tensor = &problem.tensors[index];
        let mut bytes = vec![0_u8; tensor.span_bytes().map_or(0, |bytes| bytes as usize)];
        let present: Vec<Option<f64>> = values[index].iter().copied().map(Some).collect();
        encode(tensor, &present, &mut bytes);
        bytes
    });
    // What the tensors hold is the values rounded to their type.
    let values = [0, 1, 2].map(|index| decode::<f64>(&problem.tensors[index], &bytes[index]));
    Bench { values, bytes }
}

fn run(problem: &Problem, engine: &Engine, bench: &Bench, workspace: u8) -> Vec<f64> {
    let mut workspace = vec![workspace; engine.workspace_bytes(problem, &[]) as usize];
    let [x, w, y] = &bench.bytes;
    let mut work =
        Work { tensors: [x, w, y], workspace: &mut workspace, parts: engine.parts(&[]), chance: 7 };
    operate(problem, engine.way, &mut work)
}

#[test]
fn every_engine_is_exact_on_small_integers_unless_it_declares_a_transform() {
    let mut dice = Dice(1);
    let mut taken = vec![0; ENGINES.len()];
    for round in 0..300 {
        let problem = random_problem(&mut dice, Operation::CONVOLUTIONS[round % 3]);
        assert_eq!(problem.check(), Ok(()));
        let bench = fill(&problem, || [-2.0, -1.0, 1.0, 2.0][dice.roll(0, 3) as usize]);
        let expected = define(&problem, &bench.values);
        for (index, engine) in ENGINES.iter().enumerate() {
            if engine.takes(&problem).is_err() || engine.numerical.iter().any(|note| [3, 5].contains(note)) {
                continue;
            }
            taken[index] += 1;
            assert_eq!(run(&problem, engine, &bench, 0xFF), expected, "engine {index}: {problem:?}");
        }
    }
    let idle: Vec<usize> = (0..taken.len()).filter(|index| taken[*index] < 5).collect();
    assert_eq!(idle, [6, 7, 12], "transforms are tested apart, 12 wants a newer device: {taken:?}");
}

#[test]
fn every_engine_stays_near_the_definition_on_reals() {
    let mut dice = Dice(2);
    let mut taken = vec![0; ENGINES.len()];
    for round in 0..300 {
        let problem = random_problem(&mut dice, Operation::CONVOLUTIONS[round % 3]);
        let bench = fill(&problem, || dice.roll(-1_000_000, 1_000_000) as f64 / 1e6);
        let expected = define(&problem, &bench.values);
        for (index, engine) in ENGINES.iter().enumerate() {
            if engine.takes(&problem).is_err() {
                continue;
            }
            taken[index] += 1;
            let share = if engine.numerical.contains(&1) { 2e-3 } else { 4e-6 };
            for (got, want) in run(&problem, engine, &bench, 0).iter().zip(&expected) {
                assert!((got - want).abs() <= share * 20.0, "engine {index}: {got} {want} {problem:?}");
            }
        }
    }
    assert!(taken[6] > 10 && taken[7] > 10, "{taken:?}");
}

#[test]
fn large_problems_with_short_rows_are_exact_too() {
    let mut dice = Dice(4);
    for operation in Operation::CONVOLUTIONS {
        let mut problem = random_problem(&mut dice, operation);
        while problem.rank() != 2 || problem.tensors[0].dtype != 0 {
            problem = random_problem(&mut dice, operation);
        }
        let extents = [vec![10, 48, 5, 1], vec![40, 24, 3, 1], vec![10, 40, 5, 1]];
        for (tensor, extents) in problem.tensors.iter_mut().zip(extents) {
            tensor.strides = Layout::Nchw.strides(&extents);
            tensor.extents = extents;
        }
        let row = |height, width| vec![height, width];
        problem.convolution = Convolution {
            pad_before: row(1, 0),
            pad_after: row(1, 0),
            stride: row(1, 1),
            dilation: row(1, 1),
            ..problem.convolution
        };
        assert!(problem.work() > 1 << 17);
        assert_eq!(problem.check(), Ok(()));
        let bench = fill(&problem, || [-2.0, -1.0, 1.0, 2.0][dice.roll(0, 3) as usize]);
        let expected = define(&problem, &bench.values);
        for index in [0, 2, 3, 10] {
            assert_eq!(run(&problem, &ENGINES[index], &bench, 0xFF), expected, "engine {index}");
        }
    }
}

#[test]
fn what_the_workspace_holds_changes_nothing() {
    let mut dice = Dice(3);
    for round in 0..150 {
        let problem = random_problem(&mut dice, Operation::CONVOLUTIONS[round % 3]);
        let bench = fill(&problem, || dice.roll(-1000, 1000) as f64 / 1000.0);
        for engine in ENGINES.iter().filter(|engine| engine.takes(&problem).is_ok()) {
            let [clean, dirty] = [0x00, 0xFF].map(|byte| run(&problem, engine, &bench, byte));
            assert_eq!(clean, dirty, "{}: {problem:?}", engine.name);
        }
    }
}
