//! Draws many problems and checks what the stream promises. Knows the zones by what they look like in a case.

use std::collections::HashMap;

use case::{Case, DType, Expect, Layout, Operation, Role, WorkspaceAmount};

use super::zones::ZONES;
use super::{Generator, Limits};

mod operations;

const DEVICE: Limits =
    Limits { bytes_max: 256 << 20, elements_max: 256 << 20, multiply_adds_max: 250_000_000 };

fn draws(limits: Limits, geometries: u64) -> impl Iterator<Item = [Case; 3]> {
    let generator = Generator::new(7, limits);
    (0..geometries).map(move |index| generator.geometry(index).try_into().unwrap())
}

fn positions(case: &Case) -> i64 {
    case.problem.n * case.problem.axes.iter().map(case::Axis::output).product::<i64>()
}

fn near_a_line(elements: i64) -> bool {
    (24..=26).any(|power| {
        let line = 1_i64 << power;
        (elements - line).abs() <= line / 20
    })
}

/// What a case of each zone must show.
fn shows(zone: &str, case: &Case) -> bool {
    let (problem, options) = (&case.problem, &case.options);
    let (group_c, group_k) = (problem.c / problem.g, problem.k / problem.g);
    let axes = &problem.axes;
    let sixteen = |value: i64| [65_534, 65_535, 65_536, 65_537, 100_000, 131_072].contains(&value);
    match zone {
        "three axes" => axes.len() == 3,
        "one long row" => {
            axes.iter().any(|axis| axis.input >= 400) && axes.iter().all(|a| a.input == 1 || a.input >= 400)
        }
        "dtype other than f32" => problem.dtypes.x != DType::F32,
        "layout" => problem.layouts.class() != Layout::Nchw.name(),
        "groups" => problem.g > 1,
        "tiny channel counts" => group_c <= 4 || problem.k <= 4,
        "channels multiple of 8, half precision" => {
            group_c % 8 == 0 && group_k % 8 == 0 && problem.dtypes.x.bytes() == 2
        }
        "channels no multiple of 8" => group_k % 8 != 0,
        "odd batch or a power of two +-1" => [25, 27, 155].contains(&problem.n) || axes[0].input == 1025,
        "stride above 1" => axes.iter().any(|axis| axis.stride > axis.filter),
        "filter extremes" => axes.iter().any(|axis| axis.filter >= 11 || axis.filter > axis.input),
        "dilation" => axes.iter().any(|axis| axis.dilation > 1 && axis.stride > 1),
        "padding" => axes.iter().any(|axis| axis.pad_before != axis.pad_after),
        "small output, long reduction" => {
            positions(case) >= 400_000 || (positions(case) <= 64 * problem.n && problem.c >= 256)
        }
        "16-bit lines" => {
            [problem.n, problem.c, problem.k].into_iter().any(sixteen)
                || axes.iter().any(|axis| sixteen(axis.input))
        }
        "2^24 to 2^26 elements" => {
            Role::ALL.into_iter().any(|role| near_a_line(problem.geometry().elements(role)))
        }
        "must be refused" => options.expect == Expect::Refuse,
        other => panic!("zone {other} has no description here"),
    }
}

#[test]
fn every_problem_is_valid_and_within_the_limits_of_a_device_and_of_the_simulator() {
    for limits in [
        DEVICE,
        Limits::device(1 << 30),
        Limits::simulator(),
        Limits { bytes_max: 4096, elements_max: 500, multiply_adds_max: 1000 },
    ] {
        for case in draws(limits, 3000).flatten() {
            let geometry = case.problem.geometry();
            assert_eq!(case.validate(), Ok(()), "{case}");
            assert!(geometry.total_bytes() <= limits.bytes_max, "{case}");
            assert!(geometry.multiply_adds() <= limits.multiply_adds_max, "{case}");
            let elements = Role::ALL.map(|role| geometry.elements(role));
            assert!(elements.into_iter().all(|elements| elements <= limits.elements_max), "{case}");
        }
    }
}

#[test]
fn every_problem_survives_its_one_line_text() {
    for case in draws(DEVICE, 2000).flatten() {
        assert_eq!(case.to_string().parse::<Case>().as_ref(), Ok(&case));
    }
}

#[test]
fn every_danger_zone_is_met_within_six_thousand_geometries() {
    let cases: Vec<Case> = draws(DEVICE, 6000).flatten().collect();
    for zone in &ZONES {
        let met = cases.iter().filter(|case| shows(zone.name, case)).count();
        assert!(met >= 15, "{} was met {met} times", zone.name);
    }
}

#[test]
fn a_seed_gives_the_same_problems_from_any_starting_point_and_another_seed_gives_others() {
    let one = Generator::new(1, DEVICE);
    let again = Generator::new(1, DEVICE);
    let other = Generator::new(2, DEVICE);
    let backwards: Vec<Case> = (0..60).rev().map(|index| again.problem(index)).collect();
    assert!((0..60).map(|index| one.problem(index)).eq(backwards.into_iter().rev()));
    assert!((0..60).filter(|index| one.problem(*index) == other.problem(*index)).count() < 3);
}

#[test]
fn a_geometry_is_tried_as_fprop_dgrad_and_wgrad_with_the_same_sizes() {
    for [fprop, dgrad, wgrad] in draws(DEVICE, 200) {
        let operations = [&fprop, &dgrad, &wgrad].map(|case| case.problem.operation);
        assert_eq!(operations, Operation::CONVOLUTIONS);
        for other in [dgrad, wgrad] {
            assert_eq!(other.problem.axes, fprop.problem.axes);
            assert_eq!((other.problem.n, other.problem.c), (fprop.problem.n, fprop.problem.c));
            assert_eq!(other.options, fprop.options);
        }
    }
}

fn sorted(numbers: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut sorted: Vec<i64> = numbers.collect();
    sorted.sort_unstable();
    sorted
}

/// Percent of the numbers that are at most that.
fn percent_within(numbers: &[i64], most: i64) -> usize {
    numbers.partition_point(|number| *number <= most) * 100 / numbers.len()
}

#[test]
fn most_problems_are_small_enough_for_a_high_rate_and_few_are_large() {
    let limits = Limits::device(i64::MAX);
    let cases: Vec<Case> = draws(limits, 4000).flatten().collect();
    let work = sorted(cases.iter().map(|case| case.problem.geometry().multiply_adds()));
    let (median, ninth) = (work[work.len() / 2], work[work.len() * 9 / 10]);
    assert!((250_000..1_000_000).contains(&median), "median {median}");
    assert!((15_000_000..=60_000_000).contains(&ninth), "90th percentile {ninth}");
    assert!(work[work.len() - 1] > 200_000_000);
    let bytes = sorted(cases.iter().map(|case| case.problem.geometry().total_bytes()));
    assert!(percent_within(&bytes, 16 << 20) >= 97);
    assert!(bytes[bytes.len() - 1] > 64 << 20);
    let outputs = sorted(cases.iter().map(|case| {
        let problem = &case.problem;
        problem.geometry().elements(problem.operation.output())
    }));
    assert!(percent_within(&outputs, 1_000_000) >= 97);
}

#[test]
fn channel_counts_are_often_small_and_often_tails_of_small_tiles() {
    let count = |wanted: fn(i64) -> bool| {
        let cases = draws(DEVICE, 4000).map(|[case, ..]| case.problem);
        cases.filter(|problem| wanted(problem.c / problem.g) || wanted(problem.k / problem.g)).count() / 40
    };
    assert!(count(|channels| channels <= 4) >= 30, "small {}", count(|channels| channels <= 4));
    let near = |channels: i64| {
        [8, 16, 32, 64].iter().any(|tile| channels > 4 && matches!(channels % tile, 1..=3)) && channels < 132
    };
    assert!(count(near) >= 25, "tails {}", count(near));
}

#[test]
fn options_other_than_the_defaults_come_in_the_shares_they_are_worth() {
    let cases: Vec<Case> = draws(DEVICE, 10_000).map(|[case, ..]| case).collect();
    let permille = |wanted: fn(&Case) -> bool| cases.iter().filter(|case| wanted(case)).count() / 10;
    for (name, share, low, high) in [
        ("alpha", permille(|case| case.options.alpha.value() != 1.0), 40, 60),
        ("beta", permille(|case| case.options.beta.value() != 0.0), 40, 60),
        ("ws=exact@16", permille(|case| case.options.workspace.alignment == 16), 40, 60),
        (
            "ws=+1MiB",
            permille(|case| case.options.workspace.amount == WorkspaceAmount::Extra(1 << 20)),
            20,
            40,
        ),
        ("fill", permille(|case| case.options.fill.is_some()), 10, 20),
        ("repeat", permille(|case| case.options.repeat > 1), 5, 15),
        ("compute f16", permille(|case| case.problem.dtypes.compute == DType::F16), 2, 20),
    ] {
        assert!((low..=high).contains(&share), "{name}: {share} of 1000");
    }
    assert!(cases.iter().all(|case| case.options.repeat <= 4));
}

#[test]
fn types_ranks_and_layouts_come_in_sane_shares() {
    let mut counts: HashMap<String, u32> = HashMap::new();
    for [case, ..] in draws(DEVICE, 4000) {
        let problem = &case.problem;
        for key in [
            problem.dtypes.x.name().to_owned(),
            format!("{} axes", problem.axes.len()),
            problem.layouts.class().to_owned(),
            format!("groups {}", problem.g > 1),
        ] {
            *counts.entry(key).or_default() += 1;
        }
    }
    for (key, low, high) in [
        ("f32", 15, 45),
        ("f16", 20, 50),
        ("bf16", 15, 40),
        ("f64", 2, 15),
        ("2 axes", 55, 85),
        ("3 axes", 12, 40),
        ("nchw", 20, 55),
        ("nhwc", 30, 65),
        ("mixed", 5, 25),
        ("groups true", 10, 40),
    ] {
        let percent = counts.get(key).copied().unwrap_or_default() * 100 / 4000;
        assert!((low..=high).contains(&percent), "{key}: {percent} %");
    }
}

#[test]
fn few_problems_repeat_even_within_the_simulators_small_limits() {
    let texts: Vec<String> =
        draws(Limits::simulator(), 2000).flatten().map(|case| case.to_string()).collect();
    let distinct: std::collections::HashSet<&String> = texts.iter().collect();
    assert!(distinct.len() * 100 >= texts.len() * 97, "{} of {}", distinct.len(), texts.len());
}

#[test]
fn the_simulators_small_limits_keep_every_zone_but_large_sizes() {
    let cases: Vec<Case> = draws(Limits::simulator(), 6000).flatten().collect();
    let large = ["2^24 to 2^26 elements", "16-bit lines"];
    for zone in ZONES.iter().filter(|zone| !large.contains(&zone.name)) {
        let met = cases.iter().filter(|case| shows(zone.name, case)).count();
        assert!(met >= 15, "{} was met {met} times", zone.name);
    }
}

#[test]
fn a_sibling_differs_from_its_problem_in_nothing_but_input_extents_and_is_within_the_limits() {
    let generator = Generator::new(5, DEVICE);
    let (mut siblings, mut moved) = (0, 0);
    for index in 0..300 {
        let problem = generator.problem(index);
        for number in 0..4 {
            let Some(sibling) = generator.sibling(index, number) else { continue };
            assert_eq!(sibling.validate(), Ok(()), "{sibling}");
            assert!(DEVICE.admit(&sibling), "{sibling}");
            assert_eq!(generator.sibling(index, number).as_ref(), Some(&sibling));
            let mut back = sibling.clone();
            for (axis, before) in back.problem.axes.iter_mut().zip(&problem.problem.axes) {
                axis.input = before.input;
            }
            siblings += 1;
            // What is too large even at one position has to give way.
            moved += usize::from(back != problem);
        }
    }
    assert!(siblings > 1000, "{siblings}");
    assert!(moved * 8 < siblings, "{moved} of {siblings} changed more than extents");
}
