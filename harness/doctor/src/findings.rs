//! What does not belong together, one rule a function: each with its severity, its evidence, the files and the one
//! command that mends it. Pure; looks at a ledger and asks the loader's order.

mod companions;
mod files;
mod machine;
mod mend;
mod packages;
mod places;
mod programs;
mod sets;

use std::path::PathBuf;

use serde::Serialize;

use self::mend::Mend;
use crate::ledger::View;

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
    /// The command that mends it, a sentence where no command can, or nothing where nothing is wrong.
    pub mend: String,
}

/// What a rule finds.
struct Found {
    rule: &'static str,
    severity: Severity,
    title: String,
    evidence: Vec<String>,
    files: Vec<PathBuf>,
    mend: Mend,
}

/// A rule.
type Rule = fn(&View<'_>) -> Vec<Found>;

/// Every rule, in the order in which findings of one severity are told.
const RULES: [Rule; 21] = [
    programs::two_cudnn,
    programs::parts_of_two_folders,
    files::broken,
    sets::two_versions_in_a_folder,
    sets::parts_from_elsewhere,
    sets::incomplete,
    companions::no_compiler,
    companions::no_builtins,
    companions::no_cublaslt,
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

/// What all rules find, the worst first. What mends them agrees as a whole: there is one command for the search path.
pub(crate) fn all(view: &View<'_>) -> Vec<Finding> {
    let mut found: Vec<Found> = RULES.iter().flat_map(|rule| rule(view)).collect();
    // A swapped part is what shadowing leads to: the worse of the two is told.
    let swapped: Vec<PathBuf> = found
        .iter()
        .filter(|one| one.rule == "parts-from-elsewhere")
        .flat_map(|one| one.files.clone())
        .collect();
    found.retain(|one| one.rule != "shadowed" || !one.files.iter().all(|file| swapped.contains(file)));
    found.sort_by_key(|one| one.severity);
    left_out(&mut found);
    let path = mend::merged(found.iter().filter(|one| one.severity != Severity::Note).map(|one| &one.mend));
    found.into_iter().map(|one| settled(view, &path, one)).collect()
}

/// Rules about what one folder lacks, of which nothing is left to mend once nothing leads to that folder.
const OF_A_FOLDER: [&str; 5] = ["broken-library", "mixed-set", "incomplete-set", "no-nvrtc", "no-cublaslt"];

/// A folder that has to leave the search path is not mended besides.
fn left_out(found: &mut [Found]) {
    let change = mend::merged(found.iter().filter(|one| one.severity != Severity::Note).map(|one| &one.mend));
    for one in found.iter_mut().filter(|one| OF_A_FOLDER.contains(&one.rule)) {
        let folder = one.files.first().and_then(|file| file.parent()).map(std::path::Path::to_owned);
        if let Some(folder) = folder.filter(|folder| change.without.contains(folder)) {
            one.mend = mend::without(vec![folder]);
        }
    }
}

fn settled(view: &View<'_>, path: &mend::Change, found: Found) -> Finding {
    let Found { rule, severity, title, evidence, files, mend } = found;
    // A note asks for no change of what all programs see.
    let mend = if severity == Severity::Note && matches!(mend, Mend::Path(_) | Mend::Both(..)) {
        Mend::Nothing
    } else {
        mend
    };
    mend::settled(view, path, Finding { rule, severity, title, evidence, files, mend: String::new() }, mend)
}

/// The words of a list, with a comma between them.
fn listed(words: impl IntoIterator<Item = impl ToString>) -> String {
    words.into_iter().map(|word| word.to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
