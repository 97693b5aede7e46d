// What is no convolution, as descriptors: its tensors are finalized before.
{%- if pools %}

// cudnnResampleMode_t, cudnnPaddingMode_t, cudnnNanPropagation_t
enum : int { CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING = 2, CUDNN_RESAMPLE_MAXPOOL = 3 };
enum : int { CUDNN_ZERO_PAD = 0, CUDNN_NEG_INF_PAD = 1 };
enum : int { CUDNN_PROPAGATE_NAN = 1 };

// Along the axes that there are.
struct Windows { std::vector<int64_t> window, pad_before, pad_after, stride; };

// Whole numbers where cuDNN takes fractions.
static void set_wholes(void *descriptor, int name, const std::vector<int64_t> &values) {
    struct Fraction { int64_t numerator, denominator; };  // cudnnFraction_t
    std::vector<Fraction> fractions;
    for (int64_t value : values) fractions.push_back({value, 1});
    set(descriptor, name, CUDNN_TYPE_FRACTION, static_cast<int64_t>(fractions.size()), fractions.data());
}

// The largest element of every window, padding being smaller than any, or the mean, padding being zeros.
static void *make_pooling(bool largest, int compute, const Windows &windows, void *x, void *y) {
    void *resample = make(CUDNN_BACKEND_RESAMPLE_DESCRIPTOR), *operation = nullptr;
    const int mode = largest ? CUDNN_RESAMPLE_MAXPOOL : CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING;
    const int padding = largest ? CUDNN_NEG_INF_PAD : CUDNN_ZERO_PAD, nan = CUDNN_PROPAGATE_NAN;
    set_enum(resample, CUDNN_ATTR_RESAMPLE_MODE, CUDNN_TYPE_RESAMPLE_MODE, mode);
    set_enum(resample, CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, compute);
    set_enum(resample, CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, nan);
    set_enum(resample, CUDNN_ATTR_RESAMPLE_PADDING_MODE, CUDNN_TYPE_PADDING_MODE, padding);
    const int64_t axes = static_cast<int64_t>(windows.window.size());
    set_int64(resample, CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, {axes});
    set_wholes(resample, CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, windows.window);
    set_wholes(resample, CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, windows.pad_before);
    set_wholes(resample, CUDNN_ATTR_RESAMPLE_POST_PADDINGS, windows.pad_after);
    set_wholes(resample, CUDNN_ATTR_RESAMPLE_STRIDES, windows.stride);
    finalize(resample);
    const double one = 1, nothing = 0;
    operation = make(CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR);
    set(operation, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_ALPHA, CUDNN_TYPE_DOUBLE, 1, &one);
    set(operation, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_BETA, CUDNN_TYPE_DOUBLE, 1, &nothing);
    set_descriptors(operation, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, {resample});
    set_descriptors(operation, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, {x});
    set_descriptors(operation, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, {y});
    finalize(operation);
    return operation;
}
{%- endif %}
{%- if multiplies %}

static void *make_matmul(int compute, void *x, void *w, void *y) {
    void *matmul = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR), *operation = nullptr;
    set_enum(matmul, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, compute);
    finalize(matmul);
    operation = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    set_descriptors(operation, CUDNN_ATTR_OPERATION_MATMUL_DESC, {matmul});
    set_descriptors(operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, {x});
    set_descriptors(operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC, {w});
    set_descriptors(operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, {y});
    finalize(operation);
    return operation;
}
{%- endif %}
{%- if normalizes %}

enum : int { CUDNN_RMS_NORM = 4 };            // cudnnBackendNormMode_t
enum : int { CUDNN_NORM_FWD_INFERENCE = 0 };  // cudnnBackendNormFwdPhase_t

// A scalar that an execution finds in host memory.
static void *epsilon_of(int compute) {
    static double twice = {{ epsilon }};
    static float single = static_cast<float>(twice);
    return compute == CUDNN_DATA_DOUBLE ? static_cast<void *>(&twice) : &single;
}

// Each row over the root of its mean of squares, times the weights.
static void *make_rmsnorm(int compute, void *x, void *w, void *y) {
    const bool yes = true;
    const int dtype = compute == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    void *epsilon = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    set_enum(epsilon, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, dtype);
    set_int64(epsilon, CUDNN_ATTR_TENSOR_DIMENSIONS, {1, 1, 1, 1});
    set_int64(epsilon, CUDNN_ATTR_TENSOR_STRIDES, {1, 1, 1, 1});
    set_int64(epsilon, CUDNN_ATTR_TENSOR_UNIQUE_ID, {4});
    set_int64(epsilon, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16});
    set(epsilon, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &yes);
    finalize(epsilon);
    void *operation = make(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
    set_enum(operation, CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, CUDNN_RMS_NORM);
    const int phase_of_it = CUDNN_NORM_FWD_INFERENCE;
    set_enum(operation, CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, phase_of_it);
    set_descriptors(operation, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, {x});
    set_descriptors(operation, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, {w});
    set_descriptors(operation, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, {epsilon});
    set_descriptors(operation, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, {y});
    finalize(operation);
    return operation;
}
{%- endif %}
