//! A replay as GitHub's annotations. Knows their limits: ten of a kind are shown for a step, further ones vanish
//! without a word.

use corpus::{Record, State};

use super::Replayed;

/// Annotations shown.
const SHOWN: usize = 10;

/// Workflow commands, one a line; where there are too many, the last one counts the others.
#[must_use]
pub fn annotations(replayed: &Replayed<'_>) -> Vec<String> {
    let troubles = replayed.troubles.iter().map(|trouble| {
        format!("::error title={}::{}", property("convict: an entry that cannot be read"), data(trouble))
    });
    let records = replayed.regressions().chain(replayed.lost()).map(annotation);
    let mut lines: Vec<String> = records.chain(troubles).collect();
    if lines.len() > SHOWN {
        let more = lines.len() - (SHOWN - 1);
        lines.truncate(SHOWN - 1);
        lines.push(format!(
            "::error title=convict::{more} more entries went wrong; the job's summary lists them"
        ));
    }
    lines
}

fn annotation(record: &Record) -> String {
    let level = if record.state == State::Infra { "warning" } else { "error" };
    let title = format!("{} {}", record.state.name(), record.id);
    format!(
        "::{level} file={},title={}::{}",
        property(&record.file),
        property(&title),
        data(&format!("{} [{}]", record.why, record.case))
    )
}

/// A command ends with its line, so that line ends are spelled out; by the runner's own rules.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
