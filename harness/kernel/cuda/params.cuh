// Structs laid out as in `src/params.rs` and `src/totals.rs`, and the numbers in them. Knows layout only.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

static const u32 BLOCK = 256;
static const u64 NONE = ~0ull;
static const u64 SIGN = 1ull << 63;
static const u64 INFINITE = 0x7ffull << 52;
static const u64 NAN_BITS = 0x7ff8ull << 48;

enum Dtype { F32 = 0, F64 = 1, F16 = 2, BF16 = 9 };
enum Kind { ZERO, ONE, INT2, INT1, TERN, REAL, INDEX, ONE_HOT, RAMP, NOT_A_NUMBER, SPARSE };
enum Op { FPROP, DGRAD, WGRAD, MAXPOOL, AVGPOOL, MATMUL, RMSNORM };
enum Step { RELU, RELU_BACK, AVERAGE, AVERAGE_BACK, LOSS_BACK, UPDATE };

struct TensorView { u64 pointer; u32 dtype, reserved; i64 extent[5], stride[5]; };
struct FillParams { TensorView view; u64 seed; u32 tensor, kind; u64 argument, first, kept; };
struct VerifyParams { FillParams fill; u64 totals; };
struct VerifyTotals { u64 differing, first; };
struct ReferenceParams {
    u32 op, lanes;
    TensorView x, w, y;
    i64 groups, pad_before[3], conv_stride[3], dilation[3];
    double alpha, beta, epsilon;
    FillParams prior;
    u64 result, abs_sum, totals;
};
struct ReferenceTotals { u64 max_abs_sum_bits, max_abs_result_bits, with_products, non_zero, products; };
struct CompareParams {
    TensorView got;
    u64 result, abs_sum;
    double accumulate, output, absolute, norm_bound;
    u64 poison;
    u32 poison_known, reserved;
    u64 totals;
};
struct CompareTotals {
    u64 checked, differing, first_differing, last_differing, nan, first_nan, stale, first_stale;
    u64 zero, infinite;
    u64 over_element, first_over_element, over_norm, first_over_norm;
    u64 max_error_bits, max_ratio_bits, beyond_rounded;
};
struct Zone { u64 pointer, bytes; u32 pattern, reserved; u64 argument; };
struct ZonesParams { u32 mode, count; Zone zones[16]; u64 totals; };
struct ZoneTotals { u64 changed, first, last; };
struct DiffParams { u64 a, b, bytes_per_element, count, totals; };
struct DiffTotals { u64 differing, first; };
struct ElementwiseParams {
    u32 op, dtype;
    u64 a, b, out, master, count, inner, channels;
    u32 channels_last, reserved;
    double factor;
};
