//! Blame, skips and the end of a job, without any process.

use case::{Announcement, Candidate, Config, Ended, Exit, Job, Phase, Ranks, Reply, Selection};

use super::{Progress, Step};
use crate::error::HarnessError;
use crate::health;
use crate::process::End;
use crate::slot::JobEvent;

fn candidates(engines: &[i64]) -> Vec<Candidate> {
    let candidate = |engine: &i64| Candidate {
        config: Config { engine: *engine, knobs: Vec::new() },
        ranks: Ranks::default(),
    };
    engines.iter().map(candidate).collect()
}

fn survey() -> Progress {
    Progress::new(&Job { selection: Selection::All, ..health::job(false) })
}

fn death(job: u64, ordinal: u32) -> End {
    let announcement = Some(Announcement { job, ordinal, phase: Phase::Plan, sequence: 9 });
    End { exit: Exit::Signalled(11), announcement, printed: "words".to_owned() }
}

/// A worker that gets the job, lists these engines and dies over the one at that position.
fn dies(
    progress: &mut Progress,
    number: u64,
    engines: &[i64],
    ordinal: u32,
) -> Result<Vec<JobEvent>, HarnessError> {
    assert!(progress.attempt(number).is_some(), "something is left");
    let mut events = Vec::new();
    let list = Reply::Candidates { job: number, candidates: candidates(engines) };
    assert_eq!(progress.hear(list, &mut |event| events.push(event)).unwrap(), Step::Listen);
    progress.bury(death(number, ordinal), &mut |event| events.push(event))?;
    Ok(events)
}

#[test]
fn blamed_configurations_are_skipped_until_none_is_left() {
    let mut progress = survey();
    assert_eq!(dies(&mut progress, 1, &[4, 7], 1).unwrap().len(), 2, "the list and the outcome");
    assert_eq!(progress.attempt(2).unwrap().skip, [Config { engine: 7, knobs: Vec::new() }]);
    let events = dies(&mut progress, 2, &[4], 0).unwrap();
    let [JobEvent::Outcome(outcome)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(outcome.candidate, candidates(&[4]).pop());
    assert_eq!((outcome.exit, outcome.phase, &*outcome.stderr), (Exit::Signalled(11), Phase::Plan, "words"));
    assert_eq!(progress.attempt(3), None);
}

#[test]
fn a_worker_that_visits_what_it_was_told_to_skip_is_our_own_trouble() {
    let mut progress = survey();
    dies(&mut progress, 1, &[4, 7], 0).unwrap();
    let error = dies(&mut progress, 2, &[4, 7], 0).unwrap_err();
    assert!(matches!(error, HarnessError::Broken { .. }), "{error}");
}

#[test]
fn a_death_with_another_jobs_announcement_blames_nobody_and_three_are_our_own_trouble() {
    let mut progress = survey();
    let mut sink = |event| panic!("nobody is blamed: {event:?}");
    for number in [5, 6] {
        assert_eq!(progress.attempt(number).unwrap().skip, []);
        progress.bury(death(number - 1, 0), &mut sink).unwrap();
    }
    assert!(progress.attempt(7).is_some());
    let nothing = End { announcement: None, ..death(0, 0) };
    assert!(matches!(progress.bury(nothing, &mut sink), Err(HarnessError::Broken { .. })));
    assert_eq!((progress.tally.deaths, progress.tally.outcomes), (3, 0));
}

#[test]
fn a_position_outside_the_list_names_no_candidate_and_ends_the_job() {
    let mut progress = survey();
    let events = dies(&mut progress, 1, &[4, 7], 2).unwrap();
    let Some(JobEvent::Outcome(outcome)) = events.last() else { panic!("{events:?}") };
    assert_eq!(outcome.candidate, None);
    assert_eq!(progress.attempt(2), None);
}

#[test]
fn a_death_in_the_history_accuses_nothing_and_says_that_the_case_never_ran() {
    let mut progress = survey();
    assert!(progress.attempt(1).is_some());
    let mut events = Vec::new();
    progress.bury(death(1, Announcement::HISTORY), &mut |event| events.push(event)).unwrap();
    let [JobEvent::Outcome(outcome)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((&outcome.candidate, outcome.exit, &*outcome.stderr), (&None, Exit::Answered, "words"));
    let ended = outcome.observation.as_ref().map(|seen| &seen.ended);
    let reason = "a case of the history ended the worker in phase plan".to_owned();
    assert_eq!(ended, Some(&Ended::Skipped(reason)));
    assert_eq!(progress.attempt(2), None);
}
