//! Renders `report.md`, in the order in which a triager reads. Whatever is put into the template is escaped; only
//! what this file marks as Markdown is not.

mod fields;
mod proof;
mod rows;

use std::fmt::Write;

use minijinja::{Environment, Output, State, Value, context};

use crate::error::BundleError;
use crate::escape::{block, code, for_page};
use crate::finding::Finding;
use crate::title::title;
use crate::verdict::{VerdictRecord, Verification};

/// First cell of the row that tells whether the program was run. The first line that begins so is that row, since
/// no text from outside comes before it with a line of its own.
const PROGRAM_ROW: &str = "| Stand-alone program |";

/// Mismatches shown on the page; `verdict.json` lists them all.
const MISMATCHES_MAX: usize = 8;

/// Log lines shown on the page.
const LOG_LINES_MAX: usize = 30;

/// The page.
///
/// # Errors
/// A template that does not render: our own trouble.
pub(crate) fn render(finding: &Finding<'_>, record: &VerdictRecord) -> Result<String, BundleError> {
    let mut environment = Environment::new();
    environment.set_formatter(escaping);
    environment.add_template("report.md", include_str!("../templates/report.md"))?;
    let (expected, actual) = expected_and_actual(finding, record);
    let page = environment.get_template("report.md")?.render(context! {
        title => title(finding),
        verdict => rows::verdict(finding, record),
        command => markdown(block("sh", "./run.sh")),
        check => markdown(block("sh", &format!("convict check '{}'", finding.case))),
        expected, actual,
        should => rows::should(finding.fault.sameness.kind),
        did => finding.fault.summary.clone(),
        needs => rows::needs(finding),
        case => markdown(block("", &finding.case.to_string())),
        fields => fields::fields(finding.case),
        place => rows::place(finding, record),
        summary => finding.fault.summary.clone(),
        proof => proof::proof(finding),
        mismatches => mismatches(finding, record),
        cudnn => finding.environment.cudnn_text(),
        compute_capability => finding.environment.compute_capability,
        environment => rows::environment(finding),
        files => rows::files(finding.environment),
        guarantee => guarantee(finding),
        minimization => rows::minimization(finding.minimization),
        reach => rows::reach(finding),
        log => markdown(log(finding)),
    })?;
    Ok(page + "\n")
}

/// The page with the row of the stand-alone program replaced.
pub(crate) fn with_verification(page: &str, verification: &Verification) -> String {
    let mut replaced = false;
    let mut text = String::with_capacity(page.len());
    for line in page.lines() {
        if !replaced && line.starts_with(PROGRAM_ROW) {
            replaced = true;
            // Writing into a String cannot fail.
            let _ = writeln!(text, "{PROGRAM_ROW} {} |", for_page(&verification.words()));
        } else {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

/// Text that is Markdown already.
fn markdown(text: String) -> Value {
    Value::from_safe_string(text)
}

/// Writes a value as plain text of the page.
fn escaping(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value) -> Result<(), minijinja::Error> {
    if value.is_undefined() || value.is_none() {
        return Ok(());
    }
    let text = value.to_string();
    let text = if value.is_safe() { text } else { for_page(&text) };
    out.write_str(&text).map_err(minijinja::Error::from)
}

/// The first wrong elements as two lists of lines; none where the failure shows in no values.
fn expected_and_actual(finding: &Finding<'_>, record: &VerdictRecord) -> (Value, Value) {
    let shown = mismatches(finding, record);
    if shown.is_empty() {
        return (Value::from(()), Value::from(()));
    }
    let list = |column: usize| {
        let lines: Vec<String> = shown.iter().map(|row| format!("{}  {}", row[0], row[column])).collect();
        markdown(block("", &lines.join("\n")))
    };
    (list(2), list(1))
}

/// Place, got and expected of the first wrong elements.
fn mismatches(finding: &Finding<'_>, record: &VerdictRecord) -> Vec<[String; 3]> {
    let Some(execution) = &record.execution else { return Vec::new() };
    let names = rows::output_names(finding.case);
    let place = |at: &[i64]| {
        let parts: Vec<String> = names.iter().zip(at).map(|(name, at)| format!("{name}{at}")).collect();
        parts.join(" ")
    };
    let listed = execution.excerpt.iter().zip(&record.coordinates).take(MISMATCHES_MAX);
    listed.map(|((_, got, expected), at)| [place(at), got.clone(), expected.clone()]).collect()
}

fn guarantee<'a>(finding: &Finding<'a>) -> &'a str {
    let guarantee = &finding.minimization.guarantee;
    if guarantee.is_empty() { "Not minimized." } else { guarantee }
}

/// The end of the library's log, else of what the process wrote on stderr.
fn log(finding: &Finding<'_>) -> String {
    let (name, text) = [("logs/library.log", finding.library_log), ("stderr", &finding.outcome.stderr)]
        .into_iter()
        .find(|(_, text)| !text.trim().is_empty())
        .unwrap_or(("", ""));
    if name.is_empty() {
        return "No log was kept.".to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.len().saturating_sub(LOG_LINES_MAX);
    let head = format!("Last {} of {} lines of {}:", lines.len() - start, lines.len(), code(name));
    format!("{head}\n\n{}", block("", &lines[start..].join("\n")))
}
