//! The launch table: each kernel's name, parameter size, grid, and the memory that a launch will touch. Knows
//! addresses as numbers; launches nothing.

use std::mem::size_of;

use bytemuck::AnyBitPattern;

use crate::elementwise::ElementwiseParams;
use crate::params::{
    AVGPOOL, CHECK, CompareParams, DGRAD, DiffParams, FPROP, FillParams, MATMUL, MAXPOOL, PAINT, RMSNORM,
    ReferenceParams, TensorView, VerifyParams, WGRAD, ZONES_MAX, ZonesParams,
};
use crate::refusal::Refusal;
use crate::totals::{CompareTotals, DiffTotals, ReferenceTotals, VerifyTotals, ZoneTotals};
use crate::view;

/// Threads of a block, for every kernel.
pub const BLOCK: u32 = 256;

/// Blocks beyond which a grid gains nothing; the kernels stride.
const BLOCKS_MAX: u64 = 4096;

/// Threads that fill a large GPU.
const THREADS_WANTED: u64 = 1 << 18;

/// Products that each lane should sum at least.
const PRODUCTS_PER_LANE: u64 = 8;

/// The kernels in the PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Writes every element of a tensor.
    Fill,
    /// Counts elements that are not what a fill wrote.
    Verify,
    /// Computes an operation in f64.
    Reference,
    /// Counts how a tensor departs from the reference.
    Compare,
    /// Paints or checks runs of bytes.
    Zones,
    /// Compares two buffers bit by bit.
    Diff,
    /// A step between the convolutions of a training run.
    Elementwise,
}

impl Kernel {
    /// Every kernel.
    pub const ALL: [Self; 7] = [
        Self::Fill,
        Self::Verify,
        Self::Reference,
        Self::Compare,
        Self::Zones,
        Self::Diff,
        Self::Elementwise,
    ];

    /// The entry's name in the PTX.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fill => "convict_fill",
            Self::Verify => "convict_verify",
            Self::Reference => "convict_reference",
            Self::Compare => "convict_compare",
            Self::Zones => "convict_zones",
            Self::Diff => "convict_diff",
            Self::Elementwise => "convict_elementwise",
        }
    }

    /// Threads of a block.
    pub const fn block(self) -> u32 {
        BLOCK
    }

    /// Size of the one parameter struct, in bytes.
    pub const fn param_bytes(self) -> usize {
        match self {
            Self::Fill => size_of::<FillParams>(),
            Self::Verify => size_of::<VerifyParams>(),
            Self::Reference => size_of::<ReferenceParams>(),
            Self::Compare => size_of::<CompareParams>(),
            Self::Zones => size_of::<ZonesParams>(),
            Self::Diff => size_of::<DiffParams>(),
            Self::Elementwise => size_of::<ElementwiseParams>(),
        }
    }
}

/// Blocks for so many threads (elements, words, outputs times lanes): at least 1, at most 4096.
pub fn grid_for(threads: u64) -> u32 {
    threads.div_ceil(u64::from(BLOCK)).clamp(1, BLOCKS_MAX) as u32
}

/// Blocks for a reference with so many outputs, each shared by `lanes` threads.
pub fn reference_grid(outputs: u64, lanes: u32) -> u32 {
    grid_for(outputs.saturating_mul(u64::from(lanes)))
}

/// Blocks along x and y for zones: y has one row per zone, x is for the longest.
pub fn zones_grid(params: &ZonesParams) -> (u32, u32) {
    let used = params.count.clamp(1, ZONES_MAX as u32);
    let longest = params.zones.iter().take(used as usize).map(|zone| zone.bytes).max().unwrap_or(0);
    (grid_for(longest / 8 + 2), used)
}

/// Threads that should share an output, given the outputs and the longest reduction of one: as many as fill a
/// GPU while each still sums a few products.
pub fn lanes_for(outputs: u64, reduction: u64) -> u32 {
    let mut lanes = 1;
    while lanes < BLOCK
        && outputs.saturating_mul(u64::from(lanes)) < THREADS_WANTED
        && reduction / u64::from(lanes * 2) >= PRODUCTS_PER_LANE
    {
        lanes *= 2;
    }
    lanes
}

/// Device memory that a launch touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Device address of the first byte.
    pub pointer: u64,
    /// Bytes; never 0.
    pub bytes: u64,
    /// Whether the kernel may write there; else it only reads.
    pub writes: bool,
}

/// The memory that a kernel touches when launched with these parameter bytes. Gaps between the elements of a
/// view are within its range; what is empty has none.
pub fn pointers(kernel: Kernel, params: &[u8]) -> Result<Vec<Range>, Refusal> {
    let mut ranges = Ranges(Vec::new());
    match kernel {
        Kernel::Fill => ranges.view(&read::<FillParams>(params)?.view, true)?,
        Kernel::Verify => {
            let params: VerifyParams = read(params)?;
            ranges.view(&params.fill.view, false)?;
            ranges.totals::<VerifyTotals>(params.totals, 1);
        }
        Kernel::Reference => ranges.reference(&read(params)?)?,
        Kernel::Compare => {
            let params: CompareParams = read(params)?;
            ranges.view(&params.got, false)?;
            let bytes = doubles(view::count(&params.got)?)?;
            ranges.add(params.result, bytes, false);
            ranges.add(params.abs_sum, bytes, false);
            ranges.totals::<CompareTotals>(params.totals, 1);
        }
        Kernel::Zones => ranges.zones(&read(params)?)?,
        Kernel::Diff => {
            let params: DiffParams = read(params)?;
            let bytes = params.count.checked_mul(params.bytes_per_element).ok_or(Refusal::View)?;
            ranges.add(params.a, bytes, false);
            ranges.add(params.b, bytes, false);
            ranges.totals::<DiffTotals>(params.totals, 1);
        }
        Kernel::Elementwise => {
            let params: ElementwiseParams = read(params)?;
            for (pointer, bytes, writes) in params.reach()? {
                ranges.add(pointer, bytes, writes);
            }
        }
    }
    Ok(ranges.0)
}

fn read<P: AnyBitPattern>(bytes: &[u8]) -> Result<P, Refusal> {
    let refusal = Refusal::ParamBytes { expected: size_of::<P>(), actual: bytes.len() };
    bytemuck::try_pod_read_unaligned(bytes).map_err(|_| refusal)
}

fn doubles(count: u64) -> Result<u64, Refusal> {
    count.checked_mul(size_of::<f64>() as u64).ok_or(Refusal::View)
}

struct Ranges(Vec<Range>);

impl Ranges {
    fn add(&mut self, pointer: u64, bytes: u64, writes: bool) {
        if bytes > 0 {
            self.0.push(Range { pointer, bytes, writes });
        }
    }

    fn view(&mut self, view: &TensorView, writes: bool) -> Result<(), Refusal> {
        self.add(view.pointer, view::span_bytes(view)?, writes);
        Ok(())
    }

    fn totals<T>(&mut self, pointer: u64, count: u64) {
        self.add(pointer, size_of::<T>() as u64 * count, true);
    }

    fn reference(&mut self, params: &ReferenceParams) -> Result<(), Refusal> {
        let (inputs, output): (&[&TensorView], _) = match params.op {
            FPROP | MATMUL | RMSNORM => (&[&params.x, &params.w], &params.y),
            DGRAD => (&[&params.y, &params.w], &params.x),
            WGRAD => (&[&params.x, &params.y], &params.w),
            MAXPOOL | AVGPOOL => (&[&params.x], &params.y),
            other => return Err(Refusal::Op(other)),
        };
        for input in inputs {
            self.view(input, false)?;
        }
        let bytes = doubles(view::count(output)?)?;
        self.add(params.result, bytes, true);
        self.add(params.abs_sum, bytes, true);
        self.totals::<ReferenceTotals>(params.totals, 1);
        Ok(())
    }

    fn zones(&mut self, params: &ZonesParams) -> Result<(), Refusal> {
        let zones = params.zones.get(..params.count as usize).ok_or(Refusal::Zones)?;
        if params.mode != PAINT && params.mode != CHECK {
            return Err(Refusal::Zones);
        }
        for zone in zones {
            self.add(zone.pointer, zone.bytes, params.mode == PAINT);
        }
        if params.mode == CHECK {
            self.totals::<ZoneTotals>(params.totals, zones.len() as u64);
        }
        Ok(())
    }
}
