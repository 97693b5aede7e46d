//! Where a hunt stands: a fold over its events, the same one for the live line, the summary and a resume.
//! Knows sums and findings; does no I/O.

use std::collections::{BTreeMap, BTreeSet};

use case::Operation;

use crate::event::{Entry, Finding, HuntEvent, ProblemTally, Suspect, Terms, VerdictKind};
use crate::summary::{AS_EXPECTED, Cost, Exactness, FlakySummary, FoundSummary, Summary, Unjudged};

/// Numbers of finished problems: all below `before`, and those in `beyond`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Finished {
    before: u64,
    beyond: BTreeSet<u64>,
}

impl Finished {
    fn insert(&mut self, index: u64) {
        if index >= self.before {
            self.beyond.insert(index);
        }
        while self.beyond.remove(&self.before) {
            self.before += 1;
        }
    }

    fn contains(&self, index: u64) -> bool {
        index < self.before || self.beyond.contains(&index)
    }
}

/// The state of a hunt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    terms: Option<Terms>,
    set: String,
    seconds: f64,
    problems: u64,
    finished: Finished,
    run_time_compiled: u64,
    precompiled: u64,
    verdicts: BTreeMap<VerdictKind, u64>,
    refusals: BTreeMap<String, u64>,
    engines: BTreeMap<(Operation, i64), Cost>,
    exactness: BTreeMap<(Operation, i64), Exactness>,
    passes: BTreeMap<u64, Operation>,
    /// Problems surveyed to the end without any verdict.
    problems_unjudged: u64,
    /// Lines of the problems of a list that are being surveyed.
    lines: BTreeMap<u64, String>,
    /// Those of which nothing was judged, by number.
    unjudged: BTreeMap<u64, Unjudged>,
    foreign_us: u64,
    busy_us: u64,
    open: BTreeMap<String, Suspect>,
    confirmed: BTreeMap<String, Finding>,
    found: BTreeMap<String, Finding>,
    merged: BTreeMap<String, String>,
    flaky: Vec<FlakySummary>,
    first_finding_seconds: Option<f64>,
    slots_lost: u64,
    interrupted: bool,
}

/// What a live line shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Seconds of hunting.
    pub seconds: f64,
    /// Problems surveyed to the end.
    pub problems: u64,
    /// Plans built, executed and judged.
    pub checks: u64,
    /// The same per second.
    pub checks_per_second: f64,
    /// Configurations that were not executed, by reason.
    pub refusals: BTreeMap<String, u64>,
    /// Distinct engines judged, counted for each pass.
    pub engines: u64,
    /// Failures waiting for confirmation or being confirmed.
    pub suspects: u64,
    /// Confirmed findings.
    pub findings: u64,
}

impl Ledger {
    /// Takes an event in.
    pub fn apply(&mut self, entry: &Entry) {
        // What comes after the hunt is no time of the hunt.
        let afterwards = matches!(
            entry.event,
            HuntEvent::Explaining { .. } | HuntEvent::Explained(_) | HuntEvent::Finished { .. }
        );
        if !afterwards {
            self.seconds = self.seconds.max(entry.seconds);
        }
        match &entry.event {
            HuntEvent::Started { terms, set, .. } => {
                self.terms = Some(terms.clone());
                self.set.clone_from(set);
                self.interrupted = false;
            }
            HuntEvent::ProblemStarted { index, case, .. } => self.start_problem(*index, case),
            HuntEvent::Checked(check) => self.count(check),
            HuntEvent::ProblemDone { index, tally } => self.finish_problem(*index, tally),
            HuntEvent::FaultSeen(suspect) => {
                self.open.insert(suspect.provisional.clone(), (**suspect).clone());
            }
            HuntEvent::Dropped { provisional, case, fault, hits, runs } => {
                self.open.remove(provisional);
                self.flaky.push(FlakySummary {
                    provisional: provisional.clone(),
                    case: case.clone(),
                    summary: fault.summary.clone(),
                    hits: *hits,
                    runs: *runs,
                });
            }
            HuntEvent::Confirmed(finding) => {
                self.open.remove(&finding.provisional);
                self.first_finding_seconds.get_or_insert(entry.seconds);
                self.confirmed.insert(finding.provisional.clone(), (**finding).clone());
            }
            HuntEvent::Found(finding) => {
                self.confirmed.remove(&finding.provisional);
                self.found.entry(finding.signature.clone()).or_insert_with(|| (**finding).clone());
            }
            HuntEvent::Explained(finding) => {
                self.found.insert(finding.signature.clone(), (**finding).clone());
            }
            HuntEvent::Merged { provisional, into } => {
                self.open.remove(provisional);
                self.confirmed.remove(provisional);
                self.merged.insert(provisional.clone(), into.clone());
            }
            HuntEvent::SlotLost { .. } => self.slots_lost += 1,
            HuntEvent::Interrupted => self.interrupted = true,
            HuntEvent::Confirming { .. }
            | HuntEvent::Asking { .. }
            | HuntEvent::Minimizing { .. }
            | HuntEvent::Explaining { .. }
            | HuntEvent::Finished { .. } => {}
        }
    }

    fn start_problem(&mut self, index: u64, case: &str) {
        let word = case.split(' ').next();
        let operation = Operation::ALL.into_iter().find(|operation| Some(operation.name()) == word);
        if let Some(operation) = operation {
            self.passes.insert(index, operation);
        }
        // What a generator gives is no one's own case.
        if self.terms.as_ref().and_then(|terms| terms.listed).is_some_and(|listed| index < listed) {
            self.lines.insert(index, case.to_owned());
        }
    }

    fn finish_problem(&mut self, index: u64, tally: &ProblemTally) {
        self.problems += 1;
        self.finished.insert(index);
        self.passes.remove(&index);
        self.foreign_us += tally.foreign_us;
        self.busy_us += tally.busy_us;
        for (reason, count) in &tally.refusals {
            *self.refusals.entry(reason.clone()).or_default() += count;
        }
        let judged = tally.checks > 0 || tally.refusals.iter().any(|(reason, _)| reason == AS_EXPECTED);
        self.problems_unjudged += u64::from(!judged);
        if let (Some(case), false) = (self.lines.remove(&index), judged) {
            self.unjudged.insert(index, Unjudged { index, case, reasons: tally.refusals.clone() });
        }
    }

    fn count(&mut self, check: &crate::event::Check) {
        *self.verdicts.entry(check.verdict).or_default() += 1;
        if check.compiled {
            self.run_time_compiled += 1;
        } else {
            self.precompiled += 1;
        }
        if let (Some(config), Some(operation)) = (&check.config, self.passes.get(&check.index)) {
            let engine = (*operation, config.engine);
            let cost = self.engines.entry(engine).or_default();
            cost.checks += 1;
            cost.compiled += u64::from(check.compiled);
            cost.plan_us += check.plan_us;
            cost.execute_us += check.execute_us;
            if !check.exact.is_empty() {
                self.exactness.entry(engine).or_default().count(&check.exact);
            }
        }
    }

    /// What the hunt tries, once it has started.
    #[must_use]
    pub fn terms(&self) -> Option<&Terms> {
        self.terms.as_ref()
    }

    /// Name of the library set that was hunted on, empty before the start.
    #[must_use]
    pub fn set(&self) -> &str {
        &self.set
    }

    /// Seconds of hunting so far.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// True when that problem was surveyed to the end.
    #[must_use]
    pub fn is_finished(&self, index: u64) -> bool {
        self.finished.contains(index)
    }

    /// The first problem that may not be finished: where a resumed hunt goes on.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.finished.before
    }

    /// Failures met and neither confirmed nor dropped.
    pub fn open(&self) -> impl Iterator<Item = &Suspect> {
        self.open.values()
    }

    /// Findings confirmed and not minimized.
    pub fn confirmed(&self) -> impl Iterator<Item = &Finding> {
        self.confirmed.values()
    }

    /// Findings that are settled.
    pub fn found(&self) -> impl Iterator<Item = &Finding> {
        self.found.values()
    }

    /// Provisional slugs that need no further look, whatever came of them.
    pub fn settled(&self) -> impl Iterator<Item = &str> {
        let provisional = self.found.values().map(|finding| finding.provisional.as_str());
        let signatures = self.found.keys().map(String::as_str);
        provisional.chain(signatures).chain(self.merged.keys().map(String::as_str))
    }

    fn checks(&self) -> u64 {
        self.run_time_compiled + self.precompiled
    }

    fn rate(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let checks = self.checks() as f64;
        if self.seconds > 0.0 { checks / self.seconds } else { 0.0 }
    }

    /// Numbers for a live line.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            seconds: self.seconds,
            problems: self.problems,
            checks: self.checks(),
            checks_per_second: self.rate(),
            refusals: self.refusals.clone(),
            engines: self.engines.len() as u64,
            suspects: self.open.len() as u64,
            findings: (self.confirmed.len() + self.found.len()) as u64,
        }
    }

    /// Everything at once: the content of `summary.json`.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut verdicts: BTreeMap<String, u64> =
            self.verdicts.iter().map(|(kind, count)| (kind.name().to_owned(), *count)).collect();
        verdicts.insert("unsupported".to_owned(), self.refusals.values().sum());
        #[expect(clippy::cast_precision_loss, reason = "a share for people")]
        let foreign_share = (self.busy_us > 0).then(|| self.foreign_us as f64 / self.busy_us as f64);
        let mut findings: Vec<FoundSummary> =
            self.found.values().chain(self.confirmed.values()).map(FoundSummary::of).collect();
        findings.sort_by(|one, other| {
            (one.tier.name(), &one.signature).cmp(&(other.tier.name(), &other.signature))
        });
        Summary {
            set: self.set.clone(),
            seconds: self.seconds,
            problems: self.problems,
            problems_unjudged: self.problems_unjudged,
            checks: self.checks(),
            checks_per_second: self.rate(),
            run_time_compiled: self.run_time_compiled,
            precompiled: self.precompiled,
            engines: self.engines.len() as u64,
            verdicts,
            refusals: self.refusals.clone(),
            findings,
            flaky: self.flaky.clone(),
            unsettled: self.open.len() as u64,
            unjudged: self.unjudged.values().cloned().collect(),
            foreign_share,
            exactness: self
                .exactness
                .iter()
                .map(|((operation, engine), counts)| {
                    (format!("{} e{engine}", operation.name()), counts.clone())
                })
                .collect(),
            costs: self
                .engines
                .iter()
                .map(|((operation, engine), cost)| (format!("{} e{engine}", operation.name()), *cost))
                .collect(),
            first_finding_seconds: self.first_finding_seconds,
            slots_lost: self.slots_lost,
            interrupted: self.interrupted,
        }
    }
}

#[cfg(test)]
mod tests;
