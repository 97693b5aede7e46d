//! Reads a bundle that may come from anywhere: plain files of known names with the hashes they were given, or
//! nothing. Follows no link and runs nothing.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use case::{Case, Environment};
use serde::de::DeserializeOwned;

use crate::error::BundleError;
use crate::files::{
    CASE_JSON, CASE_TEXT, ENVIRONMENT, LIBRARY_LOG, ORIGINAL, PROGRAM, REPORT, SCRIPT, SUMS, VERDICT,
    parse_sums, sha256,
};
use crate::verdict::{FORMAT, VerdictRecord};

/// Largest file that is read, bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// A bundle whose every file was checked.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// The case that fails.
    pub case: Case,
    /// The case as it was met.
    pub original: Case,
    /// Machine and libraries that it failed on.
    pub environment: Environment,
    /// What was seen.
    pub verdict: VerdictRecord,
    /// The page.
    pub report: String,
    /// The stand-alone program.
    pub program: PathBuf,
    /// The script that builds and runs it.
    pub script: PathBuf,
    /// SHA-256 of each file.
    pub hashes: Vec<(&'static str, String)>,
}

/// Reads and checks a bundle. Files that it does not list are not looked at.
///
/// # Errors
/// The first file that is missing, altered, of another form, or no plain file of a bundle.
pub fn read(folder: &Path) -> Result<Bundle, BundleError> {
    check_folders(folder)?;
    let hashes = parse_sums(&file(folder, SUMS)?)?;
    let mut texts: Vec<(&'static str, String)> = Vec::new();
    for (name, hash) in &hashes {
        let text = file(folder, name)?;
        if sha256(text.as_bytes()) != *hash {
            return Err(BundleError::Altered { file: (*name).to_owned() });
        }
        texts.push((name, text));
    }
    let text = |name: &str| {
        // `parse_sums` lists every name exactly once.
        texts.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text.as_str())
    };
    let verdict = verdict(text(VERDICT))?;
    let case: Case = parse_json(CASE_JSON, text(CASE_JSON))?;
    if line(CASE_TEXT, text(CASE_TEXT))? != case {
        return Err(BundleError::content(CASE_TEXT, format!("is another case than {CASE_JSON}")));
    }
    Ok(Bundle {
        original: line(ORIGINAL, text(ORIGINAL))?,
        environment: parse_json(ENVIRONMENT, text(ENVIRONMENT))?,
        report: text(REPORT).to_owned(),
        program: folder.join(PROGRAM),
        script: folder.join(SCRIPT),
        case,
        verdict,
        hashes,
    })
}

/// `logs` alone is a folder within; a link in its place would lead out.
fn check_folders(folder: &Path) -> Result<(), BundleError> {
    let logs = Path::new(LIBRARY_LOG).parent().unwrap_or(Path::new(""));
    if !fs::metadata(folder).map_err(BundleError::io(folder))?.is_dir() {
        return Err(BundleError::Kind { file: folder.display().to_string() });
    }
    let facts = facts(&folder.join(logs), LIBRARY_LOG)?;
    if facts.is_dir() { Ok(()) } else { Err(BundleError::Kind { file: logs.display().to_string() }) }
}

/// What a path is, links not followed; an absent one makes the file `name` missing.
fn facts(path: &Path, name: &str) -> Result<fs::Metadata, BundleError> {
    fs::symlink_metadata(path).map_err(|source| {
        if source.kind() == io::ErrorKind::NotFound {
            BundleError::Missing { file: name.to_owned() }
        } else {
            BundleError::Io { path: path.to_owned(), source }
        }
    })
}

/// A plain file of the bundle as text.
fn file(folder: &Path, name: &str) -> Result<String, BundleError> {
    let path = folder.join(name);
    let facts = facts(&path, name)?;
    if !facts.is_file() {
        return Err(BundleError::Kind { file: name.to_owned() });
    }
    let too_large = || BundleError::content(name, format!("is larger than {FILE_BYTES_MAX} bytes"));
    let mut bytes = Vec::new();
    let opened = fs::File::open(&path).map_err(BundleError::io(&path))?;
    opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(BundleError::io(&path))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(too_large());
    }
    String::from_utf8(bytes).map_err(|_| BundleError::Altered { file: name.to_owned() })
}

fn parse_json<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, BundleError> {
    serde_json::from_str(text).map_err(|error| BundleError::content(name, error))
}

/// The verdict, whose format number is looked at before anything else of it.
fn verdict(text: &str) -> Result<VerdictRecord, BundleError> {
    let value: serde_json::Value = parse_json(VERDICT, text)?;
    let format = value.get("format").and_then(serde_json::Value::as_u64);
    if format != Some(u64::from(FORMAT)) {
        let found = format.map_or_else(|| "no number".to_owned(), |number| number.to_string());
        return Err(BundleError::content(
            VERDICT,
            format!("format: '{found}' is not {FORMAT}, the one known"),
        ));
    }
    serde_json::from_value(value).map_err(|error| BundleError::content(VERDICT, error))
}

fn line(name: &str, text: &str) -> Result<Case, BundleError> {
    let single = text.strip_suffix('\n').filter(|line| !line.contains('\n'));
    let single = single.ok_or_else(|| BundleError::content(name, "is not one line"))?;
    single.parse().map_err(|error| BundleError::content(name, error))
}
