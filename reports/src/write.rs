//! Writes a finding's bundle: everything into a folder beside the final one, which it then becomes. Knows order
//! and names; the contents come from elsewhere.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::clean::Clean;
use crate::error::BundleError;
use crate::files::{
    CASE_JSON, CASE_TEXT, ENVIRONMENT, LIBRARY_LOG, LICENSE, MINIMIZE_LOG, ORIGINAL, PROGRAM, REPORT, SCRIPT,
    SUMS, VERDICT, print_sums, sha256,
};
use crate::finding::{Finding, Verified};
use crate::page;
use crate::read::read;
use crate::repro;
use crate::script;
use crate::verdict::{VerdictRecord, Verification};

/// Terms of use of the program.
const LICENSE_TEXT: &str = include_str!("../templates/LICENSE");

/// Writes the bundle of a finding. Its program has not been run: see [`record_verification`].
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

/// Every file but the hashes.
fn contents(finding: &Finding<'_>) -> Result<[(&'static str, String); 11], BundleError> {
    let record = VerdictRecord::of(finding);
    let lines = finding.minimization.log.iter().map(|line| format!("{line}\n")).collect();
    Ok([
        (LICENSE, LICENSE_TEXT.to_owned()),
        (CASE_JSON, json(CASE_JSON, finding.case)?),
        (CASE_TEXT, format!("{}\n", finding.case)),
        (ENVIRONMENT, json(ENVIRONMENT, finding.environment)?),
        (LIBRARY_LOG, finding.library_log.to_owned()),
        (MINIMIZE_LOG, lines),
        (ORIGINAL, format!("{}\n", finding.original)),
        (PROGRAM, repro::render(finding)?),
        (REPORT, page::render(finding, &record)?),
        (SCRIPT, script::render(finding)?),
        (VERDICT, json(VERDICT, &record)?),
    ])
}

fn json(file: &str, value: &impl Serialize) -> Result<String, BundleError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| BundleError::content(file, error))?;
    Ok(text + "\n")
}

/// Adds to a bundle what came of building and running its program: in `verdict.json`, `report.md` and the hashes.
///
/// # Errors
/// A bundle that does not read back, or the file system's error.
pub fn record_verification(folder: &Path, verified: &Verified) -> Result<(), BundleError> {
    let bundle = read(folder)?;
    let mut record = bundle.verdict;
    record.verification = Verification::from(verified);
    let verdict = json(VERDICT, &record)?;
    let report = page::with_verification(&bundle.report, &record.verification);
    let hashes = bundle.hashes.into_iter().map(|(name, hash)| match name {
        VERDICT => (name, sha256(verdict.as_bytes())),
        REPORT => (name, sha256(report.as_bytes())),
        _ => (name, hash),
    });
    let sums = print_sums(hashes);
    for (name, text) in [(VERDICT, verdict), (REPORT, report), (SUMS, sums)] {
        replace(&folder.join(name), &text)?;
    }
    Ok(())
}

/// Replaces a file so that a reader never meets half of it.
fn replace(path: &Path, text: &str) -> Result<(), BundleError> {
    let draft = path.with_extension("draft");
    fs::write(&draft, text).map_err(BundleError::io(&draft))?;
    fs::rename(&draft, path).map_err(BundleError::io(path))
}

/// A folder beside the final one that vanishes unless it becomes that.
struct Draft {
    folder: PathBuf,
}

/// Names tried for a draft: leftovers of killed runs may hold some.
const DRAFTS_MAX: u32 = 1000;

impl Draft {
    fn beside(folder: &Path) -> Result<Self, BundleError> {
        let parent = folder.parent().unwrap_or(Path::new("."));
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        for number in 0..DRAFTS_MAX {
            let draft = parent.join(format!(".{name}.draft-{}-{number}", std::process::id()));
            match fs::create_dir(&draft) {
                Ok(()) => return Ok(Self { folder: draft }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(BundleError::io(&draft)(error)),
            }
        }
        Err(BundleError::Exists(parent.join(format!(".{name}.draft-*"))))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After the rename there is nothing to remove; an error here would hide the one that led to it.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
