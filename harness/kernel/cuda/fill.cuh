// Kernels that write what a tensor should hold, and that look whether it still does.
#pragma once

#include "element.cuh"

__device__ double pick_int(u64 word) {
    const int quarter = (int)(word >> 62);
    return quarter < 2 ? quarter - 2 : quarter - 1;
}

__device__ double raw_value(const FillParams &fill, const i64 *at, u64 linear, u64 count) {
    const u64 bits = word(fill.seed, fill.tensor, at);
    switch (fill.kind) {
    case ONE: return 1;
    case INT2: return pick_int(bits);
    case INT1: return bits >> 63 ? 1 : -1;
    case TERN: return (double)(i64)((bits >> 32) * 3 >> 32) - 1;
    case REAL: return (double)(bits >> 40) * (1.0 / 8388608) - 1;
    case INDEX: {
        const u64 sum = (u64)at[0] * 31 + (u64)at[1] * 17 + (u64)at[2] * 11 + (u64)at[3] * 7 + (u64)at[4] * 3;
        return (double)(i64)(sum % 61) - 30;
    }
    case ONE_HOT: return linear == fill.argument % count ? 1 : 0;
    case RAMP: return (double)(i64)(linear % 257) - 128;
    case NOT_A_NUMBER: return linear == fill.argument % count ? from_bits(NAN_BITS) : pick_int(bits);
    case SPARSE: return fill.argument < 2 || bits % fill.argument == 0 ? pick_int(bits) : 0;
    default: return 0;
    }
}

// Bits of an element after a fill: 0 outside the elements that are kept, where not all are.
__device__ u64 fill_bits(const FillParams &fill, const i64 *at, u64 linear, u64 count) {
    if (fill.kept != 0 && linear - fill.first >= fill.kept) return 0;
    return encode(fill.view.dtype, raw_value(fill, at, linear, count));
}

extern "C" __global__ void convict_fill(const FillParams params) {
    const u64 count = count_of(params.view);
    for (u64 linear = first_index(); linear < count; linear += index_step()) {
        i64 at[5];
        coordinates(params.view, linear, at);
        const u64 bits = fill_bits(params, at, linear, count);
        store(address(params.view, at), element_bytes(params.view.dtype), bits);
    }
}

extern "C" __global__ void convict_verify(const VerifyParams params) {
    const TensorView &view = params.fill.view;
    const u64 count = count_of(view);
    VerifyTotals mine = {0, NONE};
    for (u64 linear = first_index(); linear < count; linear += index_step()) {
        i64 at[5];
        coordinates(view, linear, at);
        const u64 bits = load(address(view, at), element_bytes(view.dtype));
        if (bits == fill_bits(params.fill, at, linear, count)) continue;
        mine.differing++;
        mine.first = smaller(mine.first, linear);
    }
    if (mine.differing == 0) return;
    VerifyTotals *all = (VerifyTotals *)params.totals;
    atomicAdd(&all->differing, mine.differing);
    atomicMin(&all->first, mine.first);
}
