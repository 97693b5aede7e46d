//! A reproducible stream of problems, convolutions or others, biased to where public reports say that libraries break.
//! Knows distributions and limits; knows nothing of engines, verdicts or what has been run.

mod draft;
mod integers;
mod networks;
mod operations;
mod options;
mod sample;
mod style;
mod zones;

use case::{Case, Expect, Role};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use self::draft::Draft;
pub use self::operations::Operations;
use self::style::Style;
pub(crate) use self::style::{pick, pick_weighted};

/// What one generated case may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of x, w and y together.
    pub bytes_max: i64,
    /// Most elements of any one of them.
    pub elements_max: i64,
    /// Most multiply-adds.
    pub multiply_adds_max: i64,
}

impl Limits {
    /// Limits for a device: those bytes of the three tensors, 256 MiB at the most, and what the slowest
    /// engine does in a fraction of a second. A worker needs several times those bytes: the reference takes
    /// two f64 for each output element.
    #[must_use]
    pub fn device(bytes_max: i64) -> Self {
        let bytes_max = bytes_max.min(256 << 20);
        Self { bytes_max, elements_max: bytes_max, multiply_adds_max: 250_000_000 }
    }

    /// Limits for the simulator, whose engines run on a CPU core: thousands of checks a second must fit.
    #[must_use]
    pub fn simulator() -> Self {
        Self { bytes_max: 32 << 10, elements_max: 8 << 10, multiply_adds_max: 250_000 }
    }

    /// Limits where plans are built and nothing executes: any tensor that a data centre's GPU holds.
    #[must_use]
    pub fn planning() -> Self {
        Self { bytes_max: 32 << 30, elements_max: 8 << 30, multiply_adds_max: 1 << 46 }
    }

    /// Limits that nothing with more than the usual bytes and elements passes.
    pub(crate) fn usual(self) -> Self {
        let (bytes_max, elements_max) =
            (self.bytes_max.min(USUAL_BYTES_MAX), self.elements_max.min(USUAL_ELEMENTS_MAX));
        Self { bytes_max, elements_max, ..self }
    }

    /// True for a problem larger than all but the heavy geometries are.
    pub(crate) fn is_heavy(case: &Case) -> bool {
        let geometry = case.problem.geometry();
        geometry.total_bytes() > USUAL_BYTES_MAX
            || Role::ALL.into_iter().any(|role| geometry.elements(role) > USUAL_ELEMENTS_MAX)
    }

    /// True for a problem that costs no more.
    pub(crate) fn admit(self, case: &Case) -> bool {
        let geometry = case.problem.geometry();
        geometry.total_bytes() <= self.bytes_max
            && Role::ALL.into_iter().all(|role| geometry.elements(role) <= self.elements_max)
            && geometry.multiply_adds() <= self.multiply_adds_max
    }
}

/// Bytes of the three tensors that all but the heavy geometries stay within. Each plan is executed several
/// times and every output compared, dozens of plans a problem: what is large costs the rate of all others.
const USUAL_BYTES_MAX: i64 = 8 << 20;

/// Elements of any tensor, and so of any output, that all but the heavy geometries stay within.
const USUAL_ELEMENTS_MAX: i64 = 1_000_000;

/// Least allowance of work, as a power of two of multiply-adds.
const ALLOWANCE_LEAST: f64 = 12.0;

/// How fast the density of allowances falls with their magnitude: at 1 all magnitudes are equally likely.
const ALLOWANCE_FALL: f64 = 1.1;

/// Drafts tried for one geometry before plain sizes are taken instead.
const DRAFTS_MAX: u32 = 64;

/// Problems by number: each geometry yields every operation of the stream in a row, fprop, dgrad and wgrad unless
/// others were asked for.
///
/// Every number has its own random stream, so that a hunt can go on from any of them. Streams may change
/// between versions of this crate: what has to last keeps cases, never a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generator {
    seed: u64,
    limits: Limits,
    plans_only: bool,
    operations: Operations,
}

impl Generator {
    /// The stream of convolutions of that seed within those limits.
    #[must_use]
    pub fn new(seed: u64, limits: Limits) -> Self {
        Self { seed, limits, plans_only: false, operations: Operations::CONVOLUTIONS }
    }

    /// The stream of that seed where nothing but plans is judged: integers besides, and any size.
    #[must_use]
    pub fn planning(seed: u64) -> Self {
        Self { plans_only: true, ..Self::new(seed, Limits::planning()) }
    }

    /// The stream of those operations instead.
    #[must_use]
    pub fn over(self, operations: Operations) -> Self {
        Self { operations, ..self }
    }

    /// The seed of the stream.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The problem with that number, counted from 0. Valid and within the limits.
    #[must_use]
    pub fn problem(&self, index: u64) -> Case {
        let (geometry, place) = self.place(index);
        self.draft(geometry)
            .and_then(|draft| draft.cases().into_iter().nth(place))
            .unwrap_or_else(|| Draft::plain(self.operations).case(self.operations.at(place)))
    }

    /// Every operation of the geometry with that number, in order.
    #[must_use]
    pub fn geometry(&self, index: u64) -> Vec<Case> {
        self.draft(index).unwrap_or_else(|| Draft::plain(self.operations)).cases()
    }

    /// Number of the geometry of a problem, and the problem's place among its operations.
    fn place(&self, index: u64) -> (u64, usize) {
        let count = self.operations.count() as u64;
        (index / count, (index % count) as usize)
    }

    /// A problem like that one with other input extents: all else stays, so that kernels which were compiled for the
    /// one mostly serve the other. `None` where it has no such siblings.
    #[must_use]
    pub fn sibling(&self, index: u64, number: u64) -> Option<Case> {
        let (geometry, place) = self.place(index);
        let mut draft = self.draft(geometry)?;
        if draft.heavy() || draft.options.expect == Expect::Refuse {
            return None;
        }
        let mut rng = StdRng::seed_from_u64(stream(stream(self.seed, index), number));
        draft.vary_inputs(&mut rng);
        let allowance = self.allowance(&mut rng, &draft);
        draft.fit(&mut rng, allowance);
        let case = draft.cases().into_iter().nth(place)?;
        (case.validate().is_ok() && allowance.admit(&case)).then_some(case)
    }

    /// The draft of a geometry; `None` where none was found within the limits.
    fn draft(&self, index: u64) -> Option<Draft> {
        let mut rng = StdRng::seed_from_u64(stream(self.seed, index));
        (0..DRAFTS_MAX).find_map(|_| self.attempt(&mut rng))
    }

    fn attempt(&self, rng: &mut StdRng) -> Option<Draft> {
        let style = Style::choose(rng);
        let mut draft = Draft::sample(rng, style, (self.limits, self.operations));
        zones::force(&mut draft, rng);
        if self.plans_only {
            integers::force(&mut draft, rng);
        }
        draft.sample_options(rng);
        let allowance = self.allowance(rng, &draft);
        draft.fit(rng, allowance);
        let fits = |case: &Case| case.validate().is_ok() && allowance.admit(case);
        draft.cases().iter().all(fits).then_some(draft)
    }

    /// What this draft may cost. Magnitudes of work are spread from very little to the limit, the small ones
    /// more often; what a zone holds is paid for where a usual case can.
    fn allowance(&self, rng: &mut StdRng, draft: &Draft) -> Limits {
        if draft.heavy() {
            return self.limits;
        }
        let most = self.limits.multiply_adds_max;
        #[expect(clippy::cast_precision_loss, reason = "an allowance is rough")]
        let magnitude_most = (most as f64).log2();
        let magnitude_least = ALLOWANCE_LEAST.min(magnitude_most);
        let share = rng.random::<f64>().powf(ALLOWANCE_FALL);
        #[expect(clippy::cast_possible_truncation, reason = "an allowance lies within the limits")]
        let drawn = (magnitude_least + (magnitude_most - magnitude_least) * share).exp2() as i64;
        Limits { multiply_adds_max: drawn.max(draft.held_work()).clamp(1, most), ..self.limits.usual() }
    }
}

/// Mixes seed and index so that neighbouring numbers share nothing (the finalizer of SplitMix64).
pub(crate) fn stream(seed: u64, index: u64) -> u64 {
    let mut mixed = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The danger zones that geometries are pushed into, one to three at a time, with their weights.
pub fn danger_zones() -> impl Iterator<Item = (&'static str, u32)> {
    zones::ZONES.iter().map(|zone| (zone.name, zone.weight))
}

#[cfg(test)]
mod tests;
