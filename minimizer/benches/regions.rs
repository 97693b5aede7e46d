//! Calls of the predicate per planted region, and the search's own time per reduction with a predicate that
//! costs nothing. Calls are what matter: on a GPU each takes most of a second.

#[path = "../tests/regions/mod.rs"]
mod planted;

use case::Case;
use criterion::{Criterion, criterion_group, criterion_main};
use minimizer::{Minimized, Settings, minimize};
use planted::{REGIONS, Region, percentile};

const STARTS: usize = 30;

/// Runs that confirm the result in new processes at the end, which a search does not make itself.
const LAST_RUNS: u32 = 3;

fn reduce(region: &Region, start: &Case) -> Minimized {
    let mut predicate = |case: &Case| region.answer(start.problem.operation, case);
    minimize(start, &mut predicate, &Settings::default(), &mut |_| {})
        .expect("a start lies inside its region")
}

/// Calls with both confirmations.
fn calls(result: &Minimized) -> u32 {
    result.calls + LAST_RUNS
}

#[expect(clippy::print_stdout, reason = "a bench's table is its result")]
fn print_calls() {
    println!("| region | known minimum | calls from the start | median | 95 % | most |");
    println!("|---|---|---|---|---|---|");
    let row = |name: &str, least: &str, start: &str, calls: &mut [u32]| {
        let [median, most_but_5, most] = [50, 95, 100].map(|percent| percentile(calls, percent));
        println!("| {name} | {least} | {start} | {median} | {most_but_5} | {most} |");
    };
    let (mut all, mut reached) = (Vec::new(), 0);
    for region in REGIONS {
        let start: Case = region.start.parse().expect("a planted start is a case");
        let result = reduce(region, &start);
        let is_least = result.case.to_string().parse() == region.least.parse::<Case>();
        reached += u32::from(is_least);
        let mut random: Vec<u32> =
            region.inside(STARTS).iter().map(|start| calls(&reduce(region, start))).collect();
        let least = if is_least { format!("`{}`", region.least) } else { "missed".to_owned() };
        row(region.name, &least, &calls(&result).to_string(), &mut random);
        all.extend(random);
    }
    row("all", &format!("reached in {reached} of {}", REGIONS.len()), "", &mut all);
}

fn regions(criterion: &mut Criterion) {
    print_calls();
    let mut group = criterion.benchmark_group("reduce");
    group.sample_size(10);
    for region in REGIONS {
        let start: Case = region.start.parse().expect("a planted start is a case");
        group.bench_function(region.name, |bencher| bencher.iter(|| reduce(region, &start)));
    }
    group.finish();
}

criterion_group!(benches, regions);
criterion_main!(benches);
