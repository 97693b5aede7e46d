// The kernel that computes each operation in f64 by definition. Knows indices and sums; knows no library.
#pragma once

#include "fill.cuh"

// All operations are one walk. The reduction has four digits, row major, the last varying fastest:
//   fprop:   channel in the group, filter d, h, w     a = x, b = w
//   dgrad:   filter in the group, filter d, h, w      a = y, b = w
//   wgrad:   image, response d, h, w                  a = x, b = y
//   pooling: as fprop, depthwise                      a = x, b = 1
//   matmul:  k alone                                  a = x, b = w
//   rmsnorm: c alone                                  a = x, b = x
// Along digit i the position in `a` is (base + digit * step) / divisor, a product only where that is whole
// and within `limit`; the position in `b` is the digit itself.
struct Axis { i64 extent, step, divisor, limit, a_stride, b_stride; };
struct Walk { Axis axis[4]; };
struct Start { u64 a, b; i64 base[4]; };

__device__ Axis spatial(const TensorView &a, const TensorView &b, int i, i64 step, i64 divisor) {
    const Axis axis = {b.extent[i], step, divisor, a.extent[i], a.stride[i], b.stride[i]};
    return axis;
}

__device__ bool is_pooling(u32 op) { return op == MAXPOOL || op == AVGPOOL; }

// What is walked as fprop is.
__device__ bool is_forward(u32 op) { return op == FPROP || is_pooling(op); }

// A walk along the first digit alone.
__device__ Walk line(i64 extent, i64 a_stride, i64 b_stride) {
    const Axis unit = {1, 1, 1, 1, 0, 0};
    const Axis outer = {extent, 1, 1, extent, a_stride, b_stride};
    const Walk walk = {{outer, unit, unit, unit}};
    return walk;
}

__device__ Walk walk_of(const ReferenceParams &params) {
    if (params.op == MATMUL) return line(params.x.extent[4], params.x.stride[4], params.w.stride[1]);
    if (params.op == RMSNORM) return line(params.x.extent[1], params.x.stride[1], params.x.stride[1]);
    const bool forward = is_forward(params.op);
    const i64 filters = params.w.extent[0] / params.groups, channels = params.w.extent[1];
    const Axis channel = {channels, 1, 1, channels, params.x.stride[1], params.w.stride[1]};
    const Axis filter = {filters, 1, 1, filters, params.y.stride[1], params.w.stride[0]};
    const Axis image = {params.x.extent[0], 1, 1, params.x.extent[0], params.x.stride[0], params.y.stride[0]};
    Walk walk;
    walk.axis[0] = forward ? channel : params.op == DGRAD ? filter : image;
    for (int i = 0; i < 3; i++) {
        const i64 stride = params.conv_stride[i], dilation = params.dilation[i];
        walk.axis[i + 1] = forward ? spatial(params.x, params.w, i + 2, dilation, 1)
            : params.op == DGRAD ? spatial(params.y, params.w, i + 2, -dilation, stride)
            : spatial(params.x, params.y, i + 2, stride, 1);
    }
    return walk;
}

// Element offsets in `a` and `b`, and positions along the axes, from which one output's products are reached.
__device__ Start start_of(const ReferenceParams &params, const i64 *at) {
    const TensorView &x = params.x, &w = params.w, &y = params.y;
    Start start = {0, 0, {0, 0, 0, 0}};
    if (params.op == MATMUL) {
        start.a = at[0] * x.stride[0] + at[1] * x.stride[1];
        start.b = at[0] * w.stride[0] + at[4] * w.stride[4];
        return start;
    }
    if (params.op == RMSNORM) {
        start.a = at[0] * x.stride[0] + at[2] * x.stride[2] + at[3] * x.stride[3] + at[4] * x.stride[4];
        start.b = start.a;
        return start;
    }
    const bool forward = is_forward(params.op);
    const i64 filters = params.w.extent[0] / params.groups, channels = params.w.extent[1];
    if (forward) {
        start.a = at[0] * x.stride[0] + at[1] / filters * channels * x.stride[1];
        start.b = at[1] * w.stride[0];
    } else if (params.op == DGRAD) {
        start.a = at[0] * y.stride[0] + at[1] / channels * filters * y.stride[1];
        start.b = at[1] / channels * filters * w.stride[0] + at[1] % channels * w.stride[1];
    } else {
        start.a = (at[0] / filters * channels + at[1]) * x.stride[1];
        start.b = at[0] * y.stride[1];
    }
    for (int i = 0; i < 3; i++) {
        const i64 pad = params.pad_before[i], stride = params.conv_stride[i], dilation = params.dilation[i];
        start.base[i + 1] = forward ? at[i + 2] * stride - pad
            : params.op == DGRAD ? at[i + 2] + pad
            : at[i + 2] * dilation - pad;
    }
    return start;
}

// Element offsets of the two factors, as far as some of the digits lead; `inside` where those lie within `a`.
struct Factors { u64 a, b; bool inside; };

__device__ Factors along(const Axis &axis, i64 base, i64 digit, Factors so_far) {
    i64 position = base + digit * axis.step;
    if (axis.divisor != 1 && position >= 0) {
        const i64 quotient = (i64)divide((u64)position, (u64)axis.divisor);
        position = quotient * axis.divisor == position ? quotient : -1;
    }
    so_far.a += (u64)(position * axis.a_stride);
    so_far.b += (u64)(digit * axis.b_stride);
    so_far.inside = so_far.inside && position >= 0 && position < axis.limit;
    return so_far;
}

// Where all digits but the last lead.
__device__ Factors row_of(const Walk &walk, const Start &start, const i64 *digit) {
    Factors row = {start.a, start.b, true};
    for (int i = 0; i < 3 && row.inside; i++) row = along(walk.axis[i], start.base[i], digit[i], row);
    return row;
}

// `r` as digits; the first is not reduced, so that it tells when r is beyond the last product.
__device__ void digits_of(const Walk &walk, u64 r, i64 *digit) {
    for (int i = 3; i > 0; i--) {
        const u64 rest = divide(r, (u64)walk.axis[i].extent);
        digit[i] = (i64)(r - rest * (u64)walk.axis[i].extent);
        r = rest;
    }
    digit[0] = (i64)r;
}

struct Sum { double value, absolute; u64 products; };

// What nothing was added to yet: below every element where the largest is looked for.
__device__ Sum empty(u32 op) {
    const Sum sum = {op == MAXPOOL ? from_bits(INFINITE | SIGN) : 0, 0, 0};
    return sum;
}

// The larger of two, or NaN where one is.
__device__ double largest(double a, double b) { return is_nan(a) || a >= b ? a : b; }

__device__ void add(u32 op, Sum *sum, const Sum &other) {
    sum->value = op == MAXPOOL ? largest(sum->value, other.value) : __dadd_rn(sum->value, other.value);
    sum->absolute = op == MAXPOOL ? largest(sum->absolute, other.absolute) : __dadd_rn(sum->absolute, other.absolute);
    sum->products += other.products;
}

// What lane `lane` of `lanes` sums: products lane, lane + lanes, ... in that order. Digits are stepped by
// adding with carry, and what the row contributes is kept while only the last digit moves.
__device__ Sum lane_sum(const ReferenceParams &params, const Walk &walk, const Start &start, u32 lane) {
    const TensorView &a = params.op == DGRAD ? params.y : params.x;
    const TensorView &b = params.op == WGRAD ? params.y : params.op == RMSNORM ? params.x : params.w;
    const bool alone = is_pooling(params.op);
    const u32 a_bytes = element_bytes(a.dtype), b_bytes = element_bytes(b.dtype);
    Sum sum = empty(params.op);
    for (int i = 0; i < 4; i++) if (walk.axis[i].extent <= 0) return sum;
    i64 digit[4], hop[4];
    digits_of(walk, lane, digit);
    digits_of(walk, params.lanes, hop);
    const bool leaps = (hop[0] | hop[1] | hop[2]) != 0;
    Factors row = row_of(walk, start, digit);
    while (digit[0] < walk.axis[0].extent) {
        Factors at = row;
        if (at.inside) at = along(walk.axis[3], start.base[3], digit[3], at);
        if (at.inside) {
            const double left = decode(a.dtype, load(a.pointer + at.a * a_bytes, a_bytes));
            const double right = alone ? 1 : decode(b.dtype, load(b.pointer + at.b * b_bytes, b_bytes));
            const double product = __dmul_rn(left, right);
            const Sum one = {product, magnitude(product), 1};
            add(params.op, &sum, one);
        }
        digit[3] += hop[3];
        i64 carry = digit[3] >= walk.axis[3].extent;
        digit[3] -= carry ? walk.axis[3].extent : 0;
        if (!carry && !leaps) continue;
        for (int i = 2; i > 0; i--) {
            digit[i] += hop[i] + carry;
            carry = digit[i] >= walk.axis[i].extent;
            digit[i] -= carry ? walk.axis[i].extent : 0;
        }
        digit[0] += hop[0] + carry;
        row = row_of(walk, start, digit);
    }
    return sum;
}

__device__ void merge(ReferenceTotals *into, const ReferenceTotals &from) {
    atomicMax(&into->max_abs_sum_bits, from.max_abs_sum_bits);
    atomicMax(&into->max_abs_result_bits, from.max_abs_result_bits);
    atomicAdd(&into->with_products, from.with_products);
    atomicAdd(&into->non_zero, from.non_zero);
    atomicMax(&into->products, from.products);
}

__device__ double element(const TensorView &view, const i64 *at) {
    return decode(view.dtype, load(address(view, at), element_bytes(view.dtype)));
}

// An element of x times its weight, over the root of the mean of squares.
__device__ double normalized(const ReferenceParams &params, double squares, const i64 *at) {
    const i64 weight[5] = {0, at[1], 0, 0, 0};
    const double mean = __ddiv_rn(squares, (double)params.x.extent[1]);
    const double root = __dsqrt_rn(__dadd_rn(mean, params.epsilon));
    return __ddiv_rn(__dmul_rn(element(params.x, at), element(params.w, weight)), root);
}

// Scales one output's sum, adds its prior value, stores it, and counts it.
__device__ void finish(const ReferenceParams &params, const Sum &sum, const i64 *at, u64 linear, u64 count,
                       ReferenceTotals *mine) {
    double result = __dmul_rn(params.alpha, sum.value);
    double absolute = __dmul_rn(magnitude(params.alpha), sum.absolute);
    if (params.op == RMSNORM) {
        result = normalized(params, sum.value, at);
        absolute = magnitude(result);
    }
    if (params.beta != 0) {
        const double prior = decode(params.prior.view.dtype, fill_bits(params.prior, at, linear, count));
        const double scaled = __dmul_rn(params.beta, prior);
        result = __dadd_rn(result, scaled);
        absolute = __dadd_rn(absolute, magnitude(scaled));
    }
    const u64 result_bits = encode(F64, result), absolute_bits = encode(F64, absolute);
    ((u64 *)params.result)[linear] = result_bits;
    ((u64 *)params.abs_sum)[linear] = absolute_bits;
    mine->max_abs_sum_bits = larger(mine->max_abs_sum_bits, absolute_bits);
    mine->max_abs_result_bits = larger(mine->max_abs_result_bits, result_bits & ~SIGN);
    mine->with_products += sum.products != 0;
    mine->non_zero += sum.products != 0 && result != 0;
    mine->products = larger(mine->products, sum.products);
}

extern "C" __global__ void __launch_bounds__(256) convict_reference(const ReferenceParams params) {
    __shared__ Sum sums[BLOCK];
    __shared__ ReferenceTotals block;
    const TensorView &out = params.op == DGRAD ? params.x : params.op == WGRAD ? params.w : params.y;
    const u64 count = count_of(out);
    const u32 lanes = params.lanes, lane = threadIdx.x % lanes, outputs = BLOCK / lanes;
    const Walk walk = walk_of(params);
    ReferenceTotals mine = {0, 0, 0, 0, 0};
    if (threadIdx.x == 0) block = mine;
    for (u64 first = (u64)blockIdx.x * outputs; first < count; first += (u64)gridDim.x * outputs) {
        const u64 linear = first + threadIdx.x / lanes;
        i64 at[5] = {0, 0, 0, 0, 0};
        if (linear < count) {
            coordinates(out, linear, at);
            sums[threadIdx.x] = lane_sum(params, walk, start_of(params, at), lane);
        }
        for (u32 half = lanes / 2; half > 0; half /= 2) {
            __syncthreads();
            if (lane >= half || linear >= count) continue;
            add(params.op, &sums[threadIdx.x], sums[threadIdx.x + half]);
        }
        if (lane == 0 && linear < count) finish(params, sums[threadIdx.x], at, linear, count, &mine);
        __syncthreads();
    }
    __syncthreads();
    if (lane == 0) merge(&block, mine);
    __syncthreads();
    if (threadIdx.x == 0) merge((ReferenceTotals *)params.totals, block);
}
