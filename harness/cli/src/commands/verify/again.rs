//! The runs that `convict verify` makes: the case in fresh processes, the program in clean ones, and what they showed.
//! Knows counts and words; the verdict over both is elsewhere.

use std::path::Path;

use case::{Kind, Signature};
use hunt::{Bench, Recheck};
use reports::{Bundle, Verification};
use serde_json::{Value, json};

use super::standing::Standing;
use crate::failure::Failure;
use crate::program::{Programs, Shown};

/// Processes that start side by side.
const AHEAD: u32 = 3;

/// What the runs of the case showed.
#[derive(Debug, Default)]
pub(super) struct CaseRuns {
    runs: u32,
    same: u32,
    passed: u32,
    /// Signature and gist of each failure of another kind.
    other: Vec<(String, String)>,
    /// Why runs could not be judged.
    unjudged: Vec<String>,
}

impl CaseRuns {
    /// Runs the bundle's case that often.
    pub(super) fn make<B: Bench>(bench: &mut B, bundle: &Bundle, runs: u32) -> Result<Self, Failure> {
        let mut made = Self { runs, ..Self::default() };
        for run in 0..runs {
            bench.expect((runs - run).min(AHEAD));
            match hunt::recheck(bench, &bundle.case, &bundle.verdict.sameness)? {
                Recheck::Same => made.same += 1,
                Recheck::Passed => made.passed += 1,
                Recheck::Other(fault) => {
                    let signature = Signature::new(&fault.sameness, &bundle.case.problem);
                    made.other.push((signature.to_string(), fault.summary));
                }
                Recheck::Unjudged(why) => made.unjudged.push(why),
            }
        }
        Ok(made)
    }

    /// One line.
    pub(super) fn words(&self) -> String {
        let mut parts = Vec::new();
        let mut part = |count: usize, words: String| {
            if count > 0 {
                parts.push(format!("{words} in {count} of {} runs", self.runs));
            }
        };
        part(self.same as usize, "fails the same way".to_owned());
        if let Some((signature, summary)) = self.other.first() {
            part(self.other.len(), format!("fails otherwise ({signature}: {summary})"));
        }
        part(self.passed as usize, "passes".to_owned());
        if let Some(why) = self.unjudged.first() {
            part(self.unjudged.len(), format!("not judged ({why})"));
        }
        parts.join(", ")
    }

    pub(super) fn json(&self) -> Value {
        let other: Vec<Value> = self
            .other
            .iter()
            .map(|(signature, summary)| json!({ "signature": signature, "summary": summary }))
            .collect();
        json!({
            "runs": self.runs, "same": self.same, "passed": self.passed, "other": other, "unjudged": self.unjudged,
        })
    }

    /// What of the bundle's claim is left. A failure that came and went when it was confirmed holds with any hit.
    pub(super) fn standing(&self, bundle: &Bundle) -> Standing {
        let judged = self.same + self.passed + self.other.len() as u32;
        let comes_and_goes = bundle.verdict.hits < bundle.verdict.runs;
        match self.same {
            _ if judged == 0 => Standing::Unjudged,
            0 => Standing::Gone,
            same if same == judged || comes_and_goes => Standing::Holds,
            _ => Standing::Partly,
        }
    }
}

/// What the runs of the program showed.
#[derive(Debug)]
pub(super) enum ProgramRuns {
    /// It is not the one that this version of convict writes, and nobody said that it can be trusted.
    LeftAlone,
    /// It could not be built or run.
    Not(String),
    /// It was run.
    Ran {
        shown: Shown,
        compiler: String,
        /// It is another one than this version of convict writes.
        foreign: bool,
    },
}

impl ProgramRuns {
    pub(super) fn left_alone() -> Self {
        Self::LeftAlone
    }

    /// Builds the program in that folder and runs it that often.
    pub(super) fn make(programs: &Programs, place: &Path, kind: Kind, runs: u32, foreign: bool) -> Self {
        let run = || {
            let built = programs.build(place)?;
            let shown = programs.run(&built, kind, runs)?;
            Ok::<_, String>(Self::Ran { shown, compiler: built.compiler().to_owned(), foreign })
        };
        run().unwrap_or_else(Self::Not)
    }

    /// One line.
    pub(super) fn words(&self) -> String {
        match self {
            Self::LeftAlone => {
                "left alone: repro.cpp is not what this version of convict writes for the bundle \
                                (--run-program runs it all the same)"
                    .to_owned()
            }
            Self::Not(why) => format!("not run: {why}"),
            Self::Ran { shown: Shown { reproduced, runs, otherwise }, compiler, foreign } => {
                let what = match (reproduced, otherwise) {
                    (0, None) => format!("does not show it in {runs} runs"),
                    (0, Some(how)) => format!("does not show it in {runs} runs ({how})"),
                    (_, _) => format!("shows it in {reproduced} of {runs} runs"),
                };
                let whose = if *foreign { "; it is not what this version of convict writes" } else { "" };
                format!("{what}, built with {compiler}{whose}")
            }
        }
    }

    pub(super) fn json(&self) -> Value {
        match self {
            Self::LeftAlone => json!({ "runs": 0, "foreign": true, "not_run": self.words() }),
            Self::Not(why) => json!({ "runs": 0, "not_run": why }),
            Self::Ran { shown, compiler, foreign } => json!({
                "runs": shown.runs, "shown": shown.reproduced, "otherwise": shown.otherwise, "compiler": compiler,
                "foreign": foreign,
            }),
        }
    }

    /// What of the bundle's claim is left; a program that nobody saw show it claims nothing.
    pub(super) fn standing(&self, bundle: &Bundle) -> Standing {
        let Self::Ran { shown, .. } = self else { return Standing::Unjudged };
        let all = shown.reproduced == shown.runs;
        match (&bundle.verdict.verification, shown.reproduced) {
            (Verification::Runs { reproduced: 0, .. }, 0) => Standing::Holds,
            (Verification::Runs { .. }, 0) => Standing::Gone,
            (Verification::Pending | Verification::Not { .. }, 0) => Standing::Unjudged,
            (Verification::Runs { reproduced, runs, .. }, _) if !all && reproduced == runs => {
                Standing::Partly
            }
            (Verification::Runs { .. } | Verification::Pending | Verification::Not { .. }, _) => {
                Standing::Holds
            }
        }
    }
}
