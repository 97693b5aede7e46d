//! Explanations of planted regions: the conditions found must hold exactly where the failure does. Knows the
//! regions and random cases; looks into no search.

#[path = "regions/mod.rs"]
mod planted;

use std::sync::OnceLock;

use case::{Case, Cell, Explanation, Quantity};
use minimizer::{Answer, ExplainError, ExplainSettings, Limits, explain, list};
use planted::{REGIONS, Region};

/// Share of the regions whose conditions must be the planted ones.
const SHARE_MIN: f64 = 0.8;

/// Random cases of a region itself, and of each other one.
const OWN: usize = 60;
const FOREIGN: usize = 30;

fn parse(line: &str) -> Case {
    line.parse().unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn explained(region: &Region, settings: &ExplainSettings) -> Explanation {
    let least = parse(region.least);
    let mut predicate = |case: &Case| region.answer(least.problem.operation, case);
    explain(&least, &mut predicate, settings).unwrap_or_else(|error| panic!("{}: {error}", region.name))
}

/// Explanations of all regions, in their order.
fn explanations() -> &'static Vec<Explanation> {
    static ALL: OnceLock<Vec<Explanation>> = OnceLock::new();
    let explain = |region: &Region| explained(region, &ExplainSettings::default());
    ALL.get_or_init(|| {
        std::thread::scope(|scope| {
            let threads: Vec<_> = REGIONS
                .chunks(REGIONS.len().div_ceil(4))
                .map(|chunk| scope.spawn(move || chunk.iter().map(explain).collect::<Vec<_>>()))
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
        })
    })
}

/// The problem of one case run as another is: an explanation is about the problem, and keeps how it is run.
fn run_like(least: &Case, other: &Case) -> Option<Case> {
    let mut case = least.clone();
    case.problem = other.problem.clone();
    case.problem.operation = least.problem.operation;
    case.options.alpha = other.options.alpha;
    case.options.workspace.alignment = other.options.workspace.alignment;
    if case.options.output_fill.is_none() {
        case.options.beta = other.options.beta;
    }
    case.validate().is_ok().then_some(case)
}

/// Cases from all over the place and around the border: random ones of every region, those of this one, and each with
/// every single edit.
fn anywhere(region: &Region) -> Vec<Case> {
    static FOREIGNERS: OnceLock<Vec<Case>> = OnceLock::new();
    let foreign = FOREIGNERS
        .get_or_init(|| REGIONS.iter().flat_map(|region| region.inside(FOREIGN)).collect::<Vec<_>>());
    let least = parse(region.least);
    let own = region.inside(OWN);
    let near = own.iter().chain([&least]).flat_map(list).map(|edit| edit.case);
    let all = own.iter().cloned().chain(near).chain(foreign.iter().cloned());
    all.filter_map(|case| run_like(&least, &case)).collect()
}

#[test]
#[expect(clippy::print_stderr, reason = "the table of conditions is what a reader of this test wants to see")]
fn the_conditions_found_are_the_planted_ones_in_most_regions() {
    let mut equivalent = 0;
    for (region, explanation) in REGIONS.iter().zip(explanations()) {
        let cases = anywhere(region);
        assert!(cases.len() > 2000, "{}: {} cases", region.name, cases.len());
        let wrong: Vec<&Case> =
            cases.iter().filter(|case| explanation.region.contains(case) != (region.holds)(case)).collect();
        equivalent += usize::from(wrong.is_empty());
        eprintln!(
            "{:34} {:>4} calls {}/{} {}/{} {:>5} {:>5} of {:>5} wrong  {}",
            region.name,
            explanation.calls,
            explanation.region.inside.failed,
            explanation.region.inside.tested,
            explanation.region.outside.failed,
            explanation.region.outside.tested,
            explanation.complete,
            wrong.len(),
            cases.len(),
            explanation.region
        );
        for case in wrong.iter().take(2) {
            eprintln!("{:>36}   {case}", (region.holds)(case));
        }
    }
    let share = equivalent as f64 / REGIONS.len() as f64;
    eprintln!("equivalent: {equivalent} of {} ({:.0} %)", REGIONS.len(), 100.0 * share);
    assert!(REGIONS.len() >= 30);
    assert!(share >= SHARE_MIN, "{equivalent} of {}", REGIONS.len());
}

#[test]
fn counts_are_of_judged_cases_and_every_listed_one_contradicts_the_region() {
    for (planted, explanation) in REGIONS.iter().zip(explanations()) {
        let region = &explanation.region;
        assert!(explanation.calls <= 200, "{}", planted.name);
        for (probes, inside) in [(&region.inside, true), (&region.outside, false)] {
            assert!(probes.tested <= 64 && probes.failed <= probes.tested, "{}: {probes:?}", planted.name);
            let contradicting = if inside { probes.tested - probes.failed } else { probes.failed };
            assert_eq!(
                probes.counter_examples.len().min(16),
                contradicting.min(16) as usize,
                "{}",
                planted.name
            );
            for line in &probes.counter_examples {
                let case = parse(line);
                assert_eq!((region.contains(&case), (planted.holds)(&case)), (inside, !inside), "{line}");
            }
        }
    }
}

#[test]
fn every_twin_passes_and_differs_from_the_case_in_its_field() {
    for (region, explanation) in REGIONS.iter().zip(explanations()) {
        let least = parse(region.least);
        for twin in &explanation.twins {
            let case = parse(&twin.case);
            assert!(!(region.holds)(&case), "{}: {twin:?}", region.name);
            assert!(case != least && twin.fails != twin.passes, "{}: {twin:?}", region.name);
            assert!(!explanation.any.contains(&twin.field), "{}: {twin:?}", region.name);
        }
    }
}

#[test]
fn a_map_shows_what_each_of_its_cases_does_and_holds_the_case_itself() {
    let mut maps = 0;
    for (region, explanation) in REGIONS.iter().zip(explanations()) {
        let Some(map) = &explanation.map else { continue };
        maps += 1;
        let least = parse(region.least);
        let place = |values: &[i64], of: &Quantity| {
            values.iter().position(|value| of.of(&least) == Some(*value)).expect("the case's own value")
        };
        let (row, column) = (place(&map.rows, &map.down), place(&map.columns, &map.across));
        assert_eq!(map.cells[row][column], Cell::Fails, "{}", region.name);
        assert!(map.cells.iter().flatten().any(|cell| *cell == Cell::Passes), "{}", region.name);
    }
    assert!(maps > REGIONS.len() / 2, "{maps} maps");
}

#[test]
fn the_same_seed_gives_the_same_explanation_and_few_calls_an_honest_one() {
    let region = REGIONS.iter().find(|region| region.name == "an island of channels").expect("a region");
    let settings = ExplainSettings { seed: 9, ..ExplainSettings::default() };
    assert_eq!(explained(region, &settings), explained(region, &settings));
    let limits = Limits { calls_max: 5, seconds_max: 60.0 };
    let short = explained(region, &ExplainSettings { limits, ..settings });
    assert!(short.calls <= 5 && !short.complete, "{short:?}");
}

#[test]
fn answers_that_are_known_already_cost_no_call() {
    let region = REGIONS.iter().find(|region| region.name == "an island of channels").expect("a region");
    let least = parse(region.least);
    let line = |n: i64| parse(&format!("fprop f32 nchw n{n} c24 k1 i1 f1 engine=7"));
    let seen = vec![(line(4), Answer::Same), (line(2), Answer::Pass)];
    let mut asked = Vec::new();
    let mut predicate = |case: &Case| {
        asked.push(case.clone());
        region.answer(least.problem.operation, case)
    };
    explain(&least, &mut predicate, &ExplainSettings { seen, ..ExplainSettings::default() })
        .expect("it fails");
    assert!(!asked.contains(&line(4)) && !asked.contains(&line(2)));
}

#[test]
fn what_does_not_fail_or_cannot_be_asked_is_refused_with_the_reason() {
    let case = parse("fprop f32 nchw n1 c1 k1 i1 f1 engine=7");
    let refuse = |answer: Answer| {
        explain(&case, &mut |_: &Case| answer.clone(), &ExplainSettings::default()).expect_err("no failure")
    };
    assert_eq!(refuse(Answer::Pass), ExplainError::Passes);
    assert_eq!(refuse(Answer::Other("crash".to_owned())), ExplainError::Other);
    assert_eq!(refuse(Answer::Invalid("refused".to_owned())), ExplainError::Unjudged);
    let limits = Limits { calls_max: 0, seconds_max: 60.0 };
    let none = ExplainSettings { limits, ..ExplainSettings::default() };
    let error = explain(&case, &mut |_: &Case| Answer::Same, &none).expect_err("no call");
    assert_eq!(error, ExplainError::NoBudget);
}

#[test]
fn what_is_refused_or_fails_otherwise_counts_as_nothing() {
    let case = parse("fprop f16 nchw n4 c1 k1 i1 f1 engine=7");
    // Only f16 with stride 1 is taken at all; even batches of four or more fail.
    let mut predicate = |case: &Case| {
        let taken = case.problem.dtypes.x == case::DType::F16
            && case.problem.axes.iter().all(|axis| axis.stride == 1);
        match case.problem.n {
            _ if !taken => Answer::Invalid("not supported".to_owned()),
            7 => Answer::Other("crash".to_owned()),
            n if n % 2 == 0 && n >= 4 => Answer::Same,
            _ => Answer::Pass,
        }
    };
    let explanation = explain(&case, &mut predicate, &ExplainSettings::default()).expect("it fails");
    let mut atoms: Vec<String> = explanation.region.atoms.iter().map(ToString::to_string).collect();
    atoms.sort();
    assert_eq!(atoms, ["n >= 4", "n mod 2 = 0"]);
    assert!(explanation.region.inside.counter_examples.is_empty());
}
