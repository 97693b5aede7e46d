//! What is expected of a case on which library sets. Knows ranges and who agrees with whom; judges no run.

use serde::{Deserialize, Serialize};

use case::Kind;

use crate::date::Date;
use crate::facts::{Configuration, SetFacts};
use crate::version::Version;

/// What is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    /// A right result.
    Pass,
    /// A failure, each time.
    Fail,
    /// A clean refusal.
    Refused,
    /// A failure at times.
    Flaky,
}

/// Who says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// convict saw it.
    #[default]
    Observed,
    /// Others told it: a failure is tolerated, and its absence is no surprise.
    Reported,
}

impl Basis {
    fn is_observed(&self) -> bool {
        *self == Self::Observed
    }
}

/// What a case does on one range of versions, configurations and GPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// First version that it holds for; absent: from the beginning.
    pub cudnn_from: Option<Version>,
    /// First version that it no longer holds for; absent: no end is known.
    pub cudnn_to: Option<Version>,
    /// The kind of library set; absent: every real one.
    pub configuration: Option<Configuration>,
    /// GPU architectures, such as `sm_90`; none: all.
    pub architectures: Vec<String>,
    /// What is expected.
    pub expect: Expect,
    /// Who says so.
    #[serde(default, skip_serializing_if = "Basis::is_observed")]
    pub basis: Basis,
    /// Kinds of failure that count, where no signature is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    /// Share of runs that fail, above 0 and at most 1.
    pub rate: Option<f64>,
    /// Why, in one line.
    pub reason: String,
    /// Public link or number of the report.
    pub ticket: Option<String>,
    /// What became of it.
    pub resolution: Option<String>,
    /// Who looks after the entry.
    pub owner: Option<String>,
    /// Day from which it is due for a look.
    pub review_by: Option<Date>,
}

impl Expectation {
    /// True where it speaks of that set.
    #[must_use]
    pub fn applies(&self, set: &SetFacts) -> bool {
        let configuration = match (self.configuration, set.configuration) {
            (None, Some(Configuration::Simulator)) => false,
            (None, _) => true,
            (named, known) => named == known,
        };
        configuration
            && self.cudnn_from.as_ref().is_none_or(|from| *from <= set.version)
            && self.cudnn_to.as_ref().is_none_or(|to| set.version < *to)
            && (self.architectures.is_empty() || self.architectures.contains(&set.architecture))
    }

    /// True where some library set could be meant by both.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let simulator = |one: &Self| one.configuration == Some(Configuration::Simulator);
        let configurations = match (self.configuration, other.configuration) {
            (Some(one), Some(two)) => one == two,
            // Every real one, which the simulator is not.
            (None, _) => !simulator(other),
            (_, None) => !simulator(self),
        };
        let before = |one: &Self, two: &Self| match (&one.cudnn_to, &two.cudnn_from) {
            (Some(to), Some(from)) => to <= from,
            (_, _) => false,
        };
        let architectures = self.architectures.is_empty()
            || other.architectures.is_empty()
            || self.architectures.iter().any(|name| other.architectures.contains(name));
        configurations && architectures && !before(self, other) && !before(other, self)
    }

    /// True where both ask for the same.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        self.expect == other.expect && self.kinds == other.kinds && self.basis == other.basis
    }

    /// What is wrong with it on its own, in one line.
    pub(crate) fn complaint(&self) -> Option<String> {
        if let (Some(from), Some(to)) = (&self.cudnn_from, &self.cudnn_to)
            && from >= to
        {
            return Some(format!("its range of versions is empty: from {from} to before {to}"));
        }
        if self.rate.is_some_and(|rate| !(rate > 0.0 && rate <= 1.0)) {
            return Some("rate: must be above 0 and at most 1".to_owned());
        }
        let architecture = |name: &&String| {
            !name.strip_prefix("sm_").is_some_and(|rest| {
                (2..=4).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
            })
        };
        if let Some(name) = self.architectures.iter().find(architecture) {
            return Some(format!("architectures: '{}' is none, such as sm_90", name.escape_debug()));
        }
        let fails = matches!(self.expect, Expect::Fail | Expect::Flaky);
        match () {
            () if !fails && !self.kinds.is_empty() => Some("kinds: only a failure has some".to_owned()),
            () if !fails && self.rate.is_some() => Some("rate: only a failure has one".to_owned()),
            () if self.expect == Expect::Flaky && self.basis == Basis::Observed && self.rate.is_none() => {
                Some("rate: what fails at times needs it, to know how often to look".to_owned())
            }
            () if self.reason.trim().is_empty() => Some("reason: must be one line".to_owned()),
            () => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(version: &str, configuration: Configuration, architecture: &str) -> SetFacts {
        SetFacts {
            name: format!("{version}-x"),
            version: version.parse().expect("a version"),
            configuration: Some(configuration),
            architecture: architecture.to_owned(),
        }
    }

    fn expectation(
        from: Option<&str>,
        to: Option<&str>,
        configuration: Option<Configuration>,
    ) -> Expectation {
        let version = |text: &str| text.parse().expect("a version");
        Expectation {
            cudnn_from: from.map(version),
            cudnn_to: to.map(version),
            configuration,
            architectures: Vec::new(),
            expect: Expect::Fail,
            basis: Basis::Observed,
            kinds: Vec::new(),
            rate: None,
            reason: "seen".to_owned(),
            ticket: None,
            resolution: None,
            owner: None,
            review_by: None,
        }
    }

    #[test]
    fn a_range_has_its_first_version_and_not_its_last() {
        let range = expectation(Some("9.8"), Some("9.13"), None);
        let applies = |version| range.applies(&set(version, Configuration::Full, "sm_90"));
        assert!(!applies("9.7.9") && applies("9.8.0") && applies("9.12.9") && !applies("9.13.0"));
    }

    #[test]
    fn only_what_names_the_simulator_speaks_of_it() {
        let open = expectation(None, None, None);
        let named = expectation(None, None, Some(Configuration::Simulator));
        let simulator = set("9.19.0", Configuration::Simulator, "sm_90");
        let real = set("9.19.0", Configuration::Jit, "sm_90");
        assert!(!open.applies(&simulator) && named.applies(&simulator));
        assert!(open.applies(&real) && !named.applies(&real));
        assert!(!open.overlaps(&named) && !named.overlaps(&open));
    }

    #[test]
    fn an_architecture_limits_it() {
        let mut hopper = expectation(None, None, None);
        hopper.architectures.push("sm_90".to_owned());
        assert!(hopper.applies(&set("9.1", Configuration::Full, "sm_90")));
        assert!(!hopper.applies(&set("9.1", Configuration::Full, "sm_80")));
        let mut ampere = expectation(None, None, None);
        ampere.architectures.push("sm_80".to_owned());
        assert!(!hopper.overlaps(&ampere) && hopper.overlaps(&expectation(None, None, None)));
    }

    #[test]
    fn ranges_that_only_touch_do_not_overlap() {
        let early = expectation(None, Some("9.13"), None);
        let late = expectation(Some("9.13"), None, None);
        assert!(!early.overlaps(&late) && !late.overlaps(&early) && early.overlaps(&early));
        assert!(expectation(Some("9.12.1"), None, None).overlaps(&early));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let complaint = |change: fn(&mut Expectation)| {
            let mut wrong = expectation(None, None, None);
            change(&mut wrong);
            wrong.complaint().unwrap_or_default()
        };
        assert_eq!(complaint(|_| {}), "");
        assert!(
            complaint(|one| one.cudnn_to = "1".parse().ok().filter(|_| {
                one.cudnn_from = "9".parse().ok();
                true
            }))
            .contains("from 9 to before 1")
        );
        assert!(complaint(|one| one.rate = Some(0.0)).contains("rate"));
        assert!(complaint(|one| one.rate = Some(f64::NAN)).contains("rate"));
        assert!(complaint(|one| one.expect = Expect::Flaky).contains("how often"));
        assert!(complaint(|one| one.architectures.push("Hopper".to_owned())).contains("sm_90"));
        assert!(complaint(|one| one.reason = " ".to_owned()).contains("one line"));
        assert!(
            complaint(|one| {
                one.expect = Expect::Pass;
                one.kinds.push(Kind::Wrong)
            })
            .contains("kinds")
        );
    }
}
