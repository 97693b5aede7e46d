//! Draws a draft before any zone is forced on it: types, layouts and sizes by their everyday shares. Knows
//! distributions; leaves rules and limits to the draft.

use case::{Axis, DType, Layout, Layouts};
use rand::RngExt;
use rand::rngs::StdRng;

use super::draft::{Draft, Field};
use super::networks::LAYERS;
use super::style::{Style, logarithmic, pick, pick_weighted, tail};
use super::{Limits, Operations};

/// Element types by weight; `f32` leads because a zone forces the others besides.
const DTYPE_MIX: [(DType, u32); 4] = [(DType::F32, 45), (DType::F16, 30), (DType::Bf16, 20), (DType::F64, 5)];

/// Numbers of axes by weight.
const RANK_MIX: [(usize, u32); 3] = [(1, 6), (2, 78), (3, 16)];

/// Share of network layers that keep their size, however large.
const WHOLE_LAYERS: f64 = 0.02;

/// Largest usual input extent of an axis among one, two and three.
const INPUT_MAX: [i64; 3] = [4200, 300, 70];

/// Layouts by weight; `None` draws one for each tensor.
const LAYOUT_MIX: [(Option<Layout>, u32); 3] =
    [(Some(Layout::Nchw), 50), (Some(Layout::Nhwc), 44), (None, 6)];

impl Draft {
    /// A random geometry of a family; neither legal nor affordable yet.
    pub(super) fn sample(rng: &mut StdRng, style: Style, (limits, operations): (Limits, Operations)) -> Self {
        let mut draft = Self::plain(operations);
        (draft.style, draft.limits) = (style, limits);
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
        if rng.random_bool(WHOLE_LAYERS) {
            self.mark_heavy();
        }
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
        for field in [Field::GroupC, Field::GroupK] {
            self.sample_channels(rng, field, channels_max);
        }
        self.sample_axes(rng, rank);
    }

    /// Draws other input extents; everything else is held, since most of it is compiled into kernels.
    pub(super) fn vary_inputs(&mut self, rng: &mut StdRng) {
        let style = self.style;
        let input_max = INPUT_MAX[self.axes.len() - 1];
        for axis in 0..self.axes.len() {
            let drawn = if rng.random_bool(0.3) { tail(rng) } else { style.extent(rng, 1, input_max) };
            let Axis { filter, dilation, pad_before, pad_after, .. } = self.axes[axis];
            // The filter has to fit.
            let least = (filter - 1) * dilation + 1 - pad_before - pad_after;
            self.axes[axis].input = drawn.max(least);
            self.hold(Field::Filter(axis));
        }
        for field in [Field::Batch, Field::GroupC, Field::GroupK, Field::Groups] {
            self.hold(field);
        }
    }

    fn sample_axes(&mut self, rng: &mut StdRng, rank: usize) {
        let style = self.style;
        let input_max = INPUT_MAX[rank - 1];
        self.axes = (0..rank)
            .map(|_| {
                let filter = pick_weighted(rng, &[(1, 30), (2, 8), (3, 36), (4, 5), (5, 9), (7, 9), (9, 3)]);
                let pad = if rng.random_bool(0.6) { filter / 2 } else { rng.random_range(0..filter) };
                let stride = pick_weighted(rng, &[(1, 70), (2, 22), (3, 5), (4, 3)]);
                let dilation = pick_weighted(rng, &[(1, 90), (2, 7), (3, 3)]);
                let input = if rng.random_bool(0.3) { tail(rng) } else { style.extent(rng, 1, input_max) };
                Axis { input, filter, pad_before: pad, pad_after: pad, stride, dilation }
            })
            .collect();
    }

    /// Draws a channel count: often small, often the tail of a small tile, which stays while others give way.
    fn sample_channels(&mut self, rng: &mut StdRng, field: Field, most: i64) {
        match rng.random_range(0..100) {
            0..20 => self.fix(field, rng.random_range(1..=12)),
            20..45 => self.fix(field, tail(rng).min(most)),
            _ => {
                let value = self.extent(rng, 1, most);
                self.set(field, value);
            }
        }
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
