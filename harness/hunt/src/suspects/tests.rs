//! The queue alone: what is taken in, in which order it goes out, what is settled.

use case::{Config, Fault, Kind, Operation, Phase, Sameness, Selection, Tier};

use super::{ATTEMPTS_MAX, Lead, Suspects};
use crate::event::{Suspect, provisional};

fn lead(line: &str, kind: Kind, engine: i64, tier: Tier) -> Lead {
    let case: case::Case = line.parse().unwrap();
    let sameness = Sameness::new(kind, Operation::Fprop, Phase::Judge, "finite", Some(engine));
    Lead::Suspect(Box::new(Suspect {
        provisional: provisional(&sameness, &case),
        case,
        selection: Selection::All,
        config: Some(Config { engine, knobs: Vec::new() }),
        fault: Fault { sameness, tier, summary: String::new(), recipe: None },
        history: Vec::new(),
    }))
}

fn wrong(line: &str) -> Lead {
    lead(line, Kind::Wrong, 1, Tier::B)
}

const SMALL: &str = "fprop f32 nchw n1 c2 k2 i4x4 f1x1";
const LARGE: &str = "fprop f32 nchw n9 c9 k9 i9x9 f3x3";
const HALF: &str = "fprop f16 nchw n1 c2 k2 i4x4 f1x1";

#[test]
fn a_failure_is_taken_in_once_and_a_smaller_case_of_it_replaces_the_one_that_waits() {
    let mut suspects = Suspects::default();
    assert!(suspects.offer(wrong(LARGE)));
    assert!(!suspects.offer(wrong(SMALL)));
    assert!(!suspects.offer(wrong(LARGE)));
    assert_eq!(suspects.take(9), Some(wrong(SMALL)));
    assert!(!suspects.offer(wrong(SMALL)), "it is being followed");
    assert_eq!(suspects.take(9), None);
}

#[test]
fn two_leads_of_one_sameness_are_followed_one_after_the_other() {
    let mut suspects = Suspects::default();
    assert!(suspects.offer(wrong(HALF)) && suspects.offer(wrong(SMALL)));
    let first = suspects.take(9).unwrap();
    assert_eq!(first, wrong(SMALL), "the plain types go first");
    assert_eq!(suspects.take(9), None);
    suspects.settle(&first, first.provisional());
    assert_eq!(suspects.take(9), Some(wrong(HALF)));
}

#[test]
fn the_serious_go_before_the_informative_and_no_more_than_allowed_at_once() {
    let mut suspects = Suspects::default();
    for (engine, tier) in [(1, Tier::C), (2, Tier::B), (3, Tier::A)] {
        assert!(suspects.offer(lead(SMALL, Kind::Wrong, engine, tier)));
    }
    assert_eq!(suspects.take(2), Some(lead(SMALL, Kind::Wrong, 3, Tier::A)));
    assert_eq!(suspects.take(2), Some(lead(SMALL, Kind::Wrong, 2, Tier::B)));
    assert_eq!(suspects.take(2), None);
}

#[test]
fn a_lead_that_did_not_come_back_may_be_met_again_a_few_times() {
    let mut suspects = Suspects::default();
    for _ in 0..ATTEMPTS_MAX {
        assert!(suspects.offer(wrong(SMALL)));
        let taken = suspects.take(1).unwrap();
        suspects.shelve(&taken);
    }
    assert!(!suspects.offer(wrong(SMALL)));
    assert!(suspects.is_idle());
}

#[test]
fn a_lead_of_a_slot_that_ended_waits_again() {
    let mut suspects = Suspects::default();
    suspects.offer(wrong(SMALL));
    let taken = suspects.take(1).unwrap();
    suspects.hand_back(taken);
    assert_eq!(suspects.take(1), Some(wrong(SMALL)));
}

#[test]
fn a_sibling_that_waits_under_the_minimized_signature_is_settled_with_it() {
    let mut suspects = Suspects::default();
    suspects.offer(wrong(HALF));
    let taken = suspects.take(1).unwrap();
    let plain = wrong(SMALL);
    suspects.offer(plain.clone());
    suspects.settle(&taken, plain.provisional());
    assert!(suspects.is_idle());
    assert!(!suspects.offer(plain));
}

#[test]
fn inexact_arithmetic_counts_once_for_an_engine_whatever_the_types() {
    let mut suspects = Suspects::default();
    assert!(suspects.offer(lead(SMALL, Kind::Inexact, 4, Tier::C)));
    assert!(!suspects.offer(lead(HALF, Kind::Inexact, 4, Tier::C)));
    assert!(suspects.offer(lead(SMALL, Kind::Inexact, 5, Tier::C)));
}

#[test]
fn what_needs_an_odd_workspace_does_not_stand_for_the_same_failure_without_one() {
    let mut suspects = Suspects::default();
    let odd = lead(&format!("{SMALL} ws=exact@16"), Kind::Crash, 1, Tier::C);
    assert!(suspects.offer(odd.clone()));
    assert_eq!(suspects.take(9), Some(odd.clone()));
    suspects.settle(&odd, odd.provisional());
    assert!(suspects.offer(lead(SMALL, Kind::Crash, 1, Tier::B)));
}

#[test]
fn leads_for_information_are_followed_one_at_a_time_whatever_slots_are_free() {
    let mut suspects = Suspects::default();
    for (engine, tier) in [(1, Tier::C), (2, Tier::C), (3, Tier::B)] {
        assert!(suspects.offer(lead(SMALL, Kind::Wrong, engine, tier)));
    }
    assert_eq!(suspects.serious(), 1);
    let taken: Vec<Lead> = std::iter::from_fn(|| suspects.take(9)).collect();
    assert_eq!(taken.len(), 2, "the serious one and one of the others");
    suspects.settle(&taken[1], taken[1].provisional());
    assert!(suspects.take(9).is_some());
}

#[test]
fn a_new_failure_goes_before_what_resembles_a_finding_however_serious() {
    let mut suspects = Suspects::default();
    let found = lead(SMALL, Kind::Wrong, 1, Tier::A);
    suspects.offer(found.clone());
    suspects.take(1);
    suspects.settle(&found, found.provisional());
    let (variant, new) = (lead(HALF, Kind::Wrong, 1, Tier::A), lead(HALF, Kind::Wrong, 2, Tier::B));
    assert!(suspects.offer(variant.clone()) && suspects.offer(new.clone()));
    assert_eq!(suspects.serious(), 1);
    assert_eq!(suspects.take(9), Some(new));
    assert_eq!(suspects.take(9), Some(variant));
}
