//! How often something fails: counts, their interval, and the bars that a rate has to clear. Knows numbers
//! only.

use serde::{Deserialize, Serialize};

/// The 97.5 % point of the normal distribution: intervals are at 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// Most runs that one candidate gets to show its rate.
const RUNS_MAX: u32 = 30;
/// Share of the anchor that a candidate has to keep.
pub(crate) const KEPT: f64 = 0.8;
/// Least rate that a search can follow.
pub(crate) const RATE_MIN: f64 = 0.05;
/// Chance that is left for an edit to keep the failure after it missed so many times in a row.
const DOUBT: f64 = 0.01;

/// Runs of one case and how many of them failed the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Runs that failed the same way.
    pub hits: u32,
    /// Runs.
    pub runs: u32,
}

impl Rate {
    /// Counts one more run.
    pub fn count(&mut self, hit: bool) {
        self.hits += u32::from(hit);
        self.runs += 1;
    }

    /// Runs that did not fail the same way.
    #[must_use]
    pub fn misses(self) -> u32 {
        self.runs - self.hits.min(self.runs)
    }

    /// Share of hits, 0 without a run.
    #[must_use]
    pub fn share(self) -> f64 {
        if self.runs == 0 { 0.0 } else { f64::from(self.hits) / f64::from(self.runs) }
    }

    /// Wilson's 95 % interval for the true share; the whole of 0 to 1 without a run.
    #[must_use]
    pub fn interval(self) -> (f64, f64) {
        if self.runs == 0 {
            return (0.0, 1.0);
        }
        let (runs, share) = (f64::from(self.runs), self.share());
        let scale = 1.0 + Z * Z / runs;
        let center = (share + Z * Z / (2.0 * runs)) / scale;
        let half = Z / scale * (share * (1.0 - share) / runs + Z * Z / (4.0 * runs * runs)).sqrt();
        // At either end the interval touches it; rounding must not move it off.
        let low = if self.hits == 0 { 0.0 } else { (center - half).max(0.0) };
        let high = if self.hits == self.runs { 1.0 } else { (center + half).min(1.0) };
        (low, high)
    }
}

/// What the runs of a candidate say so far against the rate of the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// It keeps the rate.
    Through,
    /// It cannot show any more that it keeps it.
    Failed,
    /// More runs are needed.
    Undecided,
}

/// The gauntlet: a candidate is taken at the hits demanded and a lower bound of `KEPT` times the anchor, and
/// turned away as soon as hits alone could not bring it there within `RUNS_MAX` runs.
pub(crate) fn passage(rate: Rate, anchor: f64, hits_min: u32) -> Passage {
    let bar = (KEPT * anchor).max(RATE_MIN);
    let clears = |rate: Rate| rate.hits >= hits_min && rate.interval().0 >= bar;
    if clears(rate) {
        return Passage::Through;
    }
    let left = RUNS_MAX.saturating_sub(rate.runs);
    let best = Rate { hits: rate.hits + left, runs: rate.runs + left };
    if left > 0 && clears(best) { Passage::Undecided } else { Passage::Failed }
}

/// Misses in a row after which a failure of that rate is told to be absent, at 99 %.
pub(crate) fn dry_misses(rate: f64) -> u32 {
    let misses = DOUBT.ln() / (1.0 - rate.clamp(RATE_MIN, 0.99)).ln();
    // Between 1 and 90, from the clamp.
    misses.ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilsons_interval_has_its_known_values() {
        let near = |rate: Rate, low: f64, high: f64| {
            let interval = rate.interval();
            assert!((interval.0 - low).abs() < 5e-4 && (interval.1 - high).abs() < 5e-4, "{interval:?}");
        };
        near(Rate { hits: 10, runs: 20 }, 0.2993, 0.7007);
        near(Rate { hits: 3, runs: 3 }, 0.4385, 1.0);
        near(Rate { hits: 0, runs: 10 }, 0.0, 0.2775);
        assert_eq!(Rate::default().interval(), (0.0, 1.0));
    }

    #[test]
    fn the_gauntlet_takes_what_keeps_the_rate_and_turns_away_what_cannot() {
        let passage = |hits, runs, anchor| passage(Rate { hits, runs }, anchor, 3);
        assert_eq!(passage(2, 2, 0.3), Passage::Undecided, "two hits show nothing");
        assert_eq!(passage(3, 3, 0.3), Passage::Through);
        assert_eq!(passage(3, 3, 0.9), Passage::Undecided);
        assert_eq!(passage(1, 20, 0.5), Passage::Failed, "ten more hits would not do");
        assert_eq!(passage(12, 30, 0.5), Passage::Failed, "the runs are spent");
    }

    #[test]
    fn an_edit_is_dry_after_as_many_misses_as_its_rate_asks_for() {
        assert_eq!([0.99, 0.9, 0.5, 0.1, 0.0].map(dry_misses), [1, 2, 7, 44, 90]);
    }
}
