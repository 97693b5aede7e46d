//! Renders anew what follows from a bundle's data: pages, vendor forms, guards, the ticket's text. The program, the
//! logs and what was measured stay as they are. Runs nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use case::{Candidate, Case, Execution, Explanation, Fault, Observation, Outcome, Reach, Signature};

use crate::error::BundleError;
use crate::evidence;
use crate::facts::Facts;
use crate::files::{
    PAGE, README, REGION, REGION_MAP, REPORT, SCRIPT, SUMS, TWINS, VERDICT, print_sums, sha256,
};
use crate::finding::{Finding, Minimization, Verified};
use crate::page;
use crate::read::{Bundle, read};
use crate::region::{RegionRecord, TwinsRecord};
use crate::repro;
use crate::script;
use crate::vendor;
use crate::verdict::{FORMAT, VerdictRecord, Verification};
use crate::write::{json, replace};

/// Adds to a bundle what came of building and running its program.
///
/// # Errors
/// A bundle that does not read back or is of an old form, or the file system's error.
pub fn record_verification(folder: &Path, verified: &Verified) -> Result<(), BundleError> {
    let mut bundle = read(folder)?;
    bundle.verdict.verification = Verification::from(verified);
    renew(folder, &bundle)
}

/// Puts into a bundle where its failure lies and how its plan is reached, in place of what it held.
///
/// # Errors
/// A bundle that does not read back or is of an old form, or the file system's error.
pub fn record_explanation(
    folder: &Path,
    explanation: &Explanation,
    reach: &Reach,
) -> Result<(), BundleError> {
    let mut bundle = read(folder)?;
    bundle.explanation = Some(explanation.clone());
    bundle.verdict.reach = Some(reach.clone());
    renew(folder, &bundle)
}

/// Renders a bundle anew from its data, and refreshes the hashes. Bytes change only where this version of convict says
/// things in another way.
///
/// # Errors
/// A bundle that does not read back or is of an old form, or the file system's error.
pub fn rerender(folder: &Path) -> Result<(), BundleError> {
    let bundle = read(folder)?;
    renew(folder, &bundle)
}

/// The program that this version of convict writes for a bundle's data. Nothing of the bundle's own program is in it,
/// so that it can be trusted wherever the bundle comes from.
///
/// # Errors
/// A template that does not render: our own trouble.
pub fn program(bundle: &Bundle) -> Result<String, BundleError> {
    let mut kept = Kept::of(bundle);
    kept.recall_first(&bundle.case);
    Ok(repro::render(&kept.finding(bundle))?)
}

fn renew(folder: &Path, bundle: &Bundle) -> Result<(), BundleError> {
    if bundle.verdict.format != FORMAT {
        return Err(BundleError::Form { found: bundle.verdict.format });
    }
    put(folder, bundle, &files(bundle)?)?;
    let script = folder.join(SCRIPT);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).map_err(BundleError::io(&script))
}

/// Puts other texts into files of a bundle, and their hashes among the others.
pub(crate) fn put(
    folder: &Path,
    bundle: &Bundle,
    files: &[(&'static str, String)],
) -> Result<(), BundleError> {
    let hash_now = |(name, hash): &(&'static str, String)| {
        let new = files.iter().find(|(file, _)| file == name);
        (*name, new.map_or_else(|| hash.clone(), |(_, text)| sha256(text.as_bytes())))
    };
    let sums = print_sums(bundle.hashes.iter().map(hash_now));
    for (name, text) in files.iter().map(|(name, text)| (*name, text)).chain([(SUMS, &sums)]) {
        replace(&folder.join(name), text)?;
    }
    Ok(())
}

/// The files that follow from the others. The corpus entry is none of them: people write into it.
fn files(bundle: &Bundle) -> Result<Vec<(&'static str, String)>, BundleError> {
    let kept = Kept::of(bundle);
    let finding = kept.finding(bundle);
    let record =
        VerdictRecord { verification: bundle.verdict.verification.clone(), ..VerdictRecord::of(&finding) };
    let vendor = vendor::files(&finding)?;
    let novelty = vendor::of(&finding);
    let issue = vendor.iter().find(|(name, _)| *name == vendor::ISSUE).map_or("", |(_, text)| text);
    let facts = Facts { verdict: &record, novelty: Some(&novelty), issue, ..Facts::read(bundle) };
    let mut files = vec![
        (README, script::readme(&finding)?),
        (REGION_MAP, evidence::region_map(&facts)),
        (REGION, json(REGION, &RegionRecord::of(finding.explanation))?),
        (PAGE, page::html(&facts)),
        (REPORT, page::markdown(&facts)),
        (SCRIPT, script::render(&finding)?),
        (TWINS, json(TWINS, &TwinsRecord::of(finding.explanation))?),
        (VERDICT, json(VERDICT, &record)?),
    ];
    files.extend(vendor);
    Ok(files)
}

/// The parts of a finding that a bundle holds in other shapes.
struct Kept {
    signature: Signature,
    fault: Fault,
    outcome: Outcome,
    minimization: Minimization,
}

impl Kept {
    fn of(bundle: &Bundle) -> Self {
        let verdict = &bundle.verdict;
        let config = verdict.config.clone();
        let candidate = config.map(|config| Candidate { config, ranks: verdict.ranks });
        let observation = verdict.ended.as_ref().map(|ended| Observation {
            candidate: candidate.clone(),
            notes: verdict.notes.clone(),
            workspace_bytes: verdict.workspace_bytes.unwrap_or_default(),
            plan_us: 0,
            ended: ended.clone(),
            executions: verdict.execution.iter().cloned().collect(),
            planning: None,
        });
        let figures = &verdict.minimization;
        Self {
            signature: Signature::new(&verdict.sameness, &bundle.case.problem),
            fault: Fault {
                sameness: verdict.sameness.clone(),
                tier: verdict.tier,
                summary: verdict.summary.clone(),
                recipe: verdict.execution.as_ref().map(|execution| execution.recipe),
            },
            outcome: Outcome {
                candidate,
                exit: verdict.exit,
                phase: verdict.sameness.phase,
                observation,
                stderr: bundle.stderr.clone(),
            },
            minimization: Minimization {
                calls: figures.calls,
                one_minimal: figures.one_minimal,
                swept: figures.swept,
                sweep_total: figures.sweep_total,
                guarantee: figures.guarantee.clone(),
                log: bundle.minimize_log.lines().map(str::to_owned).collect(),
                seconds: figures.seconds,
            },
        }
    }

    /// A bundle holds the execution that showed the failure, and not the first one, which repetitions are compared
    /// with: what that one started from follows from the case.
    fn recall_first(&mut self, case: &Case) {
        let repeats = self.fault.recipe.and_then(|recipe| recipe.repeats);
        let executions = self.outcome.observation.as_mut().map(|observation| &mut observation.executions);
        if let (Some(0), Some(executions)) = (repeats, executions)
            && let (Some(telling), Some(recipe)) = (executions.first().cloned(), repro::first_recipe(case))
        {
            executions.insert(0, Execution { recipe, ..telling });
        }
    }

    fn finding<'a>(&'a self, bundle: &'a Bundle) -> Finding<'a> {
        Finding {
            signature: &self.signature,
            fault: &self.fault,
            case: &bundle.case,
            original: &bundle.original,
            environment: &bundle.environment,
            outcome: &self.outcome,
            hits: bundle.verdict.hits,
            runs: bundle.verdict.runs,
            ranks: bundle.verdict.ranks,
            minimization: &self.minimization,
            explanation: bundle.explanation.as_ref(),
            reach: bundle.verdict.reach.as_ref(),
            library_log: &bundle.library_log,
            tool_version: &bundle.verdict.tool_version,
            secrets: &[],
        }
    }
}

#[cfg(test)]
mod tests;
