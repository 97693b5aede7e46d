//! Which values of one integer to try next, given what earlier ones showed. Knows numbers only.

/// Periods whose residues are worth keeping: tile widths, and small counts that are none.
const PERIODS: [i64; 12] = [128, 96, 64, 48, 32, 24, 16, 8, 5, 4, 3, 2];

/// Values from which a power of two is looked for first: sizes of tiles, caches and indices are powers of two,
/// so a threshold often is one.
const POWERS_FROM: i64 = 1024;

/// The search for a smaller value of one integer: the least value, powers of two where the value is large,
/// bisection for a monotone boundary, jumps that keep the residue by a period, one less.
#[derive(Clone, Debug)]
pub(crate) struct Lowering {
    least: i64,
    /// Largest value below `value` known not to do, as far as bisection goes.
    low: i64,
    /// Smallest value known to do.
    value: i64,
    /// True where an earlier search ended at this value, so that only its ends are tried again.
    settled: bool,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The value that the search begins with, which must prove to do.
    Itself,
    Least,
    /// Powers of two: the exponent known not to do, and whether one is known to do.
    Power {
        low: u32,
        high: u32,
    },
    /// One less than a power of two that does.
    BelowPower,
    Bisect,
    Jump(usize),
    OneLess,
    Done,
}

impl Lowering {
    /// A search from a value that does.
    pub(crate) fn new(least: i64, value: i64, settled: bool) -> Self {
        Self { least, low: least, value, settled, stage: Stage::Least }
    }

    /// A search from a value that must prove to do before anything smaller is tried.
    pub(crate) fn unproven(least: i64, value: i64) -> Self {
        Self { stage: Stage::Itself, ..Self::new(least, value, false) }
    }

    /// Smallest value known to do.
    pub(crate) fn value(&self) -> i64 {
        self.value
    }

    /// The next value to try, at least the least and, but for an unproven one, below the current value; `None`
    /// at the end.
    pub(crate) fn probe(&mut self) -> Option<i64> {
        loop {
            let candidate = match self.stage {
                Stage::Itself => return Some(self.value),
                Stage::Done => return None,
                Stage::Least => Some(self.least),
                Stage::Power { low, high } => (high - low > 1).then(|| 1 << (low + (high - low) / 2)),
                Stage::BelowPower | Stage::OneLess => Some(self.value - 1),
                Stage::Bisect => (self.value - self.low > 1).then(|| self.low + (self.value - self.low) / 2),
                Stage::Jump(index) => jump(self.value, self.least, index),
            };
            match candidate.filter(|value| (self.least..self.value).contains(value)) {
                Some(value) => return Some(value),
                None => self.advance(),
            }
        }
    }

    /// Takes note of what the last probe showed; `value` is where the integer stands now.
    pub(crate) fn learn(&mut self, probed: i64, value: i64, adopted: bool) {
        let lowered = value < self.value;
        self.value = value;
        match (self.stage, lowered) {
            (Stage::Itself, _) => self.stage = if adopted { self.after_least() } else { Stage::Done },
            (Stage::Power { low, .. }, true) => {
                self.stage = Stage::Power { low, high: value.max(1).ilog2() };
            }
            (Stage::Power { high, .. }, false) => {
                self.low = self.low.max(probed);
                self.stage = Stage::Power { low: probed.max(1).ilog2(), high };
            }
            (Stage::BelowPower, false) => {
                self.low = self.low.max(probed);
                self.stage = Stage::Bisect;
            }
            (Stage::BelowPower, true) => self.stage = Stage::Bisect,
            (Stage::Bisect, false) => self.low = probed,
            (Stage::Bisect, true) => {}
            (Stage::OneLess, true) => {
                self.low = self.least;
                self.settled = false;
                self.stage = self.after_least();
            }
            (Stage::Least | Stage::Jump(_) | Stage::OneLess | Stage::Done, _) => self.advance(),
        }
    }

    fn after_least(&self) -> Stage {
        if self.value < POWERS_FROM {
            return Stage::Bisect;
        }
        // A value that is no power of two is above the highest one worth trying.
        let top = self.value.ilog2() + u32::from(self.value.count_ones() > 1);
        Stage::Power { low: self.least.max(1).ilog2(), high: top }
    }

    fn advance(&mut self) {
        self.stage = match self.stage {
            Stage::Least if self.settled => Stage::OneLess,
            Stage::Itself | Stage::Least => self.after_least(),
            Stage::Power { .. } if self.value.count_ones() == 1 => Stage::BelowPower,
            Stage::Power { .. } | Stage::BelowPower => Stage::Bisect,
            Stage::Bisect => Stage::Jump(0),
            Stage::Jump(index) if index + 1 < 2 * PERIODS.len() => Stage::Jump(index + 1),
            Stage::Jump(_) => Stage::OneLess,
            Stage::OneLess | Stage::Done => Stage::Done,
        };
    }
}

/// The least value with the same residue by a period; for powers of two the one after it too.
fn jump(value: i64, least: i64, index: usize) -> Option<i64> {
    let period = *PERIODS.get(index / 2)?;
    let residue = value.rem_euclid(period);
    let first = if residue < least { residue + period } else { residue };
    if index.is_multiple_of(2) {
        return Some(first);
    }
    (period.count_ones() == 1).then_some(first + period)
}
