//! Hunts whose time is bounded: when problems stop, what is cut off, how leads share what is left.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use case::Case;
use exec::Interrupt;

use super::{listed, problems, run, slots};
use crate::bench::script::{How, Script, World, planted};
use crate::campaign::{HuntOptions, hunt};
use crate::event::{Entry, HuntEvent};
use crate::ledger::Ledger;

#[test]
fn time_bounds_generation_and_a_quarter_more_bounds_the_rest() {
    let world =
        World::paced(vec![planted(Some(1), How::Wrong, |case| case.problem.c > 1)], Duration::from_millis(3));
    let time = Duration::from_millis(400);
    let options = HuntOptions { time: Some(time), problems_max: None, ..problems(0) };
    let started = Instant::now();
    let last_problem: Mutex<Duration> = Mutex::default();
    let sink = |entry: &Entry| {
        if matches!(entry.event, HuntEvent::ProblemStarted { .. }) {
            *last_problem.lock().unwrap() = started.elapsed();
        }
        Ok(())
    };
    let summary = hunt(&options, slots(&world, 2), Ledger::default(), &Interrupt::default(), &sink).unwrap();
    assert!(*last_problem.lock().unwrap() <= time + Duration::from_millis(50));
    assert!(started.elapsed() < time * 5 / 4 + Duration::from_millis(250), "{:?}", started.elapsed());
    assert!(summary.problems > 10);
    assert!(!summary.interrupted);
}

#[test]
fn no_problem_is_begun_that_would_usually_not_end_in_time() {
    let world = World::paced(Vec::new(), Duration::from_millis(40));
    let time = Duration::from_millis(400);
    let options = HuntOptions { time: Some(time), problems_max: None, ..problems(0) };
    let started = Instant::now();
    let last: Mutex<Duration> = Mutex::default();
    let sink = |entry: &Entry| {
        if matches!(entry.event, HuntEvent::ProblemStarted { .. }) {
            *last.lock().unwrap() = started.elapsed();
        }
        Ok(())
    };
    hunt(&options, slots(&world, 1), Ledger::default(), &Interrupt::default(), &sink).unwrap();
    let last = *last.lock().unwrap();
    assert!(last <= Duration::from_millis(365) && last > Duration::from_millis(200), "{last:?}");
}

#[test]
fn a_survey_that_outlasts_the_extra_quarter_is_cut_off_and_that_is_no_interruption() {
    let world = World::paced(Vec::new(), Duration::from_secs(60));
    let time = Duration::from_millis(200);
    let options = HuntOptions { time: Some(time), problems_max: None, ..problems(0) };
    let interrupt = Interrupt::default();
    let scripts = vec![Script { interrupt: interrupt.clone(), ..Script::new(&world) }];
    let started = Instant::now();
    let summary = hunt(&options, scripts, Ledger::default(), &interrupt, &|_| Ok(())).unwrap();
    assert!(started.elapsed() < time * 5 / 4 + Duration::from_millis(250), "{:?}", started.elapsed());
    assert!(!summary.interrupted);
    assert_eq!((summary.problems, summary.slots_lost), (0, 0));
}

#[test]
fn serious_leads_share_the_time_that_is_left_so_that_each_of_them_is_confirmed() {
    // Minimized to the end, one pair after the other, they would take longer than there is time.
    let regions: [fn(&Case) -> bool; 2] = [|case| case.problem.n >= 2, |case| case.problem.c >= 2];
    let engines = [0, 1, 2];
    let planted = engines
        .into_iter()
        .flat_map(|engine| regions.into_iter().map(move |region| planted(Some(engine), How::Wrong, region)));
    let world = World::paced(planted.collect(), Duration::from_millis(20));
    let lines = [
        "fprop f32 nchw n9 c9 k9 i9x9 f3x3 p1x1",
        "dgrad f32 nchw n9 c9 k9 i9x9 f3x3 p1x1",
        "wgrad f32 nchw n9 c9 k9 i9x9 f3x3 p1x1",
    ];
    let options =
        HuntOptions { time: Some(Duration::from_millis(1500)), explanation: None, ..listed(&lines) };
    let (summary, _) = run(&options, &world);
    assert_eq!((summary.findings.len(), summary.unsettled), (9, 0), "{:?}", summary.findings);
    assert!(summary.findings.iter().all(|finding| (finding.hits, finding.runs) == (3, 3)));
    assert!(summary.findings.iter().all(|finding| finding.predicate_calls > 0));
    assert!(summary.findings.iter().any(|finding| !finding.one_minimal), "the time was short");
}
