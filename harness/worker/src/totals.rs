//! The one block of device memory that the measuring kernels count into. Knows offsets and starting values.

use bytemuck::{Pod, Zeroable};
use kernel::{CompareTotals, DiffTotals, ReferenceTotals, VerifyTotals, ZONES_MAX, ZoneTotals};

/// Everything that is counted after one execution.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Totals {
    pub(crate) zones: [ZoneTotals; ZONES_MAX],
    pub(crate) compare: CompareTotals,
    pub(crate) verify: [VerifyTotals; 2],
    pub(crate) diff: DiffTotals,
    pub(crate) reference: ReferenceTotals,
}

impl Totals {
    /// Bytes of the block.
    pub(crate) const BYTES: usize = std::mem::size_of::<Self>();

    /// What every count starts with.
    pub(crate) const START: Self = Self {
        zones: [ZoneTotals::START; ZONES_MAX],
        compare: CompareTotals::START,
        verify: [VerifyTotals::START; 2],
        diff: DiffTotals::START,
        reference: ReferenceTotals::START,
    };

    pub(crate) fn zones_at(base: u64) -> u64 {
        base + std::mem::offset_of!(Self, zones) as u64
    }

    pub(crate) fn compare_at(base: u64) -> u64 {
        base + std::mem::offset_of!(Self, compare) as u64
    }

    pub(crate) fn verify_at(base: u64, input: usize) -> u64 {
        base + (std::mem::offset_of!(Self, verify) + input * std::mem::size_of::<VerifyTotals>()) as u64
    }

    pub(crate) fn diff_at(base: u64) -> u64 {
        base + std::mem::offset_of!(Self, diff) as u64
    }

    pub(crate) fn reference_at(base: u64) -> u64 {
        base + std::mem::offset_of!(Self, reference) as u64
    }
}
