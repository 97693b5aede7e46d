//! A geometry in the making: sampled, pushed into danger zones, then shrunk until it is legal and affordable. Knows
//! the rules of convolution; knows nothing of why a zone is dangerous.

use case::{Axis, Case, DType, DTypes, Layout, Layouts, Options, Problem};
use rand::RngExt;
use rand::rngs::StdRng;

use super::networks::LAYERS;
use super::style::{Style, logarithmic, pick, pick_weighted};
use super::{Limits, PASSES};

/// Shrinking steps before a draft is given up: each at least halves one field.
const SHRINK_STEPS_MAX: u32 = 400;

/// A size that shrinking may lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// Batch.
    Batch,
    /// Channels of x in one group.
    GroupC,
    /// Channels of y in one group.
    GroupK,
    /// Groups.
    Groups,
    /// Input extent of an axis.
    Input(usize),
    /// Filter taps of an axis.
    Filter(usize),
}

/// The sizes and options of one geometry, before it becomes three cases.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// Type of all tensors.
    pub(super) dtype: DType,
    /// Type that the written tensor has instead.
    pub(super) output_dtype: Option<DType>,
    /// Compute type where it is not the default.
    pub(super) compute: Option<DType>,
    /// Memory orders.
    pub(super) layouts: Layouts,
    /// Batch.
    pub(super) n: i64,
    /// Channels of x in one group.
    pub(super) group_c: i64,
    /// Channels of y in one group.
    pub(super) group_k: i64,
    /// Groups.
    pub(super) g: i64,
    /// Spatial dimensions.
    pub(super) axes: Vec<Axis>,
    /// Everything but the problem.
    pub(super) options: Options,
    /// Added to the last extent of y, to be refused.
    pub(super) output_error: i64,
    /// Limits that the zones may aim at.
    pub(super) limits: Limits,
    style: Style,
    held: Vec<Field>,
    heavy: bool,
}

/// Element types by weight; `f32` leads because a zone forces the others besides.
const DTYPE_MIX: [(DType, u32); 4] = [(DType::F32, 45), (DType::F16, 30), (DType::Bf16, 20), (DType::F64, 5)];

/// Numbers of axes by weight.
const RANK_MIX: [(usize, u32); 3] = [(1, 6), (2, 78), (3, 16)];

/// Layouts by weight; `None` draws one for each tensor.
const LAYOUT_MIX: [(Option<Layout>, u32); 3] =
    [(Some(Layout::Nchw), 50), (Some(Layout::Nhwc), 44), (None, 6)];

impl Draft {
    /// The case that always fits: one product.
    pub(super) fn plain() -> Self {
        Self {
            dtype: DType::F32,
            output_dtype: None,
            compute: None,
            layouts: Layouts::uniform(Layout::Nchw),
            n: 1,
            group_c: 1,
            group_k: 1,
            g: 1,
            axes: vec![Axis::plain(1, 1); 2],
            options: Options::default(),
            output_error: 0,
            limits: Limits { bytes_max: 0, multiply_adds_max: 0 },
            style: Style::Logarithmic,
            held: Vec::new(),
            heavy: false,
        }
    }

    /// A random geometry of a family; neither legal nor affordable yet.
    pub(super) fn sample(rng: &mut StdRng, style: Style, limits: Limits) -> Self {
        let mut draft = Self { style, limits, ..Self::plain() };
        draft.dtype = pick_weighted(rng, &DTYPE_MIX);
        if rng.random_bool(0.06) {
            draft.widen_output();
        }
        draft.layouts = match pick_weighted(rng, &LAYOUT_MIX) {
            Some(layout) => Layouts::uniform(layout),
            None => mixed_layouts(rng),
        };
        if style == Style::Network {
            draft.take_layer(rng);
        } else {
            draft.sample_sizes(rng);
        }
        if style == Style::Degenerate {
            draft.degenerate(rng);
        }
        draft
    }

    /// The written tensor gets a type of another width than the ones read.
    pub(super) fn widen_output(&mut self) {
        self.output_dtype = match self.dtype {
            DType::F16 | DType::Bf16 => Some(DType::F32),
            DType::F32 => Some(DType::F16),
            DType::F64 => None,
        };
    }

    fn take_layer(&mut self, rng: &mut StdRng) {
        let layer = &LAYERS[rng.random_range(0..LAYERS.len())];
        self.n = pick(rng, &[1, 2, 8, 16, 32, 64, 128]);
        (self.group_c, self.group_k, self.g) = (layer.c / layer.g, layer.k / layer.g, layer.g);
        self.axes = layer
            .axes
            .iter()
            .map(|&[input, filter, pad, stride, dilation]| Axis {
                input,
                filter,
                pad_before: pad,
                pad_after: pad,
                stride,
                dilation,
            })
            .collect();
        // Its channels are what makes a layer that layer: batch and image give way first.
        for field in [Field::GroupC, Field::GroupK, Field::Groups] {
            self.hold(field);
        }
    }

    fn sample_sizes(&mut self, rng: &mut StdRng) {
        let rank = pick_weighted(rng, &RANK_MIX);
        let style = self.style;
        self.n = if rng.random_bool(0.5) { style.extent(rng, 1, 8) } else { style.extent(rng, 1, 300) };
        self.g = if rng.random_bool(0.15) { style.extent(rng, 2, 64) } else { 1 };
        let channels_max = if self.g > 1 { 64 } else { 1100 };
        self.group_c = style.extent(rng, 1, channels_max);
        self.group_k = style.extent(rng, 1, channels_max);
        let input_max = [4200, 300, 70][rank - 1];
        self.axes = (0..rank)
            .map(|_| {
                let filter = pick_weighted(rng, &[(1, 30), (2, 8), (3, 36), (4, 5), (5, 9), (7, 9), (9, 3)]);
                let pad = if rng.random_bool(0.6) { filter / 2 } else { rng.random_range(0..filter) };
                let stride = pick_weighted(rng, &[(1, 70), (2, 22), (3, 5), (4, 3)]);
                let dilation = pick_weighted(rng, &[(1, 90), (2, 7), (3, 3)]);
                let input = style.extent(rng, 1, input_max);
                Axis { input, filter, pad_before: pad, pad_after: pad, stride, dilation }
            })
            .collect();
    }

    fn degenerate(&mut self, rng: &mut StdRng) {
        match rng.random_range(0..4) {
            0 => {
                for axis in &mut self.axes {
                    axis.pad_before = axis.filter + rng.random_range(0..3);
                    axis.pad_after = axis.pad_before;
                }
            }
            1 => {
                for axis in &mut self.axes {
                    axis.input = ((axis.filter - 1) * axis.dilation + 1 - 2 * axis.pad_before).max(1);
                }
            }
            2 => {
                for axis in &mut self.axes {
                    axis.stride = axis.filter + rng.random_range(1..4);
                }
            }
            _ => {
                self.g = self.group_c.clamp(2, 64);
                self.group_c = 1;
            }
        }
    }

    /// Keeps shrinking away from a field, as long as another can give way.
    pub(super) fn hold(&mut self, field: Field) {
        self.held.push(field);
    }

    /// Sets a field and holds it.
    pub(super) fn fix(&mut self, field: Field, value: i64) {
        self.set(field, value);
        self.hold(field);
    }

    /// Lets the geometry use the whole allowance for work.
    pub(super) fn mark_heavy(&mut self) {
        self.heavy = true;
    }

    /// True once a zone asked for the whole allowance.
    pub(super) fn heavy(&self) -> bool {
        self.heavy
    }

    /// The value of a field.
    pub(super) fn get(&self, field: Field) -> i64 {
        match field {
            Field::Batch => self.n,
            Field::GroupC => self.group_c,
            Field::GroupK => self.group_k,
            Field::Groups => self.g,
            Field::Input(axis) => self.axes[axis].input,
            Field::Filter(axis) => self.axes[axis].filter,
        }
    }

    fn set(&mut self, field: Field, value: i64) {
        match field {
            Field::Batch => self.n = value,
            Field::GroupC => self.group_c = value,
            Field::GroupK => self.group_k = value,
            Field::Groups => self.g = value,
            Field::Input(axis) => self.axes[axis].input = value,
            Field::Filter(axis) => self.axes[axis].filter = value,
        }
    }

    fn fields(&self) -> Vec<Field> {
        let spatial = (0..self.axes.len()).flat_map(|axis| [Field::Input(axis), Field::Filter(axis)]);
        [Field::Batch, Field::GroupC, Field::GroupK, Field::Groups].into_iter().chain(spatial).collect()
    }

    /// Shrinks fields that nothing holds, largest first, until the draft is legal and within the limits; a held
    /// field gives way only when no other can.
    pub(super) fn fit(&mut self, rng: &mut StdRng, limits: Limits) {
        for _ in 0..SHRINK_STEPS_MAX {
            self.repair();
            let excess = self.excess(limits);
            if excess == Excess::None {
                return;
            }
            let Some(field) = self.shrinkable(rng, excess) else {
                if self.held.is_empty() {
                    return;
                }
                self.held.clear();
                continue;
            };
            let value = self.style.extent(rng, (self.get(field) / 4).max(1), self.get(field) / 2);
            self.set(field, value);
        }
    }

    fn excess(&self, limits: Limits) -> Excess {
        let cases = self.cases();
        let bytes = cases.iter().map(|case| case.problem.geometry().total_bytes()).max();
        let work = cases[0].problem.geometry().multiply_adds();
        if bytes.is_some_and(|bytes| bytes > limits.bytes_max) {
            Excess::Bytes
        } else if work > limits.multiply_adds_max {
            Excess::Work
        } else {
            Excess::None
        }
    }

    /// A free field worth shrinking: one of those at least a quarter as large as the largest.
    fn shrinkable(&self, rng: &mut StdRng, excess: Excess) -> Option<Field> {
        let free: Vec<Field> = self
            .fields()
            .into_iter()
            .filter(|field| !self.held.contains(field) && self.get(*field) > 1)
            .filter(|field| excess == Excess::Work || !matches!(field, Field::Filter(_)))
            .collect();
        let largest = free.iter().map(|field| self.get(*field)).max()?;
        let worthy: Vec<Field> = free.into_iter().filter(|field| self.get(*field) * 4 >= largest).collect();
        Some(pick(rng, &worthy))
    }

    /// Makes every axis have an output: dilation gives way, then the filter.
    fn repair(&mut self) {
        for axis in &mut self.axes {
            let padded = axis.input + axis.pad_before + axis.pad_after;
            if axis.filter > 1 {
                axis.dilation = axis.dilation.min(((padded - 1) / (axis.filter - 1)).max(1));
            }
            axis.filter = axis.filter.min(padded);
        }
    }

    /// fprop, dgrad and wgrad of this geometry.
    pub(super) fn cases(&self) -> [Case; 3] {
        PASSES.map(|operation| {
            let mut tensors = [self.dtype; 3];
            if let Some(output) = self.output_dtype {
                tensors[operation.output().index()] = output;
            }
            let compute = self.compute.unwrap_or_else(|| DTypes::default_compute(tensors));
            let [x, w, y] = tensors;
            let problem = Problem {
                operation,
                dtypes: DTypes { x, w, y, compute },
                layouts: self.layouts,
                n: self.n,
                c: self.group_c * self.g,
                k: self.group_k * self.g,
                g: self.g,
                axes: self.axes.clone(),
                declared_output: self.declared_output(),
            };
            Case { problem, options: self.options.clone() }
        })
    }

    fn declared_output(&self) -> Option<Vec<i64>> {
        if self.output_error == 0 {
            return None;
        }
        let mut output: Vec<i64> = self.axes.iter().map(Axis::output).collect();
        if let Some(last) = output.last_mut() {
            *last += self.output_error;
        }
        Some(output)
    }

    /// Draws an extent in the draft's own family.
    pub(super) fn extent(&self, rng: &mut StdRng, least: i64, most: i64) -> i64 {
        self.style.extent(rng, least, most)
    }
}

/// What a draft has too much of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Excess {
    None,
    Bytes,
    Work,
}

/// Layouts of which at least two differ.
pub(super) fn mixed_layouts(rng: &mut StdRng) -> Layouts {
    let odd = pick(rng, &[0, 1, 2]);
    let [common, other] =
        if rng.random_bool(0.5) { [Layout::Nchw, Layout::Nhwc] } else { [Layout::Nhwc, Layout::Nchw] };
    let of = |role: usize| if role == odd { other } else { common };
    Layouts { x: of(0), w: of(1), y: of(2) }
}

/// A channel count that is no multiple of 8.
pub(super) fn odd_channels(rng: &mut StdRng) -> i64 {
    if rng.random_bool(0.7) {
        return pick(rng, &[7, 9, 10, 20, 222, 313, 873]);
    }
    let value = logarithmic(rng, 1, 520);
    if value % 8 == 0 { value + 1 } else { value }
}
