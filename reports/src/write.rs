//! Writes a finding's bundle: everything into a folder beside the final one, which it then becomes. Knows
//! order and names; the contents come from elsewhere.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::clean::Clean;
use crate::draft;
use crate::error::BundleError;
use crate::evidence;
use crate::facts::Facts;
use crate::files::{
    CASE_JSON, CASE_TEXT, ENVIRONMENT, ERROR_MAP, LIBRARY_LOG, LICENSE, MINIMIZE_LOG, MISMATCHES, ORIGINAL,
    PAGE, PROGRAM, README, REGION, REGION_MAP, REGRESSION, REPORT, SCRIPT, STDERR, SUMS, TRACES, TWINS,
    VERDICT, print_sums, sha256,
};
use crate::finding::Finding;
use crate::page;
use crate::region::{RegionRecord, TwinsRecord};
use crate::regression;
use crate::repro;
use crate::script;
use crate::vendor;
use crate::verdict::VerdictRecord;

/// Terms of use of the program.
const LICENSE_TEXT: &str = include_str!("../templates/LICENSE");

/// Writes the bundle of a finding. Its program has not been run: see [`crate::record_verification`].
///
/// # Errors
/// A folder that exists, or the file system's error; nothing is left behind then.
pub fn write(folder: &Path, finding: &Finding<'_>) -> Result<(), BundleError> {
    if fs::symlink_metadata(folder).is_ok() {
        return Err(BundleError::Exists(folder.to_owned()));
    }
    let clean = Clean::of(finding);
    let files = contents(&clean.finding(finding))?;
    let draft = Draft::beside(folder)?;
    for (name, text) in &files {
        let path = draft.folder.join(name);
        let parent = path.parent().unwrap_or(&draft.folder);
        fs::create_dir_all(parent).map_err(BundleError::io(parent))?;
        fs::write(&path, text).map_err(BundleError::io(&path))?;
    }
    let sums = print_sums(files.iter().map(|(name, text)| (*name, sha256(text.as_bytes()))));
    let path = draft.folder.join(SUMS);
    fs::write(&path, sums).map_err(BundleError::io(&path))?;
    let script = draft.folder.join(SCRIPT);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).map_err(BundleError::io(&script))?;
    // A folder that came into being meanwhile has files, so that the system refuses to rename over it.
    fs::rename(&draft.folder, folder).map_err(BundleError::io(folder))
}

/// Every file but the hashes, in the order of [`crate::HASHED`].
fn contents(finding: &Finding<'_>) -> Result<Vec<(&'static str, String)>, BundleError> {
    let record = VerdictRecord::of(finding);
    let log: String = finding.minimization.log.iter().map(|line| format!("{line}\n")).collect();
    let vendor = vendor::files(finding)?;
    let novelty = vendor::of(finding);
    let issue = vendor.iter().find(|(name, _)| *name == vendor::ISSUE).map_or("", |(_, text)| text);
    let facts = Facts { novelty: Some(&novelty), issue, ..Facts::of(finding, &record, &log) };
    let mut files = vec![
        (LICENSE, LICENSE_TEXT.to_owned()),
        (README, script::readme(finding)?),
        (CASE_JSON, json(CASE_JSON, finding.case)?),
        (CASE_TEXT, format!("{}\n", finding.case)),
        (ENVIRONMENT, json(ENVIRONMENT, finding.environment)?),
        (ERROR_MAP, evidence::error_map(&facts)),
        (MISMATCHES, evidence::mismatches(&facts)),
        (REGION_MAP, evidence::region_map(&facts)),
        (TRACES, evidence::traces(&facts)),
        (LIBRARY_LOG, finding.library_log.to_owned()),
        (STDERR, finding.outcome.stderr.clone()),
        (MINIMIZE_LOG, log.clone()),
        (ORIGINAL, format!("{}\n", finding.original)),
        (REGION, json(REGION, &RegionRecord::of(finding.explanation))?),
        (REGRESSION, regression::entry(finding)?.print()),
        (PROGRAM, repro::render(finding)?),
        (PAGE, page::html(&facts)),
        (REPORT, page::markdown(&facts)),
        (SCRIPT, script::render(finding)?),
        (TWINS, json(TWINS, &TwinsRecord::of(finding.explanation))?),
        (VERDICT, json(VERDICT, &record)?),
    ];
    files.extend(vendor);
    Ok(files)
}

pub(crate) fn json(file: &str, value: &impl Serialize) -> Result<String, BundleError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| BundleError::content(file, error))?;
    Ok(text + "\n")
}

/// Replaces a file so that a reader never meets half of it.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), BundleError> {
    draft::write_whole(path, text.as_bytes()).map_err(BundleError::io(path))
}

/// A folder beside the final one that vanishes unless it becomes that.
struct Draft {
    folder: PathBuf,
}

impl Draft {
    fn beside(folder: &Path) -> Result<Self, BundleError> {
        draft::folder(folder).map(|folder| Self { folder }).map_err(BundleError::io(folder))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After the rename there is nothing to remove; an error here would hide the one that led to it.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
