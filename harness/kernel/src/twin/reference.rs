//! Twin of `convict_reference`: an operation by definition, in f64, in the kernel's order of summation. Knows indices
//! and sums; knows no library.

use crate::fill::{FillKind, Special};
use crate::number::{canonical_bits, decode_bits, element_bytes, load, round_to};
use crate::params::{AVGPOOL, DGRAD, FPROP, MATMUL, MAXPOOL, RMSNORM, ReferenceParams, TensorView, WGRAD};
use crate::refusal::Refusal;
use crate::totals::ReferenceTotals;
use crate::view::{self, Element, each_element};

/// What the reference computes, by linear logical index of the output.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceOutcome {
    /// alpha·Σ(a·b) + beta·prior.
    pub result: Vec<f64>,
    /// |alpha|·Σ|a·b| + |beta·prior|.
    pub abs_sum: Vec<f64>,
    /// What it counted.
    pub totals: ReferenceTotals,
}

/// Computes. The slices start at each view's first element; the output operand's is not looked at, nor is that of the
/// w which pooling lacks.
///
/// The reduction has four digits, row major: fprop channel in the group, filter d, h, w; dgrad filter in the
/// group, filter d, h, w; wgrad image, response d, h, w; pooling as fprop with a w of ones; matmul k; rmsnorm c, with
/// squares as products. MAXPOOL takes the larger wherever others add. Lane `t` of `lanes` adds the products whose flat
/// index is `t` modulo `lanes`, in order; then lane `t` adds lane `t + half` for each half of the lanes. Products that
/// meet padding are left out.
pub fn reference(
    params: &ReferenceParams,
    x: &[u8],
    w: &[u8],
    y: &[u8],
) -> Result<ReferenceOutcome, Refusal> {
    let plan = Plan::of(params)?;
    let (a, b) = match plan.op {
        Op::Fprop | Op::MatMul => (values(&params.x, x)?, values(&params.w, w)?),
        Op::MaxPool | Op::AvgPool => (values(&params.x, x)?, vec![1.0]),
        Op::RmsNorm => (values(&params.x, x)?, values(&params.x, x)?),
        Op::Dgrad => (values(&params.y, y)?, values(&params.w, w)?),
        Op::Wgrad => (values(&params.x, x)?, values(&params.y, y)?),
    };
    let weights = match plan.op {
        Op::RmsNorm => values(&params.w, w)?,
        Op::Fprop | Op::Dgrad | Op::Wgrad | Op::MaxPool | Op::AvgPool | Op::MatMul => Vec::new(),
    };
    let outputs = view::count(plan.output)?;
    let mut outcome = ReferenceOutcome {
        result: reserve(outputs)?,
        abs_sum: reserve(outputs)?,
        totals: ReferenceTotals::START,
    };
    let lanes = params.lanes as usize;
    let mut partial = [plan.empty(); 256];
    // The walk's byte offsets are for memory; a zero stride keeps them small whatever the output's layout.
    let logical = TensorView { stride: [0; 5], ..*plan.output };
    each_element(&logical, |element| {
        let partial = &mut partial[..lanes];
        partial.fill(plan.empty());
        plan.add_products(&plan.start_of(element.at), &a, &b, partial);
        let mut sum = plan.tree(partial);
        if matches!(plan.op, Op::RmsNorm) {
            sum = plan.normalized(sum, element.at, &a, &weights);
        }
        plan.finish(sum, &element, &mut outcome);
    });
    Ok(outcome)
}

#[derive(Clone, Copy)]
enum Op {
    Fprop,
    Dgrad,
    Wgrad,
    MaxPool,
    AvgPool,
    MatMul,
    RmsNorm,
}

/// One digit of the reduction. Position in `a`: (base + digit * step) / divisor, where whole and below `limit`.
struct Axis {
    extent: i64,
    step: i64,
    divisor: i64,
    limit: i64,
    a_stride: i64,
    b_stride: i64,
}

/// From where one output's products are reached: element offsets, and positions along the spatial axes.
struct Start {
    a: i64,
    b: i64,
    base: [i64; 3],
}

#[derive(Clone, Copy)]
struct Sum {
    value: f64,
    absolute: f64,
    products: u64,
}

struct Plan<'a> {
    params: &'a ReferenceParams,
    op: Op,
    output: &'a TensorView,
    filters: i64,
    channels: i64,
    outer: Axis,
    spatial: [Axis; 3],
    prior: Option<(FillKind, Special)>,
}

impl<'a> Plan<'a> {
    fn of(params: &'a ReferenceParams) -> Result<Self, Refusal> {
        let op = match params.op {
            FPROP => Op::Fprop,
            DGRAD => Op::Dgrad,
            WGRAD => Op::Wgrad,
            MAXPOOL => Op::MaxPool,
            AVGPOOL => Op::AvgPool,
            MATMUL => Op::MatMul,
            RMSNORM => Op::RmsNorm,
            other => return Err(Refusal::Op(other)),
        };
        check_geometry(params)?;
        match op {
            Op::MatMul => check_matrices(params)?,
            Op::RmsNorm => check_norm(params)?,
            Op::Fprop | Op::Dgrad | Op::Wgrad | Op::MaxPool | Op::AvgPool => check_channels(params)?,
        }
        let (x, w, y) = (&params.x, &params.w, &params.y);
        let output = match op {
            Op::Fprop | Op::MaxPool | Op::AvgPool | Op::MatMul | Op::RmsNorm => y,
            Op::Dgrad => x,
            Op::Wgrad => w,
        };
        let (filters, channels) = (w.extent[0] / params.groups, w.extent[1]);
        let outer = |extent, a_stride, b_stride| Axis {
            extent,
            step: 1,
            divisor: 1,
            limit: extent,
            a_stride,
            b_stride,
        };
        let outer = match op {
            Op::Fprop => outer(channels, x.stride[1], w.stride[1]),
            Op::MaxPool | Op::AvgPool => outer(channels, x.stride[1], 0),
            Op::MatMul => outer(x.extent[4], x.stride[4], w.stride[1]),
            Op::RmsNorm => outer(x.extent[1], x.stride[1], x.stride[1]),
            Op::Dgrad => outer(filters, y.stride[1], w.stride[0]),
            Op::Wgrad => outer(x.extent[0], x.stride[0], y.stride[0]),
        };
        let spatial = [0, 1, 2].map(|i| {
            let (stride, dilation) = (params.conv_stride[i], params.dilation[i]);
            match op {
                Op::Fprop => Axis::spatial(x, w, i + 2, dilation, 1),
                Op::MaxPool | Op::AvgPool => Axis { b_stride: 0, ..Axis::spatial(x, w, i + 2, dilation, 1) },
                Op::MatMul | Op::RmsNorm => Axis::UNIT,
                Op::Dgrad => Axis::spatial(y, w, i + 2, -dilation, stride),
                Op::Wgrad => Axis::spatial(x, y, i + 2, stride, 1),
            }
        });
        let prior = prior_of(params, output)?;
        Ok(Self { params, op, output, filters, channels, outer, spatial, prior })
    }

    fn start_of(&self, at: [i64; 5]) -> Start {
        let (x, w, y) = (&self.params.x.stride, &self.params.w.stride, &self.params.y.stride);
        let (filters, channels) = (self.filters, self.channels);
        let (a, b) = match self.op {
            Op::Fprop => (at[0] * x[0] + at[1] / filters * channels * x[1], at[1] * w[0]),
            Op::MaxPool | Op::AvgPool => (at[0] * x[0] + at[1] / filters * channels * x[1], 0),
            Op::MatMul => (at[0] * x[0] + at[1] * x[1], at[0] * w[0] + at[4] * w[4]),
            Op::RmsNorm => {
                let row = at[0] * x[0] + at[2] * x[2] + at[3] * x[3] + at[4] * x[4];
                (row, row)
            }
            Op::Dgrad => {
                let filter = at[1] / channels * filters;
                (at[0] * y[0] + filter * y[1], filter * w[0] + at[1] % channels * w[1])
            }
            Op::Wgrad => ((at[0] / filters * channels + at[1]) * x[1], at[0] * y[1]),
        };
        let base = [0, 1, 2].map(|i| match self.op {
            Op::Fprop | Op::MaxPool | Op::AvgPool => {
                at[i + 2] * self.params.conv_stride[i] - self.params.pad_before[i]
            }
            Op::MatMul | Op::RmsNorm => 0,
            Op::Dgrad => at[i + 2] + self.params.pad_before[i],
            Op::Wgrad => at[i + 2] * self.params.dilation[i] - self.params.pad_before[i],
        });
        Start { a, b, base }
    }

    /// Adds each product to the lane that its flat index names.
    fn add_products(&self, start: &Start, a: &[f64], b: &[f64], partial: &mut [Sum]) {
        let [depth, height, width] = &self.spatial;
        let lane_mask = partial.len() - 1;
        for outer in 0..self.outer.extent {
            let (a0, b0) = (start.a + outer * self.outer.a_stride, start.b + outer * self.outer.b_stride);
            for d in 0..depth.extent {
                let Some(a1) = depth.reach(start.base[0], d) else { continue };
                for h in 0..height.extent {
                    let Some(a2) = height.reach(start.base[1], h) else { continue };
                    let flat = ((outer * depth.extent + d) * height.extent + h) * width.extent;
                    let (a_row, b_row) = (a0 + a1 + a2, b0 + d * depth.b_stride + h * height.b_stride);
                    for w in 0..width.extent {
                        let Some(a3) = width.reach(start.base[2], w) else { continue };
                        let product = a[(a_row + a3) as usize] * b[(b_row + w * width.b_stride) as usize];
                        let lane = &mut partial[(flat + w) as usize & lane_mask];
                        self.add(lane, Sum { value: product, absolute: product.abs(), products: 1 });
                    }
                }
            }
        }
    }

    /// What nothing was added to yet: below every element where the largest is looked for.
    fn empty(&self) -> Sum {
        let value = if matches!(self.op, Op::MaxPool) { f64::NEG_INFINITY } else { 0.0 };
        Sum { value, absolute: 0.0, products: 0 }
    }

    fn add(&self, sum: &mut Sum, other: Sum) {
        if matches!(self.op, Op::MaxPool) {
            sum.value = largest(sum.value, other.value);
            sum.absolute = largest(sum.absolute, other.absolute);
        } else {
            sum.value += other.value;
            sum.absolute += other.absolute;
        }
        sum.products += other.products;
    }

    /// Adds the lanes up as the kernel's threads do, and returns the sum of all.
    fn tree(&self, partial: &mut [Sum]) -> Sum {
        let mut half = partial.len() / 2;
        while half > 0 {
            let (left, right) = partial.split_at_mut(half);
            for (left, right) in left.iter_mut().zip(right) {
                self.add(left, *right);
            }
            half /= 2;
        }
        partial[0]
    }

    /// From a sum of squares to an element of x times its weight, over the root of the mean of squares.
    fn normalized(&self, squares: Sum, at: [i64; 5], x: &[f64], weights: &[f64]) -> Sum {
        let view = &self.params.x;
        let place: i64 = at.iter().zip(&view.stride).map(|(at, stride)| at * stride).sum();
        let root = (squares.value / view.extent[1] as f64 + self.params.epsilon).sqrt();
        let weight = weights[(at[1] * self.params.w.stride[1]) as usize];
        let value = x[place as usize] * weight / root;
        Sum { value, absolute: value.abs(), products: squares.products }
    }

    /// Scales one output's sum, adds its prior value, stores it, and counts it.
    fn finish(&self, sum: Sum, element: &Element, outcome: &mut ReferenceOutcome) {
        let params = self.params;
        let mut result = params.alpha * sum.value;
        let mut absolute = params.alpha.abs() * sum.absolute;
        if let Some((kind, special)) = self.prior {
            let raw = special.raw_value(kind, &params.prior, element.at, element.linear);
            let scaled = params.beta * round_to(params.prior.view.dtype, raw);
            result += scaled;
            absolute += scaled.abs();
        }
        let (result_bits, absolute_bits) = (canonical_bits(result), canonical_bits(absolute));
        outcome.result.push(f64::from_bits(result_bits));
        outcome.abs_sum.push(f64::from_bits(absolute_bits));
        let totals = &mut outcome.totals;
        totals.max_abs_sum_bits = totals.max_abs_sum_bits.max(absolute_bits);
        totals.max_abs_result_bits = totals.max_abs_result_bits.max(result_bits & (u64::MAX >> 1));
        totals.with_products += u64::from(sum.products != 0);
        totals.non_zero += u64::from(sum.products != 0 && result != 0.0);
        totals.products = totals.products.max(sum.products);
    }
}

/// The larger of two, or NaN where one is.
fn largest(a: f64, b: f64) -> f64 {
    if a.is_nan() || a >= b { a } else { b }
}

impl Axis {
    /// A digit that is always 0.
    const UNIT: Self = Self { extent: 1, step: 1, divisor: 1, limit: 1, a_stride: 0, b_stride: 0 };

    fn spatial(a: &TensorView, b: &TensorView, i: usize, step: i64, divisor: i64) -> Self {
        Self {
            extent: b.extent[i],
            step,
            divisor,
            limit: a.extent[i],
            a_stride: a.stride[i],
            b_stride: b.stride[i],
        }
    }

    /// Element offset in `a` at a digit; none where the position is not in `a`.
    fn reach(&self, base: i64, digit: i64) -> Option<i64> {
        let mut position = base + digit * self.step;
        if position < 0 {
            return None;
        }
        if self.divisor != 1 {
            if position % self.divisor != 0 {
                return None;
            }
            position /= self.divisor;
        }
        (position < self.limit).then(|| position * self.a_stride)
    }
}

fn check_geometry(params: &ReferenceParams) -> Result<(), Refusal> {
    if !params.lanes.is_power_of_two() || params.lanes > 256 {
        return Err(Refusal::Lanes(params.lanes));
    }
    let (x, w, y) = (&params.x.extent, &params.w.extent, &params.y.extent);
    let small = |number: &i64| number.unsigned_abs() < 1 << 31;
    let all_small = [&x[..], w, y, &params.pad_before, &params.conv_stride, &params.dilation]
        .iter()
        .all(|numbers| numbers.iter().all(small));
    let steps_forward = params.conv_stride.iter().chain(&params.dilation).all(|&step| step >= 1);
    if !all_small || !steps_forward || !(1..1 << 31).contains(&params.groups) {
        return Err(Refusal::Geometry);
    }
    Ok(())
}

fn agree(holds: bool) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(Refusal::Geometry) }
}

/// Batches and both other extents of matrices; the middle ones are 1.
fn check_matrices(params: &ReferenceParams) -> Result<(), Refusal> {
    let (x, w, y) = (&params.x.extent, &params.w.extent, &params.y.extent);
    let flat = [x, w, y].iter().all(|extent| extent[2..4] == [1, 1]);
    agree(flat && x[0] == w[0] && x[0] == y[0] && x[1] == y[1] && x[4] == w[1] && w[4] == y[4])
}

fn check_norm(params: &ReferenceParams) -> Result<(), Refusal> {
    let (x, w, y) = (&params.x.extent, &params.w.extent, &params.y.extent);
    agree(x == y && *w == [1, x[1], 1, 1, 1])
}

fn check_channels(params: &ReferenceParams) -> Result<(), Refusal> {
    let (x, w, y) = (&params.x.extent, &params.w.extent, &params.y.extent);
    let channels_agree = x[1] == w[1] * params.groups && w[0] % params.groups == 0;
    agree(channels_agree && y[1] == w[0] && x[0] == y[0])
}

/// How to derive the output's prior value, where beta asks for it.
fn prior_of(params: &ReferenceParams, output: &TensorView) -> Result<Option<(FillKind, Special)>, Refusal> {
    if params.beta == 0.0 {
        return Ok(None);
    }
    let view = &params.prior.view;
    if element_bytes(view.dtype) == 0 {
        return Err(Refusal::Dtype(view.dtype));
    }
    if view.extent != output.extent {
        return Err(Refusal::Geometry);
    }
    let special = Special::of(&params.prior, view::count(view)?);
    Ok(Some((FillKind::try_from(params.prior.kind)?, special)))
}

/// Every element in the memory that a view spans, decoded once.
fn values(view: &TensorView, bytes: &[u8]) -> Result<Vec<f64>, Refusal> {
    view::check(view, bytes)?;
    let span = view::span_bytes(view)? as usize;
    let elements = bytes[..span].chunks_exact(element_bytes(view.dtype));
    Ok(elements.map(|element| decode_bits(view.dtype, load(element))).collect())
}

fn reserve(outputs: u64) -> Result<Vec<f64>, Refusal> {
    let mut values = Vec::new();
    let count = usize::try_from(outputs).map_err(|_| Refusal::Memory { outputs })?;
    values.try_reserve_exact(count).map_err(|_| Refusal::Memory { outputs })?;
    Ok(values)
}
