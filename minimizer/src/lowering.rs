//! Which values of one integer to try next, given what earlier ones showed. Knows numbers only.

/// Tile widths whose residues are worth keeping.
const MODULI: [i64; 6] = [64, 32, 16, 8, 4, 2];

/// The search for a smaller value of one integer: the least value, bisection for a monotone boundary, jumps
/// that keep the residue by a tile width, one less.
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
    Least,
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

    /// The next value to try, below the current one and at least the least; `None` at the end.
    pub(crate) fn probe(&mut self) -> Option<i64> {
        loop {
            if self.value <= self.least {
                self.stage = Stage::Done;
            }
            let candidate = match self.stage {
                Stage::Least => Some(self.least),
                Stage::Bisect => (self.value - self.low > 1).then(|| self.low + (self.value - self.low) / 2),
                Stage::Jump(index) => jump(self.value, index),
                Stage::OneLess => Some(self.value - 1),
                Stage::Done => return None,
            };
            match candidate.filter(|value| (self.least..self.value).contains(value)) {
                Some(value) => return Some(value),
                None => self.advance(),
            }
        }
    }

    /// Takes note of what the last probe showed; `value` is where the field stands now.
    pub(crate) fn learn(&mut self, probed: i64, value: i64) {
        let lowered = value < self.value;
        self.value = value;
        match (self.stage, lowered) {
            (Stage::Bisect, false) => self.low = probed,
            (Stage::Bisect, true) => {}
            (Stage::OneLess, true) => {
                self.low = self.least;
                self.settled = false;
                self.stage = Stage::Bisect;
            }
            (Stage::Least | Stage::Jump(_) | Stage::OneLess | Stage::Done, _) => self.advance(),
        }
    }

    fn advance(&mut self) {
        self.stage = match self.stage {
            Stage::Least if self.settled => Stage::OneLess,
            Stage::Least => Stage::Bisect,
            Stage::Bisect => Stage::Jump(0),
            Stage::Jump(index) if index + 1 < 2 * MODULI.len() => Stage::Jump(index + 1),
            Stage::Jump(_) => Stage::OneLess,
            Stage::OneLess | Stage::Done => Stage::Done,
        };
    }
}

/// The residue by a modulus, then the residue one modulus higher.
fn jump(value: i64, index: usize) -> Option<i64> {
    let modulus = *MODULI.get(index / 2)?;
    let residue = value.rem_euclid(modulus);
    Some(if index.is_multiple_of(2) { residue } else { residue + modulus })
}
