//! What a kernel launch does: the kernel's twin on live memory. Knows the kernels' parameters; refuses, as a device
//! would, what lies outside live memory.

use std::collections::VecDeque;

use bytemuck::{AnyBitPattern, NoUninit};
use kernel::{
    CHECK, CompareParams, CompareTotals, DGRAD, DiffParams, DiffTotals, ElementwiseParams, FPROP, FillParams,
    Kernel, MATMUL, PAINT, RMSNORM, ReferenceParams, ReferenceTotals, TensorView, VerifyParams, VerifyTotals,
    WGRAD, ZoneTotals, ZonesParams, twin,
};

use crate::memory::Memory;

/// A launch that a device would not survive: an address outside live memory, or parameters that lead there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Illegal;

impl From<kernel::Refusal> for Illegal {
    fn from(_: kernel::Refusal) -> Self {
        Self
    }
}

/// Runs a kernel on its parameter struct.
pub(crate) fn launch(
    memory: &mut Memory,
    fills: &mut Fills,
    kernel: Kernel,
    params: &[u8],
) -> Result<(), Illegal> {
    for range in kernel::pointers(kernel, params)? {
        if !memory.holds(range.pointer, range.bytes) {
            return Err(Illegal);
        }
    }
    match kernel {
        Kernel::Fill => fill(memory, fills, &read(params)?),
        Kernel::Verify => verify(memory, fills, &read(params)?),
        Kernel::Reference => reference(memory, &read(params)?),
        Kernel::Compare => compare(memory, &read(params)?),
        Kernel::Zones => zones(memory, &read(params)?),
        Kernel::Diff => diff(memory, &read(params)?),
        Kernel::Elementwise => elementwise(memory, params),
    }
}

fn read<P: AnyBitPattern>(bytes: &[u8]) -> Result<P, Illegal> {
    bytemuck::try_pod_read_unaligned(bytes).map_err(|_| Illegal)
}

/// Bytes from a view's first to beyond its last element.
fn span(view: &TensorView) -> u64 {
    if view.extent.contains(&0) {
        return 0;
    }
    let last: i64 = view
        .extent
        .iter()
        .zip(&view.stride)
        .map(|(extent, stride)| (extent - 1).saturating_mul(*stride))
        .sum();
    last.unsigned_abs().saturating_add(1).saturating_mul(kernel::element_bytes(view.dtype) as u64)
}

fn elements(view: &TensorView) -> u64 {
    view.extent.iter().map(|extent| extent.unsigned_abs()).product()
}

fn view<'memory>(memory: &'memory Memory, view: &TensorView) -> Result<&'memory [u8], Illegal> {
    memory.bytes(view.pointer, span(view)).ok_or(Illegal)
}

fn doubles(memory: &Memory, pointer: u64, count: u64) -> Result<Vec<f64>, Illegal> {
    let bytes = memory.bytes(pointer, count * 8).ok_or(Illegal)?;
    Ok(bytes.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect())
}

fn write(memory: &mut Memory, pointer: u64, bytes: &[u8]) -> Result<(), Illegal> {
    memory.bytes_mut(pointer, bytes.len() as u64).ok_or(Illegal)?.copy_from_slice(bytes);
    Ok(())
}

/// Merges what a launch counted into what memory holds, as atomic operations would.
fn merge<T: AnyBitPattern + NoUninit>(
    memory: &mut Memory,
    pointer: u64,
    new: T,
    merged: impl FnOnce(T, T) -> T,
) -> Result<(), Illegal> {
    let slot = memory.bytes_mut(pointer, size_of::<T>() as u64).ok_or(Illegal)?;
    let old: T = bytemuck::pod_read_unaligned(slot);
    slot.copy_from_slice(bytemuck::bytes_of(&merged(old, new)));
    Ok(())
}

/// Fills made of late. The same few are written and verified again at each execution of a plan, and their hashes
/// cost more than small convolutions do.
#[derive(Default)]
pub(crate) struct Fills(VecDeque<(FillParams, Vec<u8>)>);

/// Fills kept: three tensors with the few contents of one problem.
const FILLS_MAX: usize = 12;

/// Largest fill kept, bytes: larger ones are made each time.
const FILL_BYTES_MAX: u64 = 1 << 20;

impl Fills {
    /// The bytes that a fill writes over a view without gaps; `None` where there are gaps, which it leaves alone, and
    /// for large views.
    fn bytes(&mut self, params: &FillParams) -> Result<Option<&[u8]>, Illegal> {
        let bytes = span(&params.view);
        let packed = elements(&params.view) * kernel::element_bytes(params.view.dtype) as u64;
        if bytes != packed || bytes > FILL_BYTES_MAX {
            return Ok(None);
        }
        // Where the tensor lies changes nothing.
        let key = FillParams { view: TensorView { pointer: 0, ..params.view }, ..*params };
        if !self.0.iter().any(|(known, _)| *known == key) {
            let mut made = vec![0; usize::try_from(bytes).map_err(|_| Illegal)?];
            twin::fill(&key, &mut made)?;
            self.0.truncate(FILLS_MAX - 1);
            self.0.push_front((key, made));
        }
        Ok(self.0.iter().find(|(known, _)| *known == key).map(|(_, made)| &made[..]))
    }
}

fn fill(memory: &mut Memory, fills: &mut Fills, params: &FillParams) -> Result<(), Illegal> {
    let target = memory.bytes_mut(params.view.pointer, span(&params.view)).ok_or(Illegal)?;
    match fills.bytes(params)? {
        Some(bytes) => target.copy_from_slice(bytes),
        None => twin::fill(params, target)?,
    }
    Ok(())
}

fn verify(memory: &mut Memory, fills: &mut Fills, params: &VerifyParams) -> Result<(), Illegal> {
    let have = view(memory, &params.fill.view)?;
    let totals = match fills.bytes(&params.fill)? {
        Some(bytes) if bytes == have => VerifyTotals::START,
        Some(_) | None => twin::verify(&params.fill, have)?,
    };
    merge(memory, params.totals, totals, |a, b| VerifyTotals {
        differing: a.differing + b.differing,
        first: a.first.min(b.first),
    })
}

fn reference(memory: &mut Memory, params: &ReferenceParams) -> Result<(), Illegal> {
    // What is not read, the output and the w that pooling lacks, need not be live.
    let operand = |memory: &Memory, of: &TensorView, is_read: bool| {
        if is_read { view(memory, of).map(<[u8]>::to_vec) } else { Ok(Vec::new()) }
    };
    let x = operand(memory, &params.x, params.op != DGRAD)?;
    let w = operand(memory, &params.w, [FPROP, DGRAD, MATMUL, RMSNORM].contains(&params.op))?;
    let y = operand(memory, &params.y, [DGRAD, WGRAD].contains(&params.op))?;
    let outcome = twin::reference(params, &x, &w, &y)?;
    write(memory, params.result, bytemuck::cast_slice(&outcome.result))?;
    write(memory, params.abs_sum, bytemuck::cast_slice(&outcome.abs_sum))?;
    merge(memory, params.totals, outcome.totals, |a, b| ReferenceTotals {
        max_abs_sum_bits: a.max_abs_sum_bits.max(b.max_abs_sum_bits),
        max_abs_result_bits: a.max_abs_result_bits.max(b.max_abs_result_bits),
        with_products: a.with_products + b.with_products,
        non_zero: a.non_zero + b.non_zero,
        products: a.products.max(b.products),
    })
}

fn compare(memory: &mut Memory, params: &CompareParams) -> Result<(), Illegal> {
    let count = elements(&params.got);
    let result = doubles(memory, params.result, count)?;
    let abs_sum = doubles(memory, params.abs_sum, count)?;
    let totals = twin::compare(params, view(memory, &params.got)?, &result, &abs_sum)?;
    merge(memory, params.totals, totals, |a, b| CompareTotals {
        checked: a.checked + b.checked,
        differing: a.differing + b.differing,
        first_differing: a.first_differing.min(b.first_differing),
        last_differing: a.last_differing.max(b.last_differing),
        nan: a.nan + b.nan,
        first_nan: a.first_nan.min(b.first_nan),
        stale: a.stale + b.stale,
        first_stale: a.first_stale.min(b.first_stale),
        zero: a.zero + b.zero,
        infinite: a.infinite + b.infinite,
        over_element: a.over_element + b.over_element,
        first_over_element: a.first_over_element.min(b.first_over_element),
        over_norm: a.over_norm + b.over_norm,
        first_over_norm: a.first_over_norm.min(b.first_over_norm),
        max_error_bits: a.max_error_bits.max(b.max_error_bits),
        max_ratio_bits: a.max_ratio_bits.max(b.max_ratio_bits),
        beyond_rounded: a.beyond_rounded.max(b.beyond_rounded),
    })
}

fn zones(memory: &mut Memory, params: &ZonesParams) -> Result<(), Illegal> {
    let used = params.zones.get(..params.count as usize).ok_or(Illegal)?;
    for (index, zone) in (0_u64..).zip(used) {
        match params.mode {
            PAINT => twin::paint(zone, memory.bytes_mut(zone.pointer, zone.bytes).ok_or(Illegal)?)?,
            CHECK => {
                let totals = twin::check(zone, memory.bytes(zone.pointer, zone.bytes).ok_or(Illegal)?)?;
                let slot = params.totals + index * size_of::<ZoneTotals>() as u64;
                merge(memory, slot, totals, |a, b| ZoneTotals {
                    changed: a.changed + b.changed,
                    first: a.first.min(b.first),
                    last: a.last.max(b.last),
                })?;
            }
            _ => return Err(Illegal),
        }
    }
    Ok(())
}

fn diff(memory: &mut Memory, params: &DiffParams) -> Result<(), Illegal> {
    let bytes = params.count.checked_mul(params.bytes_per_element).ok_or(Illegal)?;
    let a = memory.bytes(params.a, bytes).ok_or(Illegal)?;
    let b = memory.bytes(params.b, bytes).ok_or(Illegal)?;
    let totals = twin::diff(params, a, b)?;
    merge(memory, params.totals, totals, |a, b| DiffTotals {
        differing: a.differing + b.differing,
        first: a.first.min(b.first),
    })
}

fn elementwise(memory: &mut Memory, bytes: &[u8]) -> Result<(), Illegal> {
    let params: ElementwiseParams = read(bytes)?;
    let width = kernel::element_bytes(params.dtype) as u64;
    // An operand that the step does not have lies nowhere.
    let ranges = kernel::pointers(Kernel::Elementwise, bytes)?;
    let held = |pointer: u64| {
        let range = ranges.iter().find(|range| range.pointer == pointer && pointer != 0);
        range.and_then(|range| memory.bytes(range.pointer, range.bytes)).unwrap_or(&[]).to_vec()
    };
    let (a, b, mut master) = (held(params.a), held(params.b), held(params.master));
    let out = memory.bytes_mut(params.out, params.count * width).ok_or(Illegal)?;
    twin::elementwise(&params, [&a, &b], out, &mut master)?;
    write(memory, params.master, &master)
}
