//! Twins of `convict_zones` and `convict_diff`. Knows plain bytes; knows no element types.

use crate::fill::stream_word;
use crate::params::{DiffParams, PATTERN_CONSTANT, PATTERN_HASH, Zone};
use crate::refusal::Refusal;
use crate::totals::{DiffTotals, ZoneTotals};
use crate::view::need;

/// Writes a zone's pattern over its bytes.
pub fn paint(zone: &Zone, bytes: &mut [u8]) -> Result<(), Refusal> {
    need(zone.bytes, bytes.len())?;
    known(zone)?;
    for (index, chunk) in bytes[..zone.bytes as usize].chunks_mut(8).enumerate() {
        chunk.copy_from_slice(&pattern_word(zone, index as u64).to_le_bytes()[..chunk.len()]);
    }
    Ok(())
}

/// Counts the bytes of a zone that are not its pattern's.
pub fn check(zone: &Zone, bytes: &[u8]) -> Result<ZoneTotals, Refusal> {
    need(zone.bytes, bytes.len())?;
    known(zone)?;
    let mut totals = ZoneTotals::START;
    for (index, chunk) in bytes[..zone.bytes as usize].chunks(8).enumerate() {
        let expected = &pattern_word(zone, index as u64).to_le_bytes()[..chunk.len()];
        if chunk == expected {
            continue;
        }
        for (byte, _) in chunk.iter().zip(expected).enumerate().filter(|(_, (got, expected))| got != expected)
        {
            let offset = index as u64 * 8 + byte as u64;
            totals.changed += 1;
            totals.first = totals.first.min(offset);
            totals.last = totals.last.max(offset);
        }
    }
    Ok(totals)
}

/// Counts the elements in which two buffers of one layout differ.
pub fn diff(params: &DiffParams, a: &[u8], b: &[u8]) -> Result<DiffTotals, Refusal> {
    let bytes = params.count.checked_mul(params.bytes_per_element).ok_or(Refusal::View)?;
    need(bytes, a.len())?;
    need(bytes, b.len())?;
    let mut totals = DiffTotals::START;
    if bytes == 0 {
        return Ok(totals);
    }
    let width = params.bytes_per_element as usize;
    let elements = a[..bytes as usize].chunks_exact(width).zip(b[..bytes as usize].chunks_exact(width));
    for (index, _) in elements.enumerate().filter(|(_, (a, b))| a != b) {
        totals.differing += 1;
        totals.first = totals.first.min(index as u64);
    }
    Ok(totals)
}

fn known(zone: &Zone) -> Result<(), Refusal> {
    match zone.pattern {
        PATTERN_CONSTANT | PATTERN_HASH => Ok(()),
        other => Err(Refusal::Pattern(other)),
    }
}

fn pattern_word(zone: &Zone, index: u64) -> u64 {
    if zone.pattern == PATTERN_CONSTANT {
        (zone.argument & 0xff) * 0x0101_0101_0101_0101
    } else {
        stream_word(zone.argument, index)
    }
}
