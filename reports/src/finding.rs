//! What a bundle is written from: a confirmed failure with everything that was seen. Data only.

use case::{Case, Environment, Execution, Explanation, Fault, Outcome, Ranks, Reach, Signature};

/// A confirmed failure.
#[derive(Clone, Copy, Debug)]
pub struct Finding<'a> {
    /// What deduplicates it.
    pub signature: &'a Signature,
    /// What the final case shows.
    pub fault: &'a Fault,
    /// The case that fails.
    pub case: &'a Case,
    /// The case as it was met.
    pub original: &'a Case,
    /// Machine and libraries, files hashed.
    pub environment: &'a Environment,
    /// The final case as it failed last.
    pub outcome: &'a Outcome,
    /// Confirming runs that failed the same way.
    pub hits: u32,
    /// Confirming runs made, each in a process of its own.
    pub runs: u32,
    /// Where heuristic lists hold the configuration.
    pub ranks: Ranks,
    /// How the case was made small.
    pub minimization: &'a Minimization,
    /// Where the failure lies and which near cases pass; absent where nobody has probed.
    pub explanation: Option<&'a Explanation>,
    /// How the failing plan is reached and what could be used instead; absent where nobody has looked.
    pub reach: Option<&'a Reach>,
    /// The library's own log of the final case only; empty where none was kept.
    pub library_log: &'a str,
    /// Version of convict.
    pub tool_version: &'a str,
    /// Words that may not appear in a bundle, such as the host's name.
    pub secrets: &'a [String],
}

/// How a case was made small.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Minimization {
    /// Runs of the predicate.
    pub calls: u64,
    /// True when no single listed edit makes the case smaller.
    pub one_minimal: bool,
    /// Edits of the closing sweep that were tried.
    pub swept: u64,
    /// Edits that the closing sweep lists.
    pub sweep_total: u64,
    /// What is claimed about the result and what is not; empty where nothing was minimized.
    pub guarantee: String,
    /// Every question and its answer, oldest first, as JSON lines.
    pub log: Vec<String>,
    /// Seconds that the search took.
    pub seconds: f64,
}

/// What came of building and running the bundle's program in a clean process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verified {
    /// It was built and run.
    Runs {
        /// Runs that showed the bug.
        reproduced: u32,
        /// Runs made.
        runs: u32,
        /// The compiler, such as `g++ 12.2.0`.
        compiler: String,
    },
    /// It was not.
    Not {
        /// Why.
        because: String,
    },
}

impl<'a> Finding<'a> {
    /// The executions that were measured; none where the process died first.
    pub(crate) fn executions(&self) -> &'a [Execution] {
        self.outcome.observation.as_ref().map_or(&[], |observation| &observation.executions)
    }

    /// The execution that showed the failure.
    pub(crate) fn telling_execution(&self) -> Option<&'a Execution> {
        let recipe = self.fault.recipe?;
        self.executions().iter().find(|execution| execution.recipe == recipe)
    }
}
