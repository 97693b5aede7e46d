// cudnnBackendDescriptorType_t
enum : int {
    {%- if convolves %}
    CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR = 1,
    {%- endif %}
    CUDNN_BACKEND_ENGINE_DESCRIPTOR = 2,
    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR = 3,
    CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR = 4,
    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR = 5,
    CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR = 7,
    {%- if family == "convolution" %}
    {{ pass.descriptor }} = {{ pass.number }},
    {%- endif %}
    CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR = 15,
    CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR = 16,
    CUDNN_BACKEND_TENSOR_DESCRIPTOR = 17,
{%- if plans_only %}
    CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR = 38,
{%- endif %}
    {%- if multiplies %}
    CUDNN_BACKEND_MATMUL_DESCRIPTOR = 18,
    CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR = 19,
    {%- endif %}
    {%- if pools %}
    CUDNN_BACKEND_RESAMPLE_DESCRIPTOR = 24,
    CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR = 25,
    {%- endif %}
    {%- if normalizes %}
    CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR = 29,
    {%- endif %}
};

// cudnnBackendAttributeType_t
enum : int {
    CUDNN_TYPE_HANDLE = 0, CUDNN_TYPE_DATA_TYPE = 1, CUDNN_TYPE_INT64 = 3, CUDNN_TYPE_FLOAT = 4,
    CUDNN_TYPE_DOUBLE = 5, CUDNN_TYPE_VOID_PTR = 6, CUDNN_TYPE_CONVOLUTION_MODE = 7, CUDNN_TYPE_HEUR_MODE = 8,
    CUDNN_TYPE_KNOB_TYPE = 9, CUDNN_TYPE_BACKEND_DESCRIPTOR = 15,
{%- if plans_only %}
    CUDNN_TYPE_CHAR = 24,
{%- endif %}
    {%- if pools %}
    CUDNN_TYPE_NAN_PROPOGATION = 10, CUDNN_TYPE_RESAMPLE_MODE = 21, CUDNN_TYPE_PADDING_MODE = 22,
    CUDNN_TYPE_FRACTION = 26,
    {%- endif %}
    {%- if normalizes %}
    CUDNN_TYPE_BOOLEAN = 2, CUDNN_TYPE_NORM_MODE = 27, CUDNN_TYPE_NORM_FWD_PHASE = 28,
    {%- endif %}
};

// cudnnBackendAttributeName_t
enum : int {
    {%- if convolves %}
    CUDNN_ATTR_CONVOLUTION_COMP_TYPE = 100,
    CUDNN_ATTR_CONVOLUTION_CONV_MODE = 101,
    CUDNN_ATTR_CONVOLUTION_DILATIONS = 102,
    CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES = 103,
    CUDNN_ATTR_CONVOLUTION_POST_PADDINGS = 104,
    CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS = 105,
    CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS = 106,
    {%- endif %}
    CUDNN_ATTR_ENGINEHEUR_MODE = 200,
    CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH = 201,
    CUDNN_ATTR_ENGINEHEUR_RESULTS = 202,
    CUDNN_ATTR_ENGINECFG_ENGINE = 300,
    CUDNN_ATTR_ENGINECFG_KNOB_CHOICES = 302,
    CUDNN_ATTR_EXECUTION_PLAN_HANDLE = 400,
    CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG = 401,
    CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE = 402,
    CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE = 600,
    CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE = 601,
    {%- if family == "convolution" %}
    {%- for attribute in pass.attributes %}
    {{ attribute.name }} = {{ attribute.number }},
    {%- endfor %}
    {%- endif %}
    CUDNN_ATTR_OPERATIONGRAPH_HANDLE = 800,
    CUDNN_ATTR_OPERATIONGRAPH_OPS = 801,
    CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT = 900,
    CUDNN_ATTR_TENSOR_DATA_TYPE = 901,
    CUDNN_ATTR_TENSOR_DIMENSIONS = 902,
    CUDNN_ATTR_TENSOR_STRIDES = 903,
    CUDNN_ATTR_TENSOR_UNIQUE_ID = 906,
    {%- if normalizes %}
    CUDNN_ATTR_TENSOR_IS_BY_VALUE = 908,
    {%- endif %}
    CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS = 1000,
    CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS = 1001,
    CUDNN_ATTR_VARIANT_PACK_WORKSPACE = 1003,
    CUDNN_ATTR_ENGINE_OPERATION_GRAPH = 1300,
    CUDNN_ATTR_ENGINE_GLOBAL_INDEX = 1301,
{%- if vectors %}
    CUDNN_ATTR_TENSOR_VECTOR_COUNT = 904,
    CUDNN_ATTR_TENSOR_VECTORIZED_DIMENSION = 905,
{%- endif %}
{%- if plans_only %}
    CUDNN_ATTR_ENGINEHEUR_DEVICEPROP = 204,
    CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE = 303,
    CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION = 405,
    CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP = 407,
    CUDNN_ATTR_ENGINE_DEVICEPROP = 1307,
    CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION = 2702,
{%- endif %}
    {%- if multiplies %}
    CUDNN_ATTR_MATMUL_COMP_TYPE = 1500,
    CUDNN_ATTR_OPERATION_MATMUL_ADESC = 1520,
    CUDNN_ATTR_OPERATION_MATMUL_BDESC = 1521,
    CUDNN_ATTR_OPERATION_MATMUL_CDESC = 1522,
    CUDNN_ATTR_OPERATION_MATMUL_DESC = 1523,
    {%- endif %}
    {%- if pools %}
    CUDNN_ATTR_RESAMPLE_MODE = 1700,
    CUDNN_ATTR_RESAMPLE_COMP_TYPE = 1701,
    CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS = 1702,
    CUDNN_ATTR_RESAMPLE_POST_PADDINGS = 1703,
    CUDNN_ATTR_RESAMPLE_PRE_PADDINGS = 1704,
    CUDNN_ATTR_RESAMPLE_STRIDES = 1705,
    CUDNN_ATTR_RESAMPLE_WINDOW_DIMS = 1706,
    CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION = 1707,
    CUDNN_ATTR_RESAMPLE_PADDING_MODE = 1708,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC = 1710,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC = 1711,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_ALPHA = 1713,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_BETA = 1714,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC = 1716,
    {%- endif %}
    {%- if normalizes %}
    CUDNN_ATTR_OPERATION_NORM_FWD_MODE = 2000,
    CUDNN_ATTR_OPERATION_NORM_FWD_PHASE = 2001,
    CUDNN_ATTR_OPERATION_NORM_FWD_XDESC = 2002,
    CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC = 2005,
    CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC = 2007,
    CUDNN_ATTR_OPERATION_NORM_FWD_YDESC = 2013,
    {%- endif %}
};
{%- if convolves %}

enum : int { CUDNN_CROSS_CORRELATION = 1 };  // cudnnConvolutionMode_t
{%- endif %}

static std::vector<void *> descriptors;  // all that were made, oldest first
{%- if plans_only %}
static void *device = nullptr;           // the properties to plan for
{%- endif %}

static void *make(int type) {
    void *descriptor = nullptr;
    check(dnn.cudnnBackendCreateDescriptor(type, &descriptor), "cudnnBackendCreateDescriptor");
    descriptors.push_back(descriptor);
    return descriptor;
}

static void set(void *descriptor, int name, int type, int64_t count, const void *elements) {
    check(dnn.cudnnBackendSetAttribute(descriptor, name, type, count, elements), "cudnnBackendSetAttribute");
}

// Reads up to `room` elements; returns how many there are.
static int64_t get(void *descriptor, int name, int type, int64_t room, void *elements) {
    int64_t count = 0;
    const int status = dnn.cudnnBackendGetAttribute(descriptor, name, type, room, &count, elements);
    check(status, "cudnnBackendGetAttribute");
    return count;
}

static void set_int64(void *descriptor, int name, const std::vector<int64_t> &values) {
    set(descriptor, name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
}

static void set_enum(void *descriptor, int name, int type, int32_t value) {
    set(descriptor, name, type, 1, &value);
}

static void set_descriptors(void *descriptor, int name, const std::vector<void *> &parts) {
    set(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(parts.size()), parts.data());
}
{%- if family == "convolution" %}

// Scales are doubles only where the sums are.
static void set_scale(void *descriptor, int name, double value) {
    const float single = static_cast<float>(value);
    if (COMPUTE == CUDNN_DATA_DOUBLE) set(descriptor, name, CUDNN_TYPE_DOUBLE, 1, &value);
    else set(descriptor, name, CUDNN_TYPE_FLOAT, 1, &single);
}
{%- endif %}

static void finalize(void *descriptor) {
    check(dnn.cudnnBackendFinalize(descriptor), "cudnnBackendFinalize");
}

// Outer and inner extent, then the axes that the case has.
static std::vector<int64_t> logical(const int64_t *five) {
    std::vector<int64_t> values = {five[0], five[1]};
    values.insert(values.end(), five + 5 - AXES, five + 5);
    return values;
}
{%- if family == "convolution" or family == "pooling" %}

static std::vector<int64_t> axes(const int64_t *three) { return {three + 3 - AXES, three + 3}; }
{%- endif %}

static void *make_tensor(int which) {
    const Tensor &tensor = TENSORS[which];
    void *descriptor = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    set_enum(descriptor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, tensor.dtype);
    set_int64(descriptor, CUDNN_ATTR_TENSOR_DIMENSIONS, logical(tensor.extent));
    set_int64(descriptor, CUDNN_ATTR_TENSOR_STRIDES, logical(tensor.stride));
    set_int64(descriptor, CUDNN_ATTR_TENSOR_UNIQUE_ID, {which + 1});
    set_int64(descriptor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16});
{%- if vectors %}
    if (VECTORS[which] != 1) {
        set_int64(descriptor, CUDNN_ATTR_TENSOR_VECTOR_COUNT, {VECTORS[which]});
        set_int64(descriptor, CUDNN_ATTR_TENSOR_VECTORIZED_DIMENSION, {1});
    }
{%- endif %}
    finalize(descriptor);
    return descriptor;
}
{%- if others %}

{% include "repro/operations.cpp" %}
{%- endif %}
{%- if family == "convolution" %}

static void *make_convolution() {
    void *convolution = make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    set_enum(convolution, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, COMPUTE);
    const int mode = CUDNN_CROSS_CORRELATION;
    set_enum(convolution, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, mode);
    set_int64(convolution, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {AXES});
    set_int64(convolution, CUDNN_ATTR_CONVOLUTION_DILATIONS, axes(DILATION));
    set_int64(convolution, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, axes(STRIDE));
    set_int64(convolution, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, axes(PAD_BEFORE));
    set_int64(convolution, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, axes(PAD_AFTER));
    finalize(convolution);
    return convolution;
}
{%- endif %}

{%- if plans_only %}

static void *make_graph() {
{%- else %}

static void *make_graph(void *handle) {
{%- endif %}
    phase = Phase::describe;
    {%- if family == "pooling" %}
    const std::vector<int64_t> window = axes(TENSORS[FILTER].extent + 2);
    const Windows windows = {window, axes(PAD_BEFORE), axes(PAD_AFTER), axes(STRIDE)};
    void *x = make_tensor(IMAGE), *y = make_tensor(RESPONSE);
    void *operation = make_pooling(OPERATION == Op::maxpool, COMPUTE, windows, x, y);
    {%- elif family != "convolution" %}
    void *x = make_tensor(IMAGE), *w = make_tensor(FILTER), *y = make_tensor(RESPONSE);
    void *operation = {{ "make_matmul" if family == "matmul" else "make_rmsnorm" }}(COMPUTE, x, w, y);
    {%- else %}
    void *convolution = make_convolution();
    void *image = make_tensor(IMAGE), *filter = make_tensor(FILTER), *response = make_tensor(RESPONSE);
    void *operation = make({{ pass.descriptor }});
    set_scale(operation, {{ pass.attributes[0].name }}, ALPHA);
    set_scale(operation, {{ pass.attributes[1].name }}, BETA);
    set_descriptors(operation, {{ pass.attributes[2].name }}, {convolution});
    set_descriptors(operation, {{ pass.attributes[3].name }}, {image});
    set_descriptors(operation, {{ pass.attributes[4].name }}, {filter});
    set_descriptors(operation, {{ pass.attributes[5].name }}, {response});
    finalize(operation);
    {%- endif %}
    void *graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
{%- if not plans_only %}
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
{%- endif %}
    set_descriptors(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, {operation});
    finalize(graph);
    return graph;
}

// The configurations of one heuristic list, best first; none where the mode declines.
static std::vector<void *> recommendations(void *graph, int mode) {
    phase = Phase::heuristics;
    void *heuristic = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    set_descriptors(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, {graph});
    set_enum(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
{%- if plans_only %}
    set_descriptors(heuristic, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, {device});
{%- endif %}
    const int status = dnn.cudnnBackendFinalize(heuristic);
    if (is_refusal(status) && !is_the_bug(status)) return {};
    check(status, "cudnnBackendFinalize");
    int64_t count = get(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr);
    std::vector<void *> list(static_cast<size_t>(std::max<int64_t>(count, 0)));
    for (void *&entry : list) entry = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    // The first count is an upper bound.
    const int64_t room = static_cast<int64_t>(list.size());
    count = get(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, room, list.data());
    list.resize(static_cast<size_t>(std::min(std::max<int64_t>(count, 0), room)));
    return list;
}

// The configuration of ENGINE with KNOBS, or the one at HEURISTIC_RANK of the list.
static void *make_configuration(void *graph) {
    if (ASK_EVERY_HEURISTIC) {
        for (int mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK}) {
            recommendations(graph, mode);
        }
    }
    if (ENGINE < 0) {
        const std::vector<void *> list = recommendations(graph, HEURISTIC_MODE);
        phase = Phase::plan;
        const bool refused = KIND == Kind::accepted && list.empty();
        if (refused) finish(ABSENT, "the heuristic list is empty, as it should be");
        if (list.size() <= HEURISTIC_RANK) finish(NOT_APPLICABLE, "the heuristic list is too short");
        return list[HEURISTIC_RANK];
    }
    phase = Phase::plan;
    void *engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    set_descriptors(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, {graph});
    set_int64(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {ENGINE});
{%- if plans_only %}
    set_descriptors(engine, CUDNN_ATTR_ENGINE_DEVICEPROP, {device});
{%- endif %}
    finalize(engine);
    void *configuration = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    set_descriptors(configuration, CUDNN_ATTR_ENGINECFG_ENGINE, {engine});
    std::vector<void *> choices;
    for (const Knob &knob : KNOBS) {
        choices.push_back(make(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR));
        set_enum(choices.back(), CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, knob.type);
        set_int64(choices.back(), CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, {knob.value});
        finalize(choices.back());
    }
    if (!choices.empty()) set_descriptors(configuration, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, choices);
    finalize(configuration);
    return configuration;
}{%- if not plans_only %}

static void *make_plan(void *handle, void *configuration, uint64_t *workspace_bytes) {
    void *plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set_descriptors(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, {configuration});
    finalize(plan);
    int64_t asked = 0;
    get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &asked);
    const bool too_much = WORKSPACE_MAX >= 0 && asked > WORKSPACE_MAX;
    if (too_much) finish(NOT_APPLICABLE, "the plan asks for too much workspace");
    *workspace_bytes = static_cast<uint64_t>(std::max<int64_t>(asked, 0) + WORKSPACE_EXTRA);
    std::printf("plan     asks for %lld bytes of workspace\n", static_cast<long long>(asked));
    return plan;
}
{%- endif %}
