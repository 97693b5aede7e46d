//! The names of a bundle's files and the list of their hashes. Knows what belongs into a bundle; touches no
//! disk.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::error::BundleError;
use crate::vendor;

/// What each file is, and how to run the program.
pub const README: &str = "README.md";
/// The case as one line.
pub const CASE_TEXT: &str = "case.txt";
/// The case as JSON.
pub const CASE_JSON: &str = "case.json";
/// The case as it was met, one line.
pub const ORIGINAL: &str = "original.txt";
/// Machine and libraries.
pub const ENVIRONMENT: &str = "environment.json";
/// What was seen, for programs.
pub const VERDICT: &str = "verdict.json";
/// What was seen, for people.
pub const REPORT: &str = "report.md";
/// The same as one page for a browser.
pub const PAGE: &str = "report.html";
/// Where the failure lies: conditions with the counts of probes.
pub const REGION: &str = "region.json";
/// The nearest cases that pass.
pub const TWINS: &str = "twins.json";
/// The case as an entry of a corpus, with what is expected of it.
pub const REGRESSION: &str = "regression.case.json";
/// The first wrong elements with what was expected.
pub const MISMATCHES: &str = "evidence/mismatches.txt";
/// What changed beside the output: guard bytes, inputs, repeats.
pub const TRACES: &str = "evidence/traces.txt";
/// Where in the output the wrong elements lie.
pub const ERROR_MAP: &str = "evidence/error-map.svg";
/// Pass and fail over the two fields that matter most.
pub const REGION_MAP: &str = "evidence/region-map.svg";
/// The library's own log of the final case.
pub const LIBRARY_LOG: &str = "logs/library.log";
/// What the libraries wrote on stderr before an abnormal end.
pub const STDERR: &str = "logs/stderr.txt";
/// Every question of the minimization and its answer.
pub const MINIMIZE_LOG: &str = "minimize.jsonl";
/// The stand-alone program.
pub const PROGRAM: &str = "repro.cpp";
/// Builds and runs it.
pub const SCRIPT: &str = "run.sh";
/// Terms of use of the program.
pub const LICENSE: &str = "LICENSE";
/// Hashes of all others.
pub const SUMS: &str = "SHA256SUMS";

/// What this crate's own rooms write.
const OWN: [&str; 21] = [
    LICENSE,
    README,
    CASE_JSON,
    CASE_TEXT,
    ENVIRONMENT,
    ERROR_MAP,
    MISMATCHES,
    REGION_MAP,
    TRACES,
    LIBRARY_LOG,
    STDERR,
    MINIMIZE_LOG,
    ORIGINAL,
    REGION,
    REGRESSION,
    PROGRAM,
    PAGE,
    REPORT,
    SCRIPT,
    TWINS,
    VERDICT,
];

/// Every file but the hashes, in the order in which they are listed. A file that says nothing for a finding
/// is there all the same and says so.
pub const HASHED: [&str; OWN.len() + vendor::FILES.len()] = joined();

const fn joined() -> [&'static str; OWN.len() + vendor::FILES.len()] {
    let mut all = [""; OWN.len() + vendor::FILES.len()];
    let mut index = 0;
    while index < all.len() {
        all[index] = if index < OWN.len() { OWN[index] } else { vendor::FILES[index - OWN.len()] };
        index += 1;
    }
    all
}

/// The same for bundles of form 1, which can still be read.
const HASHED_FORM_1: [&str; 11] = [
    LICENSE,
    CASE_JSON,
    CASE_TEXT,
    ENVIRONMENT,
    LIBRARY_LOG,
    MINIMIZE_LOG,
    ORIGINAL,
    PROGRAM,
    REPORT,
    SCRIPT,
    VERDICT,
];

/// Every file but the hashes of a bundle of that form; `None` for a form that is not known.
pub(crate) fn of_form(form: u64) -> Option<&'static [&'static str]> {
    match form {
        1 => Some(&HASHED_FORM_1),
        2 => Some(&HASHED),
        _ => None,
    }
}

/// The SHA-256 of some bytes, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing into a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// One line a file, as `sha256sum --check` reads them.
pub(crate) fn print_sums<'a>(hashes: impl IntoIterator<Item = (&'a str, String)>) -> String {
    hashes.into_iter().map(|(name, hash)| format!("{hash}  {name}\n")).collect()
}

/// The hash of every file of a form, in the order in which they are listed.
///
/// # Errors
/// A name that the form does not have, a file that is not listed or twice, a line that is no line of hashes.
pub(crate) fn parse_sums(
    text: &str,
    names: &'static [&'static str],
) -> Result<Vec<(&'static str, String)>, BundleError> {
    let mut listed: Vec<(&'static str, String)> = Vec::new();
    for line in text.lines() {
        let (hash, name) = line.split_once("  ").ok_or_else(|| malformed(line))?;
        let known = names.iter().find(|known| **known == name);
        let name = known.ok_or_else(|| BundleError::Name { file: shown(name) })?;
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_hash || listed.iter().any(|(other, _)| other == name) {
            return Err(malformed(line));
        }
        listed.push((name, hash.to_owned()));
    }
    let missing = names.iter().find(|name| listed.iter().all(|(other, _)| other != *name));
    if let Some(name) = missing {
        return Err(BundleError::content(SUMS, format!("does not list {name}")));
    }
    // Whatever else differs, such as the ends of lines, was not written by us.
    if print_sums(listed.iter().cloned()) == text {
        Ok(listed)
    } else {
        Err(BundleError::content(SUMS, "is not written as a bundle writes it"))
    }
}

fn malformed(line: &str) -> BundleError {
    BundleError::content(SUMS, format!("'{}' is no hash and file name of a bundle", shown(line)))
}

/// Text from outside, short and printable.
pub(crate) fn shown(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}
