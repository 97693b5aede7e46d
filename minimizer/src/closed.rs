//! The smallest geometry of a given size, computed instead of searched for: what a pure size threshold leaves
//! of a case. Knows arithmetic; asks nobody.

use case::{Axis, Case, Expect, Role};

use crate::handle::Handle;
use crate::passes::geometry::hold_output;

/// A size from which the closed form is worth its questions: smaller ones are searched as cheaply.
const SIZE_MIN: i64 = 4096;

/// Largest size looked into: far above any device, low enough that no sum here leaves i64.
const SIZE_MAX: i64 = 1 << 48;

/// How far from the square root the two factors of a product are looked for. Farther out their sum, which is
/// what the other two tensors cost, only grows.
const WINDOW: i64 = 4096;

/// How far from the cube root the three factors of the multiply-adds are looked for.
const CUBE_WINDOW: i64 = 16;

/// A geometry of a given size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    size: Size,
    /// True for one plain axis and no groups; otherwise axes, bends, filters and groups stay.
    plain: bool,
}

/// A size that a failure may depend on alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    /// Outputs of one filter: n times the extents of y.
    Outputs,
    /// Elements of a tensor.
    Elements(Role),
    /// Multiply-adds.
    Work,
}

/// Channels of one group, output positions, filters of one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sizes {
    c: i64,
    m: i64,
    k: i64,
}

/// The sizes of a case that are large, in the order in which they are looked into: as plain geometries, and
/// where the case has another one, as geometries like its own.
pub(crate) fn sizes(case: &Case) -> Vec<Handle> {
    if case.options.expect == Expect::Refuse || case.problem.declared_output.is_some() {
        return Vec::new();
    }
    let problem = &case.problem;
    let is_plain = problem.g == 1
        && problem.axes.len() == 1
        && problem.axes.iter().all(|axis| *axis == Axis::plain(axis.input, 1));
    let sizes = [
        Size::Elements(Role::X),
        Size::Elements(Role::Y),
        Size::Elements(Role::W),
        Size::Outputs,
        Size::Work,
    ];
    let shapes = |plain: bool| sizes.map(|size| Shape { size, plain });
    let mut handles: Vec<Shape> = shapes(true).to_vec();
    if !is_plain {
        handles.extend(shapes(false));
    }
    handles.retain(|shape| (SIZE_MIN..=SIZE_MAX).contains(&shape.size(case)));
    handles.into_iter().map(Handle::Size).collect()
}

impl Shape {
    /// The size of a case.
    pub(crate) fn size(self, case: &Case) -> i64 {
        let geometry = case.problem.geometry();
        match self.size {
            Size::Outputs => geometry.output_spatial().into_iter().fold(case.problem.n, i64::saturating_mul),
            Size::Elements(role) => geometry.elements(role),
            Size::Work => geometry.multiply_adds(),
        }
    }

    /// The case with the smallest geometry of at least that size.
    pub(crate) fn smallest(self, case: &Case, size: i64) -> Case {
        let mut base = case.clone();
        if self.plain {
            base.problem.g = 1;
            base.problem.axes = vec![Axis::plain(1, 1)];
        }
        let groups = base.problem.g.max(1);
        let taps =
            base.problem.axes.iter().fold(groups, |taps, axis| taps.saturating_mul(axis.filter.max(1)));
        let in_parts = |parts: i64| size.saturating_add(parts - 1) / parts;
        place(
            base,
            match self.size {
                Size::Outputs => Sizes { c: 1, m: size, k: 1 },
                Size::Elements(Role::X) => {
                    let [m, c] = pair(in_parts(groups));
                    Sizes { c, m, k: 1 }
                }
                Size::Elements(Role::Y) => {
                    let [m, k] = pair(in_parts(groups));
                    Sizes { c: 1, m, k }
                }
                Size::Elements(Role::W) => {
                    let [c, k] = pair(in_parts(taps));
                    Sizes { c, m: 1, k }
                }
                Size::Work => triple(in_parts(taps)),
            },
        )
    }
}

/// The case with those sizes: batch 1, all outputs along the last axis.
fn place(mut case: Case, sizes: Sizes) -> Case {
    let problem = &mut case.problem;
    let groups = problem.g.max(1);
    (problem.n, problem.c, problem.k) = (1, sizes.c.saturating_mul(groups), sizes.k.saturating_mul(groups));
    let last = problem.axes.len().saturating_sub(1);
    for (index, axis) in problem.axes.iter_mut().enumerate() {
        hold_output(axis, if index == last { sizes.m } else { 1 });
    }
    case
}

/// Two factors, the smaller first, whose product is at least the size: least product plus sum, then the least
/// smaller factor.
fn pair(size: i64) -> [i64; 2] {
    let root = size.isqrt();
    let candidates = (1.max(root - WINDOW)..=root + 1)
        .map(|small| [small, size.div_euclid(small) + i64::from(size % small != 0)]);
    let cost = |[small, large]: &[i64; 2]| (small * large + small + large, *small);
    candidates.filter(|[small, large]| small <= large).min_by_key(cost).unwrap_or([1, size])
}

/// Three factors whose product is at least the size: least sum of the pairwise products near the cube root,
/// then the least work, the least outputs, the least channels.
fn triple(size: i64) -> Sizes {
    // Near enough: the window is wider than what rounding moves.
    let root = (size as f64).cbrt() as i64;
    let near = 1.max(root - CUBE_WINDOW)..=root + CUBE_WINDOW;
    let triples = near.clone().flat_map(|m| near.clone().map(move |c| (m, c)));
    let sizes = triples.map(|(m, c)| Sizes { c, m, k: size / (m * c) + i64::from(size % (m * c) != 0) });
    let cost = |Sizes { c, m, k }: &Sizes| (c * m + c * k + k * m, c * m * k, *m, *c);
    sizes.min_by_key(cost).unwrap_or(Sizes { c: 1, m: size, k: 1 })
}
