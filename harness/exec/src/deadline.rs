//! How long each phase may take: floors, and this run's own durations. Knows numbers; kills nobody.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use case::{Announcement, Ended, Observation, Phase};

/// A phase may take so many times the 99th percentile of its kind before it counts as hung.
const PERCENTILE_MULTIPLE: u32 = 20;

/// Durations needed before a percentile counts: with fewer it is the maximum, which one straggler sets.
const SAMPLES_MIN: u32 = 100;

/// Executions of a plan that are waited for together, at the least.
const EXECUTIONS: u64 = 4;

/// Buckets of a histogram: four an octave of microseconds, up to 2^32.
const BUCKETS: usize = 124;

/// Time limits of one slot's workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// Least time that a phase gets.
    pub floor: Duration,
    /// Least time that `Load` and `Init` get, while libraries are opened.
    pub start: Duration,
    /// Added for `Plan`, since any plan may compile kernels while it is built.
    pub compile: Duration,
    /// Multiply-adds a second of the slowest engine that works.
    pub slowest: u64,
    /// Most time that the size of a problem adds. Where an engine may need more, reaching the limit proves no hang.
    pub size_max: Duration,
    /// Time for a whole inventory or self-test, neither of which announces phases.
    pub answer: Duration,
    /// How often the board and the interrupt are looked at while a worker is silent.
    pub poll: Duration,
}

impl Deadlines {
    /// For workers on a GPU.
    #[must_use]
    pub fn gpu() -> Self {
        Self {
            floor: Duration::from_secs(10),
            start: Duration::from_secs(60),
            compile: Duration::from_secs(60),
            // dgrad engine 2 of cuDNN 9.19.0 on an H200: 8.0 million in 6.4 s.
            slowest: 1_000_000,
            // So slow an engine holds the device up for all others, and shows nothing that a small problem would not.
            size_max: Duration::from_secs(10),
            answer: Duration::from_secs(300),
            poll: Duration::from_millis(50),
        }
    }

    /// For workers without a GPU that compile kernels. Those of cuDNN 9.19.0's run-time-compiled wgrad engine 1 take
    /// several seconds of one idle core each, and minutes of a core that others share.
    #[must_use]
    pub fn compiling() -> Self {
        Self { compile: Duration::from_secs(900), ..Self::gpu() }
    }

    /// For workers on the simulator, where nothing is large and nothing is compiled.
    #[must_use]
    pub fn simulator() -> Self {
        Self {
            floor: Duration::from_millis(250),
            start: Duration::from_secs(10),
            compile: Duration::ZERO,
            // A tenth of what it does on one idle core.
            slowest: 50_000_000,
            size_max: Duration::from_secs(120),
            answer: Duration::from_secs(60),
            poll: Duration::from_millis(25),
        }
    }

    /// The time that a phase gets, given what such phases took in this run and how many multiply-adds the problem has.
    #[must_use]
    pub fn limit(&self, phase: Phase, multiply_adds: u64, times: &PhaseTimes) -> Limit {
        let floor = match phase {
            Phase::Load | Phase::Init => self.start,
            Phase::Describe
            | Phase::Heuristics
            | Phase::Plan
            | Phase::Allocate
            | Phase::Execute
            | Phase::Sync
            | Phase::ReadBack
            | Phase::Judge
            | Phase::Teardown => self.floor,
        };
        let usual = times.percentile_99(phase).unwrap_or_default().saturating_mul(PERCENTILE_MULTIPLE);
        let work = match phase {
            // Executions, references and comparisons are queued or waited for in one of these.
            Phase::Allocate
            | Phase::Execute
            | Phase::Sync
            | Phase::ReadBack
            | Phase::Judge
            | Phase::Teardown => {
                let executed = multiply_adds.saturating_mul(EXECUTIONS);
                Duration::from_millis(executed.saturating_mul(1000) / self.slowest.max(1))
            }
            Phase::Load | Phase::Init | Phase::Describe | Phase::Heuristics | Phase::Plan => Duration::ZERO,
        };
        let extra = if phase == Phase::Plan { self.compile } else { work.min(self.size_max) };
        Limit { time: floor.max(usual) + extra, proves_hang: work <= self.size_max }
    }
}

/// How long a phase may take, and what it means to take longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The time.
    pub time: Duration,
    /// False where a slow engine may need longer than that.
    pub proves_hang: bool,
}

/// Durations of phases in one run, shared by all its slots.
#[derive(Debug)]
pub struct PhaseTimes {
    histograms: Vec<[AtomicU32; BUCKETS]>,
}

impl Default for PhaseTimes {
    fn default() -> Self {
        Self { histograms: Phase::ALL.iter().map(|_| std::array::from_fn(|_| AtomicU32::new(0))).collect() }
    }
}

impl PhaseTimes {
    /// Adds one duration in microseconds.
    pub fn record(&self, phase: Phase, duration_us: u64) {
        self.histograms[phase as usize][bucket(duration_us)].fetch_add(1, Ordering::Relaxed);
    }

    /// Adds what an observation tells: its plan's time, and each execution's for both `Execute` and `Sync`,
    /// because the worker measures from launch to the end of synchronization.
    pub(crate) fn learn(&self, observation: &Observation) {
        // 0 means that a plan was used again, and a refused plan says nothing of how long one takes.
        if observation.plan_us > 0 && matches!(observation.ended, Ended::Completed | Ended::Described) {
            self.record(Phase::Plan, observation.plan_us);
        }
        for execution in &observation.executions {
            self.record(Phase::Execute, execution.execute_us);
            self.record(Phase::Sync, execution.execute_us);
        }
    }

    /// The 99th percentile, rounded up to its bucket's end (at most a quarter more); `None` below 100
    /// durations.
    #[must_use]
    pub fn percentile_99(&self, phase: Phase) -> Option<Duration> {
        let counts: Vec<u64> = self.histograms[phase as usize]
            .iter()
            .map(|count| u64::from(count.load(Ordering::Relaxed)))
            .collect();
        let total: u64 = counts.iter().sum();
        if total < u64::from(SAMPLES_MIN) {
            return None;
        }
        let wanted = (total * 99).div_ceil(100);
        let mut below = 0;
        let index = counts.iter().position(|count| {
            below += count;
            below >= wanted
        });
        index.map(|index| Duration::from_micros(bucket_end(index)))
    }
}

/// The bucket of a duration: its octave and the two bits after the leading one.
fn bucket(duration_us: u64) -> usize {
    let bounded = duration_us.min(u64::from(u32::MAX));
    let Some(octave) = bounded.checked_ilog2().filter(|octave| *octave >= 2) else {
        return usize::try_from(bounded).unwrap_or(0);
    };
    let quarter = usize::try_from(bounded >> (octave - 2)).unwrap_or(0) & 3;
    (octave as usize - 1) * 4 + quarter
}

/// The largest duration in a bucket, microseconds.
fn bucket_end(index: usize) -> u64 {
    if index < 4 {
        return index as u64;
    }
    let (octave, quarter) = (index / 4 + 1, index as u64 % 4);
    ((4 + quarter + 1) << (octave - 2)) - 1
}

/// What a worker is busy with while it is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errand {
    /// It opens libraries; any announcement counts.
    Start,
    /// It runs the job of that number; announcements of another job are leftovers.
    Job {
        /// The job's number.
        id: u64,
        /// Multiply-adds of its problem.
        multiply_adds: u64,
    },
    /// It answers a question of which it announces nothing.
    Question,
}

impl Errand {
    /// The announcement where it speaks of this errand.
    pub(crate) fn own(self, announcement: Option<Announcement>) -> Option<Announcement> {
        announcement.filter(|seen| match self {
            Self::Start => true,
            Self::Job { id, .. } => seen.job == id,
            Self::Question => false,
        })
    }

    /// The phase that is assumed until one is announced.
    pub(crate) fn first_phase(self) -> Phase {
        match self {
            Self::Start => Phase::Load,
            Self::Job { .. } | Self::Question => Phase::Describe,
        }
    }
}

/// Watches one silent stretch of a worker: how long its last announcement has been standing.
#[derive(Debug)]
pub(crate) struct Watch {
    errand: Errand,
    seen: Option<Announcement>,
    since: Instant,
}

impl Watch {
    pub(crate) fn new(errand: Errand, now: Instant) -> Self {
        Self { errand, seen: None, since: now }
    }

    /// Notes that bytes arrived: a sign of life.
    pub(crate) fn heard(&mut self, now: Instant) {
        self.since = now;
    }

    /// Notes what the board says; a changed announcement starts the clock anew.
    pub(crate) fn look(&mut self, announcement: Option<Announcement>, now: Instant) {
        let own = self.errand.own(announcement);
        if own.is_some() && own != self.seen {
            self.seen = own;
            self.since = now;
        }
    }

    /// The limit, once it is exceeded.
    pub(crate) fn overdue(&self, deadlines: &Deadlines, times: &PhaseTimes, now: Instant) -> Option<Limit> {
        let phase = self.seen.map_or(self.errand.first_phase(), |seen| seen.phase);
        let limit = match self.errand {
            Errand::Question => Limit { time: deadlines.answer, proves_hang: true },
            Errand::Start => deadlines.limit(phase, 0, times),
            Errand::Job { multiply_adds, .. } => deadlines.limit(phase, multiply_adds, times),
        };
        (now.saturating_duration_since(self.since) > limit.time).then_some(limit)
    }
}

#[cfg(test)]
mod tests;
