// The small steps between the convolutions of a training run. Knows packed tensors; knows no network.
#pragma once

#include "element.cuh"

__device__ double element_at(u64 pointer, u32 dtype, u64 index) {
    const u32 width = element_bytes(dtype);
    return decode(dtype, load(pointer + index * width, width));
}

// The mean of one channel of one item, summed in memory order.
__device__ double average(const ElementwiseParams &params, u64 index) {
    const u64 item = divide(index, params.channels), channel = index - item * params.channels;
    double sum = 0;
    for (u64 place = 0; place < params.inner; place++) {
        const u64 from = params.channels_last ? (item * params.inner + place) * params.channels + channel
                                              : index * params.inner + place;
        sum = __dadd_rn(sum, element_at(params.a, params.dtype, from));
    }
    return __dmul_rn(params.factor, sum);
}

// Where the mean lies that an element of the image went into.
__device__ u64 mean_of(const ElementwiseParams &params, u64 index) {
    if (!params.channels_last) return divide(index, params.inner);
    const u64 place = divide(index, params.channels), channel = index - place * params.channels;
    return divide(place, params.inner) * params.channels + channel;
}

// A weight moves against its gradient in f32, whatever type the convolutions read it in.
__device__ double updated(const ElementwiseParams &params, u64 index) {
    const double step = __dmul_rn(params.factor, element_at(params.a, params.dtype, index));
    const u64 bits = encode(F32, __dadd_rn(element_at(params.master, F32, index), -step));
    store(params.master + index * 4, 4, bits);
    return decode(F32, bits);
}

__device__ double elementwise(const ElementwiseParams &params, u64 index) {
    if (params.op == AVERAGE) return average(params, index);
    if (params.op == UPDATE) return updated(params, index);
    if (params.op == AVERAGE_BACK) {
        return __dmul_rn(params.factor, element_at(params.a, params.dtype, mean_of(params, index)));
    }
    const double a = element_at(params.a, params.dtype, index);
    if (params.op == RELU) return a < 0 ? 0 : a;
    const double b = element_at(params.b, params.dtype, index);
    if (params.op == RELU_BACK) return a <= 0 ? 0 : b;
    return __dmul_rn(params.factor, __dadd_rn(a, -b));
}

extern "C" __global__ void convict_elementwise(const ElementwiseParams params) {
    const u32 width = element_bytes(params.dtype);
    for (u64 index = first_index(); index < params.count; index += index_step()) {
        store(params.out + index * width, width, encode(params.dtype, elementwise(params, index)));
    }
}
