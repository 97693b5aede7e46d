// Words, numbers and views: what one element of a tensor is. Knows nothing of what its value means.
#pragma once

#include "params.cuh"

// One mixer for everything that looks random.

// The finalizer of splitmix64 (Stafford's variant 13).
__device__ u64 mix(u64 z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

// The word of an element: a chain of one mix per coordinate.
__device__ u64 word(u64 seed, u32 tensor, const i64 *at) {
    u64 z = mix(seed ^ 0x9E3779B97F4A7C15ull * ((u64)tensor + 1));
    for (int i = 0; i < 5; i++) z = mix(z ^ (u64)at[i] * 0xD1342543DE82EF95ull);
    return z;
}

// Word `index` of the byte stream of a zone.
__device__ u64 stream_word(u64 seed, u64 index) { return mix(seed ^ 0x9E3779B97F4A7C15ull * (index + 1)); }

// Every element type as bits, and as an exact double.

__device__ u32 element_bytes(u32 dtype) {
    return dtype == F64 ? 8 : dtype == F32 ? 4 : dtype == F16 || dtype == BF16 ? 2 : 0;
}

__device__ u64 load(u64 pointer, u32 bytes) {
    if (bytes == 2) return *(const u16 *)pointer;
    if (bytes == 4) return *(const u32 *)pointer;
    return bytes == 8 ? *(const u64 *)pointer : 0;
}

__device__ void store(u64 pointer, u32 bytes, u64 bits) {
    if (bytes == 2) *(u16 *)pointer = (u16)bits;
    if (bytes == 4) *(u32 *)pointer = (u32)bits;
    if (bytes == 8) *(u64 *)pointer = bits;
}

__device__ u64 bits_of(double value) { return (u64)__double_as_longlong(value); }
__device__ double from_bits(u64 bits) { return __longlong_as_double((i64)bits); }
__device__ double magnitude(double value) { return from_bits(bits_of(value) & ~SIGN); }
__device__ bool is_nan(double value) { return (bits_of(value) & ~SIGN) > INFINITE; }
__device__ bool is_finite(double value) { return (bits_of(value) & ~SIGN) < INFINITE; }

// An f16 moved into an f32's fields is too small by 2^112, exactly; only infinities and NaNs need a patch.
__device__ double decode_f16(u32 bits) {
    float scaled = __uint_as_float((bits & 0x7fff) << 13);
    double value = (bits & 0x7c00) == 0x7c00
        ? from_bits((bits & 0x3ff) == 0 ? INFINITE : NAN_BITS)
        : (double)scaled * 5192296858534827628530496329220096.0;
    return (bits & 0x8000) ? -value : value;
}

__device__ double decode(u32 dtype, u64 bits) {
    if (dtype == F16) return decode_f16((u32)bits);
    if (dtype == BF16) return (double)__uint_as_float((u32)bits << 16);
    if (dtype == F32) return (double)__uint_as_float((u32)bits);
    return from_bits(bits);
}

// Rounds to nearest, ties to even, into a format of `exponent` and `mantissa` bits. Subnormals are kept, what
// is too large becomes infinite, and every NaN becomes the positive quiet one.
__device__ u64 narrow(double value, int exponent, int mantissa) {
    const u64 bits = bits_of(value) & ~SIGN;
    const u64 infinite = ((1ull << exponent) - 1) << mantissa;
    if (bits > INFINITE) return infinite | 1ull << (mantissa - 1);
    const u64 sign = bits_of(value) >> 63 << (exponent + mantissa);
    const int biased = (int)(bits >> 52) - 1023 + (1 << (exponent - 1)) - 1;
    if (biased >= (1 << exponent) - 1) return sign | infinite;
    const int shift = 52 - mantissa + (biased > 0 ? 0 : 1 - biased);
    if (shift > 53) return sign;
    const u64 significand = (bits & ((1ull << 52) - 1)) | 1ull << 52;
    const u64 half = 1ull << (shift - 1);
    const u64 kept = significand >> shift, rest = significand & (2 * half - 1);
    const u64 rounded = kept + (rest > half || (rest == half && (kept & 1)));
    return sign | (rounded + (biased > 0 ? (u64)(biased - 1) << mantissa : 0));
}

__device__ u64 encode(u32 dtype, double value) {
    if (dtype == F16) return narrow(value, 5, 10);
    if (dtype == BF16) return narrow(value, 8, 7);
    if (dtype == F32) return narrow(value, 8, 23);
    return is_nan(value) ? NAN_BITS : bits_of(value);
}

__device__ double round_to(u32 dtype, double value) { return decode(dtype, encode(dtype, value)); }

// Linear logical index, coordinates, address.

__device__ u64 larger(u64 a, u64 b) { return a > b ? a : b; }
__device__ u64 smaller(u64 a, u64 b) { return a < b ? a : b; }

// Quotient of non-negative numbers; 32-bit where both fit, for 64-bit division is many instructions.
__device__ u64 divide(u64 a, u64 b) { return (a | b) >> 32 ? a / b : (u32)a / (u32)b; }

__device__ u64 count_of(const TensorView &view) {
    u64 count = 1;
    for (int i = 0; i < 5; i++) count *= view.extent[i] > 0 ? (u64)view.extent[i] : 0;
    return count;
}

__device__ void coordinates(const TensorView &view, u64 linear, i64 *at) {
    for (int i = 4; i >= 0; i--) {
        const u64 rest = divide(linear, (u64)view.extent[i]);
        at[i] = (i64)(linear - rest * (u64)view.extent[i]);
        linear = rest;
    }
}

__device__ u64 address(const TensorView &view, const i64 *at) {
    i64 offset = 0;
    for (int i = 0; i < 5; i++) offset += at[i] * view.stride[i];
    return view.pointer + (u64)offset * element_bytes(view.dtype);
}

__device__ u64 first_index() { return (u64)blockIdx.x * BLOCK + threadIdx.x; }
__device__ u64 index_step() { return (u64)gridDim.x * BLOCK; }
