//! The names of a bundle's files and the list of their hashes. Knows what belongs into a bundle; touches no disk.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::error::BundleError;

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
/// The library's own log of the final case.
pub const LIBRARY_LOG: &str = "logs/library.log";
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

/// Every file but the hashes, in the order in which they are listed.
pub const HASHED: [&str; 11] = [
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

/// The hash of every file of [`HASHED`], in that order.
///
/// # Errors
/// A name that no bundle has, a file that is not listed or twice, a line that is no line of hashes.
pub(crate) fn parse_sums(text: &str) -> Result<Vec<(&'static str, String)>, BundleError> {
    let mut listed: Vec<(&'static str, String)> = Vec::new();
    for line in text.lines() {
        let (hash, name) = line.split_once("  ").ok_or_else(|| malformed(line))?;
        let known = HASHED.into_iter().find(|known| *known == name);
        let name = known.ok_or_else(|| BundleError::Name { file: shown(name) })?;
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hash || listed.iter().any(|(other, _)| *other == name) {
            return Err(malformed(line));
        }
        listed.push((name, hash.to_ascii_lowercase()));
    }
    let missing = HASHED.into_iter().find(|name| listed.iter().all(|(other, _)| other != name));
    match missing {
        Some(name) => Err(BundleError::content(SUMS, format!("does not list {name}"))),
        None => Ok(listed),
    }
}

fn malformed(line: &str) -> BundleError {
    BundleError::content(SUMS, format!("'{}' is no hash and file name of a bundle", shown(line)))
}

/// Text from outside, short and printable.
fn shown(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}
