//! Buffers as bytes: zones and their patterns, what a case needs, where an element lies. Pure; knows no device.

use case::{Case, Fill, Recipe, Role, Workspace, WorkspaceAmount, WorkspaceFill, Zone, ZoneHit};
use gpu::Guarded;
use kernel::{PATTERN_CONSTANT, PATTERN_HASH, ZoneTotals, ZonesParams};

/// Bytes of device memory that a case needs beside its workspace: tensors and guards, two f64 per output and fill,
/// and copies of the output for bitwise comparison.
pub(crate) fn bytes_needed(case: &Case, recipes: &[Recipe], guard: u64) -> u64 {
    let geometry = case.problem.geometry();
    let output = case.problem.operation.output();
    let outputs = geometry.elements(output).max(0) as u64;
    let fills = fills(recipes).len() as u64;
    let tensors = geometry.total_bytes().max(0) as u64 + 8 * guard;
    tensors
        .saturating_add(outputs.saturating_mul(16 * fills))
        .saturating_add(geometry.bytes(output).max(0) as u64)
}

fn fills(recipes: &[Recipe]) -> Vec<Fill> {
    let mut fills: Vec<Fill> = Vec::new();
    for recipe in recipes {
        if !fills.contains(&recipe.fill) {
            fills.push(recipe.fill);
        }
    }
    fills
}

/// A zone with its pattern.
pub(crate) fn zone(pointer: u64, bytes: u64, (pattern, argument): (u32, u64)) -> kernel::Zone {
    kernel::Zone { pointer, bytes, pattern, reserved: 0, argument }
}

/// A zone pattern of one byte.
pub(crate) fn constant(byte: u8) -> (u32, u64) {
    (PATTERN_CONSTANT, u64::from(byte))
}

/// The zone that gives a workspace its contents.
pub(crate) fn workspace_zone(workspace: Guarded, fill: WorkspaceFill) -> kernel::Zone {
    let pattern = match fill {
        WorkspaceFill::Zero => constant(0x00),
        WorkspaceFill::Ones => constant(0xFF),
        WorkspaceFill::Random(seed) => (PATTERN_HASH, seed),
    };
    zone(workspace.pointer, workspace.bytes, pattern)
}

/// Zones as one kernel's parameters.
pub(crate) fn zones_params(mode: u32, zones: &[kernel::Zone], totals: u64) -> ZonesParams {
    let mut parameters = ZonesParams { mode, count: zones.len() as u32, totals, ..ZonesParams::default() };
    parameters.zones[..zones.len()].copy_from_slice(zones);
    parameters
}

/// Changed guards, told by their distance from the buffer.
pub(crate) fn hits(totals: &[ZoneTotals], guard: u64) -> Vec<ZoneHit> {
    let buffers = [Zone::Tensor(Role::X), Zone::Tensor(Role::W), Zone::Tensor(Role::Y), Zone::Workspace];
    let mut hits = Vec::new();
    for (buffer, zone) in buffers.into_iter().enumerate() {
        for after in [false, true] {
            let counted = totals[2 * buffer + usize::from(after)];
            if counted.changed == 0 {
                continue;
            }
            let (nearest, farthest) = if after {
                (counted.first, counted.last)
            } else {
                (guard - 1 - counted.last, guard - 1 - counted.first)
            };
            hits.push(ZoneHit { zone, after, changed: counted.changed, nearest, farthest });
        }
    }
    hits
}

/// Bytes of workspace that a plan is given where it asks for `asked`; what a wrong library asks below 0 counts as 0.
pub(crate) fn workspace_given(workspace: &Workspace, asked: i64) -> u64 {
    let extra = match workspace.amount {
        WorkspaceAmount::Exact | WorkspaceAmount::Max(_) => 0,
        WorkspaceAmount::Extra(bytes) => bytes,
    };
    asked.max(0).saturating_add(extra).max(0) as u64
}

/// The element at a row-major position of a strided tensor whose bytes were copied back.
pub(crate) fn element(view: &kernel::TensorView, position: u64, bytes: &[u8]) -> Option<f64> {
    let mut rest = position;
    let mut offset = 0_u64;
    for (extent, stride) in view.extent.into_iter().zip(view.stride).rev() {
        let extent = u64::try_from(extent).ok().filter(|extent| *extent > 0)?;
        offset += rest % extent * u64::try_from(stride).ok()?;
        rest /= extent;
    }
    let width = kernel::element_bytes(view.dtype);
    let start = usize::try_from(offset).ok()?.checked_mul(width)?;
    let mut word = [0_u8; 8];
    word[..width].copy_from_slice(bytes.get(start..start + width)?);
    Some(kernel::decode_bits(view.dtype, u64::from_le_bytes(word)))
}
