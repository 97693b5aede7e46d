//! When runs of one version are enough to call it good or bad, where the failure may come and go. Knows counts alone.

use serde::{Deserialize, Serialize};

use crate::search::Answer;

/// Runs of a bad version that fails in each of them.
const BAD_RUNS: u32 = 3;

/// Runs of one that does not: how rare the failure is decides how many clean runs others need.
const RATE_RUNS: u32 = 10;

/// Failures that confirm one another.
const HITS: u32 = 2;

/// Runs after which a failure that was seen once is given up as unconfirmed.
const PATIENCE: u32 = 20;

/// Chance with which a bad version may be taken for a good one.
const MISS_MAX: f64 = 0.05;

/// Most clean runs that are asked for, however rare the failure.
const CLEAN_MAX: u32 = 60;

/// Runs of one version in fresh processes, and how many of them failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Runs that failed.
    pub hits: u32,
    /// Runs made.
    pub runs: u32,
}

/// What runs come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Another run is needed.
    Open,
    /// It is decided; `Skip` stands for a failure that was seen once and never again.
    Settled(Answer),
}

impl Tally {
    /// Counts a run.
    #[must_use]
    pub fn with(self, hit: bool) -> Self {
        Self { hits: self.hits + u32::from(hit), runs: self.runs + 1 }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { hits: self.hits + other.hits, runs: self.runs + other.runs }
    }

    /// Bad with a failure that came back, good with so many clean runs and no failure.
    #[must_use]
    pub fn standing(self, clean_needed: u32) -> Standing {
        let enough = if self.hits == self.runs { BAD_RUNS } else { RATE_RUNS };
        if self.hits >= HITS && self.runs >= enough {
            return Standing::Settled(Answer::Bad);
        }
        match self.hits {
            0 if self.runs >= clean_needed.max(1) => Standing::Settled(Answer::Good),
            1 if self.runs >= PATIENCE => Standing::Settled(Answer::Skip),
            _ => Standing::Open,
        }
    }
}

/// Clean runs that make a version good: `least`, and where bad versions fail in a share of their runs only, enough that
/// a bad one passes for good with a chance below 5 %.
#[must_use]
pub fn clean_needed(least: u32, bad: Tally) -> u32 {
    if bad.hits == 0 || bad.hits >= bad.runs {
        return least;
    }
    // Runs end with a failure at times, so that the plain share would be too high.
    let passes = 1.0 - f64::from(bad.hits.saturating_sub(1)) / f64::from(bad.runs.saturating_sub(1).max(1));
    let needed =
        (least..CLEAN_MAX).find(|runs| passes.powi(i32::try_from(*runs).unwrap_or(i32::MAX)) < MISS_MAX);
    needed.unwrap_or(CLEAN_MAX.max(least))
}
