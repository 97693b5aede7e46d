//! A replay as a page of Markdown, such as GitHub's summary of a job. Knows how large that may be.

use std::fmt::Write;

use corpus::{Record, State};

use super::Replayed;
use crate::escape::{code, for_page};

/// Bytes that the page has at most, below GitHub's limit of 1 MiB.
const BYTES_MAX: usize = 900 << 10;

/// States that are listed entry by entry.
const LISTED: [State; 6] =
    [State::Fail, State::Changed, State::Xpass, State::Infra, State::Flaky, State::Xfail];

/// The page.
#[must_use]
pub fn summary(replayed: &Replayed<'_>) -> String {
    let mut page = format!(
        "## convict replay: {}\n\n{}\n\n{}\n\n| state | entries |\n|---|---|\n",
        replayed.verdict(),
        for_page(replayed.described),
        for_page(&replayed.line())
    );
    for (state, count) in replayed.counts() {
        // Writing into a String cannot fail.
        let _ = writeln!(page, "| {} | {count} |", state.name());
    }
    for warning in replayed.troubles.iter().chain(replayed.warnings) {
        let _ = write!(page, "\n{}\n", for_page(warning));
    }
    list(&mut page, replayed.records);
    page
}

fn list(page: &mut String, records: &[Record]) {
    let rows: Vec<&Record> = LISTED
        .into_iter()
        .flat_map(|state| records.iter().filter(move |record| record.state == state))
        .collect();
    if rows.is_empty() {
        return;
    }
    page.push_str("\n| state | entry | why | case |\n|---|---|---|---|\n");
    for (done, record) in rows.iter().enumerate() {
        let id = for_page(&record.id);
        let id = match &record.ticket {
            Some(ticket) if ticket.starts_with("https://") => format!("{id} ({})", for_page(ticket)),
            Some(_) | None => id,
        };
        let (state, why) = (record.state.name(), for_page(&record.why));
        let row = format!("| {state} | {id} | {why} | {} |\n", code(&record.case.replace('|', "/")));
        if page.len() + row.len() > BYTES_MAX {
            let _ = writeln!(page, "\n{} more entries are not shown here.", rows.len() - done);
            return;
        }
        page.push_str(&row);
    }
}
