//! Draws how a problem is run: scales, workspace, data and repeats by fixed shares. Knows options; knows
//! nothing of sizes.

use case::{Fill, FillKind, Scale, WorkspaceAmount};
use rand::RngExt;
use rand::rngs::StdRng;

use super::draft::Draft;
use super::style::pick;

/// Share of problems whose convolution is scaled, and of those whose output counts.
const SCALED: f64 = 0.05;

/// Share with a workspace aligned to 16 bytes, below what allocators promise: what follows is informative.
const MISALIGNED: f64 = 0.05;

/// Share with a workspace that is larger than asked for, and of those whose size is limited.
const SIZED: f64 = 0.03;

/// Share with data of one kind only, which makes every execution blind to the same faults.
const PINNED_DATA: f64 = 0.015;

/// Share with more repeats than each plan gets anyway.
const REPEATED: f64 = 0.01;

impl Draft {
    /// Sets the options. Most problems keep every default.
    pub(super) fn sample_options(&mut self, rng: &mut StdRng) {
        let options = &mut self.options;
        // Powers of two keep exact sums exact.
        if rng.random_bool(SCALED) {
            options.alpha = Scale::new(pick(rng, &[2.0, 0.5, -1.0]));
        }
        if rng.random_bool(SCALED) {
            options.beta = Scale::new(pick(rng, &[1.0, 0.5, -1.0]));
        }
        if rng.random_bool(MISALIGNED) {
            options.workspace.alignment = 16;
        } else if rng.random_bool(SIZED) {
            options.workspace.amount = WorkspaceAmount::Extra(1 << 20);
        } else if rng.random_bool(SIZED) {
            options.workspace.amount = WorkspaceAmount::Max(pick(rng, &[0, 1 << 20, 32 << 20]));
        }
        if rng.random_bool(PINNED_DATA) {
            let kind =
                pick(rng, &[FillKind::One, FillKind::Int1, FillKind::Tern, FillKind::Index, FillKind::Real]);
            options.fill = Some(Fill { kind, seed: rng.random_range(1..=1000) });
        }
        if rng.random_bool(REPEATED) {
            options.repeat = pick(rng, &[3, 4]);
        }
    }
}
