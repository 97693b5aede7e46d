//! A reproducible stream of convolution problems biased to where public reports say that libraries break.
//! Knows distributions and limits; knows nothing of engines, verdicts or what has been run.

mod draft;
mod networks;
mod sample;
mod style;
mod zones;

use case::{Case, Operation};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use self::draft::Draft;
use self::style::Style;

/// What one generated case may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of x, w and y together.
    pub bytes_max: i64,
    /// Most multiply-adds.
    pub multiply_adds_max: i64,
}

impl Limits {
    /// Limits for a device: bytes of the three tensors, and about a second of the slowest engine's work. A
    /// worker needs several times those bytes: the reference takes two f64 for each output element.
    #[must_use]
    pub fn device(bytes_max: i64) -> Self {
        Self { bytes_max, multiply_adds_max: 4_000_000_000 }
    }

    /// Limits for the simulator, whose engines run on a CPU core: thousands of checks a second must fit.
    #[must_use]
    pub fn simulator() -> Self {
        Self { bytes_max: 256 << 10, multiply_adds_max: 2_000_000 }
    }

    fn admit(self, case: &Case) -> bool {
        let geometry = case.problem.geometry();
        geometry.total_bytes() <= self.bytes_max && geometry.multiply_adds() <= self.multiply_adds_max
    }
}

/// How far below the limit on work a geometry's own allowance can lie. Allowances are log-uniform in between,
/// so that most problems are far cheaper than the limit and the rate stays high.
const WORK_SPREAD: f64 = 4_000.0;

/// An allowance below this many multiply-adds would leave little but filters of one tap.
const ALLOWANCE_LEAST: f64 = 50_000.0;

/// Drafts tried for one geometry before plain sizes are taken instead.
const DRAFTS_MAX: u32 = 64;

/// Problems by number: each geometry yields fprop, dgrad and wgrad in a row.
///
/// Every number has its own random stream, so that a hunt can go on from any of them. Streams may change
/// between versions of this crate: what has to last keeps cases, never a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generator {
    seed: u64,
    limits: Limits,
}

impl Generator {
    /// The stream of that seed within those limits.
    #[must_use]
    pub fn new(seed: u64, limits: Limits) -> Self {
        Self { seed, limits }
    }

    /// The seed of the stream.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The problem with that number, counted from 0. Valid and within the limits.
    #[must_use]
    pub fn problem(&self, index: u64) -> Case {
        let [fprop, dgrad, wgrad] = self.geometry(index / 3);
        match index % 3 {
            0 => fprop,
            1 => dgrad,
            _ => wgrad,
        }
    }

    /// The three passes of the geometry with that number.
    #[must_use]
    pub fn geometry(&self, index: u64) -> [Case; 3] {
        let mut rng = StdRng::seed_from_u64(stream(self.seed, index));
        for _ in 0..DRAFTS_MAX {
            if let Some(cases) = self.attempt(&mut rng) {
                return cases;
            }
        }
        Draft::plain().cases()
    }

    fn attempt(&self, rng: &mut StdRng) -> Option<[Case; 3]> {
        let style = Style::choose(rng);
        let mut draft = Draft::sample(rng, style, self.limits);
        zones::force(&mut draft, rng);
        let allowance = self.allowance(rng, draft.heavy());
        draft.fit(rng, allowance);
        let cases = draft.cases();
        cases.iter().all(|case| case.validate().is_ok() && self.limits.admit(case)).then_some(cases)
    }

    fn allowance(&self, rng: &mut StdRng, heavy: bool) -> Limits {
        if heavy {
            return self.limits;
        }
        #[expect(clippy::cast_precision_loss, reason = "an allowance is rough")]
        let most = self.limits.multiply_adds_max as f64;
        let least = (most / WORK_SPREAD).max(ALLOWANCE_LEAST).min(most);
        #[expect(clippy::cast_possible_truncation, reason = "an allowance lies within the limits")]
        let multiply_adds_max = (least * (most / least).powf(rng.random::<f64>())) as i64;
        Limits { multiply_adds_max: multiply_adds_max.max(1), ..self.limits }
    }
}

/// Position of each pass in a geometry's three cases.
const PASSES: [Operation; 3] = Operation::ALL;

/// Mixes seed and index so that neighbouring numbers share nothing (the finalizer of SplitMix64).
fn stream(seed: u64, index: u64) -> u64 {
    let mut mixed = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The danger zones that geometries are pushed into, two or three at a time, with their weights.
pub fn danger_zones() -> impl Iterator<Item = (&'static str, u32)> {
    zones::ZONES.iter().map(|zone| (zone.name, zone.weight))
}

#[cfg(test)]
mod tests;
