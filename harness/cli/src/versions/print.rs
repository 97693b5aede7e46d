//! What a search over versions came to, as a table and sentences, or as JSON. Knows words; decides nothing.

use bisect::{Answer, Interval};
use comfy_table::{Table, presets};
use serde_json::{Value, json};

use super::{Fate, Found};
use crate::screen::outln;

/// Longest detail of a table's row, characters.
const DETAIL_MAX: usize = 100;

/// An answer with its counts.
pub(super) fn words(answer: Option<Answer>, fate: &Fate) -> String {
    let counts = format!("{} of {} runs", fate.tally.hits, fate.tally.runs);
    match answer {
        Some(Answer::Bad) => format!("bad, {counts}: {}", fate.detail),
        Some(Answer::Good) => format!("good, {counts}"),
        Some(Answer::Skip) => format!("skipped: {}", fate.detail),
        None => "not tried".to_owned(),
    }
}

/// Prints a search over one row.
pub(crate) fn print(found: &Found) {
    let kind = found.kind.as_deref().unwrap_or("no failure");
    outln!("\n{} sets, {kind}", found.configuration);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for (position, label) in found.labels.iter().enumerate() {
        let answer = words(found.answers[position], &found.fates[position]);
        table.add_row([label.clone(), crate::words::shortened(&answer, DETAIL_MAX)]);
    }
    outln!("{table}");
    for sentence in sentences(found) {
        outln!("{sentence}");
    }
}

/// The intervals in words.
fn sentences(found: &Found) -> Vec<String> {
    let report = &found.report;
    if report.judged_nothing() {
        return vec!["nothing could be judged".to_owned()];
    }
    let mut sentences: Vec<String> =
        report.intervals.iter().map(|interval| sentence(found, interval)).collect();
    if report.intervals.is_empty() {
        sentences.push("no version that was tried fails".to_owned());
    }
    if !report.untried.is_empty() {
        let (shown, all) = (report.good.len() + report.bad.len(), found.labels.len());
        sentences
            .push(format!("{shown} of {all} versions were judged; another change may lie among the others"));
    }
    sentences
}

fn sentence(found: &Found, interval: &Interval) -> String {
    let label = |position: usize| found.labels[position].as_str();
    let mut words = vec![format!("first bad {}", label(interval.first_bad))];
    words.push(match interval.last_good {
        Some(good) => format!("last good {}", label(good)),
        None => "bad from the oldest version that was judged".to_owned(),
    });
    words.push(match interval.first_fixed {
        Some(fixed) => format!("first fixed {}", label(fixed)),
        None => "not fixed in the newest version that was judged".to_owned(),
    });
    let unknown: Vec<&str> = interval
        .unknown_before
        .iter()
        .chain(&interval.unknown_after)
        .map(|position| label(*position))
        .collect();
    if !unknown.is_empty() {
        words.push(format!("not judged beside it: {}", unknown.join(" ")));
    }
    words.join(", ")
}

/// Prints all searches as one JSON object.
pub(crate) fn print_json(case: &str, searches: &[Found]) {
    let rows: Vec<Value> = searches.iter().map(value).collect();
    outln!("{}", json!({ "case": case, "searches": rows }));
}

fn value(found: &Found) -> Value {
    let label = |position: &usize| found.labels[*position].clone();
    let labels = |positions: &[usize]| positions.iter().map(label).collect::<Vec<_>>();
    let versions = found.labels.iter().enumerate().map(|(position, label)| {
        let fate = &found.fates[position];
        json!({
            "version": label, "answer": found.answers[position], "hits": fate.tally.hits, "runs": fate.tally.runs,
            "detail": fate.detail,
        })
    });
    let intervals = found.report.intervals.iter().map(|interval| {
        json!({
            "last_good": interval.last_good.as_ref().map(label),
            "first_bad": label(&interval.first_bad),
            "last_bad": label(&interval.last_bad),
            "first_fixed": interval.first_fixed.as_ref().map(label),
            "unknown_before": labels(&interval.unknown_before),
            "unknown_within": labels(&interval.unknown_within),
            "unknown_after": labels(&interval.unknown_after),
        })
    });
    json!({
        "configuration": found.configuration,
        "kind": found.kind,
        "versions": versions.collect::<Vec<_>>(),
        "intervals": intervals.collect::<Vec<_>>(),
    })
}
