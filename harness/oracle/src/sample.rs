//! Which outputs the CPU checks, and how closely the device's reference must agree there. Knows shapes and
//! f64 rounding; judges no library.

use case::Case;

use crate::position::position_of;
use crate::reference::Expected;

/// Products that the samples of one case may cost together.
const PRODUCTS_MAX: i64 = 2_000_000;

/// Products beyond which not even one output is worth the wait.
const PRODUCTS_OF_ONE_MAX: i64 = 16_000_000;

/// Extents of tiles whose edges are sampled, one per sample in turn.
const TILES: [i64; 6] = [8, 16, 32, 64, 128, 256];

/// At most `count` distinct output positions, ascending: first and last, the corners, tile edges, and hashed
/// ones for the rest. Fewer where products are many, so that all together cost about two million; none where
/// one output alone has more than sixteen million, or where the output is empty.
#[must_use]
pub fn sample_positions(case: &Case, count: usize) -> Vec<u64> {
    let geometry = case.problem.geometry();
    let extents = geometry.extents(case.problem.operation.output());
    let elements =
        u64::try_from(extents.iter().fold(1_i64, |all, &extent| all.saturating_mul(extent.max(0))));
    let elements = elements.unwrap_or(0);
    let reduction = geometry.reduction().max(1);
    if elements == 0 || reduction > PRODUCTS_OF_ONE_MAX {
        return Vec::new();
    }
    let affordable = usize::try_from(PRODUCTS_MAX / reduction).unwrap_or(usize::MAX).max(1);
    let wanted = count.min(affordable).min(usize::try_from(elements).unwrap_or(usize::MAX));
    if wanted as u64 == elements {
        return (0..elements).collect();
    }
    let hashed = (0_u64..).map(|index| kernel::mix(index) % elements);
    let candidates = corners(case, &extents).chain(tile_edges(case, &extents)).chain(hashed);
    let mut positions: Vec<u64> = Vec::with_capacity(wanted);
    // Hashes meet a small output's last elements late; the bound cuts that tail short.
    for position in candidates.take(4 * count + 64) {
        if positions.len() == wanted {
            break;
        }
        if !positions.contains(&position) {
            positions.push(position);
        }
    }
    positions.sort_unstable();
    positions
}

/// First and last element, then every other corner.
fn corners<'a>(case: &'a Case, extents: &'a [i64]) -> impl Iterator<Item = u64> + 'a {
    let all = (1_u32 << extents.len()) - 1;
    [0, all].into_iter().chain(1..all).map(move |mask| {
        let pick = |(index, extent): (usize, &i64)| if mask >> index & 1 == 1 { extent - 1 } else { 0 };
        position_of(case, &extents.iter().enumerate().map(pick).collect::<Vec<i64>>())
    })
}

/// For each tile extent, the elements on both sides of its last edge along every dimension.
fn tile_edges<'a>(case: &'a Case, extents: &'a [i64]) -> impl Iterator<Item = u64> + 'a {
    TILES.into_iter().flat_map(move |tile| {
        [0, 1].into_iter().filter(move |_| extents.iter().any(|&extent| extent > tile)).map(move |before| {
            let edge = |&extent: &i64| {
                let last_edge = (extent - 1) / tile * tile;
                if last_edge == 0 { extent - 1 } else { last_edge - before }
            };
            position_of(case, &extents.iter().map(edge).collect::<Vec<i64>>())
        })
    })
}

/// By how much two f64 evaluations of one output may differ: 2 units of f64 for each product, of the sum of
/// absolute products. Below 1 for integers, which therefore must agree exactly.
#[must_use]
pub fn spot_tolerance(expected: &Expected) -> f64 {
    (expected.products as f64 + 4.0) * f64::EPSILON * expected.abs_sum
}

/// True where the device's reference is the CPU's within [`spot_tolerance`]; NaN agrees with NaN alone.
#[must_use]
pub fn agrees(expected: &Expected, device: f64) -> bool {
    if expected.result.is_nan() || device.is_nan() {
        return expected.result.is_nan() && device.is_nan();
    }
    expected.result == device || (expected.result - device).abs() <= spot_tolerance(expected)
}
