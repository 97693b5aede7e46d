//! The one form of an entry, and what is said of any other. Reads no file.

use super::*;
use crate::date::Date;
use crate::facts::Configuration;
use crate::revision::Revision;

const SEED: &str = r#"{
  "format": 1,
  "signature": null,
  "case": "fprop f32 nchw n1 c1 k1 i4 f1",
  "engine_free_case": "fprop f32 nchw n1 c1 k1 i4 f1",
  "provenance": {
    "source": "convict",
    "url": null,
    "date": "2026-12-02",
    "cudnn": null,
    "symptom": "none"
  },
  "expectations": [
    {
      "cudnn_from": "9.8",
      "cudnn_to": null,
      "configuration": null,
      "architectures": [],
      "expect": "fail",
      "rate": 1.0,
      "reason": "seen",
      "ticket": null,
      "resolution": null,
      "owner": null,
      "review_by": "2026-06-30"
    }
  ]
}
"#;

fn set(name: &str, version: &str, configuration: Configuration) -> SetFacts {
    SetFacts {
        name: name.to_owned(),
        version: version.parse().expect("a version"),
        configuration: Some(configuration),
        architecture: "sm_90".to_owned(),
    }
}

fn complaint(old: &str, new: &str) -> String {
    assert!(SEED.contains(old), "{old}");
    Entry::read(&SEED.replacen(old, new, 1)).expect_err(new).to_string()
}

#[test]
fn the_canonical_form_reads_back_as_it_was() {
    let entry = Entry::read(SEED).expect("an entry");
    assert_eq!(entry.print(), SEED);
}

#[test]
fn what_an_entry_must_not_say_is_told_in_one_line() {
    let table = [
        (
            "\"format\": 1",
            "\"format\": 2",
            "form 2 is newer than 1, the one that this convict reads: update convict",
        ),
        ("\"format\": 1", "\"format\": 0", "format: '0' is not 1"),
        ("i4 f1\",\n  \"engine", "i4 f9\",\n  \"engine", "case: bad case: "),
        (
            "i4 f1\",\n  \"engine",
            "i4  f1\",\n  \"engine",
            "case: not in canonical form, which is 'fprop f32 nchw n1",
        ),
        (
            "\"engine_free_case\": \"fprop",
            "\"engine_free_case\": \"dgrad",
            "engine_free_case: expected 'fprop",
        ),
        ("\"signature\"", "\"sign\"", "unknown field `sign`"),
        ("\"9.8\"", "\"nine\"", "'nine' is no version"),
        ("\"2026-06-30\"", "\"June\"", "'June' is no day as YYYY-MM-DD"),
        ("\"rate\": 1.0", "\"rate\": 1.5", "expectation 1: rate: must be above 0"),
        (
            "\"signature\": null,\n",
            "\"signature\": null,\n\n",
            "not in canonical form at line 4: expected '\"case\":",
        ),
        ("]\n}\n", "]\n}", "one newline"),
        ("{", "", "expected"),
    ];
    for (old, new, words) in table {
        let error = complaint(old, new);
        assert!(error.contains(words) && error.lines().count() == 1, "{new}: {error}");
    }
}

#[test]
fn expectations_that_contradict_each_other_are_refused_and_those_that_do_not_meet_are_not() {
    let mut entry = Entry::read(SEED).expect("an entry");
    let mut second = entry.expectations[0].clone();
    second.expect = crate::Expect::Pass;
    second.rate = None;
    entry.expectations.push(second);
    let error = Entry::read(&entry.print()).expect_err("both hold from 9.8 on").to_string();
    assert!(error.contains("expectations 1 and 2 contradict each other"), "{error}");
    entry.expectations[0].cudnn_to = "9.10".parse().ok();
    entry.expectations[1].cudnn_from = "9.10".parse().ok();
    Entry::read(&entry.print()).expect("ranges side by side");
}

#[test]
fn a_pinned_engine_is_asked_on_its_own_set_and_its_problem_on_others() {
    let case: Case = "fprop f32 nchw n1 c1 k1 i4 f1 engine=7 set=9.19.0-full".parse().expect("a case");
    let mut entry = Entry::new(&case, None, Vec::new());
    let run = |entry: &Entry, name: &str, version: &str, configuration| {
        let (case, engine_free) = entry.case_on(&set(name, version, configuration)).expect("a case");
        assert_eq!(case.to_string().contains("engine=7"), !engine_free);
        engine_free
    };
    assert!(!run(&entry, "9.19.0-full", "9.19.0", Configuration::Full));
    assert!(run(&entry, "9.20.0-full", "9.20.0", Configuration::Full));
    // The simulator goes by the name of a real set.
    assert!(run(&entry, "9.19.0-full", "9.19.0", Configuration::Simulator));
    entry.expectations = Entry::read(SEED).expect("an entry").expectations;
    entry.expectations[0].configuration = Some(Configuration::Simulator);
    assert!(!run(&entry, "9.19.0-full", "9.19.0", Configuration::Simulator));
    // Nor do the simulator's engines mean anything on a real set of its name.
    assert!(run(&entry, "9.19.0-full", "9.19.0", Configuration::Full));
}

#[test]
fn a_review_that_is_due_is_noticed() {
    let entry = Entry::read(SEED).expect("an entry");
    let day = |text: &str| text.parse::<Date>().expect("a day");
    assert_eq!(entry.overdue(day("2026-06-30")).count(), 0);
    assert_eq!(entry.overdue(day("2026-07-01")).count(), 1);
}

#[test]
fn an_unexpected_right_result_closes_the_range_before_its_version() {
    let entry = Entry::read(SEED).expect("an entry");
    let newer = set("9.20.0-full", "9.20.0", Configuration::Full);
    let revision = Revision::close(&entry, &newer).expect("a revision");
    let expected =
        "expectation 1: \"cudnn_to\": null -> \"9.20.0\", \"resolution\": null -> \"right on 9.20.0\"";
    assert_eq!(revision.words, expected);
    assert!(revision.entry.expectation_on(&newer).is_none());
    assert!(revision.entry.expectation_on(&set("x", "9.19.9", Configuration::Full)).is_some());
    Entry::read(&revision.entry.print()).expect("still an entry");
    let first = set("9.8.0-full", "9.8.0", Configuration::Full);
    let removed = Revision::close(&entry, &first).expect("a revision");
    assert!(
        removed.entry.expectations.is_empty() && removed.words.contains("remove it"),
        "{}",
        removed.words
    );
    assert_eq!(Revision::close(&entry, &set("x", "9.1", Configuration::Full)), None);
}
