//! How what was shown stands to what was expected: one table of rules. Knows states; runs nothing.

use case::Kind;
use serde::{Deserialize, Serialize};

use crate::expectation::{Basis, Expect, Expectation};
use crate::showing::{Failing, Showing};

/// Runs that an unexpected failure, or an unexpected right result, is looked at in.
const RUNS: u32 = 3;

/// Most runs in which a failure that comes and goes is waited for.
const RUNS_MAX: u32 = 30;

/// How a failure that comes and goes may be missed: with this probability at most.
const MISS_MAX: f64 = 0.05;

/// How an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum State {
    /// Right, or refused where that is right.
    Pass,
    /// Fails and should not.
    Fail,
    /// Fails as expected.
    Xfail,
    /// Expected to fail or to be refused, and right: a range of versions can be closed.
    Xpass,
    /// Fails otherwise than expected.
    Changed,
    /// Refused, which nobody expected and nobody minds.
    Unsupported,
    /// The check is too weak to say anything.
    Untrusted,
    /// Fails at times, as expected.
    Flaky,
    /// Not run.
    Skipped,
    /// The machine or convict failed.
    Infra,
}

impl State {
    /// All, in the order in which they are summed up.
    pub const ALL: [Self; 10] = [
        Self::Fail,
        Self::Changed,
        Self::Xpass,
        Self::Infra,
        Self::Pass,
        Self::Xfail,
        Self::Flaky,
        Self::Unsupported,
        Self::Untrusted,
        Self::Skipped,
    ];

    /// Upper-case word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Xfail => "XFAIL",
            Self::Xpass => "XPASS",
            Self::Changed => "CHANGED",
            Self::Unsupported => "UNSUPPORTED",
            Self::Untrusted => "UNTRUSTED",
            Self::Flaky => "FLAKY",
            Self::Skipped => "SKIPPED",
            Self::Infra => "INFRA",
        }
    }

    /// True where a replay must not end well.
    #[must_use]
    pub fn is_regression(self, strict: bool) -> bool {
        match self {
            Self::Fail => true,
            Self::Xpass | Self::Changed => strict,
            Self::Pass
            | Self::Xfail
            | Self::Unsupported
            | Self::Untrusted
            | Self::Flaky
            | Self::Skipped
            | Self::Infra => false,
        }
    }

    /// True where the library was judged.
    #[must_use]
    pub fn is_judged(self) -> bool {
        match self {
            Self::Pass | Self::Fail | Self::Xfail | Self::Xpass | Self::Changed | Self::Flaky => true,
            Self::Unsupported | Self::Untrusted | Self::Skipped | Self::Infra => false,
        }
    }
}

/// A state and why, in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The state.
    pub state: State,
    /// Why.
    pub why: String,
}

/// What is asked of an entry on one library set.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What is expected, where an expectation speaks of this set.
    pub expectation: Option<&'a Expectation>,
    /// Signature of the known failure.
    pub signature: Option<&'a str>,
    /// True where the engine-free form is run in place of the case.
    pub engine_free: bool,
    /// True where every engine of the problem was asked.
    pub every_engine: bool,
    /// True where the case is right only if it is refused, so that a refusal shows as a right result.
    pub must_refuse: bool,
}

impl Question<'_> {
    /// True where one more run tells more than those made.
    #[must_use]
    pub fn wants_more(&self, runs: &[Showing]) -> bool {
        let made = runs.len() as u32;
        let Some(last) = runs.last() else { return true };
        match last {
            Showing::Failed(failing) => match self.tolerated() {
                Some(_) if self.is_expected(failing) => false,
                Some(_) | None => made < RUNS,
            },
            Showing::Passed => made < self.passes_needed() || (self.has_failed(runs) && made < RUNS),
            Showing::Refused(_) | Showing::Untrusted(_) | Showing::Skipped(_) | Showing::Trouble(_) => false,
        }
    }

    /// Right results after which a known failure counts as gone.
    fn passes_needed(&self) -> u32 {
        match self.observed() {
            Some((Expect::Fail | Expect::Flaky, rate)) if rate < 1.0 => {
                // The probability of `n` right results in a row is (1 - rate)^n.
                let needed = (MISS_MAX.ln() / (1.0 - rate).ln()).ceil();
                if needed.is_finite() { (needed as u32).clamp(RUNS, RUNS_MAX) } else { RUNS_MAX }
            }
            Some((Expect::Fail | Expect::Flaky, _)) if !self.engine_free => RUNS,
            Some(_) | None => 1,
        }
    }

    fn has_failed(&self, runs: &[Showing]) -> bool {
        runs.iter().any(|run| matches!(run, Showing::Failed(_)))
    }

    /// What convict itself saw, with the share of failing runs.
    fn observed(&self) -> Option<(Expect, f64)> {
        let expectation = self.expectation.filter(|one| one.basis == Basis::Observed)?;
        Some((expectation.expect, expectation.rate.unwrap_or(1.0)))
    }

    /// The expectation, where it is one of failing.
    fn tolerated(&self) -> Option<&Expectation> {
        self.expectation.filter(|one| matches!(one.expect, Expect::Fail | Expect::Flaky))
    }

    /// True for the failure that is known, as far as it is known.
    fn is_expected(&self, failing: &Failing) -> bool {
        let Some(expectation) = self.tolerated() else { return false };
        match self.signature {
            Some(signature) if !self.engine_free => failing.signature == signature,
            // Without the engine's number the kind is what is left: `wgrad-e20-wrong-judge-...`.
            Some(signature) => signature.split('-').nth(2) == Some(failing.kind.name()),
            None => expectation.kinds.is_empty() || expectation.kinds.contains(&failing.kind),
        }
    }

    /// How the entry stands after those runs.
    #[must_use]
    pub fn standing(&self, runs: &[Showing]) -> Standing {
        let state = |state, why: String| Standing { state, why };
        let count = runs.len();
        let failures: Vec<&Failing> = runs.iter().filter_map(failing).collect();
        let times =
            |failed: usize| if count == 1 { String::new() } else { format!(" in {failed} of {count} runs") };
        if let Some(trouble) = runs.iter().find_map(trouble) {
            return state(State::Infra, trouble.to_owned());
        }
        if let Some(known) = failures.iter().find(|failing| self.is_expected(failing)) {
            let expected = failures.iter().filter(|failing| self.is_expected(failing)).count();
            let flaky = self.observed().is_some_and(|(expect, _)| expect == Expect::Flaky);
            let why = format!("{}{}: {}", known.signature, times(expected), known.summary);
            return state(if flaky { State::Flaky } else { State::Xfail }, why);
        }
        if let Some(other) = failures.first() {
            let why = format!("{}{}: {}", other.signature, times(failures.len()), other.summary);
            let known = matches!(self.observed(), Some((Expect::Fail | Expect::Flaky, _)));
            // A clock measures the machine too: one that is loaded lets a deadline pass, and then none.
            if other.kind == Kind::Hang && failures.len() < count {
                return state(State::Infra, format!("{why}; the machine is loaded, or it hangs at times"));
            }
            return if known {
                state(State::Changed, format!("expected {}, found {why}", self.known_name()))
            } else {
                state(State::Fail, why)
            };
        }
        self.without_failure(runs)
    }

    fn without_failure(&self, runs: &[Showing]) -> Standing {
        let state = |state, why: &str| Standing { state, why: why.to_owned() };
        let Some(last) = runs.last() else { return state(State::Skipped, "not run") };
        let expect = self.observed().map(|(expect, _)| expect);
        match (last, expect) {
            (Showing::Passed, Some(Expect::Fail | Expect::Flaky))
                if self.engine_free && !self.every_engine =>
            {
                state(State::Pass, "the plan tried first is right; the engine known to fail was not asked")
            }
            (Showing::Passed, Some(Expect::Fail | Expect::Flaky)) => Standing {
                state: State::Xpass,
                why: format!(
                    "expected {}, right in {} of {} runs",
                    self.known_name(),
                    runs.len(),
                    runs.len()
                ),
            },
            (Showing::Passed, Some(Expect::Refused)) if self.must_refuse => {
                state(State::Pass, "refused as it must be")
            }
            (Showing::Passed, Some(Expect::Refused)) => {
                state(State::Xpass, "expected a refusal, and it is right")
            }
            (Showing::Passed, Some(Expect::Pass) | None) => state(State::Pass, "right"),
            (Showing::Refused(words), Some(Expect::Refused)) => {
                Standing { state: State::Pass, why: format!("refused as expected: {words}") }
            }
            (Showing::Refused(words), _) if self.is_reported_refusal() => {
                Standing { state: State::Pass, why: format!("refused as reported: {words}") }
            }
            (Showing::Refused(words), _) => state(State::Unsupported, words),
            (Showing::Untrusted(why), _) => state(State::Untrusted, why),
            (Showing::Skipped(why), _) => state(State::Skipped, why),
            (Showing::Trouble(why), _) => state(State::Infra, why),
            (Showing::Failed(failing), _) => state(State::Fail, &failing.summary),
        }
    }

    fn is_reported_refusal(&self) -> bool {
        self.expectation.is_some_and(|one| one.expect == Expect::Refused)
    }

    fn known_name(&self) -> String {
        let kinds = |expectation: &Expectation| {
            let names: Vec<&str> = expectation.kinds.iter().copied().map(Kind::name).collect();
            if names.is_empty() { "a failure".to_owned() } else { names.join(" or ") }
        };
        match (self.signature, self.expectation) {
            (Some(signature), _) => signature.to_owned(),
            (None, Some(expectation)) => kinds(expectation),
            (None, None) => "a failure".to_owned(),
        }
    }
}

fn failing(run: &Showing) -> Option<&Failing> {
    match run {
        Showing::Failed(failing) => Some(failing),
        Showing::Passed
        | Showing::Refused(_)
        | Showing::Untrusted(_)
        | Showing::Skipped(_)
        | Showing::Trouble(_) => None,
    }
}

fn trouble(run: &Showing) -> Option<&str> {
    match run {
        Showing::Trouble(why) => Some(why),
        Showing::Passed
        | Showing::Failed(_)
        | Showing::Refused(_)
        | Showing::Untrusted(_)
        | Showing::Skipped(_) => None,
    }
}

#[cfg(test)]
mod tests;
