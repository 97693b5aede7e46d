//! The danger zones of public bug reports as edits of a draft, each with its share of the evidence. Knows
//! what a zone looks like; the reports behind each share are named in the project's documents.

use case::{DType, Expect, Layout, Layouts};
use rand::RngExt;
use rand::rngs::StdRng;

use super::draft::{Draft, Field};
use super::sample::{mixed_layouts, odd_channels};
use super::style::{logarithmic, pick, pick_weighted};

/// One region where failures cluster.
pub(super) struct Zone {
    /// What it is.
    pub(super) name: &'static str,
    /// Share of the evidence, in tenths of a percent.
    pub(super) weight: u32,
    /// Pushes a draft into it.
    pub(super) force: fn(&mut Draft, &mut StdRng),
}

const fn zone(name: &'static str, weight: u32, force: fn(&mut Draft, &mut StdRng)) -> Zone {
    Zone { name, weight, force }
}

/// The zones that a case can express, in the order in which they are applied: those that set the rank first,
/// those that look at the finished shape last. Engines outside the heuristic lists are a zone too, but every
/// survey visits them.
pub(super) const ZONES: [Zone; 17] = [
    zone("three axes", 59, three_axes),
    zone("one long row", 34, long_row),
    zone("dtype other than f32", 132, dtype),
    zone("layout", 86, layout),
    zone("groups", 38, groups),
    zone("tiny channel counts", 87, tiny_channels),
    zone("channels multiple of 8, half precision", 33, tensor_core_channels),
    zone("channels no multiple of 8", 24, ragged_channels),
    zone("odd batch or a power of two +-1", 21, odd_sizes),
    zone("stride above 1", 46, strided),
    zone("filter extremes", 49, filter_extremes),
    zone("dilation", 10, dilated),
    zone("padding", 13, padded),
    zone("small output, long reduction", 67, long_reduction),
    zone("16-bit lines", 15, sixteen_bits),
    // A fiftieth of the share that large tensors have: one such geometry costs as much as a hundred others.
    zone("2^24 to 2^26 elements", 1, size_lines),
    zone("must be refused", 7, refused),
];

/// Pushes a draft into one to three zones, drawn by weight.
pub(super) fn force(draft: &mut Draft, rng: &mut StdRng) {
    let count = rng.random_range(1..=3);
    let mut drawn = [false; ZONES.len()];
    let table: Vec<(usize, u32)> = ZONES.iter().map(|zone| zone.weight).enumerate().collect();
    while drawn.iter().filter(|taken| **taken).count() < count {
        drawn[pick_weighted(rng, &table)] = true;
    }
    for (zone, _) in ZONES.iter().zip(drawn).filter(|(_, taken)| *taken) {
        (zone.force)(draft, rng);
    }
}

fn dtype(draft: &mut Draft, rng: &mut StdRng) {
    draft.dtype = pick_weighted(rng, &[(DType::F16, 45), (DType::Bf16, 40), (DType::F64, 15)]);
    draft.output_dtype = None;
    if rng.random_bool(0.15) {
        draft.widen_output();
    } else if draft.dtype == DType::F16 && rng.random_bool(0.05) {
        draft.compute = Some(DType::F16);
    }
}

fn tiny_channels(draft: &mut Draft, rng: &mut StdRng) {
    let value = rng.random_range(1..=4);
    let fields: &[Field] = match rng.random_range(0..3) {
        0 => &[Field::GroupC],
        1 => &[Field::GroupK],
        _ => &[Field::GroupC, Field::GroupK],
    };
    for field in fields {
        draft.fix(*field, value);
    }
}

fn layout(draft: &mut Draft, rng: &mut StdRng) {
    draft.layouts = if rng.random_bool(0.65) { Layouts::uniform(Layout::Nhwc) } else { mixed_layouts(rng) };
}

/// Half of the time a few outputs that each sum very many products, else a sum over very many positions,
/// which is wgrad's long reduction.
fn long_reduction(draft: &mut Draft, rng: &mut StdRng) {
    if rng.random_bool(0.5) {
        let rank = draft.axes.len();
        for axis in 0..rank {
            let stride = draft.axes[axis].stride;
            let most = [64, 8, 4][rank - 1] * stride;
            draft.fix(Field::Input(axis), rng.random_range(1..=most.max(2)));
        }
        draft.fix(Field::GroupC, logarithmic(rng, 256, 4096));
    } else {
        let rank = draft.axes.len();
        let side = [200_000, 448, 58][rank - 1];
        for axis in 0..rank {
            // A usual tensor has room for these positions, not for those that a stride passes over.
            draft.axes[axis].stride = 1;
            draft.fix(Field::Input(axis), side);
        }
        draft.fix(Field::Batch, pick(rng, &[1, 2, 2, 3]));
        draft.group_c = draft.group_c.min(16);
        draft.group_k = draft.group_k.min(16);
        if rng.random_bool(0.05) {
            draft.mark_heavy();
        }
    }
}

fn three_axes(draft: &mut Draft, rng: &mut StdRng) {
    while draft.axes.len() < 3 {
        let mut axis = draft.axes[0];
        axis.input = draft.extent(rng, 1, 40);
        draft.axes.insert(0, axis);
    }
    let taps: Option<[i64; 3]> = pick(rng, &[None, Some([3, 1, 1]), Some([1, 3, 3]), Some([1, 1, 1])]);
    for (axis, filter) in taps.into_iter().flatten().enumerate() {
        draft.fix(Field::Filter(axis), filter);
        let pad = pick(rng, &[0, filter / 2]);
        (draft.axes[axis].pad_before, draft.axes[axis].pad_after) = (pad, pad);
        draft.axes[axis].dilation = 1;
    }
}

/// One axis, written as one or as two of which the first or the last has extent 1.
fn long_row(draft: &mut Draft, rng: &mut StdRng) {
    let mut row = draft.axes[0];
    row.filter = pick(rng, &[1, 3, 10, 25, 100, 128]);
    let pad = pick(rng, &[0, row.filter / 2]);
    (row.pad_before, row.pad_after) = (pad, pad);
    row.input = if rng.random_bool(0.15) { 1 } else { draft.extent(rng, 400, 70_000) };
    let flat = case::Axis::plain(1, 1);
    let (axes, position) = pick_weighted(rng, &[((2, 1), 60), ((2, 0), 20), ((1, 0), 20)]);
    draft.axes = vec![flat; axes];
    draft.axes[position] = row;
    draft.hold(Field::Input(position));
    draft.hold(Field::Filter(position));
}

fn filter_extremes(draft: &mut Draft, rng: &mut StdRng) {
    let kind = rng.random_range(0..4);
    for axis in 0..draft.axes.len() {
        let input = draft.axes[axis].input;
        let filter = match kind {
            0 => rng.random_range(11..=17),
            1 => pick(rng, &[2, 4, 6, 8, 10, 16]),
            2 => (input - rng.random_range(0..=2)).clamp(1, 40),
            _ => (input + rng.random_range(1..=4)).min(40),
        };
        let shape = &mut draft.axes[axis];
        shape.dilation = 1;
        let least = (filter - input + 1) / 2;
        let pad = if kind == 3 { least.max(0) } else { pick(rng, &[0, filter / 2]) };
        (shape.pad_before, shape.pad_after) = (pad, pad);
        if kind >= 2 {
            shape.input = input.min(40);
            draft.hold(Field::Input(axis));
        }
        draft.fix(Field::Filter(axis), filter);
    }
}

/// Elements of one tensor within a twentieth of a power of two from where f32 stops counting exactly.
fn size_lines(draft: &mut Draft, rng: &mut StdRng) {
    let bytes = draft.dtype.bytes();
    // Both large tensors must fit, hence the factor.
    let fitting: Vec<i64> = (24..=26)
        .map(|power| 1_i64 << power)
        .filter(|line| line * bytes * 5 / 2 <= draft.limits.bytes_max)
        .collect();
    if fitting.is_empty() {
        return odd_sizes(draft, rng);
    }
    let line = pick(rng, &fitting);
    let elements = line + line / 2000 * rng.random_range(-100..=100);
    draft.g = 1;
    let channels = pick(rng, &[1, 2, 3, 4, 8, 16]);
    let row = pick(rng, &[1000, 1024, 2048, 2049, 4096]);
    draft.axes.truncate(2);
    let strided = rng.random_bool(0.5);
    for axis in &mut draft.axes {
        *axis = case::Axis { stride: if strided { 2 } else { 1 }, ..case::Axis::plain(row, 1) };
    }
    let first = elements / (channels * row.pow(u32::try_from(draft.axes.len()).unwrap_or(2) - 1));
    draft.n = if first > 40_000 { first / 16_384 } else { 1 };
    draft.axes[0].input = first / draft.n;
    draft.group_c = channels;
    draft.group_k = channels.min(2);
    for field in [Field::Batch, Field::GroupC, Field::GroupK, Field::Groups, Field::Input(0), Field::Input(1)]
    {
        draft.hold(field);
    }
    draft.mark_heavy();
}

fn strided(draft: &mut Draft, rng: &mut StdRng) {
    let kind = rng.random_range(0..3);
    for axis in 0..draft.axes.len() {
        if kind == 0 {
            draft.fix(Field::Filter(axis), 1);
        }
        let shape = &mut draft.axes[axis];
        shape.stride = match kind {
            0 => 2,
            1 => shape.filter.max(2),
            _ => shape.filter + rng.random_range(1..=3),
        };
        if kind == 0 {
            (shape.pad_before, shape.pad_after) = (0, 0);
        }
    }
}

fn groups(draft: &mut Draft, rng: &mut StdRng) {
    let (g, group_c, group_k) = match rng.random_range(0..3) {
        0 => (draft.extent(rng, 2, 512), 1, pick(rng, &[1, 1, 2, 3])),
        1 => (rng.random_range(2..=32), pick(rng, &[1, 2, 5]), draft.extent(rng, 1, 32)),
        _ => (rng.random_range(2..=32), draft.extent(rng, 1, 64), draft.extent(rng, 1, 64)),
    };
    draft.fix(Field::Groups, g);
    draft.fix(Field::GroupC, group_c);
    draft.group_k = group_k;
}

fn tensor_core_channels(draft: &mut Draft, rng: &mut StdRng) {
    draft.dtype = pick(rng, &[DType::F16, DType::Bf16]);
    draft.output_dtype = None;
    draft.fix(Field::GroupC, 8 * draft.extent(rng, 1, 64));
    draft.fix(Field::GroupK, 8 * draft.extent(rng, 1, 64));
}

fn ragged_channels(draft: &mut Draft, rng: &mut StdRng) {
    if rng.random_bool(0.7) {
        draft.fix(Field::GroupC, odd_channels(rng));
    }
    draft.fix(Field::GroupK, odd_channels(rng));
}

fn odd_sizes(draft: &mut Draft, rng: &mut StdRng) {
    let value = pick(rng, &[25, 27, 33, 63, 65, 127, 129, 155, 257, 1023, 1025, 4095, 16_385]);
    let target = if value < 300 && rng.random_bool(0.6) { Field::Batch } else { Field::Input(0) };
    draft.fix(target, value);
}

/// A size or a product of two output extents at the end of 16 bits.
fn sixteen_bits(draft: &mut Draft, rng: &mut StdRng) {
    let line = pick(rng, &[65_534, 65_535, 65_536, 65_537, 100_000, 131_072]);
    let last = draft.axes.len() - 1;
    match rng.random_range(0..5) {
        0 => draft.fix(Field::Batch, line),
        1 => draft.fix(Field::GroupC, line),
        2 => draft.fix(Field::GroupK, line),
        3 => draft.fix(Field::Input(last), line),
        _ => {
            let (height, width) = pick(rng, &[(256, 256), (255, 257), (2, 32_768), (128, 512), (257, 257)]);
            draft.axes.truncate(2);
            for (axis, output) in [height, width].into_iter().enumerate().take(draft.axes.len()) {
                draft.axes[axis] = case::Axis::plain(output, 1);
                draft.fix(Field::Input(axis), output);
            }
        }
    }
}

fn padded(draft: &mut Draft, rng: &mut StdRng) {
    let oversized = rng.random_bool(0.3);
    for axis in &mut draft.axes {
        let most = axis.filter + if oversized { 3 } else { 0 };
        axis.pad_before = rng.random_range(0..=most);
        axis.pad_after = if oversized { axis.pad_before } else { rng.random_range(0..=most) };
    }
}

fn dilated(draft: &mut Draft, rng: &mut StdRng) {
    let strided = rng.random_bool(0.4);
    for axis in &mut draft.axes {
        axis.filter = axis.filter.max(2);
        axis.dilation = pick(rng, &[2, 3, 4, 6, 12]);
        axis.input = axis.input.max((axis.filter - 1) * axis.dilation + 1);
        if strided {
            axis.stride = axis.stride.max(2);
        }
    }
}

/// An output extent that is off by one: the only right answer is no.
fn refused(draft: &mut Draft, rng: &mut StdRng) {
    draft.output_error = pick(rng, &[-1, 1]);
    draft.options.expect = Expect::Refuse;
}
