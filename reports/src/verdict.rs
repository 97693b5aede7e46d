//! `verdict.json`: what was seen and why it counts, for programs. Data with a format number; renders nothing.

use case::{Config, Ended, Execution, Exit, Notes, Ranks, Reach, Sameness, Tier};
use serde::{Deserialize, Serialize};

use crate::claim::Way;
use crate::finding::{Finding, Minimization, Verified};
use crate::position::coordinates;
use crate::redact::Redactor;
use crate::title::title;
use crate::vendor::forms;

/// Number of the form of bundles that are written: 1 had fewer files and can still be read, any other is
/// refused.
pub const FORMAT: u32 = 2;

/// The whole file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictRecord {
    /// Number of the bundle's form.
    pub format: u32,
    /// Version of convict that wrote it.
    pub tool_version: String,
    /// The line that names the finding.
    pub title: String,
    /// The case line, as in `case.txt`; empty in form 1.
    #[serde(default)]
    pub case: String,
    /// What deduplicates it.
    pub signature: String,
    /// Kind, pass, phase, cause and engine.
    pub sameness: Sameness,
    /// How it is reached.
    pub tier: Tier,
    /// One line: what was seen, and the certificate or bound that it breaks.
    pub summary: String,
    /// The configuration that failed, absent where the failure came before any.
    pub config: Option<Config>,
    /// What its engine declares.
    pub notes: Notes,
    /// Where heuristic lists hold it, for the minimized case.
    pub ranks: Ranks,
    /// How a user gets this plan and what could be used instead; absent where nobody has looked.
    #[serde(default)]
    pub reach: Option<Reach>,
    /// Workspace that the plan asks for, bytes; absent where no plan was built.
    pub workspace_bytes: Option<i64>,
    /// Confirming runs that failed the same way.
    pub hits: u32,
    /// Confirming runs made, each in a process of its own.
    pub runs: u32,
    /// How the worker's part ended.
    pub exit: Exit,
    /// What cuDNN or CUDA said; absent where the process died first.
    pub ended: Option<Ended>,
    /// Everything measured in the execution that showed it, with bounds and first mismatches; absent where
    /// the failure shows in no values.
    pub execution: Option<Execution>,
    /// Coordinates of the mismatches that the execution lists, in its order.
    pub coordinates: Vec<Vec<u64>>,
    /// How the case was made small.
    pub minimization: MinimizationRecord,
    /// The forms that vendors and frameworks read, with what is known of each; none in form 1.
    #[serde(default)]
    pub forms: Vec<VendorForm>,
    /// What came of building and running the bundle's program.
    pub verification: Verification,
}

/// A file in a vendor's form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VendorForm {
    /// Its name within the bundle.
    pub file: String,
    /// Whether it holds the case, and why it was not run where it was not.
    pub state: String,
}

/// The figures of a minimization; its log is in a file of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinimizationRecord {
    /// Runs of the predicate.
    pub calls: u64,
    /// True when no single listed edit makes the case smaller.
    pub one_minimal: bool,
    /// Edits of the closing sweep that were tried.
    pub swept: u64,
    /// Edits that the closing sweep lists.
    pub sweep_total: u64,
    /// What is claimed and what is not.
    pub guarantee: String,
    /// Seconds that the search took.
    pub seconds: f64,
}

/// Whether the bundle's program shows the failure by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Verification {
    /// Nobody has tried.
    Pending,
    /// It was built and run.
    Runs {
        /// Runs that showed the bug.
        reproduced: u32,
        /// Runs made.
        runs: u32,
        /// The compiler.
        compiler: String,
    },
    /// It was not tried, or could not be.
    Not {
        /// Why.
        because: String,
    },
}

impl From<&Verified> for Verification {
    fn from(verified: &Verified) -> Self {
        // What a compiler says names folders of this machine.
        let clean = |text: &str| Redactor::default().text(text);
        match verified {
            Verified::Runs { reproduced, runs, compiler } => Self::Runs {
                reproduced: *reproduced,
                runs: *runs,
                compiler: compiler_words(&clean(compiler)),
            },
            Verified::Not { because } => Self::Not { because: clean(because) },
        }
    }
}

/// `g++ 13.3.0` of `g++-real (Distribution 13.3.0-1) 13.3.0`; any other text as it is.
fn compiler_words(line: &str) -> String {
    let name = line.split_whitespace().next().unwrap_or("");
    let version =
        line.split_whitespace().rev().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
    match version {
        Some(version) if line.contains('(') => format!("{} {version}", name.trim_end_matches("-real")),
        Some(_) | None => line.to_owned(),
    }
}

impl Verification {
    /// One line for a person.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Pending => "not run yet".to_owned(),
            Self::Runs { reproduced, runs, compiler } => {
                format!(
                    "shows the bug by itself in {reproduced} of {runs} runs, built with {}",
                    compiler_words(compiler)
                )
            }
            Self::Not { because } => format!("not run: {because}"),
        }
    }
}

impl VerdictRecord {
    pub(crate) fn of(finding: &Finding<'_>) -> Self {
        let observation = finding.outcome.observation.as_ref();
        let used = observation.and_then(|observation| observation.candidate.as_ref());
        let execution = finding.telling_execution();
        let way = Way::of(finding);
        let excerpt = execution.map_or(&[][..], |execution| &execution.excerpt);
        Self {
            format: FORMAT,
            tool_version: finding.tool_version.to_owned(),
            title: title(finding),
            case: finding.case.to_string(),
            signature: finding.signature.to_string(),
            sameness: finding.fault.sameness.clone(),
            tier: way.tier(),
            summary: finding.fault.summary.clone(),
            config: used.or(finding.outcome.candidate.as_ref()).map(|candidate| candidate.config.clone()),
            notes: observation.map(|observation| observation.notes.clone()).unwrap_or_default(),
            ranks: way.ranks(),
            reach: finding.reach.cloned(),
            workspace_bytes: observation.map(|observation| observation.workspace_bytes),
            hits: finding.hits,
            runs: finding.runs,
            exit: finding.outcome.exit,
            ended: observation.map(|observation| observation.ended.clone()),
            execution: execution.cloned(),
            coordinates: excerpt.iter().map(|(position, ..)| coordinates(finding.case, *position)).collect(),
            minimization: MinimizationRecord::of(finding.minimization),
            forms: forms(finding).into_iter().map(VendorForm::from).collect(),
            verification: Verification::Pending,
        }
    }
}

impl From<(&str, String)> for VendorForm {
    fn from((file, state): (&str, String)) -> Self {
        Self { file: file.to_owned(), state }
    }
}

impl MinimizationRecord {
    fn of(minimization: &Minimization) -> Self {
        Self {
            calls: minimization.calls,
            one_minimal: minimization.one_minimal,
            swept: minimization.swept,
            sweep_total: minimization.sweep_total,
            guarantee: minimization.guarantee.clone(),
            seconds: minimization.seconds,
        }
    }
}
