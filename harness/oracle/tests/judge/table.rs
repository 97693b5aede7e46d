//! One test a row: what a run showed, and the verdict that follows.

use case::{
    Ended, Exit, Fault, Kind, OutputFill, Phase, Ranks, Role, Tier, Untrusted, Verdict, Zone, ZoneHit,
};
use oracle::{is_odd, judge};

use crate::scene::{LINE, answered, case, fault, notes, perfect, run};

/// Judges the perfect run of [`LINE`] after one change.
fn judged(change: impl FnOnce(&mut case::Outcome)) -> Verdict {
    let case = case(LINE);
    let mut outcome = perfect(&case, &notes(&[]));
    change(&mut outcome);
    judge(&case, &outcome)
}

fn changed(outcome: &mut case::Outcome, index: usize, change: impl FnOnce(&mut case::Execution)) {
    change(&mut outcome.observation.as_mut().unwrap().executions[index]);
}

fn named(fault: &Fault) -> (Kind, Phase, &str, Tier) {
    (fault.sameness.kind, fault.sameness.phase, fault.sameness.cause.as_str(), fault.tier)
}

#[test]
fn a_right_run_passes() {
    assert_eq!(judged(|_| ()), Verdict::Pass);
    assert!(!is_odd(&Verdict::Pass));
}

#[test]
fn a_signal_is_a_crash_in_the_phase_that_was_announced() {
    let found = fault(judged(|outcome| {
        outcome.exit = Exit::Signalled(11);
        outcome.phase = Phase::Heuristics;
        outcome.observation = None;
    }));
    // Whoever asks heuristics meets it, whatever engine is asked about.
    assert_eq!(named(&found), (Kind::Crash, Phase::Heuristics, "sigsegv", Tier::A));
    assert_eq!(found.sameness.engine, Some(7));
}

#[test]
fn a_process_that_ends_itself_is_a_crash() {
    let found = fault(judged(|outcome| {
        outcome.exit = Exit::Exited(3);
        outcome.phase = Phase::Plan;
    }));
    assert_eq!(named(&found), (Kind::Crash, Phase::Plan, "exit_3", Tier::B));
}

#[test]
fn a_kill_from_outside_and_a_panic_of_the_worker_are_not_the_librarys_faults() {
    for exit in [Exit::Signalled(9), Exit::Signalled(15), Exit::Exited(101)] {
        let verdict = judged(|outcome| outcome.exit = exit);
        assert!(matches!(verdict, Verdict::Untrusted(Untrusted::Skipped(_))), "{exit:?}: {verdict:?}");
    }
}

#[test]
fn a_missed_deadline_is_a_hang_in_its_phase() {
    let found = fault(judged(|outcome| {
        outcome.exit = Exit::TimedOut(10_000);
        outcome.phase = Phase::Sync;
    }));
    assert_eq!(named(&found), (Kind::Hang, Phase::Sync, "deadline", Tier::B));
    assert!(found.summary.contains("10000 ms"), "{}", found.summary);
}

#[test]
fn slowness_on_a_large_problem_is_no_hang() {
    // dgrad engine 2 of cuDNN 9.19.0 takes 6.4 s for each execution of a problem with 2^24 elements.
    let verdict = judged(|outcome| {
        outcome.exit = Exit::TooSlow(20_000);
        outcome.phase = Phase::Sync;
    });
    let Verdict::Untrusted(Untrusted::Skipped(reason)) = verdict else { panic!("{verdict:?}") };
    assert_eq!(
        reason,
        "sync did not end within 20000 ms, which is no proof of a hang for so large a problem"
    );
}

#[test]
fn a_deadline_missed_by_our_own_kernels_accuses_no_library() {
    for phase in [Phase::Allocate, Phase::ReadBack] {
        let verdict = judged(|outcome| {
            outcome.exit = Exit::TimedOut(10_000);
            outcome.phase = phase;
        });
        assert!(matches!(verdict, Verdict::Untrusted(Untrusted::Skipped(_))), "{phase:?}: {verdict:?}");
    }
}

#[test]
fn a_cuda_error_after_success_is_a_device_fault() {
    let device = |code, name: &str| {
        let ended = Ended::Device { phase: Phase::Sync, code, name: name.to_owned(), sticky: true };
        judge(&case(LINE), &answered(notes(&[]), ended, Vec::new()))
    };
    let found = fault(device(700, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    assert_eq!(named(&found), (Kind::Device, Phase::Sync, "cuda_error_illegal_address", Tier::B));
    let memory = device(2, "CUDA_ERROR_OUT_OF_MEMORY");
    assert!(matches!(memory, Verdict::Untrusted(Untrusted::Skipped(_))), "{memory:?}");
}

#[test]
fn a_cuda_error_in_our_own_kernels_accuses_no_library() {
    for phase in [Phase::Allocate, Phase::ReadBack, Phase::Judge] {
        let name = "ILLEGAL_ADDRESS".to_owned();
        let ended = Ended::Device { phase, code: 700, name, sticky: true };
        let verdict = judge(&case(LINE), &answered(notes(&[]), ended, Vec::new()));
        assert!(matches!(verdict, Verdict::Untrusted(Untrusted::Skipped(_))), "{phase:?}: {verdict:?}");
    }
}

#[test]
fn numbers_beyond_the_reference_are_named() {
    let of = |line: &str| oracle::beyond_reference(&case(line));
    assert_eq!(of("fprop f32 nchw n1 c1 k1 i1 f1 s2147483647"), None);
    let reason = of("fprop f32 nchw n1 c1 k1 i1 f1 s2147483648").unwrap();
    assert!(reason.starts_with("2147483648 is beyond"), "{reason}");
    assert!(of("wgrad f32 nchw n1 c1 k1 i1 f1 p1099511627776:1099511627776 s1099511627776").is_some());
}

#[test]
fn what_was_not_run_is_untrusted_and_what_was_only_described_passes() {
    let ended = |ended| judge(&case(LINE), &answered(notes(&[]), ended, Vec::new()));
    let skipped = Verdict::Untrusted(Untrusted::Skipped("memory".to_owned()));
    assert_eq!(ended(Ended::Skipped("memory".to_owned())), skipped);
    assert_eq!(ended(Ended::Described), Verdict::Pass);
    assert!(matches!(ended(Ended::Completed), Verdict::Untrusted(Untrusted::Skipped(_))));
    let silent = judged(|outcome| outcome.observation = None);
    assert!(matches!(silent, Verdict::Untrusted(Untrusted::Skipped(_))));
}

#[test]
fn bytes_changed_beside_a_buffer_name_the_buffer_and_the_side() {
    for (zone, after, cause) in [
        (Zone::Tensor(Role::Y), true, "y_after"),
        (Zone::Workspace, false, "workspace_before"),
        (Zone::Tensor(Role::X), false, "x_before"),
    ] {
        let hit = ZoneHit { zone, after, changed: 12, nearest: 0, farthest: 40 };
        let found = fault(judged(|outcome| changed(outcome, 2, |execution| execution.guards = vec![hit])));
        assert_eq!(named(&found), (Kind::Oob, Phase::Judge, cause, Tier::B));
        assert_eq!(found.recipe.unwrap().output, OutputFill::Finite);
        assert!(is_odd(&Verdict::Fault(found)));
    }
}

#[test]
fn a_changed_input_names_its_tensor() {
    let found = fault(judged(|outcome| {
        changed(outcome, 0, |execution| execution.inputs_changed = vec![(Role::W, 3)]);
    }));
    assert_eq!(named(&found), (Kind::Input, Phase::Judge, "w", Tier::B));
}

#[test]
fn references_that_disagree_are_our_own_trouble_but_do_not_hide_a_write_outside() {
    let verdict = judged(|outcome| {
        changed(outcome, 1, |execution| execution.spot.disagreeing = 2);
        changed(outcome, 0, |execution| execution.census.stale = 5);
    });
    assert!(matches!(verdict, Verdict::Untrusted(Untrusted::Reference { disagreeing: 2, .. })));
    let hit = ZoneHit { zone: Zone::Workspace, after: true, changed: 1, nearest: 0, farthest: 0 };
    let found = fault(judged(|outcome| {
        changed(outcome, 1, |execution| execution.spot.disagreeing = 2);
        changed(outcome, 3, |execution| execution.guards = vec![hit]);
    }));
    assert_eq!(found.sameness.kind, Kind::Oob);
}

#[test]
fn other_bits_on_the_same_contents_are_nondeterminism_unless_a_note_allows_it() {
    let differ = |outcome: &mut case::Outcome| {
        changed(outcome, 1, |execution| execution.repeat_differing = Some(4));
    };
    let found = fault(judged(differ));
    assert_eq!(named(&found), (Kind::Nondet, Phase::Judge, "repeat", Tier::B));
    let declared = judged(|outcome| {
        differ(outcome);
        outcome.observation.as_mut().unwrap().notes = notes(&[4]);
    });
    assert_eq!(declared, Verdict::Pass);
}

#[test]
fn other_bits_on_other_workspace_or_output_contents_say_so() {
    let pinned = |rest: &str, index: usize| {
        let case = case(&format!("{LINE} fill=int2:1 {rest}"));
        let mut outcome = perfect(&case, &notes(&[]));
        changed(&mut outcome, index, |execution| execution.repeat_differing = Some(1));
        fault(judge(&case, &outcome)).sameness.cause
    };
    assert_eq!(pinned("out=nan", 2), "workspace");
    assert_eq!(pinned("wsfill=00", 2), "output");
    assert_eq!(pinned("", 1), "repeat");
}

#[test]
fn a_wrong_result_takes_precedence_over_nondeterminism() {
    let case = case(LINE);
    let wrong = |recipe: &case::Recipe, index, exact| {
        if recipe.repeats.is_some() && index == 3 { exact + 1.0 } else { exact }
    };
    let mut outcome = run(&case, &notes(&[]), wrong);
    changed(&mut outcome, 1, |execution| execution.repeat_differing = Some(1));
    assert_eq!(fault(judge(&case, &outcome)).sameness.kind, Kind::Wrong);
}

#[test]
fn a_heuristic_list_makes_it_tier_a_and_a_narrow_workspace_alignment_tier_c() {
    let found = |line: &str, ranks| {
        let case = case(line);
        let mut outcome = run(&case, &notes(&[]), |_, _, exact| exact + 1.0);
        outcome.observation.as_mut().unwrap().candidate.as_mut().unwrap().ranks = ranks;
        fault(judge(&case, &outcome)).tier
    };
    let fallback = Ranks { fallback: Some(2), ..Ranks::default() };
    assert_eq!(found(LINE, Ranks::default()), Tier::B);
    assert_eq!(found(LINE, fallback), Tier::A);
    assert_eq!(found(&format!("{LINE} ws=exact@16"), fallback), Tier::C);
    assert_eq!(found(&format!("{LINE} ws=exact@512"), fallback), Tier::A);
}

#[test]
fn a_case_that_expects_refusal_faults_when_it_is_accepted_and_a_crash_stays_a_crash() {
    let refuse = case("fprop f16 nchw n1 c2 k2 i4x4 f3x3 p1x1 y=9x9 engine=7 expect=refuse");
    let accepted = fault(judge(&refuse, &answered(notes(&[]), Ended::Completed, Vec::new())));
    assert_eq!(named(&accepted), (Kind::Accepted, Phase::Execute, "accepted", Tier::B));
    let mut crashed = answered(notes(&[]), Ended::Completed, Vec::new());
    crashed.exit = Exit::Signalled(6);
    crashed.phase = Phase::Describe;
    assert_eq!(fault(judge(&refuse, &crashed)).sameness.kind, Kind::Crash);
    let skipped = answered(notes(&[]), Ended::Skipped("memory".to_owned()), Vec::new());
    assert!(matches!(judge(&refuse, &skipped), Verdict::Untrusted(Untrusted::Skipped(_))));
}

#[test]
fn a_check_that_could_see_nothing_is_untrusted_unless_a_fault_was_found() {
    let zero = case(&format!("{LINE} fill=zero:1"));
    let verdict = judge(&zero, &perfect(&zero, &notes(&[])));
    assert!(matches!(verdict, Verdict::Untrusted(Untrusted::Vacuous { non_zero: 0, .. })), "{verdict:?}");
    assert!(is_odd(&verdict));
    let wrong = run(&zero, &notes(&[]), |_, _, exact| exact + 1.0);
    assert_eq!(fault(judge(&zero, &wrong)).sameness.kind, Kind::Wrong);
}

#[test]
fn few_inputs_that_are_kept_on_purpose_are_judged_unless_no_output_sees_them() {
    let single = case(&format!("{LINE} fill=int2:1 keep=x:5,w:0"));
    assert_eq!(judge(&single, &perfect(&single, &notes(&[]))), Verdict::Pass);
    let stray = run(&single, &notes(&[]), |_, index, exact| if index == 31 { 1.0 } else { exact });
    assert_eq!(fault(judge(&single, &stray)).sameness.kind, Kind::Wrong);
    // The one pixel lies where the one tap never comes.
    let unseen = case("fprop f32 nchw n1 c1 k1 i4 f2 engine=7 fill=int2:1 keep=x:0,w:1");
    let verdict = judge(&unseen, &perfect(&unseen, &notes(&[])));
    assert!(matches!(verdict, Verdict::Untrusted(Untrusted::Vacuous { non_zero: 0, .. })), "{verdict:?}");
}

#[test]
fn outputs_without_products_do_not_make_a_check_vacuous() {
    let strided = case("dgrad f32 nchw n1 c3 k2 i5x5 f1x1 s2x2");
    assert_eq!(judge(&strided, &perfect(&strided, &notes(&[]))), Verdict::Pass);
    let stray = run(&strided, &notes(&[]), |_, index, exact| if index == 1 { 1.0 } else { exact });
    assert_eq!(fault(judge(&strided, &stray)).sameness.kind, Kind::Wrong);
}
