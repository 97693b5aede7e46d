//! Statuses by phase: what the library may answer, in the numbers of both major versions.

use case::{Ended, Kind, Phase, Ranks, Refusal, Tier, Untrusted, Verdict};
use oracle::judge;

use crate::scene::{LINE, answered, case, fault, notes};

fn judged(line: &str, status: i32, phase: Phase, recommended: bool) -> Verdict {
    let refusal = Refusal { phase, status, name: format!("STATUS_{status}"), reason: String::new() };
    let mut outcome = answered(notes(&[]), Ended::Status(refusal), Vec::new());
    if recommended {
        let ranks = Ranks { a: Some(0), ..Ranks::default() };
        outcome.observation.as_mut().unwrap().candidate.as_mut().unwrap().ranks = ranks;
    }
    judge(&case(line), &outcome)
}

#[derive(Debug, PartialEq)]
enum Row {
    Unsupported,
    Skipped,
    Passed,
    Faulted(Tier),
}

fn row(verdict: Verdict, phase: Phase) -> Row {
    match verdict {
        Verdict::Unsupported(_) => Row::Unsupported,
        Verdict::Untrusted(Untrusted::Skipped(_)) => Row::Skipped,
        Verdict::Pass => Row::Passed,
        Verdict::Fault(fault) => {
            assert_eq!((fault.sameness.kind, fault.sameness.phase), (Kind::Status, phase));
            Row::Faulted(fault.tier)
        }
        Verdict::Untrusted(_) => panic!("{verdict:?}"),
    }
}

#[test]
fn each_status_is_judged_by_its_family_and_phase() {
    use Row::{Faulted, Skipped, Unsupported};
    use Tier::{A, B, C};
    let (describe, plan, execute) = (Phase::Describe, Phase::Plan, Phase::Execute);
    let table = [
        // A refusal is no failure before a plan exists, unless the library itself recommended it.
        (3000, plan, false, Unsupported),
        (3007, plan, false, Unsupported),
        (3002, describe, false, Unsupported),
        (9, plan, false, Unsupported),
        (6, plan, false, Unsupported),
        (3000, plan, true, Faulted(A)),
        (9, plan, true, Faulted(A)),
        // After a finalized plan it is one.
        (3000, execute, false, Faulted(B)),
        (9, execute, true, Faulted(A)),
        (2003, execute, false, Faulted(B)),
        // Blaming the caller of a valid problem is doubtful: our rules may be wrong.
        (2000, describe, false, Faulted(C)),
        (3, describe, false, Faulted(C)),
        (2000, plan, false, Faulted(C)),
        (2000, plan, true, Faulted(A)),
        // Blaming itself is a fault anywhere.
        (4000, plan, false, Faulted(B)),
        (4001, plan, true, Faulted(A)),
        (4, plan, false, Faulted(B)),
        (5000, execute, false, Faulted(B)),
        (8, execute, false, Faulted(B)),
        (1002, plan, false, Faulted(B)),
        (1007, execute, false, Faulted(B)),
        (7777, plan, false, Faulted(B)),
        (-1, plan, false, Faulted(B)),
        // Memory and missing files prove nothing.
        (4003, plan, true, Skipped),
        (4004, execute, false, Skipped),
        (2, execute, false, Skipped),
        (1001, plan, false, Skipped),
        (1008, plan, false, Skipped),
    ];
    for (status, phase, recommended, expected) in table {
        let verdict = judged(LINE, status, phase, recommended);
        assert_eq!(row(verdict, phase), expected, "{status} in {phase:?}, recommended {recommended}");
    }
}

#[test]
fn a_case_that_expects_refusal_passes_on_a_clean_one_only() {
    let line = "fprop f16 nchw n0 c2 k2 i4x4 f3x3 engine=7 expect=refuse";
    for (status, phase, expected) in [
        (2000, Phase::Describe, Row::Passed),
        (3002, Phase::Plan, Row::Passed),
        (3, Phase::Describe, Row::Passed),
        (4000, Phase::Describe, Row::Faulted(Tier::B)),
        (5000, Phase::Execute, Row::Faulted(Tier::B)),
        (3000, Phase::Execute, Row::Faulted(Tier::B)),
        (4004, Phase::Plan, Row::Skipped),
    ] {
        assert_eq!(row(judged(line, status, phase, false), phase), expected, "{status} in {phase:?}");
    }
}

#[test]
fn the_librarys_words_are_told_on_one_line() {
    let refusal = Refusal {
        phase: Phase::Execute,
        status: 5003,
        name: "EXECUTION_FAILED_CUDART".to_owned(),
        reason: format!("line one\nline\ttwo {}", "long ".repeat(500)),
    };
    let found = fault(judge(&case(LINE), &answered(notes(&[]), Ended::Status(refusal), Vec::new())));
    assert_eq!(found.sameness.cause, "execution_failed_cudart");
    assert!(found.summary.starts_with("EXECUTION_FAILED_CUDART (5003) in execute: line one line two long"));
    assert!(found.summary.chars().count() < 420 && !found.summary.contains(char::is_control));
}
