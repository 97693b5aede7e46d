// Tells whether a convolution lies where a failure of cuDNN was seen. Knows nothing of cuDNN's interface.
//
// [cuDNN 9.19.0] [dgrad] [unexpected status] [engine 25] on sm_90: i8 nchw n1 c1 k1 i1x1x1 f1x1x1
// Conditions: dtype(x) in {i8} (29 of 29 inside failed, 0 of 19 outside)
// Use: fill a Convolution before a plan is chosen; where avoid() is true, take another engine than 25.

#ifndef CONVICT_GUARD_HPP
#define CONVICT_GUARD_HPP

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

namespace convict_guard {

// Version of cuDNN in which it was seen, as cudnnGetVersion() returns it.
constexpr std::uint64_t seen_version = 91900;

// A convolution by its forward problem. Arrays begin with the innermost axis (width); unused places stay as they are.
struct Convolution {
    std::string operation;  // "fprop", "dgrad" or "wgrad"
    std::int64_t n = 1, c = 1, k = 1, groups = 1;
    int axes = 2;
    std::int64_t input[3] = {1, 1, 1}, filter[3] = {1, 1, 1}, pad_before[3] = {0, 0, 0}, pad_after[3] = {0, 0, 0};
    std::int64_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1};
    std::string dtype_x = "f32", dtype_w = "f32", dtype_y = "f32", compute = "f32";  // f32 f64 f16 bf16
    std::string layout_x = "nchw", layout_w = "nchw", layout_y = "nchw";             // nchw nhwc
    double alpha = 1, beta = 0;
    std::int64_t workspace_alignment = 256;  // bytes
};

inline std::int64_t product(std::initializer_list<std::int64_t> factors) {
    std::int64_t all = 1;
    for (std::int64_t factor : factors) {
        const std::int64_t most = std::numeric_limits<std::int64_t>::max();
        all = factor > 0 && all > most / factor ? most : all * factor;
    }
    return all;
}

inline std::int64_t residue(std::int64_t value, std::int64_t modulus) {
    const std::int64_t rest = value % modulus;
    return rest < 0 ? rest + (modulus < 0 ? -modulus : modulus) : rest;
}

inline std::int64_t per_group(std::int64_t channels, std::int64_t groups) {
    return channels / (groups < 1 ? 1 : groups);
}

inline std::int64_t output(const Convolution &c, int axis) {
    const std::int64_t span = (c.filter[axis] - 1) * c.dilation[axis] + 1;
    const std::int64_t padded = c.input[axis] + c.pad_before[axis] + c.pad_after[axis];
    return c.stride[axis] < 1 || padded < span ? 0 : (padded - span) / c.stride[axis] + 1;
}

inline std::int64_t elements(const Convolution &c, char tensor) {
    std::int64_t all = tensor == 'w' ? product({c.k, per_group(c.c, c.groups)})
                                     : product({c.n, tensor == 'x' ? c.c : c.k});
    for (int axis = 0; axis < c.axes && axis < 3; axis++) {
        all = product({all, tensor == 'x' ? c.input[axis] : tensor == 'w' ? c.filter[axis] : output(c, axis)});
    }
    return all;
}

// The largest and the smallest of the first values, as many as there are axes.
inline std::int64_t max_over_axes(const Convolution &c, std::initializer_list<std::int64_t> values) {
    std::int64_t most = *values.begin();
    for (int axis = 1; axis < c.axes && axis < 3; axis++) {
        most = values.begin()[axis] > most ? values.begin()[axis] : most;
    }
    return most;
}

inline std::int64_t min_over_axes(const Convolution &c, std::initializer_list<std::int64_t> values) {
    std::int64_t least = *values.begin();
    for (int axis = 1; axis < c.axes && axis < 3; axis++) {
        least = values.begin()[axis] < least ? values.begin()[axis] : least;
    }
    return least;
}

inline std::int64_t bytes_of(const Convolution &c, char tensor) {
    const std::string &dtype = tensor == 'x' ? c.dtype_x : tensor == 'w' ? c.dtype_w : c.dtype_y;
    return product({elements(c, tensor), dtype == "f64" ? 8 : dtype == "f32" ? 4 : 2});
}

// True where it is to be avoided: this pass, this version, and every condition.
inline bool avoid(const Convolution &c, std::uint64_t cudnn_version) {
    return cudnn_version == seen_version && c.operation == "dgrad" &&
           (c.dtype_x == "i8");
}

}  // namespace convict_guard

#endif
