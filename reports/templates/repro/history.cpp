// ---- What has to run before -------------------------------------------------------------------------------

{% if others -%}
// What this process executes before the operation that shows the bug; nobody looks at its result.
{%- else -%}
// A convolution that this process executes before the one that shows the bug; nobody looks at its result.
{%- endif %}
struct Earlier {
    const char *line;
    {%- if others %}
    char family;  // c: convolution, l: largest of windows, a: mean of windows, m: matrices, n: normalization
    {%- endif %}
    int operation, attributes[6];  // descriptor type; names of alpha, beta, convolution, x, w, y
    int output, probe, axes;
    Tensor tensors[3];
    int compute;
    int64_t pad_before[3], pad_after[3], stride[3], dilation[3];
    double alpha, beta;
    int64_t engine;  // -1 takes a heuristic list instead
    std::vector<Knob> knobs;
    int heuristic_mode;
    size_t heuristic_rank;
    int64_t workspace_extra;
    uint64_t workspace_alignment;
    Recipe recipe;
    uint64_t kept[3][2];  // first and number of the elements that keep their values, where not all do
};
static const std::vector<Earlier> EARLIER = {
{%- for earlier in history %}
    {"{{ earlier.line }}",{{ " '" ~ earlier.family ~ "'," if others }}
     {{ earlier.pass.number }}, { {%- for attribute in earlier.pass.attributes -%}
     {{ attribute.number }}{{ ", " if not loop.last }}
     {%- endfor -%} }, {{ earlier.output }}, {{ earlier.probe }}, {{ earlier.axes }},
     {
     {%- for tensor in earlier.tensors %}
         {'{{ tensor.name }}', {{ tensor.dtype }}, { {{- tensor.extent -}} }, { {{- tensor.stride -}} }},
     {%- endfor %}
     }, {{ earlier.compute }},
     { {{- earlier.pad_before -}} }, { {{- earlier.pad_after -}} },
     { {{- earlier.stride -}} }, { {{- earlier.dilation -}} },
     {{ earlier.alpha }}, {{ earlier.beta }},
     {{ earlier.engine }}, { {{- earlier.knobs -}} }, {{ earlier.heuristic_mode }}, {{ earlier.heuristic_rank }},
     {{ earlier.workspace_extra }}, {{ earlier.workspace_alignment }},
     {Fill::{{ earlier.recipe.fill }}, {{ earlier.recipe.seed }}u, 0x{{ earlier.recipe.output_byte }}, Bytes::
     {{- earlier.recipe.workspace }}, {{ earlier.recipe.workspace_seed }}u, {{ earlier.recipe.times }}},
     { {{- earlier.kept -}} }},
{%- endfor %}
};

static double earlier_value(const Earlier &earlier, int which, const int64_t *at, uint64_t linear) {
    const Recipe &recipe = earlier.recipe;
    const uint64_t bits = word(recipe.seed, which, at);
    const bool probe = which == earlier.probe;
    const bool picked = linear == mix(recipe.seed) % count_of(earlier.tensors[which]);
    const uint64_t *kept = earlier.kept[which];
    if (kept[1] != 0 && linear - kept[0] >= kept[1]) return 0;
    switch (recipe.fill) {
    case Fill::onehot: return probe ? picked : ramp(linear);
    case Fill::ramp: return probe ? ramp(linear) : int2(bits);
    case Fill::nan: return probe && picked ? std::nan("") : int2(bits);
    case Fill::sparse: return probe && bits % 8 != 0 ? 0 : int2(bits);
    default: return raw_value(recipe, which, at, linear);
    }
}

static Contents earlier_contents(const Earlier &earlier, int which) {
    const Tensor &tensor = earlier.tensors[which];
    const uint64_t count = count_of(tensor), width = width_of(tensor);
    const bool poisoned = which == earlier.output && earlier.beta == 0;
    Contents bytes(count * width, static_cast<uint8_t>(earlier.recipe.output_byte));
    for (uint64_t linear = 0; linear < count && !poisoned; linear++) {
        int64_t at[5];
        coordinates(tensor, linear, at);
        const uint64_t bits = encode(tensor.dtype, earlier_value(earlier, which, at, linear));
        std::memcpy(&bytes[static_cast<uint64_t>(offset(tensor, at)) * width], &bits, width);
    }
    return bytes;
}

static std::vector<int64_t> last(const int64_t *values, int count, int of) {
    return {values + of - count, values + of};
}

static void *earlier_tensor(const Earlier &earlier, int which) {
    const Tensor &tensor = earlier.tensors[which];
    std::vector<int64_t> extents = {tensor.extent[0], tensor.extent[1]};
    std::vector<int64_t> strides = {tensor.stride[0], tensor.stride[1]};
    for (int64_t extent : last(tensor.extent, earlier.axes, 5)) extents.push_back(extent);
    for (int64_t stride : last(tensor.stride, earlier.axes, 5)) strides.push_back(stride);
    void *descriptor = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    set_enum(descriptor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, tensor.dtype);
    set_int64(descriptor, CUDNN_ATTR_TENSOR_DIMENSIONS, extents);
    set_int64(descriptor, CUDNN_ATTR_TENSOR_STRIDES, strides);
    set_int64(descriptor, CUDNN_ATTR_TENSOR_UNIQUE_ID, {which + 1});
    set_int64(descriptor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16});
    finalize(descriptor);
    return descriptor;
}

{% set convolution -%}
void *convolution = make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    const int mode = CUDNN_CROSS_CORRELATION, axes = earlier.axes;
    set_enum(convolution, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, earlier.compute);
    set_enum(convolution, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, mode);
    set_int64(convolution, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {axes});
    set_int64(convolution, CUDNN_ATTR_CONVOLUTION_DILATIONS, last(earlier.dilation, axes, 3));
    set_int64(convolution, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, last(earlier.stride, axes, 3));
    set_int64(convolution, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, last(earlier.pad_before, axes, 3));
    set_int64(convolution, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, last(earlier.pad_after, axes, 3));
    finalize(convolution);
    void *image = earlier_tensor(earlier, IMAGE), *filter = earlier_tensor(earlier, FILTER);
    void *response = earlier_tensor(earlier, RESPONSE), *operation = make(earlier.operation);
    earlier_scale(earlier, operation, earlier.attributes[0], earlier.alpha);
    earlier_scale(earlier, operation, earlier.attributes[1], earlier.beta);
    void *parts[] = {convolution, image, filter, response};
    for (int part = 0; part < 4; part++) set_descriptors(operation, earlier.attributes[2 + part], {parts[part]});
    finalize(operation);
{%- endset -%}
{% if convolves_before -%}
static void earlier_scale(const Earlier &earlier, void *descriptor, int name, double value) {
    const float single = static_cast<float>(value);
    const bool twice = earlier.compute == CUDNN_DATA_DOUBLE;
    const void *element = twice ? static_cast<const void *>(&value) : &single;
    set(descriptor, name, twice ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT, 1, element);
}

{% endif -%}
{% if others -%}
static void *earlier_operation(const Earlier &earlier) {
    {%- if pools_before %}
    if (earlier.family == 'l' || earlier.family == 'a') {
        const int axes = earlier.axes;
        const Windows windows = {last(earlier.tensors[FILTER].extent, axes, 5), last(earlier.pad_before, axes, 3),
                                 last(earlier.pad_after, axes, 3), last(earlier.stride, axes, 3)};
        void *x = earlier_tensor(earlier, IMAGE), *y = earlier_tensor(earlier, RESPONSE);
        return make_pooling(earlier.family == 'l', earlier.compute, windows, x, y);
    }
    {%- endif %}
    {%- if multiplies_before %}
    if (earlier.family == 'm') {
        void *x = earlier_tensor(earlier, IMAGE), *w = earlier_tensor(earlier, FILTER);
        return make_matmul(earlier.compute, x, w, earlier_tensor(earlier, RESPONSE));
    }
    {%- endif %}
    {%- if normalizes_before %}
    if (earlier.family == 'n') {
        void *x = earlier_tensor(earlier, IMAGE), *w = earlier_tensor(earlier, FILTER);
        return make_rmsnorm(earlier.compute, x, w, earlier_tensor(earlier, RESPONSE));
    }
    {%- endif %}
    {%- if convolves_before %}
    {{ convolution }}
    return operation;
    {%- else %}
    finish(OTHER, "no operation of that kind");
    {%- endif %}
}

{% endif -%}
static void *earlier_graph(const Earlier &earlier, void *handle) {
    {%- if others %}
    void *operation = earlier_operation(earlier);
    {%- else %}
    {{ convolution }}
    {%- endif %}
    void *graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set_descriptors(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, {operation});
    finalize(graph);
    return graph;
}

static void *earlier_configuration(const Earlier &earlier, void *graph) {
    if (earlier.engine < 0) {
        const std::vector<void *> list = recommendations(graph, earlier.heuristic_mode);
        phase = Phase::describe;
        if (list.size() <= earlier.heuristic_rank) finish(NOT_APPLICABLE, "the heuristic list is too short");
        return list[earlier.heuristic_rank];
    }
    void *engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    set_descriptors(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, {graph});
    set_int64(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {earlier.engine});
    finalize(engine);
    void *configuration = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    set_descriptors(configuration, CUDNN_ATTR_ENGINECFG_ENGINE, {engine});
    std::vector<void *> choices;
    for (const Knob &knob : earlier.knobs) {
        choices.push_back(make(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR));
        set_enum(choices.back(), CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, knob.type);
        set_int64(choices.back(), CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, {knob.value});
        finalize(choices.back());
    }
    if (!choices.empty()) set_descriptors(configuration, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, choices);
    finalize(configuration);
    return configuration;
}

// Plans and executes the {{ "operation" if others else "convolution" }}. What it leaves in the process stays: its plan and its buffers, too. All of it
// counts as a phase before the case's own plan, so that what goes wrong here is not taken for the bug.
static void run_earlier(void *handle, const Earlier &earlier) {
    phase = Phase::describe;
    std::printf("before   %s\n", earlier.line);
    void *configuration = earlier_configuration(earlier, earlier_graph(earlier, handle));
    void *plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set_descriptors(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, {configuration});
    finalize(plan);
    int64_t asked = 0;
    get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &asked);
    const uint64_t bytes = static_cast<uint64_t>(std::max<int64_t>(asked, 0) + earlier.workspace_extra);
    const Buffer space = allocate("workspace", bytes, earlier.workspace_alignment);
    void *pointers[3], *workspace = bytes == 0 ? nullptr : reinterpret_cast<void *>(space.pointer);
    for (int which = 0; which < 3; which++) {
        const Contents contents = earlier_contents(earlier, which);
        const Buffer buffer = allocate("earlier", contents.size(), 256);
        upload(buffer.pointer, contents);
        pointers[which] = reinterpret_cast<void *>(buffer.pointer);
    }
    for (int time = 0; time < earlier.recipe.times; time++) {
        const bool random = earlier.recipe.workspace == Bytes::random;
        const uint8_t byte = earlier.recipe.workspace == Bytes::zero ? 0x00 : 0xFF;
        upload(space.pointer, random ? stream_bytes(earlier.recipe.workspace_seed, bytes) : Contents(bytes, byte));
        void *pack = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
        {%- if others %}
        std::vector<int64_t> ids = {1, 2, 3};
        std::vector<void *> addresses(pointers, pointers + 3);
        if (earlier.family == 'l' || earlier.family == 'a') {
            ids.erase(ids.begin() + FILTER);
            addresses.erase(addresses.begin() + FILTER);
        }
        {%- if normalizes_before %}
        if (earlier.family == 'n') {
            ids.push_back(4);
            addresses.push_back(epsilon_of(earlier.compute));
        }
        {%- endif %}
        set_int64(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
        const int64_t count = static_cast<int64_t>(addresses.size());
        set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, addresses.data());
        {%- else %}
        set_int64(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {1, 2, 3});
        set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers);
        {%- endif %}
        set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
        finalize(pack);
        check(dnn.cudnnBackendExecute(handle, plan, pack), "cudnnBackendExecute");
        check_cuda(cuda.cuCtxSynchronize(), "cuCtxSynchronize");
    }
}
