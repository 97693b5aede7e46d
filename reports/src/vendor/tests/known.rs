//! Novelty: the list that is built in, and how findings stand to it.

use case::{Case, Kind, Phase, Sameness};

use crate::vendor::novelty::{KnownList, Novelty, Seen, Standing, novelty};

fn stand(line: &str, (kind, cause, engine): (Kind, &str, Option<i64>), cudnn: &str) -> Novelty {
    let case: Case = line.parse().unwrap();
    let sameness = Sameness::new(kind, case.problem.operation, Phase::Judge, cause, engine);
    novelty(&Seen { case: &case, sameness: &sameness, cudnn }, &KnownList::built_in())
}

#[test]
fn the_built_in_list_is_read_whole() {
    let seen = stand("fprop f32 nchw n1 c1 k1 i1 f1", (Kind::Accepted, "accepted", None), "9.19.0");
    assert!(seen.compared >= 130, "{} reports", seen.compared);
    assert_eq!((seen.standing, seen.matches.len()), (Standing::New, 0));
}

#[test]
fn a_finding_of_the_corpus_is_known_by_its_signature() {
    let seen = stand("wgrad f32 nchw n1 c1 k1 i1 f2 p1:0", (Kind::Wrong, "nan", Some(20)), "9.28.0");
    assert_eq!(seen.standing, Standing::Known);
    assert_eq!(seen.matches[0].source, "corpus/regressions/9.19.0-wgrad-e20-wrong-judge-nan-f32-nchw");
    assert_eq!(seen.matches[0].rule, "same signature wgrad-e20-wrong-judge-nan-f32-nchw");
}

#[test]
fn a_public_report_with_the_same_numbers_is_known_within_its_versions_and_similar_outside() {
    let line = "fprop bf16 nchw n1 c16 k16 i124x1282x722 f1x3x3";
    let seen = stand(line, (Kind::Wrong, "finite", Some(7)), "9.10.2");
    assert_eq!(seen.standing, Standing::Known);
    assert_eq!(seen.matches[0].url, "https://github.com/pytorch/pytorch/issues/163539");
    let rule = &seen.matches[0].rule;
    for part in ["same operation", "kind wrong", "bf16", "cuDNN 9.10.2 within", "every number of the case"] {
        assert!(rule.contains(part), "{rule}");
    }
    let fixed = stand(line, (Kind::Wrong, "finite", Some(7)), "9.13.0");
    assert_eq!(fixed.standing, Standing::Similar);
    assert!(fixed.matches[0].rule.contains("; but cuDNN 9.13.0 outside"), "{}", fixed.matches[0].rule);
}

#[test]
fn another_type_engine_or_kind_is_no_match() {
    let line = "fprop f64 nchw n1 c16 k16 i124x1282x722 f1x3x3";
    let report = |seen: &Novelty| seen.matches.iter().any(|matched| matched.id == "R01");
    assert!(!report(&stand(line, (Kind::Wrong, "finite", Some(7)), "9.10.2")));
    let nondet =
        |engine| stand("fprop f16 nchw n1 c8 k8 g8 i9x9 f3x3", (Kind::Nondet, "repeat", engine), "9.23.1");
    let names = |seen: &Novelty| seen.matches.iter().any(|matched| matched.id == "R10");
    assert!(names(&nondet(Some(5))));
    assert!(!names(&nondet(Some(6))));
}

#[test]
fn a_list_of_another_form_is_refused() {
    let error = KnownList::read(r#"{"format":2,"provenance":"","entries":[]}"#).unwrap_err();
    assert!(error.to_string().contains("'2' is not 1"), "{error}");
    assert!(KnownList::read("[]").is_err());
}
