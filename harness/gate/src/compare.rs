//! Two library sets on the same problems: what is different comes back before it is told. Knows pairs of benches; a
//! difference's meaning is elsewhere.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use case::{Case, Engines, Selection};
use corpus::{Change, Contrast, Difference, Side};
use exec::HarnessError;
use hunt::Bench;

use crate::contrast::{Suspicion, look, pace, suspicions, tell};
use crate::floor::{Allowed, share};

/// Fresh looks at a difference; it has to show in each.
const LOOKS: u32 = 2;

/// A problem and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// What is asked of both sets; names no engine.
    pub case: Case,
    /// An entry's name, or a number of the hunt.
    pub source: String,
}

/// What a comparison is asked to do.
pub struct Compare<'a> {
    /// Problems of the corpus, before all others.
    pub listed: &'a [Problem],
    /// The problem with that number, after them; `None` ends it.
    pub stream: &'a (dyn Fn(u64) -> Option<Problem> + Sync),
    /// Plans of each problem.
    pub selection: Selection,
    /// Most multiply-adds for which plans are executed; 0 sets no limit.
    pub multiply_adds_max: i64,
    /// True where times mean something.
    pub timed: bool,
    /// What bounds it.
    pub allowed: Allowed,
}

/// Runs problems on pairs of benches, the baseline's and the candidate's, until the time or the problems are over.
/// `each` hears of a difference as soon as it is confirmed.
pub fn compare<B: Bench>(
    asked: &Compare<'_>,
    pairs: Vec<(B, B)>,
    each: &(dyn Fn(&Difference) + Sync),
) -> Contrast {
    let start = Instant::now();
    let desk =
        Desk { asked, each, contrast: Mutex::default(), next: AtomicU64::new(0), seen: Mutex::default() };
    let workers: Vec<usize> = (0..pairs.len()).collect();
    share(pairs, &workers, &asked.allowed, |pair, _| desk.work(pair));
    let mut contrast = desk.contrast.into_inner().unwrap_or_else(PoisonError::into_inner);
    let rank = |difference: &Difference| (difference.change, !difference.recommended, difference.case.len());
    contrast.differences.sort_by_key(rank);
    let lines: HashSet<String> = asked.listed.iter().map(|problem| problem.case.to_string()).collect();
    contrast.listed.all = lines.len() as u64;
    contrast.seconds = start.elapsed().as_secs_f64();
    contrast
}

struct Desk<'a> {
    asked: &'a Compare<'a>,
    each: &'a (dyn Fn(&Difference) + Sync),
    contrast: Mutex<Contrast>,
    next: AtomicU64,
    /// Lines of problems that were taken.
    seen: Mutex<HashSet<String>>,
}

impl Desk<'_> {
    /// Takes problems until there are none.
    fn work<B: Bench>(&self, pair: &mut (B, B)) -> Result<(), HarnessError> {
        let mut troubles = 0;
        while !self.asked.allowed.is_over() && troubles < 3 {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(problem) = self.problem(number) else { break };
            let new =
                self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(problem.case.to_string());
            if !new {
                continue;
            }
            let judged = self.judge(pair, &problem);
            let over = matches!(judged, Err(HarnessError::Interrupted | HarnessError::OutOfTime));
            if number < self.asked.listed.len() as u64 && !over {
                self.count(|contrast| contrast.listed.run += 1);
            }
            match judged {
                Ok(()) => troubles = 0,
                Err(HarnessError::Interrupted | HarnessError::OutOfTime) => break,
                Err(error @ HarnessError::Unhealthy { .. }) => return Err(error),
                Err(_) => {
                    troubles += 1;
                    self.count(|contrast| (contrast.problems += 1, contrast.unjudged += 1));
                    pair.0.fresh();
                    pair.1.fresh();
                }
            }
        }
        Ok(())
    }

    fn problem(&self, number: u64) -> Option<Problem> {
        let listed = usize::try_from(number).ok().and_then(|index| self.asked.listed.get(index));
        match listed {
            Some(problem) => Some(problem.clone()),
            None => (self.asked.stream)(number - self.asked.listed.len() as u64),
        }
    }

    fn count<R>(&self, change: impl FnOnce(&mut Contrast) -> R) -> R {
        change(&mut self.contrast.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn look<B: Bench>(&self, bench: &mut B, case: &Case, engines: Engines) -> Result<Side, HarnessError> {
        bench.limit(self.asked.allowed.until);
        let side = look(bench, case, self.asked.selection, engines, self.asked.multiply_adds_max);
        bench.limit(None);
        side
    }

    fn judge<B: Bench>(&self, pair: &mut (B, B), problem: &Problem) -> Result<(), HarnessError> {
        let most = self.asked.multiply_adds_max;
        if most > 0 && problem.case.problem.geometry().multiply_adds() > most {
            self.count(|contrast| (contrast.problems += 1, contrast.unjudged += 1));
            return Ok(());
        }
        let baseline = self.look(&mut pair.0, &problem.case, Engines::All)?;
        let candidate = self.look(&mut pair.1, &problem.case, Engines::All)?;
        let unjudged = baseline.is_unjudged() || candidate.is_unjudged();
        self.count(|contrast| {
            contrast.problems += 1;
            enlist(contrast, &problem.case, [&baseline, &candidate]);
            let (before, after) = (baseline.failures(), candidate.failures());
            match () {
                () if unjudged => contrast.unjudged += 1,
                () if before.is_empty()
                    && after.is_empty()
                    && baseline.is_refused()
                    && candidate.is_refused() =>
                {
                    contrast.refused += 1;
                }
                () if before.is_empty() && after.is_empty() => contrast.right += 1,
                () if before.keys().eq(after.keys()) => contrast.wrong += 1,
                () => {}
            }
        });
        if unjudged {
            return Ok(());
        }
        for suspicion in suspicions(&baseline, &candidate, self.asked.timed) {
            let difference = tell(&suspicion, (&problem.case, &problem.source), (&baseline, &candidate));
            if self.comes_back(pair, problem, &suspicion)? {
                (self.each)(&difference);
                self.count(|contrast| contrast.differences.push(difference));
            } else {
                self.count(|contrast| contrast.dismissed += 1);
            }
        }
        Ok(())
    }

    /// Looks again, in fresh processes, for the difference alone.
    fn comes_back<B: Bench>(
        &self,
        pair: &mut (B, B),
        problem: &Problem,
        suspicion: &Suspicion,
    ) -> Result<bool, HarnessError> {
        match suspicion.change {
            // What is ranked first is no matter of chance.
            Change::FirstChoice => return Ok(true),
            Change::Slower | Change::Faster => return self.is_still_paced(pair, problem, suspicion.change),
            Change::NewlyWrong | Change::NewlyRight | Change::NewlyRefused | Change::NewlyAccepted => {}
        }
        for _ in 0..LOOKS {
            pair.0.fresh();
            pair.1.fresh();
            let narrow = |here: bool| match suspicion.engine {
                // Only the side that fails has an engine of that number to blame; the other has to be right in all.
                Some(engine) if here => Engines::Only(vec![engine]),
                Some(_) | None => Engines::All,
            };
            let candidate_fails = suspicion.change == Change::NewlyWrong;
            let baseline = self.look(&mut pair.0, &problem.case, narrow(!candidate_fails))?;
            let candidate = self.look(&mut pair.1, &problem.case, narrow(candidate_fails))?;
            let again = suspicions(&baseline, &candidate, false);
            let same = |one: &Suspicion| one.change == suspicion.change && one.kind == suspicion.kind;
            if !again.iter().any(same) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The plans that are tried first, timed in turns: each turn has to agree.
    fn is_still_paced<B: Bench>(
        &self,
        pair: &mut (B, B),
        problem: &Problem,
        change: Change,
    ) -> Result<bool, HarnessError> {
        for _ in 0..LOOKS {
            let baseline = self.first_us(&mut pair.0, problem)?;
            let candidate = self.first_us(&mut pair.1, problem)?;
            if pace(baseline, candidate) != Some(change) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Time of the plan that is tried first.
    fn first_us<B: Bench>(&self, bench: &mut B, problem: &Problem) -> Result<u64, HarnessError> {
        bench.limit(self.asked.allowed.until);
        let most = self.asked.multiply_adds_max;
        let side = look(bench, &problem.case, Selection::Single, Engines::All, most);
        bench.limit(None);
        Ok(side?.plans.first().map_or(0, |plan| plan.best_us))
    }
}

/// Notes which engines ran.
fn enlist(contrast: &mut Contrast, case: &Case, sides: [&Side; 2]) {
    let operation = case.problem.operation.name().to_owned();
    let engines = contrast.engines.entry(operation).or_default();
    for (known, side) in engines.iter_mut().zip(sides) {
        let ran = side.plans.iter().filter(|plan| plan.best_us > 0).map(|plan| plan.engine);
        known.extend(ran);
    }
}

#[cfg(test)]
mod tests;
