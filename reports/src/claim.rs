//! What may be claimed of where a failure lies and of how it is reached, in the same words for every file of a bundle.
//! Knows how much a guess is worth; looks for nothing.

use case::{Kind, Phase, Ranks, Reach, Region, Sameness, Severity, Tier};

use crate::finding::Finding;
use crate::verdict::VerdictRecord;

/// What is known of the way to a failure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way<'a> {
    sameness: &'a Sameness,
    tier: Tier,
    ranks: Ranks,
    reach: Option<&'a Reach>,
}

impl<'a> Way<'a> {
    pub(crate) fn of(finding: &Finding<'a>) -> Self {
        let fault = finding.fault;
        Self { sameness: &fault.sameness, tier: fault.tier, ranks: finding.ranks, reach: finding.reach }
    }

    pub(crate) fn read(verdict: &'a VerdictRecord) -> Self {
        let reach = verdict.reach.as_ref();
        Self { sameness: &verdict.sameness, tier: verdict.tier, ranks: verdict.ranks, reach }
    }

    /// Ranks of the failing plan: those of the survey, which asked every list, where there was one.
    pub(crate) fn ranks(self) -> Ranks {
        self.reach.map_or(self.ranks, |reach| reach.ranks)
    }

    /// How bad it is; `None` where nobody has looked. What comes before any plan meets whoever asks.
    pub(crate) fn severity(self) -> Option<Severity> {
        if self.is_before_plans() {
            return Some(Severity::ByDefault);
        }
        self.reach.map(|reach| reach.severity)
    }

    /// The tier that goes with the severity.
    pub(crate) fn tier(self) -> Tier {
        match (self.tier, self.severity()) {
            (Tier::C, _) => Tier::C,
            (_, Some(Severity::ByDefault | Severity::UnderSearch)) => Tier::A,
            (_, Some(Severity::ByExplicitChoice)) => Tier::B,
            (tier, None) => tier,
        }
    }

    /// True where the failure comes before there is an engine.
    fn is_before_plans(self) -> bool {
        self.sameness.engine.is_none() && self.sameness.phase <= Phase::Heuristics
    }

    /// True where a heuristic list holds the plan, or the failure comes before any plan.
    pub(crate) fn is_recommended(self) -> bool {
        let met = self.reach.is_some_and(|reach| reach.original_ranks.recommended());
        self.sameness.engine.is_none() || self.ranks().recommended() || met
    }

    /// `A#2 fallback#0`, and what else leads there.
    pub(crate) fn words(self) -> String {
        if self.is_before_plans() {
            let phase = self.sameness.phase;
            if phase == Phase::Heuristics {
                return "by asking for heuristics, before any plan is chosen".to_owned();
            }
            return format!("before any plan is chosen, in phase {}", phase.name());
        }
        let ranks = self.ranks();
        match self.reach {
            Some(reach) if reach.original_ranks != ranks && reach.original_ranks.recommended() => {
                format!("{ranks}; the case as it was met: {}", reach.original_ranks)
            }
            Some(_) | None => ranks.to_string(),
        }
    }

    /// How bad it is, kind and way together.
    pub(crate) fn severity_words(self) -> String {
        let how = self.severity().map_or("how it is reached was not checked", Severity::words);
        format!("{}; {how}", effect(self.sameness.kind))
    }
}

/// What a user notices.
fn effect(kind: Kind) -> &'static str {
    match kind {
        Kind::Wrong => "silently wrong",
        Kind::Inexact => "silently inexact",
        Kind::Nondet => "silently nondeterministic",
        Kind::Oob | Kind::Input => "silent memory corruption",
        Kind::Status => "an error that is reported",
        Kind::Device => "a device error after success",
        Kind::Crash => "the process dies",
        Kind::Hang => "the call never returns",
        Kind::Accepted => "an invalid case runs",
        Kind::Workspace => "a buffer of the wrong size",
        Kind::Reload => "a stored plan that is not the one that was built",
    }
}

/// A region with its counts, and with a word of warning where it is a guess.
pub(crate) fn region(region: &Region) -> String {
    let doubt = region.support().doubt().map_or_else(String::new, |doubt| format!("{doubt}: "));
    format!("{doubt}{region} ({})", region.counts())
}
