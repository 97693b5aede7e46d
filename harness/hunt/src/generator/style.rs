//! How a single extent is sampled: tile windows, powers of two, primes and the other families. Knows numbers,
//! not what they measure.

use rand::RngExt;
use rand::rngs::StdRng;

/// The family that a geometry's extents come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// m * T + d for a tile size T and a small d: tails of tiled kernels.
    Tile,
    /// Every magnitude equally likely.
    Logarithmic,
    /// A power of two, or one beside it.
    Power,
    /// Mostly 1.
    Ones,
    /// Primes.
    Prime,
    /// A layer of a well-known network.
    Network,
    /// Legal but odd: padding of a whole filter, one output, a stride beyond the filter, one channel a group.
    Degenerate,
}

/// Tile sizes of real kernels.
const TILES: [i64; 6] = [8, 16, 32, 64, 128, 256];

/// Tile sizes whose tails are drawn at small sizes, where they expose a fault as well as at large ones.
const SMALL_TILES: [i64; 4] = [8, 16, 32, 64];

/// Families with their weights.
const MIX: [(Style, u32); 7] = [
    (Style::Tile, 25),
    (Style::Logarithmic, 20),
    (Style::Power, 15),
    (Style::Ones, 10),
    (Style::Prime, 10),
    (Style::Network, 10),
    (Style::Degenerate, 5),
];

impl Style {
    /// A family by weight.
    pub(super) fn choose(rng: &mut StdRng) -> Self {
        pick_weighted(rng, &MIX)
    }

    /// An extent within `least..=most` of this family.
    pub(super) fn extent(self, rng: &mut StdRng, least: i64, most: i64) -> i64 {
        if most <= least {
            return least;
        }
        let value = match self {
            Self::Tile => tile(rng, most),
            Self::Power => power(rng, most) + rng.random_range(-1..=1),
            Self::Ones if rng.random_bool(0.6) => 1,
            Self::Prime => prime_at_most(logarithmic(rng, least, most)),
            Self::Ones | Self::Logarithmic | Self::Network | Self::Degenerate => {
                logarithmic(rng, least, most)
            }
        };
        value.clamp(least, most)
    }

    /// What an extent becomes when it has to be within `least..=most`: often still a tail, since shrinking
    /// would otherwise leave few of them.
    pub(super) fn shrunk(self, rng: &mut StdRng, least: i64, most: i64) -> i64 {
        let tail = (0..TAILS_TRIED).map(|_| tail(rng)).find(|tail| (least..=most).contains(tail));
        tail.unwrap_or_else(|| self.extent(rng, least, most))
    }
}

/// Tails tried for a shrunk extent.
const TAILS_TRIED: u32 = 3;

fn tile(rng: &mut StdRng, most: i64) -> i64 {
    let fitting = TILES.iter().filter(|tile| **tile <= most).count();
    if fitting == 0 {
        return rng.random_range(1..=most);
    }
    let tile = TILES[rng.random_range(0..fitting)];
    let multiples = (most / tile).min(9);
    tile * rng.random_range(1..=multiples) + rng.random_range(-2..=2)
}

/// One or two small tiles and a little more or less.
pub(super) fn tail(rng: &mut StdRng) -> i64 {
    let tile = pick(rng, &SMALL_TILES);
    tile * rng.random_range(1..=2) + pick(rng, &[-3, -2, -1, 0, 1, 1, 2, 3])
}

fn power(rng: &mut StdRng, most: i64) -> i64 {
    1_i64 << rng.random_range(0..=most.ilog2())
}

/// A value whose magnitude is uniform on a logarithmic scale.
pub(super) fn logarithmic(rng: &mut StdRng, least: i64, most: i64) -> i64 {
    #[expect(clippy::cast_precision_loss, reason = "extents are far below 2^53")]
    let (low, high) = ((least.max(1) as f64).ln(), (most.max(1) as f64 + 1.0).ln());
    #[expect(clippy::cast_possible_truncation, reason = "the value lies within the bounds given")]
    let value = (low + (high - low) * rng.random::<f64>()).exp() as i64;
    value.clamp(least, most)
}

/// The largest prime at most `value`; 1 where there is none.
fn prime_at_most(value: i64) -> i64 {
    (2..=value).rev().find(|candidate| is_prime(*candidate)).unwrap_or(1)
}

pub(super) fn is_prime(value: i64) -> bool {
    value >= 2 && (2..).take_while(|factor| factor * factor <= value).all(|factor| value % factor != 0)
}

/// One of the values, all alike.
pub(crate) fn pick<T: Copy>(rng: &mut StdRng, values: &[T]) -> T {
    values[rng.random_range(0..values.len())]
}

/// One of the values by weight; weights must not all be 0.
pub(crate) fn pick_weighted<T: Copy>(rng: &mut StdRng, values: &[(T, u32)]) -> T {
    let total: u32 = values.iter().map(|(_, weight)| weight).sum();
    let mut ticket = rng.random_range(0..total);
    for (value, weight) in values {
        if ticket < *weight {
            return *value;
        }
        ticket -= weight;
    }
    values[0].0
}
