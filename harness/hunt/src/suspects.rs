//! Failures waiting for a closer look: each provisional slug once, each sameness by one slot at a time. Knows
//! keys and order; runs nothing.

use std::collections::{HashMap, HashSet};

use case::{DType, Fault, Layout, Sameness, Tier};

use crate::event::{Finding, Suspect};
use crate::ledger::Ledger;

/// Times that a failure which did not come back may be met again and tried anew.
const ATTEMPTS_MAX: u32 = 3;

/// A suspect, or a finding that an earlier run confirmed and did not minimize.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lead {
    /// To be confirmed first.
    Suspect(Box<Suspect>),
    /// To be minimized.
    Confirmed(Box<Finding>),
}

impl Lead {
    pub(crate) fn provisional(&self) -> &str {
        match self {
            Self::Suspect(suspect) => &suspect.provisional,
            Self::Confirmed(finding) => &finding.provisional,
        }
    }

    fn fault(&self) -> &Fault {
        match self {
            Self::Suspect(suspect) => &suspect.fault,
            Self::Confirmed(finding) => &finding.fault,
        }
    }

    fn sameness(&self) -> &Sameness {
        &self.fault().sameness
    }

    fn tier(&self) -> Tier {
        match self {
            Self::Suspect(suspect) => suspect.fault.tier,
            Self::Confirmed(finding) => finding.tier,
        }
    }

    fn is_serious(&self) -> bool {
        self.tier() != Tier::C
    }

    fn case(&self) -> &case::Case {
        match self {
            Self::Suspect(suspect) => &suspect.case,
            Self::Confirmed(finding) => &finding.case,
        }
    }

    /// Smaller is taken first: the serious before the informative; plain types and layouts before others,
    /// which then need no minimization of their own; last what is quick to run.
    fn order(&self) -> (&'static str, usize, usize, i64, i64) {
        let problem = &self.case().problem;
        let (dtypes, layouts) = (problem.dtypes, problem.layouts);
        let types = rank(&DType::ALL, dtypes.is_uniform().then_some(dtypes.x));
        let layout = rank(&Layout::ALL, layouts.is_uniform().then_some(layouts.x));
        let geometry = problem.geometry();
        (self.tier().name(), types, layout, geometry.multiply_adds(), geometry.total_bytes())
    }
}

/// Position in a list from plain to odd; a mixture comes after all.
fn rank<T: PartialEq>(list: &[T], uniform: Option<T>) -> usize {
    list.iter().position(|value| Some(value) == uniform.as_ref()).unwrap_or(list.len())
}

/// Where a provisional slug stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Pending,
    Active,
    Settled,
    /// Not confirmed, so many times.
    Dropped(u32),
}

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    pending: Vec<Lead>,
    active: HashMap<Sameness, Tier>,
    /// Samenesses with a finding: what resembles one is most likely it under other types or layouts.
    known: HashSet<Sameness>,
    standings: HashMap<String, Standing>,
    dropped: HashMap<String, u32>,
}

impl Suspects {
    /// The queue as an earlier run left it.
    pub(crate) fn resume(ledger: &Ledger) -> Self {
        let mut suspects = Self::default();
        for settled in ledger.settled() {
            suspects.standings.insert(settled.to_owned(), Standing::Settled);
        }
        suspects.known.extend(ledger.found().map(|finding| finding.fault.sameness.clone()));
        for finding in ledger.confirmed() {
            suspects.offer(Lead::Confirmed(Box::new(finding.clone())));
        }
        for suspect in ledger.open() {
            suspects.offer(Lead::Suspect(Box::new(suspect.clone())));
        }
        suspects
    }

    /// Takes a lead in. True when nothing like it is known; a smaller case of one that still waits replaces
    /// it.
    pub(crate) fn offer(&mut self, lead: Lead) -> bool {
        let key = lead.provisional().to_owned();
        match self.standings.get(&key) {
            Some(Standing::Active | Standing::Settled) => return false,
            Some(Standing::Dropped(attempts)) if *attempts >= ATTEMPTS_MAX => return false,
            Some(Standing::Pending) => {
                self.replace_larger(lead);
                return false;
            }
            Some(Standing::Dropped(_)) | None => {}
        }
        self.standings.insert(key, Standing::Pending);
        self.pending.push(lead);
        true
    }

    fn replace_larger(&mut self, lead: Lead) {
        let waiting = self.pending.iter_mut().find(|waiting| waiting.provisional() == lead.provisional());
        if let Some(waiting) = waiting
            && matches!(waiting, Lead::Suspect(_))
            && lead.order() < waiting.order()
        {
            *waiting = lead;
        }
    }

    /// The next lead, unless `active_max` are being followed or all that wait resemble one of those. Leads
    /// for information are followed one at a time.
    pub(crate) fn take(&mut self, active_max: usize) -> Option<Lead> {
        if self.active.len() >= active_max {
            return None;
        }
        let informing = self.active.values().any(|tier| *tier == Tier::C);
        let position = (0..self.pending.len())
            .filter(|position| !self.active.contains_key(self.pending[*position].sameness()))
            .filter(|position| !informing || self.pending[*position].is_serious())
            .min_by_key(|position| self.order(&self.pending[*position]))?;
        let lead = self.pending.swap_remove(position);
        self.standings.insert(lead.provisional().to_owned(), Standing::Active);
        self.active.insert(lead.sameness().clone(), lead.tier());
        Some(lead)
    }

    /// The serious before the informative, and of each the new before what resembles a finding, so that no
    /// failure stays unknown for the sake of another's variants.
    fn order<'a>(&self, lead: &'a Lead) -> impl Ord + use<'a> {
        (!lead.is_serious(), self.known.contains(lead.sameness()), lead.order())
    }

    /// The lead led to a finding, new or known, with that signature.
    pub(crate) fn settle(&mut self, lead: &Lead, signature: &str) {
        self.active.remove(lead.sameness());
        self.known.insert(lead.sameness().clone());
        for key in [lead.provisional(), signature] {
            self.standings.insert(key.to_owned(), Standing::Settled);
            // A sibling that waits under the minimized signature is the same finding.
            self.pending.retain(|waiting| waiting.provisional() != key);
        }
    }

    /// The lead did not come back.
    pub(crate) fn shelve(&mut self, lead: &Lead) {
        self.active.remove(lead.sameness());
        let attempts = self.dropped.entry(lead.provisional().to_owned()).or_default();
        *attempts += 1;
        self.standings.insert(lead.provisional().to_owned(), Standing::Dropped(*attempts));
    }

    /// The slot that followed the lead ended; nothing was learned.
    pub(crate) fn hand_back(&mut self, lead: Lead) {
        let attempts = self.dropped.get(lead.provisional()).copied().unwrap_or_default();
        self.shelve(&lead);
        if attempts < ATTEMPTS_MAX {
            self.offer(lead);
        }
    }

    /// Distinct serious failures that are being followed or wait and resemble no finding yet; the others mostly
    /// take one run each.
    pub(crate) fn serious(&self) -> usize {
        let active = self.active.iter().filter(|(_, tier)| **tier != Tier::C).map(|(sameness, _)| sameness);
        let waiting = self.pending.iter().filter(|lead| lead.is_serious()).map(Lead::sameness);
        let new: HashSet<&Sameness> =
            active.chain(waiting).filter(|sameness| !self.known.contains(*sameness)).collect();
        new.len()
    }

    /// True when nothing waits and nothing is being followed.
    pub(crate) fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.active.is_empty()
    }
}

#[cfg(test)]
mod tests;
