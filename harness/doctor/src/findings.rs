//! What does not belong together, one rule a function: each with its severity, its evidence, the files and the one
//! command that mends it. Pure; looks at a ledger and asks the loader's order.

mod machine;
mod packages;
mod places;
mod programs;
mod sets;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::ledger::View;
use crate::owner::Owner;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Programs fail, or compute with libraries that do not belong together.
    Error,
    /// Something works otherwise than it seems.
    Warning,
    /// Worth knowing; no finding for the exit code.
    Note,
}

impl Severity {
    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// One thing that does not belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule, as a word for programs.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it is, one line.
    pub title: String,
    /// What was seen.
    pub evidence: Vec<String>,
    /// The files and folders that it is about.
    pub files: Vec<PathBuf>,
    /// The command that mends it.
    pub mend: String,
}

/// A rule.
type Rule = fn(&View<'_>) -> Vec<Finding>;

/// Every rule, in the order in which findings of one severity are told.
const RULES: [Rule; 20] = [
    programs::two_cudnn,
    programs::parts_of_two_folders,
    sets::two_versions_in_a_folder,
    sets::parts_from_elsewhere,
    sets::incomplete,
    sets::no_compiler,
    sets::no_builtins,
    sets::no_cublaslt,
    programs::refused,
    programs::two_cuda_majors,
    programs::deleted,
    machine::driver_differs,
    machine::devices,
    packages::driver_too_old,
    packages::pin_not_met,
    packages::other_than_pinned,
    places::shadowed,
    places::old_beside_new,
    places::preloaded,
    places::notes,
];

/// What all rules find, the worst first.
pub(crate) fn all(view: &View<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = RULES.iter().flat_map(|rule| rule(view)).collect();
    // A swapped part is what shadowing leads to: the worse of the two is told.
    let swapped: Vec<PathBuf> = found
        .iter()
        .filter(|one| one.rule == "parts-from-elsewhere")
        .flat_map(|one| one.files.clone())
        .collect();
    found.retain(|one| one.rule != "shadowed" || !one.files.iter().all(|file| swapped.contains(file)));
    found.sort_by_key(|one| one.severity);
    found
}

/// A text as a shell reads it, in one word: names of files and packages come from anywhere.
fn shell(text: &str) -> String {
    let plain =
        text.chars().all(|character| character.is_ascii_alphanumeric() || "/._-+=".contains(character));
    if plain && !text.is_empty() { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    shell(&path.display().to_string())
}

/// The command that puts a package back as it was published.
fn reinstall(owner: &Owner) -> String {
    let pinned = shell(&format!("{}=={}", owner.package, owner.version));
    match owner.by {
        "pip" => format!("python3 -m pip install --force-reinstall --no-deps {pinned}"),
        "conda" => format!("conda install --force-reinstall {}", pinned.replace("==", "=")),
        _ => format!("sudo apt-get install --reinstall {}", shell(&owner.package)),
    }
}

/// The command that takes a package away.
fn remove(owner: &Owner) -> String {
    let package = shell(&owner.package);
    match owner.by {
        "pip" => format!("python3 -m pip uninstall -y {package}"),
        "conda" => format!("conda remove {package}"),
        _ => format!("sudo apt-get remove --purge {package}"),
    }
}

/// The words of a list, with a comma between them.
fn listed(words: impl IntoIterator<Item = impl ToString>) -> String {
    words.into_iter().map(|word| word.to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
