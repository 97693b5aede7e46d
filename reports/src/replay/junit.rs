//! A replay as a JUnit file, the form that every pipeline reads. Knows which state is which element.

use std::time::Duration;

use corpus::{Record, State};
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::Replayed;

/// The file's text.
///
/// # Errors
/// An element that can't be written: our own trouble.
pub fn junit(replayed: &Replayed<'_>) -> Result<String, String> {
    let mut report = Report::new("convict replay");
    report.set_time(duration(replayed.seconds));
    let mut suite = TestSuite::new("corpus");
    suite.set_time(duration(replayed.seconds));
    suite.add_property(Property::new("libraries", replayed.described));
    for record in replayed.records {
        suite.add_test_case(case(record, replayed.strict));
    }
    for trouble in replayed.troubles {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("UNREADABLE").set_message(trouble.clone());
        let name = trouble.split_once(": ").map_or(trouble.as_str(), |(file, _)| file);
        let mut case = TestCase::new(name.to_owned(), status);
        case.set_classname("corpus");
        suite.add_test_case(case);
    }
    report.add_test_suite(suite);
    report.to_string().map(|text| named_as_in_the_schema(&text)).map_err(|error| error.to_string())
}

/// The schemas know `skipped` of a suite, and not of all suites together. Quotes within values are escaped, so that
/// only the attribute can be met.
pub(crate) fn named_as_in_the_schema(text: &str) -> String {
    let Some((head, suites)) = text.split_once("<testsuites ") else { return text.to_owned() };
    let (root, rest) = suites.split_once('>').unwrap_or((suites, ""));
    let Some((before, skipped)) = root.split_once(" skipped=\"") else { return text.to_owned() };
    let after = skipped.split_once('"').map_or("", |(_, after)| after);
    format!("{head}<testsuites {before}{after}>{rest}")
}

fn case(record: &Record, strict: bool) -> TestCase {
    let mut case = TestCase::new(record.id.clone(), status(record, strict));
    case.set_classname("corpus");
    case.set_time(duration(record.seconds));
    // Not every schema allows properties of a test case; its output every reader shows.
    let ticket = record.ticket.as_ref().map(|ticket| format!("\nticket     {ticket}"));
    let signature = record.signature.as_ref().map(|signature| format!("\nsignature  {signature}"));
    case.set_system_out(format!(
        "state      {}\ncase       {}{}{}",
        record.state.name(),
        record.case,
        signature.unwrap_or_default(),
        ticket.unwrap_or_default()
    ));
    case
}

/// A test that is expected to fail has no element of its own; like other runners it is a skipped one.
fn status(record: &Record, strict: bool) -> TestCaseStatus {
    let words = format!("{}: {}", record.state.name(), record.why);
    let failed = |kind| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(record.state.name()).set_message(words.clone());
        let again = format!(
            "{words}\n{}\nrepeat it, with the --library or --simulate of this run: convict check '{}'",
            record.file, record.case
        );
        status.set_description(again);
        status
    };
    let skipped = || {
        let mut status = TestCaseStatus::skipped();
        status.set_type(record.state.name()).set_message(words.clone());
        status
    };
    match record.state {
        State::Pass => TestCaseStatus::success(),
        State::Fail => failed(NonSuccessKind::Failure),
        State::Infra => failed(NonSuccessKind::Error),
        State::Xpass | State::Changed if strict => failed(NonSuccessKind::Failure),
        State::Xpass
        | State::Changed
        | State::Xfail
        | State::Flaky
        | State::Unsupported
        | State::Untrusted
        | State::Skipped => skipped(),
    }
}

/// Seconds of a clock are never negative, but may come from a file.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
