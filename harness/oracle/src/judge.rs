//! The verdict on one outcome: the oracles in their order, the first that speaks decides. Knows the order;
//! each oracle's rule is in its own file.

use case::{Candidate, Case, Execution, Fault, Kind, Notes, Observation, Outcome, Phase, Recipe};
use case::{Sameness, Tier, Untrusted, Verdict, Workspace};

use crate::oracles::ORACLES;

/// Judges what one visit to a configuration showed.
///
/// Oracles speak over all executions before the next one is asked, so that a fault keeps its kind whichever
/// execution happens to show it first. Where none speaks the run passes.
#[must_use]
pub fn judge(case: &Case, outcome: &Outcome) -> Verdict {
    let scene = Scene { case, outcome };
    ORACLES.iter().find_map(|(_, oracle)| oracle(&scene)).unwrap_or(Verdict::Pass)
}

/// True where more executions of the same plan can tell more: a measured fault, or a check that was too weak.
#[must_use]
pub fn is_odd(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Fault(fault) => match fault.sameness.kind {
            Kind::Wrong | Kind::Inexact | Kind::Nondet | Kind::Oob | Kind::Input => true,
            Kind::Status
            | Kind::Device
            | Kind::Crash
            | Kind::Hang
            | Kind::Accepted
            | Kind::Workspace
            | Kind::Reload => false,
        },
        Verdict::Untrusted(Untrusted::Vacuous { .. }) => true,
        Verdict::Untrusted(Untrusted::Reference { .. } | Untrusted::Skipped(_))
        | Verdict::Pass
        | Verdict::Unsupported(_) => false,
    }
}

/// What the oracles look at.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) case: &'a Case,
    pub(crate) outcome: &'a Outcome,
}

/// What an oracle found, before it is known how the configuration is reached.
pub(crate) struct Evidence<'a> {
    pub(crate) kind: Kind,
    pub(crate) phase: Phase,
    pub(crate) cause: &'a str,
    /// True where no text promises the contrary: tier C.
    pub(crate) informative: bool,
    pub(crate) summary: String,
    pub(crate) recipe: Option<Recipe>,
}

impl<'a> Scene<'a> {
    /// What the worker reported, where it lived to do so.
    pub(crate) fn observation(&self) -> Option<&'a Observation> {
        self.outcome.observation.as_ref()
    }

    /// The configuration really used, else the one announced.
    pub(crate) fn candidate(&self) -> Option<&'a Candidate> {
        let used = self.observation().and_then(|observation| observation.candidate.as_ref());
        used.or(self.outcome.candidate.as_ref())
    }

    pub(crate) fn recommended(&self) -> bool {
        self.candidate().is_some_and(|candidate| candidate.ranks.recommended())
    }

    pub(crate) fn executions(&self) -> &'a [Execution] {
        self.observation().map_or(&[], |observation| &observation.executions)
    }

    /// The engine's notes; none where nothing was reported.
    pub(crate) fn notes(&self) -> &'a Notes {
        const NONE: &Notes = &Notes { numerical: Vec::new(), behavior: Vec::new() };
        self.observation().map_or(NONE, |observation| &observation.notes)
    }

    pub(crate) fn fault(&self, evidence: Evidence<'_>) -> Verdict {
        let engine = self.candidate().map(|candidate| candidate.config.engine);
        let operation = self.case.problem.operation;
        Verdict::Fault(Fault {
            sameness: Sameness::new(evidence.kind, operation, evidence.phase, evidence.cause, engine),
            tier: self.tier(evidence.phase, evidence.informative),
            summary: one_line(&evidence.summary),
            recipe: evidence.recipe,
        })
    }

    /// No text states a workspace alignment below 256 bytes to be legal. It matters only once a plan runs.
    fn tier(&self, phase: Phase, informative: bool) -> Tier {
        let alignment = self.case.options.workspace.alignment;
        let misaligned = alignment < Workspace::DEFAULT_ALIGNMENT && phase >= Phase::Execute;
        if informative || misaligned {
            Tier::C
        } else if self.recommended() || phase == Phase::Heuristics {
            // Who fails while heuristics are asked meets everyone who asks them, whatever they would have listed.
            Tier::A
        } else {
            Tier::B
        }
    }
}

/// Longest summary, in characters.
const SUMMARY_CHARS_MAX: usize = 400;

/// Text of libraries on one printable line, cut where it is long.
fn one_line(text: &str) -> String {
    let plain = |character: char| if character.is_control() { ' ' } else { character };
    let mut line: String = text.chars().take(SUMMARY_CHARS_MAX).map(plain).collect();
    if text.chars().count() > SUMMARY_CHARS_MAX {
        line.push_str("...");
    }
    line.trim_end().to_owned()
}
