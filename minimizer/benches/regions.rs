//! Calls of the predicate per planted region, and the search's own time per reduction with a predicate that
//! costs nothing. Calls are what matter: on a GPU each takes most of a second.

#[path = "../tests/regions/mod.rs"]
mod planted;

use case::Case;
use criterion::{Criterion, criterion_group, criterion_main};
use minimizer::{Limits, Minimized, minimize};
use planted::{REGIONS, Region, percentile};

const STARTS: usize = 30;

fn reduce(region: &Region, start: &Case) -> Minimized {
    minimize(start, &mut |case: &Case| region.answer(case), &Limits::default(), &mut |_| {})
        .expect("a start lies inside its region")
}

#[expect(clippy::print_stdout, reason = "a bench's table is its result")]
fn print_calls() {
    println!("{:36} {:>6} {:>6} {:>6}", "predicate calls", "median", "95 %", "most");
    let row = |name: &str, calls: &mut [u32]| {
        let [median, most_but_5, most] = [50, 95, 100].map(|percent| percentile(calls, percent));
        println!("{name:36} {median:>6} {most_but_5:>6} {most:>6}");
    };
    let mut all = Vec::new();
    for region in REGIONS {
        let mut calls: Vec<u32> =
            region.inside(STARTS).iter().map(|start| reduce(region, start).calls).collect();
        row(region.name, &mut calls);
        let reached = reduce(region, &region.start.parse().expect("a planted start is a case")).case;
        assert!(region.least.is_empty() || reached.to_string().parse() == region.least.parse::<Case>());
        all.extend(calls);
    }
    row("all", &mut all);
}

fn regions(criterion: &mut Criterion) {
    print_calls();
    let mut group = criterion.benchmark_group("reduce");
    group.sample_size(20);
    for region in REGIONS {
        let start: Case = region.start.parse().expect("a planted start is a case");
        group.bench_function(region.name, |bencher| bencher.iter(|| reduce(region, &start)));
    }
    group.finish();
}

criterion_group!(benches, regions);
criterion_main!(benches);
