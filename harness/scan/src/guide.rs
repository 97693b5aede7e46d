//! The symptom guide: what each symptom looks like and means, and what to do about it. Knows the form of the table;
//! what it says is data.

use regex::bytes::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

/// The table itself.
const GUIDE: &str = include_str!("../data/guide.json");

/// What a symptom has to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// The device itself.
    Hardware,
    /// Which library files and drivers are used together.
    Library,
    /// Too little memory.
    Memory,
    /// A fault in a kernel.
    Fault,
    /// A status of a library.
    Status,
    /// A framework's words for a failed call.
    Framework,
    /// A result that was found wrong.
    WrongResult,
    /// Values that are no numbers.
    Numeric,
    /// How a process ended.
    Process,
    /// What others tell of a failure that is not theirs.
    Bystander,
    /// The library's own log.
    LibraryLog,
}

/// How much a symptom weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Something failed.
    Error,
    /// Something was avoided, or will fail.
    Warning,
    /// Ordinary by itself.
    Notice,
}

/// When a symptom was met: what orders its causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Before the second step.
    Start,
    /// Once.
    Once,
    /// At each step that is shown, from one on.
    Throughout,
    /// Every so many steps.
    Period,
    /// At the same step of several runs or epochs.
    Fixed,
    /// From the first step after a change.
    Change,
    /// Several times without an order.
    Irregular,
    /// Several times, and the log shows no steps.
    Unplaced,
}

/// A likely cause and what to run next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Cause {
    /// The cause, in a few words.
    pub cause: String,
    /// The guide's command, before it is made to fit a log.
    #[serde(rename = "command", skip_serializing)]
    pub(crate) template: String,
    /// The commands that tell more, or mend it, in the order to run them: each needs nothing but what the ones before
    /// it make. `python train.py` stands for the program that wrote the log.
    #[serde(skip_deserializing)]
    pub commands: Vec<String>,
    /// Why there are none.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The patterns that speak for it; none where it is as likely with any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<When>,
    /// What else in the log speaks for it: other symptoms near this one, by id, and statuses that its lines name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
}

/// What the library was doing where a symptom shows itself: which of its calls is under suspicion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Stage {
    /// It was asked for a plan: what was described or planned last, unless something was executed since.
    Planned,
    /// It executed: what was executed last.
    #[default]
    Executed,
    /// Either: whatever came last.
    Any,
}

/// A row of the guide.
#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) group: Group,
    pub(crate) severity: Severity,
    /// True where every later CUDA call of the process fails too.
    #[serde(default)]
    pub(crate) sticky: bool,
    #[serde(default)]
    pub(crate) stage: Stage,
    /// Texts in lower case, one of which is in each line of this symptom.
    #[serde(default)]
    pub(crate) triggers: Vec<String>,
    #[serde(default, deserialize_with = "expression")]
    pub(crate) pattern: Option<Regex>,
    #[serde(default, deserialize_with = "expression")]
    unless: Option<Regex>,
    pub(crate) meaning: String,
    pub(crate) causes: Vec<Cause>,
    pub(crate) sources: Vec<String>,
}

impl Row {
    /// The texts in which numbers have a meaning of their own.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let expressions =
            [self.pattern.as_ref(), self.unless.as_ref()].into_iter().flatten().map(Regex::as_str);
        expressions.chain(self.triggers.iter().map(String::as_str))
    }

    /// Where a line shows this row's expression. A row of statuses has none.
    pub(crate) fn find(&self, line: &[u8]) -> Option<usize> {
        let found = self.pattern.as_ref()?.find(line)?;
        let is_other = self.unless.as_ref().is_some_and(|unless| unless.is_match(line));
        (!is_other).then_some(found.start())
    }
}

/// An expression over bytes, of which a line need not be UTF-8.
fn expression<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Regex>, D::Error> {
    let text: Option<String> = Option::deserialize(deserializer)?;
    text.map(|text| compiled(&text).map_err(serde::de::Error::custom)).transpose()
}

/// Compiles an expression over bytes.
pub(crate) fn compiled(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).unicode(false).build()
}

/// The rows in the order in which a line is held against them.
pub(crate) fn rows() -> Vec<Row> {
    serde_json::from_str(GUIDE).expect("the embedded guide is read by a test")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::GUIDE;
    use crate::sieve::Sieve;

    fn table() -> Vec<Value> {
        serde_json::from_str(GUIDE).expect("the guide is JSON")
    }

    fn texts<'a>(row: &'a Value, key: &str) -> Vec<&'a str> {
        row[key].as_array().map(|texts| texts.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
    }

    #[test]
    fn every_row_takes_its_examples_and_no_other_row_does_unless_that_is_declared() {
        let sieve = Sieve::new();
        for row in table() {
            let id = row["id"].as_str().expect("an id");
            let examples = texts(&row, "examples");
            assert!(!examples.is_empty(), "{id} has no example");
            let mut others: Vec<&str> = Vec::new();
            for example in examples {
                let taken = sieve.all(example.as_bytes());
                assert_eq!(taken.first(), Some(&id), "{example}: {taken:?}");
                others.extend(
                    taken.iter().skip(1).filter(|other| !others.contains(other)).copied().collect::<Vec<_>>(),
                );
            }
            let mut declared = texts(&row, "overlaps");
            others.sort_unstable();
            declared.sort_unstable();
            assert_eq!(others, declared, "{id}");
        }
    }

    #[test]
    fn every_row_has_an_id_of_its_own_causes_commands_sources_and_a_date() {
        const PROGRAMS: [&str; 14] = [
            "convict",
            "python",
            "pip",
            "nvidia-smi",
            "sudo",
            "dcgmi",
            "ldconfig",
            "echo",
            "compute-sanitizer",
            "sacct",
            "systemctl",
            "py-spy",
            "torchrun",
            "{trace}",
        ];
        let mut ids: Vec<String> = Vec::new();
        for row in table() {
            let id = row["id"].as_str().expect("an id").to_owned();
            assert!(!ids.contains(&id), "{id} is there twice");
            let causes = row["causes"].as_array().expect("causes");
            assert!(!causes.is_empty(), "{id}");
            for cause in causes {
                let steps = cause["command"].as_str().expect("a command");
                for command in steps.lines().filter(|steps| *steps != "{around}") {
                    let first = command.split(' ').next().unwrap_or_default();
                    let is_setting =
                        first.starts_with(|letter: char| letter.is_ascii_uppercase()) && first.contains('=');
                    assert!(PROGRAMS.contains(&first) || is_setting, "{id}: {command}");
                }
                for with in texts(cause, "with") {
                    let is_status = with.starts_with("CUDNN_STATUS_");
                    assert!(is_status || table().iter().any(|row| row["id"] == with), "{id}: {with}");
                }
            }
            let sources = texts(&row, "sources");
            assert!(
                !sources.is_empty() && sources.iter().all(|source| source.starts_with("https://")),
                "{id}"
            );
            let checked = row["checked"].as_str().unwrap_or_default();
            assert!(checked.len() == 10 && checked.starts_with("20"), "{id}: {checked}");
            ids.push(id);
        }
    }
}
