// Kernels on plain bytes: zones with a pattern, and two buffers. Knows no element types.
#pragma once

#include "element.cuh"

// Eight bytes of a zone's pattern from byte `offset` on, least significant first. `offset` may be negative by
// less than eight: the bytes before the zone are then meaningless.
__device__ u64 pattern_word(const Zone &zone, i64 offset) {
    if (zone.pattern == 0) return (zone.argument & 0xff) * 0x0101010101010101ull;
    const u64 index = (u64)(offset >> 3);
    const u32 skew = (u32)(offset & 7) * 8;
    const u64 low = stream_word(zone.argument, index) >> skew;
    return skew == 0 ? low : low | stream_word(zone.argument, index + 1) << (64 - skew);
}

// Counts the bytes of `wrong` that are not zero; its lowest byte lies at `offset` in the zone.
__device__ void count_changed(u64 wrong, i64 offset, ZoneTotals *mine) {
    for (int byte = 0; byte < 8; byte++) {
        if ((wrong >> (8 * byte) & 0xff) == 0) continue;
        mine->changed++;
        mine->first = smaller(mine->first, (u64)(offset + byte));
        mine->last = larger(mine->last, (u64)(offset + byte));
    }
}

// Paints or checks the part of a zone that lies in one aligned 8-byte word of memory.
__device__ void visit_word(const Zone &zone, bool paint, i64 offset, ZoneTotals *mine) {
    const u64 expected = pattern_word(zone, offset), start = zone.pointer + (u64)offset;
    if (offset >= 0 && (u64)offset + 8 <= zone.bytes) {
        if (paint) *(u64 *)start = expected;
        else if (*(const u64 *)start != expected) count_changed(*(const u64 *)start ^ expected, offset, mine);
        return;
    }
    u64 wrong = 0;
    for (int byte = 0; byte < 8; byte++) {
        if (offset + byte < 0 || (u64)(offset + byte) >= zone.bytes) continue;
        const u8 value = (u8)(expected >> (8 * byte));
        if (paint) *(u8 *)(start + byte) = value;
        else wrong |= (u64)(u8)(*(const u8 *)(start + byte) ^ value) << (8 * byte);
    }
    if (wrong) count_changed(wrong, offset, mine);
}

extern "C" __global__ void convict_zones(const ZonesParams params) {
    for (u32 index = blockIdx.y; index < params.count; index += gridDim.y) {
        const Zone zone = params.zones[index];
        const u64 lead = zone.pointer & 7, words = zone.bytes == 0 ? 0 : (zone.bytes + lead + 7) / 8;
        ZoneTotals mine = {0, NONE, 0};
        for (u64 word = first_index(); word < words; word += index_step()) {
            visit_word(zone, params.mode == 0, (i64)(word * 8) - (i64)lead, &mine);
        }
        if (mine.changed == 0) continue;
        ZoneTotals *all = (ZoneTotals *)params.totals + index;
        atomicAdd(&all->changed, mine.changed);
        atomicMin(&all->first, mine.first);
        atomicMax(&all->last, mine.last);
    }
}

__device__ bool same_bytes(u64 a, u64 b, u64 bytes) {
    if ((bytes == 2 || bytes == 4 || bytes == 8) && ((a | b) & (bytes - 1)) == 0) {
        return load(a, (u32)bytes) == load(b, (u32)bytes);
    }
    for (u64 byte = 0; byte < bytes; byte++) {
        if (*(const u8 *)(a + byte) != *(const u8 *)(b + byte)) return false;
    }
    return true;
}

extern "C" __global__ void convict_diff(const DiffParams params) {
    DiffTotals mine = {0, NONE};
    for (u64 index = first_index(); index < params.count; index += index_step()) {
        const u64 offset = index * params.bytes_per_element;
        if (same_bytes(params.a + offset, params.b + offset, params.bytes_per_element)) continue;
        mine.differing++;
        mine.first = smaller(mine.first, index);
    }
    if (mine.differing == 0) return;
    DiffTotals *all = (DiffTotals *)params.totals;
    atomicAdd(&all->differing, mine.differing);
    atomicMin(&all->first, mine.first);
}
