//! A life ends with its process, keeps what was executed, and is not longer than a history may be.

use case::{Case, Job, Selection};
use exec::JobEvent;

use super::Life;
use crate::bench::Bench;
use crate::bench::script::{How, Script, World, planted};

/// Surveys cases on engines of which 1 always dies and 9 always declines.
fn live(life: &mut Life, process: u64, lines: &[&str]) {
    let world = World::new(vec![planted(Some(1), How::Crash, |_| true)]);
    for line in lines {
        let case: Case = line.parse().unwrap();
        life.goes_on_in(process);
        let job = Job::new(1, case.clone(), Selection::All);
        let mut note = |event| {
            if let JobEvent::Outcome(outcome) = event {
                life.note(&case, &outcome);
            }
        };
        Script::new(&world).run(&job, &mut note).unwrap();
    }
}

fn lines(life: &Life) -> Vec<String> {
    life.history().iter().map(Case::to_string).collect()
}

#[test]
fn what_was_executed_is_kept_in_its_order() {
    let mut life = Life::default();
    live(&mut life, 1, &["fprop f32 nchw n1 c1 k1 i1 f1", "wgrad f32 nchw n1 c1 k1 i1 f1 beta=1"]);
    let expected = [
        "fprop f32 nchw n1 c1 k1 i1 f1 engine=0",
        "fprop f32 nchw n1 c1 k1 i1 f1 engine=2",
        "wgrad f32 nchw n1 c1 k1 i1 f1 engine=0 beta=1",
        "wgrad f32 nchw n1 c1 k1 i1 f1 engine=2 beta=1",
    ];
    assert_eq!(lines(&life), expected);
    live(&mut life, 2, &["dgrad f32 nchw n1 c1 k1 i1 f1"]);
    assert_eq!(lines(&life).len(), 2, "another process knows nothing of the first");
}

#[test]
fn the_latest_of_a_long_life_are_kept() {
    let mut life = Life::default();
    let many: Vec<String> = (1..=70).map(|n| format!("fprop f32 nchw n{n} c1 k1 i1 f1")).collect();
    live(&mut life, 1, &many.iter().map(String::as_str).collect::<Vec<_>>());
    let kept = lines(&life);
    assert_eq!(kept.len(), Case::HISTORY_MAX);
    assert_eq!(kept.last().unwrap(), "fprop f32 nchw n70 c1 k1 i1 f1 engine=2");
}
