//! The known-good case is sound, and only a complete right answer to it passes.

use case::{Census, Ended, Execution, Exit, Observation, Outcome, Phase, Refusal};
use case::{
    Fill, FillKind, Notes, OutputFill, Recipe, ReferenceFacts, SpotCheck, WorkspaceFill, Zone, ZoneHit,
};

use crate::error::HarnessError;

use super::{Complaint, complaint, job};

fn outcome(exit: Exit, ended: Ended, differing: u64) -> Outcome {
    let execution = Execution {
        recipe: Recipe {
            fill: Fill { kind: FillKind::Int2, seed: 1 },
            output: OutputFill::Nan,
            workspace: WorkspaceFill::Ones,
            repeats: None,
        },
        reference: ReferenceFacts::default(),
        spot: SpotCheck::default(),
        census: Census { checked: 4, differing, ..Census::default() },
        guards: Vec::new(),
        inputs_changed: Vec::new(),
        repeat_differing: None,
        excerpt: Vec::new(),
        execute_us: 1,
    };
    let observation = Observation {
        candidate: None,
        notes: Notes::default(),
        workspace_bytes: 0,
        plan_us: 1,
        ended,
        executions: vec![execution],
        planning: None,
    };
    let observation = (exit == Exit::Answered).then_some(observation);
    Outcome { candidate: None, exit, phase: Phase::Sync, observation, stderr: String::new() }
}

#[test]
fn the_known_good_case_is_valid_and_small() {
    assert_eq!(job(false).case.to_string(), "fprop f32 nchw n1 c1 k1 i1x4 f1x1 fill=int2:1");
    assert_eq!(job(false).case.validate(), Ok(()));
}

#[test]
fn only_a_complete_right_answer_is_no_complaint() {
    let right = outcome(Exit::Answered, Ended::Completed, 0);
    assert_eq!(complaint(std::slice::from_ref(&right), false), None);
    let mut unexecuted = right.clone();
    unexecuted.observation.as_mut().unwrap().executions.clear();
    let mut trampled = right.clone();
    let hit = ZoneHit { zone: Zone::Workspace, after: true, changed: 1, nearest: 0, farthest: 0 };
    trampled.observation.as_mut().unwrap().executions[0].guards.push(hit);
    let bad = [
        outcome(Exit::Answered, Ended::Completed, 1),
        outcome(Exit::Answered, Ended::Skipped("no memory".to_owned()), 0),
        outcome(Exit::Signalled(11), Ended::Completed, 0),
        unexecuted,
        trampled,
    ];
    for outcome in bad {
        assert!(complaint(std::slice::from_ref(&outcome), false).is_some(), "{outcome:?}");
    }
    assert!(complaint(&[], false).is_some() && complaint(&[right.clone(), right], false).is_some());
}

#[test]
fn a_worker_that_only_plans_is_sound_when_it_plans() {
    let planned = [outcome(Exit::Answered, Ended::Described, 0)];
    assert_eq!(complaint(&planned, true), None);
    assert!(complaint(&planned, false).is_some());
    assert!(complaint(&[outcome(Exit::Answered, Ended::Completed, 0)], true).is_some());
    let unlisted = Ended::Skipped("heuristics A list 0 configurations, none at rank 0".to_owned());
    assert_eq!(complaint(&[outcome(Exit::Answered, unlisted, 0)], true), None);
    assert_eq!(job(true).selection, case::Selection::Describe);
}

#[test]
fn what_is_wrong_is_said_in_words_and_a_want_of_memory_is_no_illness() {
    let refusal = |status: i32, name: &str| {
        Ended::Status(Refusal { phase: Phase::Execute, status, name: name.to_owned(), reason: String::new() })
    };
    let device = |code: i32, name: &str| Ended::Device {
        phase: Phase::Allocate,
        code,
        name: name.to_owned(),
        sticky: false,
    };
    let share = "47680 bytes exceed this worker's share of 0".to_owned();
    for (exit, ended, words, starved) in [
        (Exit::Answered, device(2, "OUT_OF_MEMORY"), "CUDA returned OUT_OF_MEMORY (2) in allocate", true),
        (Exit::Answered, device(700, "ILLEGAL_ADDRESS"), "ILLEGAL_ADDRESS (700) in allocate", false),
        (Exit::Answered, refusal(4004, "D"), "cuDNN returned D (4004) in execute", true),
        (Exit::Answered, refusal(5000, "E"), "cuDNN returned E (5000) in execute", false),
        (Exit::Answered, Ended::Skipped(share), "exceed this worker's share", true),
        (Exit::Signalled(11), Ended::Completed, "the process was ended by signal 11 in sync", false),
        (Exit::TimedOut(250), Ended::Completed, "nothing came within 250 ms in sync", false),
    ] {
        let said: Complaint = complaint(&[outcome(exit, ended, 0)], false).expect(words);
        assert!(said.words.contains(words) && !said.words.contains('{'), "{words}: {said:?}");
        assert_eq!(said.starved, starved, "{said:?}");
        let told = HarnessError::from(said).to_string();
        assert_eq!(told.contains("unhealthy"), !starved, "{told}");
        assert_eq!(told.contains("too little device memory"), starved, "{told}");
    }
}
