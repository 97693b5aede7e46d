//! The hunt itself: slots take problems and leads until time, problems or slots run out. Knows who does what
//! and when to stop; the steps themselves are elsewhere.

mod focus;
mod pace;
mod slot;
mod survey;

use std::collections::HashSet;
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use case::{Case, EngineChoice, Engines, Selection, Tier};
use exec::Interrupt;

use self::focus::Focus;
use self::pace::Pace;
use crate::bench::Bench;
use crate::error::HuntError;
use crate::event::{Finding, HuntEvent, Suspect};
use crate::explain::EXPLANATION;
use crate::generator::Limits;
use crate::ledger::Ledger;
use crate::record::{Record, Sink};
use crate::reduce::Allowance;
use crate::source::Source;
use crate::summary::Summary;
use crate::suspects::{Lead, Suspects};

/// The part of the time at whose end what was found is finished before anything else.
const FINISHING: u32 = 10;

/// The part of the time at whose end minimization leaves the slots to last confirmations, and after which what still
/// runs is cut off.
const RESERVE: u32 = 20;

/// Share of the slots' time that heavy problems may take.
const HEAVY_SHARE: f64 = 0.02;

/// Seconds of a slot that a heavy problem takes (measured on an H200: 60 to 150).
const HEAVY_SECONDS: f64 = 100.0;

/// While problems are left, one slot in so many follows leads.
const SLOTS_PER_LEAD: usize = 6;

/// How often it is looked whether something has to be cut off.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What to hunt and for how long.
#[derive(Clone, Debug, PartialEq)]
pub struct HuntOptions {
    /// The problems.
    pub source: Source,
    /// Configurations that each problem gets.
    pub selection: Selection,
    /// How long it lasts, finishing what was found included. Problems are begun as long as they will usually end
    /// within it.
    pub time: Option<Duration>,
    /// Problems of the source that are tried, counted from its first.
    pub problems_max: Option<u64>,
    /// Most multiply-adds for which a plan is executed; 0 sets no limit.
    pub multiply_adds_max: i64,
    /// True where nothing executes: then no problem is heavy, and engines that compile are not shared out.
    pub plans_only: bool,
    /// What each minimization may use.
    pub allowance: Allowance,
    /// What looking further into each finding may use, after the hunt; `None` leaves that out.
    pub explanation: Option<Allowance>,
}

impl HuntOptions {
    /// Every engine of those problems, without a limit on time.
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self {
            source,
            selection: Selection::All,
            time: None,
            problems_max: None,
            multiply_adds_max: 0,
            plans_only: false,
            allowance: Allowance::default(),
            explanation: Some(EXPLANATION),
        }
    }
}

/// Hunts with one thread for each bench, going on from where a ledger stands, and tells everything to the
/// sink.
///
/// # Errors
/// When no slot is left that works, when the sink fails, or when the ledger belongs to another library set.
/// An interruption is no error: the summary says so. Where the benches share the interrupt, a job that is
/// still running well past the end is cut off by it, which counts as no interruption.
pub fn hunt<B: Bench + Send>(
    options: &HuntOptions,
    mut benches: Vec<B>,
    ledger: Ledger,
    interrupt: &Interrupt,
    sink: &Sink<'_>,
) -> Result<Summary, HuntError> {
    let Some(first) = benches.first_mut() else { return Err(HuntError::NoSlots) };
    let environment = first.environment()?;
    let set = environment.set();
    if !ledger.set().is_empty() && ledger.set() != set {
        return Err(HuntError::OtherSet { held: ledger.set().to_owned(), present: set });
    }
    let slots = benches.len();
    let floor = Floor::new(options, Record::new(ledger, sink), (set.clone(), slots), interrupt);
    let terms = options.source.terms(options.selection);
    floor.record.tell(HuntEvent::Started {
        terms,
        environment: Box::new(environment),
        set,
        slots: slots as u64,
    })?;
    let ends = run_slots(&floor, benches);
    floor.close(ends)
}

fn run_slots<B: Bench + Send>(floor: &Floor<'_>, benches: Vec<B>) -> Vec<Result<(), HuntError>> {
    thread::scope(|scope| {
        let threads: Vec<_> = benches
            .into_iter()
            .enumerate()
            .map(|(number, bench)| scope.spawn(move || slot::work(floor, number, bench)))
            .collect();
        scope.spawn(|| floor.cut_off_late());
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|payload| panic::resume_unwind(payload)))
            .collect()
    })
}

/// What the slots share.
struct Floor<'a> {
    options: &'a HuntOptions,
    record: Record<'a>,
    set: String,
    slots: usize,
    interrupt: &'a Interrupt,
    /// Set when going on makes no sense: an event could not be recorded.
    stop: AtomicBool,
    /// Set when the interrupt is our own, because time had run out.
    cut_off: AtomicBool,
    /// Set once no problem is left, for want of time or of problems.
    exhausted: AtomicBool,
    /// Slots that have not ended.
    working: AtomicUsize,
    pace: Mutex<Pace>,
    focus: Mutex<Focus>,
    next: AtomicU64,
    /// Heavy problems begun.
    heavy: AtomicU32,
    /// From then on leads may take every slot.
    finishing: Option<Instant>,
    end: Option<Instant>,
    suspects: Mutex<Suspects>,
    /// Findings that a slot has begun to look into further.
    explaining: Mutex<HashSet<String>>,
    /// Told whenever a lead was settled or offered.
    changed: Condvar,
}

impl<'a> Floor<'a> {
    fn new(
        options: &'a HuntOptions,
        record: Record<'a>,
        (set, slots): (String, usize),
        interrupt: &'a Interrupt,
    ) -> Self {
        // Beyond what a clock can count there is no end.
        let end = options.time.and_then(|time| record.started().checked_add(time));
        let finishing = options.time.zip(end).map(|(time, end)| end - time / FINISHING);
        let (next, suspects) = {
            let ledger = record.ledger();
            (AtomicU64::new(ledger.next()), Mutex::new(Suspects::resume(&ledger)))
        };
        Self {
            options,
            record,
            set,
            slots,
            interrupt,
            stop: AtomicBool::new(false),
            cut_off: AtomicBool::new(false),
            exhausted: AtomicBool::new(false),
            working: AtomicUsize::new(slots),
            pace: Mutex::default(),
            focus: Mutex::default(),
            next,
            heavy: AtomicU32::new(0),
            finishing,
            end,
            suspects,
            explaining: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn suspects(&self) -> MutexGuard<'_, Suspects> {
        // Each change of the queue is complete before the lock is let go.
        self.suspects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn focus(&self) -> MutexGuard<'_, Focus> {
        self.focus.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The engines that a problem's survey visits. All of them, except where problems never run out: who counts or
    /// lists problems wants each of them whole.
    fn engines_of(&self, index: u64, case: &Case) -> Engines {
        let endless = self.options.source.is_endless(index) && self.options.problems_max.is_none();
        if self.options.plans_only {
            return Engines::All;
        }
        let whole = self.options.selection == Selection::All && case.options.engine == EngineChoice::Any;
        if endless && whole { self.focus().next(case.problem.operation) } else { Engines::All }
    }

    /// A sibling of a problem, where problems never run out.
    fn sibling(&self, index: u64, number: u64) -> Option<Case> {
        match &self.options.source {
            Source::Generated(generator) if self.options.problems_max.is_none() => {
                generator.sibling(index, number)
            }
            Source::Generated(_) | Source::Listed(_) | Source::Around(_) => None,
        }
    }

    /// Time at the end that minimization leaves to confirmation.
    fn reserve(&self) -> Duration {
        self.options.time.map_or(Duration::ZERO, |time| time / RESERVE)
    }

    /// True when no slot should begin anything.
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self.interrupt.is_set()
            || self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// True when a usual problem would not end in time. However long problems take, most of the time is used.
    fn is_late(&self) -> bool {
        let (Some(end), Some(time)) = (self.end, self.options.time) else { return false };
        Instant::now() + self.pace().usual().min(time / FINISHING) >= end
    }

    /// What a minimization that begins now may use. Where time is bounded, serious leads share what is left
    /// at the end, so that none of them stays unconfirmed for the sake of another's last edits.
    fn allowance(&self, tier: Tier) -> Allowance {
        let allowance = self.options.allowance;
        if tier == Tier::C {
            return allowance.informative();
        }
        let (Some(finishing), Some(end)) = (self.finishing, self.end) else { return allowance };
        let now = Instant::now();
        // As long as problems are left, what is not done now may be done while they are surveyed.
        let shared = if self.exhausted.load(Ordering::Relaxed) { now } else { now.max(finishing) };
        let rest = end.saturating_duration_since(shared).saturating_sub(self.reserve());
        let leads = self.suspects().serious().max(1);
        // Where others wait, half of each round is left to confirmations.
        let parts = match leads.div_ceil(self.slots.max(1)) {
            1 => 1,
            rounds => 2 * rounds,
        };
        allowance.lasting(shared - now + rest / u32::try_from(parts).unwrap_or(u32::MAX))
    }

    /// Cuts off what still runs when the time is long over: surveys cannot be asked to stop.
    fn cut_off_late(&self) {
        let Some(latest) = self.end.map(|end| end + self.reserve()) else { return };
        while self.working.load(Ordering::Relaxed) > 0 {
            if Instant::now() >= latest {
                if !self.interrupt.is_set() {
                    self.cut_off.store(true, Ordering::Relaxed);
                    self.interrupt.set();
                }
                return;
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// The next problem, `None` once time or problems have run out.
    fn next_problem(&self) -> Option<(u64, Case)> {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let wanted = !self.is_late() && self.options.problems_max.is_none_or(|most| index < most);
            let Some(case) = wanted.then(|| self.options.source.problem(index)).flatten() else {
                self.exhausted.store(true, Ordering::Relaxed);
                return None;
            };
            if !self.record.ledger().is_finished(index) && self.affords(&case) {
                return Some((index, case));
            }
        }
    }

    /// False for a heavy problem as long as such ones have had their share of the time: some engines take seconds for
    /// each execution of it, on a device that all slots share. One that is passed over comes again with a resume.
    fn affords(&self, case: &Case) -> bool {
        let endless =
            matches!(self.options.source, Source::Generated(_)) && self.options.problems_max.is_none();
        if !endless || self.options.plans_only || !Limits::is_heavy(case) {
            return true;
        }
        let spent = self.record.started().elapsed().as_secs_f64() * self.slots as f64;
        let begun = f64::from(self.heavy.load(Ordering::Relaxed));
        let affordable = (begun + 1.0) * HEAVY_SECONDS <= spent * HEAVY_SHARE;
        if affordable {
            self.heavy.fetch_add(1, Ordering::Relaxed);
        }
        affordable
    }

    /// The next lead. While problems are left, at most one slot in six follows leads, so that hunting goes on;
    /// towards the end what was found comes first.
    fn next_lead(&self, hunting: bool) -> Option<Lead> {
        let early = self.finishing.is_none_or(|finishing| Instant::now() < finishing);
        let active_max = if hunting && early { self.slots.div_ceil(SLOTS_PER_LEAD) } else { self.slots };
        self.suspects().take(active_max)
    }

    /// Takes in a failure; it is told only where nothing like it is known.
    fn offer(&self, suspect: Suspect) -> Result<(), HuntError> {
        let lead = Lead::Suspect(Box::new(suspect.clone()));
        if self.suspects().offer(lead) {
            self.record.tell(HuntEvent::FaultSeen(Box::new(suspect)))?;
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Waits until no slot hunts any more; a bound on time that cut the last ones off has then done its work.
    fn wait_for_others(&self) {
        while self.working.load(Ordering::Relaxed) > 0 {
            thread::sleep(LOOK_EVERY);
        }
        if self.cut_off.swap(false, Ordering::Relaxed) {
            self.interrupt.clear();
        }
    }

    /// The next finding that is worth a further look and got none, the most serious first; which one of how many.
    fn next_unexplained(&self) -> Option<(Finding, u64, u64)> {
        if self.interrupt.is_set() || self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let mut taken = self.explaining.lock().unwrap_or_else(PoisonError::into_inner);
        let ledger = self.record.ledger();
        let due = |finding: &&Finding| {
            finding.tier != Tier::C && finding.explained.is_none() && !taken.contains(&finding.signature)
        };
        let of = taken.len() + ledger.found().filter(due).count();
        let finding = ledger.found().filter(due).min_by_key(|finding| finding.tier.name())?.clone();
        taken.insert(finding.signature.clone());
        Some((finding, taken.len() as u64, of as u64))
    }

    /// Makes the other slots end when this one panics: what it was following would never be settled.
    fn watch(&self) -> Watch<'_> {
        Watch { stop: &self.stop, working: &self.working }
    }

    /// Tells how the hunt ended.
    fn close(&self, ends: Vec<Result<(), HuntError>>) -> Result<Summary, HuntError> {
        let all_failed = ends.iter().all(Result::is_err);
        let mut errors: Vec<HuntError> = ends.into_iter().filter_map(Result::err).collect();
        if let Some(position) = errors.iter().position(|error| matches!(error, HuntError::Record(_))) {
            return Err(errors.swap_remove(position));
        }
        if self.interrupt.is_set() && !self.cut_off.load(Ordering::Relaxed) {
            self.record.tell(HuntEvent::Interrupted)?;
        }
        let summary = self.record.ledger().summary();
        self.record.tell(HuntEvent::Finished { summary: Box::new(summary.clone()) })?;
        match errors.pop() {
            Some(error) if all_failed => Err(error),
            Some(_) | None => Ok(summary),
        }
    }
}

/// Counts a slot's end, and stops the hunt when it is dropped by a panic.
struct Watch<'a> {
    stop: &'a AtomicBool,
    working: &'a AtomicUsize,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.working.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
