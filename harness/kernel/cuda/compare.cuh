// The kernel that counts how a tensor departs from the reference; judges nothing.
#pragma once

#include "element.cuh"

__device__ void merge(CompareTotals *into, const CompareTotals &from) {
    atomicAdd(&into->checked, from.checked);
    atomicAdd(&into->differing, from.differing);
    atomicMin(&into->first_differing, from.first_differing);
    atomicMax(&into->last_differing, from.last_differing);
    atomicAdd(&into->nan, from.nan);
    atomicMin(&into->first_nan, from.first_nan);
    atomicAdd(&into->stale, from.stale);
    atomicMin(&into->first_stale, from.first_stale);
    atomicAdd(&into->zero, from.zero);
    atomicAdd(&into->infinite, from.infinite);
    atomicAdd(&into->over_element, from.over_element);
    atomicMin(&into->first_over_element, from.first_over_element);
    atomicAdd(&into->over_norm, from.over_norm);
    atomicMin(&into->first_over_norm, from.first_over_norm);
    atomicMax(&into->max_error_bits, from.max_error_bits);
    atomicMax(&into->max_ratio_bits, from.max_ratio_bits);
    atomicMax(&into->beyond_rounded, from.beyond_rounded);
}

// Counts an event, and remembers where it was seen first.
__device__ void note(bool seen, u64 linear, u64 *count, u64 *first) {
    *count += seen;
    *first = seen ? smaller(*first, linear) : *first;
}

__device__ void judge(const CompareParams &params, u64 bits, double result, double abs_sum, u64 linear,
                      CompareTotals *mine) {
    const u32 dtype = params.got.dtype, width = element_bytes(dtype);
    const u64 poison = params.poison & (NONE >> (64 - 8 * width));
    const u64 rounded_bits = encode(dtype, result);
    const double got = decode(dtype, bits), rounded = decode(dtype, rounded_bits);
    const bool same = got == rounded || (is_nan(got) && is_nan(rounded));
    // Infinity minus infinity is no error where both are right.
    const double error = same && !is_finite(got) ? 0 : magnitude(__dadd_rn(got, -result));
    const double bound = __dadd_rn(
        __dadd_rn(__dmul_rn(params.accumulate, abs_sum), __dmul_rn(params.output, magnitude(result))),
        params.absolute);
    const double ratio = error == 0 ? 0 : __ddiv_rn(error, bound);
    const double beyond = same ? 0 : magnitude(__dadd_rn(got, -rounded));
    mine->checked++;
    note(!same, linear, &mine->differing, &mine->first_differing);
    mine->last_differing = same ? mine->last_differing : larger(mine->last_differing, linear);
    note(is_nan(got) && !is_nan(result), linear, &mine->nan, &mine->first_nan);
    const bool stale = params.poison_known && bits == poison && rounded_bits != poison;
    note(stale, linear, &mine->stale, &mine->first_stale);
    mine->zero += got == 0 && rounded != 0;
    mine->infinite += !is_finite(got) && !is_nan(got) && is_finite(rounded);
    note(is_nan(error) || error > bound, linear, &mine->over_element, &mine->first_over_element);
    note(is_nan(error) || error > params.norm_bound, linear, &mine->over_norm, &mine->first_over_norm);
    if (is_finite(error)) mine->max_error_bits = larger(mine->max_error_bits, bits_of(error));
    if (is_finite(error) && !is_nan(ratio)) {
        mine->max_ratio_bits = larger(mine->max_ratio_bits, bits_of(ratio));
    }
    if (is_finite(beyond)) mine->beyond_rounded = larger(mine->beyond_rounded, bits_of(beyond));
}

extern "C" __global__ void convict_compare(const CompareParams params) {
    __shared__ CompareTotals block;
    const CompareTotals start = {0, 0, NONE, 0, 0, NONE, 0, NONE, 0, 0, 0, NONE, 0, NONE, 0, 0, 0};
    CompareTotals mine = start;
    if (threadIdx.x == 0) block = start;
    const u64 count = count_of(params.got);
    for (u64 linear = first_index(); linear < count; linear += index_step()) {
        i64 at[5];
        coordinates(params.got, linear, at);
        const u64 bits = load(address(params.got, at), element_bytes(params.got.dtype));
        const double result = ((const double *)params.result)[linear];
        judge(params, bits, result, ((const double *)params.abs_sum)[linear], linear, &mine);
    }
    __syncthreads();
    if (mine.checked) merge(&block, mine);
    __syncthreads();
    if (threadIdx.x == 0) merge((CompareTotals *)params.totals, block);
}
