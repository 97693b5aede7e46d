//! What a filled element holds: a hash of (seed, tensor, coordinates), turned into a value. Knows the formula;
//! knows nothing of memory.
//!
//! The one formula, in wrapping 64-bit arithmetic:
//!
//! ```text
//! mix(z)  = z ^= z >> 30; z *= 0xBF58476D1CE4E5B9; z ^= z >> 27; z *= 0x94D049BB133111EB; z ^ (z >> 31)
//! word    = mix(seed ^ 0x9E3779B97F4A7C15 * (tensor + 1)), then for each v of n, c, d, h, w:
//!           word = mix(word ^ v * 0xD1342543DE82EF95)
//! stream  = word j of a zone's bytes is mix(argument ^ 0x9E3779B97F4A7C15 * (j + 1))
//! ```
//!
//! Where a fill keeps a run of elements only, every other one is 0.
//!
//! No extent enters a word, so that a value stays what it was when another dimension shrinks.

use crate::number::round_to;
use crate::params::FillParams;
use crate::refusal::Refusal;
use crate::view;

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
const COORDINATE: u64 = 0xD134_2543_DE82_EF95;

/// The finalizer of splitmix64 (Stafford's variant 13).
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The word of an element at coordinates n, c, d, h, w (filter: k, c/g, d, h, w).
pub fn word(seed: u64, tensor: u32, coords: [i64; 5]) -> u64 {
    let start = mix(seed ^ GOLDEN.wrapping_mul(u64::from(tensor) + 1));
    coords.iter().fold(start, |z, &v| mix(z ^ (v as u64).wrapping_mul(COORDINATE)))
}

/// Eight bytes of a hashed zone, least significant first: those from offset `8 * index` on.
pub const fn stream_word(seed: u64, index: u64) -> u64 {
    mix(seed ^ GOLDEN.wrapping_mul(index.wrapping_add(1)))
}

/// How an element's word, coordinates or linear logical index become its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum FillKind {
    /// 0.
    Zero = 0,
    /// 1.
    One = 1,
    /// -2, -1, 1 or 2, by the word's top two bits.
    Int2 = 2,
    /// 1 where the word's top bit is set, else -1.
    Int1 = 3,
    /// -1, 0 or 1: the word's upper half times three, shifted right by 32.
    Tern = 4,
    /// The word's top 24 bits times 2^-23, less 1: uniform in [-1, 1), then rounded to the element type.
    Real = 5,
    /// (31n + 17c + 11d + 7h + 3w) mod 61 - 30.
    Index = 6,
    /// 1 at linear logical index `argument` modulo the count of elements, 0 elsewhere.
    OneHot = 7,
    /// Linear logical index mod 257, less 128.
    Ramp = 8,
    /// As `Int2`, but NaN at linear logical index `argument` modulo the count of elements.
    Nan = 9,
    /// As `Int2` where the word is a multiple of `argument` (or `argument` is 0), 0 elsewhere.
    Sparse = 10,
}

impl FillKind {
    /// Every kind, by number.
    pub const ALL: [Self; 11] = [
        Self::Zero,
        Self::One,
        Self::Int2,
        Self::Int1,
        Self::Tern,
        Self::Real,
        Self::Index,
        Self::OneHot,
        Self::Ramp,
        Self::Nan,
        Self::Sparse,
    ];
}

impl From<FillKind> for u32 {
    fn from(kind: FillKind) -> Self {
        kind as Self
    }
}

impl TryFrom<u32> for FillKind {
    type Error = Refusal;

    fn try_from(number: u32) -> Result<Self, Refusal> {
        Self::ALL.get(number as usize).copied().ok_or(Refusal::Kind(number))
    }
}

/// The value that a fill gives the element at these coordinates, rounded to the view's element type; 0 for a
/// number that names no kind.
pub fn value(fill: &FillParams, coords: [i64; 5]) -> f64 {
    let Ok(kind) = FillKind::try_from(fill.kind) else { return 0.0 };
    let linear = coords
        .iter()
        .zip(&fill.view.extent)
        .fold(0u64, |linear, (&at, &extent)| linear.wrapping_mul(extent as u64).wrapping_add(at as u64));
    let special = Special::of(fill, view::count(&fill.view).unwrap_or(0));
    round_to(fill.view.dtype, special.raw_value(kind, fill, coords, linear))
}

/// The one linear logical index that a one-hot or NaN fill singles out.
#[derive(Clone, Copy)]
pub(crate) struct Special(u64);

impl Special {
    pub(crate) fn of(fill: &FillParams, count: u64) -> Self {
        Self(fill.argument.checked_rem(count).unwrap_or(0))
    }

    /// The value before it is rounded to the element type.
    pub(crate) fn raw_value(self, kind: FillKind, fill: &FillParams, at: [i64; 5], linear: u64) -> f64 {
        if fill.kept != 0 && linear.wrapping_sub(fill.first) >= fill.kept {
            return 0.0;
        }
        let bits = || word(fill.seed, fill.tensor, at);
        match kind {
            FillKind::Zero => 0.0,
            FillKind::One => 1.0,
            FillKind::Int2 => pick_int(bits()),
            FillKind::Int1 => [-1.0, 1.0][(bits() >> 63) as usize],
            FillKind::Tern => (((bits() >> 32) * 3) >> 32) as f64 - 1.0,
            FillKind::Real => (bits() >> 40) as f64 * (1.0 / 8_388_608.0) - 1.0,
            FillKind::Index => index_sum(at) as f64 - 30.0,
            FillKind::OneHot => f64::from(u8::from(linear == self.0)),
            FillKind::Ramp => (linear % 257) as f64 - 128.0,
            FillKind::Nan if linear == self.0 => f64::NAN,
            FillKind::Nan => pick_int(bits()),
            FillKind::Sparse => {
                let bits = bits();
                if bits.checked_rem(fill.argument).unwrap_or(0) == 0 { pick_int(bits) } else { 0.0 }
            }
        }
    }
}

fn pick_int(word: u64) -> f64 {
    [-2.0, -1.0, 1.0, 2.0][(word >> 62) as usize]
}

fn index_sum(at: [i64; 5]) -> u64 {
    let factors = [31u64, 17, 11, 7, 3];
    at.iter().zip(factors).fold(0, |sum: u64, (&v, factor)| sum.wrapping_add((v as u64).wrapping_mul(factor)))
        % 61
}
