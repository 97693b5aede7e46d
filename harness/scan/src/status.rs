//! Statuses of cuDNN by name and number, and which version a log shows. Knows the numbers of 8 and 9, which differ;
//! advises nothing.

use std::collections::BTreeMap;

use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

use crate::guide::compiled;

const STATUSES: &str = include_str!("../data/statuses.json");

/// Most versions that are remembered of a log.
const VERSIONS_MAX: usize = 16;

#[derive(Debug, Deserialize)]
struct Table {
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    name: String,
    v8: Option<u32>,
    v9: Option<u32>,
    /// What version 9 calls the status of that name of version 8; it still takes the old name.
    #[serde(default)]
    alias9: Option<String>,
    guide: String,
    meaning: String,
}

/// A status that a line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    /// Without its prefix; a number that nobody knows stands for itself.
    pub(crate) name: String,
    /// The row of the guide.
    pub(crate) guide: String,
    /// Where in the line it stands.
    pub(crate) at: usize,
}

/// A status, how often it was named, and what it means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// Its name, such as `CUDNN_STATUS_EXECUTION_FAILED`.
    pub name: String,
    /// How often.
    pub count: u64,
    /// Its number in the version that the log shows, or in each.
    pub number: String,
    /// What it means.
    pub meaning: String,
}

/// A version of cuDNN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Such as 9.
    pub major: u32,
    /// Such as 19.
    pub minor: u32,
    /// Such as 0.
    pub patch: u32,
}

impl Version {
    /// Decodes `8905`, `90100`, `9.1.0`. Up to 8 the thousands are the major number, from 9 on the ten thousands.
    pub(crate) fn read(text: &str) -> Option<Self> {
        if text.contains('.') {
            let mut parts = text.split('.').map(|part| part.parse::<u32>().ok());
            let (major, minor, patch) = (parts.next()??, parts.next()??, parts.next().flatten().unwrap_or(0));
            return Some(Self { major, minor, patch }).filter(Self::is_likely);
        }
        let number: u32 = text.parse().ok()?;
        let unit = if number >= 90_000 { 10_000 } else { 1000 };
        Some(Self { major: number / unit, minor: number % unit / 100, patch: number % 100 })
            .filter(Self::is_likely)
    }

    fn is_likely(&self) -> bool {
        (4..=20).contains(&self.major) && self.minor < 100 && self.patch < 1000
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { major, minor, patch } = self;
        write!(formatter, "{major}.{minor}.{patch}")
    }
}

impl Serialize for Version {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The table, ready for lines.
pub(crate) struct Statuses {
    rows: Vec<Row>,
    name: Regex,
    number: Regex,
    version: Regex,
}

impl Statuses {
    pub(crate) fn new() -> Self {
        let table: Table = serde_json::from_str(STATUSES).expect("the embedded statuses are read by a test");
        let expression = |text| compiled(text).expect("a constant expression that every test compiles");
        Self {
            rows: table.rows,
            name: expression(r"CUDNN_STATUS_([A-Z][A-Z0-9_]{1,60})"),
            number: expression(
                r"(?i)(?:cudnn[ _]status:? ?|cudnn failure |unknown cudnn status: |CUDNN_STATUS_SUCCESS \()(\d{1,5})\b",
            ),
            version: expression(
                r"(?i)cudnn \(v(\d{4,6})|loaded runtime cudnn library: (\d+\.\d+\.\d+)|cudnn[\w .]{0,16}version[a-z_() ]{0,10}[:=]? *v?(\d+\.\d+(?:\.\d+)?|\d{4,6})\b|cudnn-cu\d+[= ]+(\d+\.\d+\.\d+)|cudnn[:= ]+v?(\d+\.\d+\.\d+|\d{4,6})\b",
            ),
        }
    }

    /// The first status but success that a line names; a number counts where no name is there.
    pub(crate) fn find(&self, line: &[u8]) -> Option<Status> {
        let mut names = self.name.captures_iter(line).filter_map(|found| found.get(1));
        if let Some(name) = names.find(|name| name.as_bytes() != b"SUCCESS") {
            return Some(self.named(String::from_utf8_lossy(name.as_bytes()).into_owned(), name.start()));
        }
        let found = self.number.captures(line)?.get(1)?;
        let at = found.start();
        let number: u32 =
            std::str::from_utf8(found.as_bytes()).ok()?.parse().ok().filter(|number| *number != 0)?;
        let row = self.rows.iter().find(|row| row.v9 == Some(number) || row.v8 == Some(number));
        Some(self.named(row.map_or_else(|| number.to_string(), |row| row.name.clone()), at))
    }

    /// Names that are not in the table belong to the one that they begin with.
    fn named(&self, name: String, at: usize) -> Status {
        let guide = self.row(&name).map_or("status-other", |row| &row.guide).to_owned();
        Status { name, guide, at }
    }

    fn row(&self, name: &str) -> Option<&Row> {
        let exact = self.rows.iter().find(|row| row.name == name);
        exact.or_else(|| {
            let begins =
                |row: &&Row| name.strip_prefix(row.name.as_str()).is_some_and(|rest| rest.starts_with('_'));
            self.rows.iter().filter(begins).max_by_key(|row| row.name.len())
        })
    }

    /// What a status means, in the version that the log shows.
    pub(crate) fn explain(&self, name: &str, count: u64, version: Option<Version>) -> Named {
        let row = self.row(name);
        let renamed = row.and_then(|row| row.alias9.as_deref()).and_then(|name| self.row(name));
        let (eight, nine) = (row.and_then(|row| row.v8), row.and_then(|row| row.v9.or_else(|| renamed?.v9)));
        let number = match (eight, nine, version) {
            (Some(number), _, Some(version)) if version.major < 9 => number.to_string(),
            (_, Some(number), Some(version)) if version.major >= 9 => number.to_string(),
            (Some(eight), Some(nine), _) => format!("{eight} in cuDNN 8, {nine} in cuDNN 9"),
            (Some(eight), None, _) => format!("{eight}, cuDNN 8 only"),
            (None, Some(nine), _) => format!("{nine}, cuDNN 9 only"),
            (None, None, _) => "unknown".to_owned(),
        };
        let meaning = match (row, renamed.filter(|_| version.is_some_and(|version| version.major >= 9))) {
            (_, Some(new)) => format!("{}; the older name of {}", new.meaning, new.name),
            (Some(row), None) => row.meaning.clone(),
            (None, None) => "a status that is not known here".to_owned(),
        };
        let prefix =
            if name.starts_with(|first: char| first.is_ascii_digit()) { "" } else { "CUDNN_STATUS_" };
        Named { name: format!("{prefix}{name}"), count, number, meaning }
    }

    /// The version that a line shows.
    pub(crate) fn version(&self, line: &[u8]) -> Option<Version> {
        let found = self.version.captures(line)?;
        let text = found.iter().skip(1).flatten().next()?;
        std::str::from_utf8(text.as_bytes()).ok().and_then(Version::read)
    }

    /// True for a line that shows a version, whichever.
    pub(crate) fn is_versioned(&self, line: &[u8]) -> bool {
        self.version.is_match(line)
    }

    /// True where other numbers in place of a line's would be another status.
    pub(crate) fn is_numbered(&self, line: &[u8], status: Option<&Status>) -> bool {
        match status {
            Some(status) => {
                let is_named = line[..status.at].ends_with(b"CUDNN_STATUS_");
                !is_named || status.name.bytes().any(|byte| byte.is_ascii_digit())
            }
            None => self.number.is_match(line),
        }
    }
}

/// Versions of cuDNN that a log shows, with counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions {
    counts: BTreeMap<Version, u64>,
}

impl Versions {
    /// Counts one that a line shows.
    pub(crate) fn add(&mut self, version: Version) {
        if self.counts.len() < VERSIONS_MAX || self.counts.contains_key(&version) {
            *self.counts.entry(version).or_default() += 1;
        }
    }

    /// True where any is shown.
    pub(crate) fn is_known(&self) -> bool {
        !self.counts.is_empty()
    }

    /// The one that is shown most often.
    pub(crate) fn usual(&self) -> Option<Version> {
        self.counts.iter().max_by_key(|(_, count)| **count).map(|(version, _)| *version)
    }

    pub(crate) fn all(&self) -> Vec<Version> {
        self.counts.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Statuses, Version, Versions};

    #[test]
    fn names_and_numbers_of_both_versions_are_told_apart() {
        let statuses = Statuses::new();
        for (line, name) in [
            ("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED", Some("EXECUTION_FAILED")),
            ("<unknown cudnn status: 5003>", Some("EXECUTION_FAILED_CUDART")),
            ("cudnn_status: 3", Some("BAD_PARAM")),
            ("CUDNN failure 8: while executing", Some("EXECUTION_FAILED")),
            ("Check failed: status == CUDNN_STATUS_SUCCESS (4 vs. 0)", Some("INTERNAL_ERROR")),
            ("CUDNN_STATUS_SUCCESS", None),
            ("cudnn_status: 0", None),
            ("cudnn_status: 4711", Some("4711")),
        ] {
            assert_eq!(statuses.find(line.as_bytes()).map(|status| status.name).as_deref(), name, "{line}");
        }
        assert_eq!(
            statuses.named("NOT_SUPPORTED_OF_LATER_VERSIONS".to_owned(), 0).guide,
            "status-not-supported"
        );
        let number = |version| statuses.explain("EXECUTION_FAILED", 1, Version::read(version)).number;
        assert_eq!([number("8.9.7"), number("9.1.0")], ["8", "5000"]);
        assert_eq!(number("none"), "8 in cuDNN 8, 5000 in cuDNN 9");
    }

    #[test]
    fn names_of_version_8_that_version_9_still_takes_have_its_number_and_meaning() {
        let statuses = Statuses::new();
        for (old, eight, nine, new) in [
            ("ALLOC_FAILED", "2", "4003", "INTERNAL_ERROR_HOST_ALLOCATION_FAILED"),
            ("MAPPING_ERROR", "7", "4006", "INTERNAL_ERROR_TEXTURE_CREATION_FAILED"),
            ("ARCH_MISMATCH", "6", "3007", "NOT_SUPPORTED_ARCH_MISMATCH"),
            ("RUNTIME_PREREQUISITE_MISSING", "11", "3008", "NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING"),
            ("VERSION_MISMATCH", "14", "1002", "SUBLIBRARY_VERSION_MISMATCH"),
        ] {
            let told = |version| statuses.explain(old, 1, Version::read(version));
            assert_eq!([told("8.9.7").number, told("9.19.0").number], [eight, nine], "{old}");
            assert_eq!(told("none").number, format!("{eight} in cuDNN 8, {nine} in cuDNN 9"));
            let meaning = told("9.19.0").meaning;
            let of_new = statuses.explain(new, 1, Version::read("9.19.0")).meaning;
            assert_eq!(meaning, format!("{of_new}; the older name of {new}"));
            assert!(!told("8.9.7").meaning.contains("older name"), "{old}");
        }
        let device = statuses.explain("INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED", 1, Version::read("9.1.0"));
        assert_eq!(device.number, "4004");
    }

    #[test]
    fn every_status_leads_to_a_row_of_the_guide_and_is_listed_once() {
        let (statuses, rows) = (Statuses::new(), crate::guide::rows());
        for row in &statuses.rows {
            assert!(
                rows.iter().any(|guide| guide.id == row.guide && guide.pattern.is_none()),
                "{}",
                row.name
            );
            assert_eq!(
                statuses.rows.iter().filter(|other| other.name == row.name).count(),
                1,
                "{}",
                row.name
            );
        }
    }

    #[test]
    fn versions_are_decoded_as_their_major_number_wants_it() {
        let statuses = Statuses::new();
        for (line, version) in [
            ("I! CuDNN (v91900 56) function cudnnGetVersion() called:", Some("9.19.0")),
            ("Loaded runtime CuDNN library: 8.5.0 but source was compiled with: 8.6.0.", Some("8.5.0")),
            ("Loaded cuDNN version 8905", Some("8.9.5")),
            ("I0000 cuda_dnn.cc:529] Loaded cuDNN version 91002", Some("9.10.2")),
            ("cuDNN version 91900", Some("9.19.0")),
            ("torch.backends.cudnn.version() 90100", Some("9.1.0")),
            ("cuDNN version 10.1.2", Some("10.1.2")),
            ("cuDNN version: 90100", Some("9.1.0")),
            ("nvidia-cudnn-cu12==9.10.2.21", Some("9.10.2")),
            ("cudnn version 7605", Some("7.6.5")),
            ("cuda_dnn.cc:529] hello", None),
            ("cudnn.py:1234: in forward", None),
        ] {
            let mut versions = Versions::default();
            statuses.version(line.as_bytes()).into_iter().for_each(|version| versions.add(version));
            assert_eq!(versions.usual().map(|found| found.to_string()).as_deref(), version, "{line}");
        }
    }
}
