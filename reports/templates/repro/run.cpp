// ---- Running and checking ---------------------------------------------------------------------------------

struct Run {
    void *handle, *plan;
    std::vector<Buffer> buffers;  // x, w, y, workspace
    Contents contents[3];
};

static bool same_values(const Recipe &one, const Recipe &other) {
    return one.fill == other.fill && one.seed == other.seed;
}

// Inputs are written where other values are due, and otherwise stay what the plan left of them. Output,
// workspace and guards are always written.
static void prepare(Run &run, const Recipe &recipe, int execution) {
    static const Recipe *before = nullptr;
    phase = Phase::allocate;
    for (int which = 0; which < 3; which++) {
        {%- if family == "pooling" %}
        if (which == FILTER) continue;
        {%- endif %}
        const bool filled_with_values = which != OUTPUT || BETA != 0;
        if (which != OUTPUT && before != nullptr && same_values(*before, recipe)) continue;
        run.contents[which] = filled_with_values
            ? filled(recipe, which)
            : Contents(run.buffers[which].bytes, static_cast<uint8_t>(recipe.output_byte));
        upload(run.buffers[which].pointer, run.contents[which]);
    }
    before = &recipe;
    const Buffer &workspace = run.buffers[3];
    if (recipe.workspace == Bytes::random) {
        upload(workspace.pointer, stream_bytes(recipe.workspace_seed, workspace.bytes));
    } else if (workspace.bytes != 0) {
        const unsigned char byte = recipe.workspace == Bytes::zero ? 0x00 : 0xFF;
        check_cuda(cuda.cuMemsetD8(workspace.pointer, byte, workspace.bytes), "cuMemsetD8");
    }
    paint_guards(run.buffers, execution);
    check_cuda(cuda.cuCtxSynchronize(), "cuCtxSynchronize");
}

static void execute(const Run &run) {
    phase = Phase::execute;
    void *pointers[{{ 4 if family == "rmsnorm" else 3 }}], *workspace = nullptr;
    for (int which = 0; which < 3; which++) {
        pointers[which] = reinterpret_cast<void *>(run.buffers[which].pointer);
    }
    {%- if family == "pooling" %}
    pointers[1] = pointers[RESPONSE];  // nothing stands between x and y
    {%- elif family == "rmsnorm" %}
    pointers[3] = epsilon_of(COMPUTE);
    {%- endif %}
    if (run.buffers[3].bytes != 0) workspace = reinterpret_cast<void *>(run.buffers[3].pointer);
    void *pack = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    set_int64(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, { {{- ids -}} });
    set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, {{ operands }}, pointers);
    set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    finalize(pack);
    launched = true;
    check(dnn.cudnnBackendExecute(run.handle, run.plan, pack), "cudnnBackendExecute");
    phase = Phase::sync;
    check_cuda(cuda.cuCtxSynchronize(), "cuCtxSynchronize");
    phase = Phase::readback;
}

// A NaN without its sign, which means nothing.
static double unsigned_nan(double value) { return std::isnan(value) ? std::nan("") : value; }

static std::string place(uint64_t linear) {
    {%- if family != "convolution" %}
    static const char *names[5] = { {{- names -}} };
    int64_t at[5];
    coordinates(TENSORS[OUTPUT], linear, at);
    std::string text;
    for (int i = 0; i < 5; i++) {
        if (names[i] != nullptr) text += (text.empty() ? "(" : " ") + std::string(names[i]) + std::to_string(at[i]);
    }
    return text + ")";
    {%- else %}
    static const char *names[3][2] = { {"n", "c"}, {"k", "c"}, {"n", "k"} };
    int64_t at[5];
    coordinates(TENSORS[OUTPUT], linear, at);
    std::string text = std::string("(") + names[OUTPUT][0] + std::to_string(at[0]);
    text += std::string(" ") + names[OUTPUT][1] + std::to_string(at[1]);
    for (int i = 5 - AXES; i < 5; i++) text += std::string(" ") + "dhw"[i - 2] + std::to_string(at[i]);
    return text + ")";
    {%- endif %}
}

// Outputs that are wrong: beyond the bound, or never written.
static uint64_t check_values(const Reference &reference, const Contents &got, const Recipe &recipe) {
    const Tensor &output = TENSORS[OUTPUT];
    uint64_t wrong = 0, poison = 0;
    std::memset(&poison, recipe.output_byte, width_of(output));
    for (size_t i = 0; i < reference.outputs.size(); i++) {
        const Sum &sum = reference.sums[i];
        const uint64_t bits = load_bits(output, got, offset_at(output, reference.outputs[i]));
        const uint64_t right = encode(output.dtype, sum.value);
        const double value = decode(output.dtype, bits), expected = decode(output.dtype, right);
        const bool same = value == expected || (std::isnan(value) && std::isnan(expected));
        const bool stale = BETA == 0 && bits == poison && right != poison;
        const double bound = ACCUMULATE * sum.absolute + RELATIVE * std::fabs(sum.value) + ABSOLUTE;
        if (!stale && (same || std::fabs(value - sum.value) <= bound)) continue;
        if (wrong++ < SHOWN_MAX) {
            const char *note = stale ? " (never written)" : "";
            std::printf("wrong    %s: got %.9g, expected %.9g%s\n", place(reference.outputs[i]).c_str(),
                        unsigned_nan(value), expected, note);
        }
    }
    const size_t checked = reference.outputs.size();
    std::printf("values   %llu of %zu outputs checked are wrong\n", big(wrong), checked);
    return wrong;
}

// Outputs whose bits differ from an earlier execution on the same inputs.
static uint64_t check_repeat(const Contents &earlier, const Contents &got) {
    const Tensor &output = TENSORS[OUTPUT];
    uint64_t differing = 0;
    for (uint64_t linear = 0; linear < count_of(output); linear++) {
        const int64_t element = offset_at(output, linear);
        const uint64_t before = load_bits(output, earlier, element), now = load_bits(output, got, element);
        if (before == now || differing++ >= SHOWN_MAX) continue;
        std::printf("differs  %s: first %.9g, now %.9g\n", place(linear).c_str(),
                    unsigned_nan(decode(output.dtype, before)), unsigned_nan(decode(output.dtype, now)));
    }
    return differing;
}

// Bytes of the inputs that are no longer what was written.
static uint64_t check_inputs(const Run &run) {
    uint64_t changed = 0;
    for (int which = 0; which < 3; which++) {
        if (which == OUTPUT{{ " || which == FILTER" if family == "pooling" }}) continue;
        const Contents now = download(run.buffers[which].pointer, run.buffers[which].bytes);
        uint64_t here = 0;
        for (size_t i = 0; i < now.size(); i++) here += now[i] != run.contents[which][i];
        if (here != 0) std::printf("input    %llu bytes of %c changed\n", big(here), TENSORS[which].name);
        changed += here;
    }
    return changed;
}

// The reference of a recipe, computed once.
static const Reference &known_reference(const Run &run, const Recipe &recipe) {
    static std::vector<Reference> references;
    for (const Reference &known : references) {
        if (known.fill == recipe.fill && known.seed == recipe.seed) return known;
    }
    references.push_back(reference_of(recipe, run.contents));
    return references.back();
}

static void check_execution(const Run &run, const Recipe &recipe, int execution) {
    static Contents first_output;
    const uint64_t outside = check_guards(run.buffers, execution);
    const uint64_t inputs = check_inputs(run);
    const Contents got = download(run.buffers[OUTPUT].pointer, run.buffers[OUTPUT].bytes);
    phase = Phase::judge;
    if (KIND == Kind::oob && outside != 0) finish(PRESENT, "execution %d left its buffers", execution + 1);
    if (KIND == Kind::input && inputs != 0) finish(PRESENT, "execution %d changed its inputs", execution + 1);
    if (KIND == Kind::wrong || KIND == Kind::inexact) {
        const uint64_t wrong = check_values(known_reference(run, recipe), got, recipe);
        if (wrong != 0) finish(PRESENT, "execution %d gave wrong values", execution + 1);
    }
    if (KIND == Kind::nondet) {
        if (execution == 0) first_output = got;
        const uint64_t differing = check_repeat(first_output, got);
        if (differing != 0) {
            finish(PRESENT, "execution %d differs from the first in %llu outputs", execution + 1,
                   big(differing));
        }
    }
}

static void run_once(Run &run, const Recipe &recipe, int execution) {
    prepare(run, recipe, execution);
    execute(run);
    if (KIND == Kind::accepted) finish(PRESENT, "what had to be refused was executed");
    check_execution(run, recipe, execution);
}

[[noreturn]] static void run_case() {
    Run run = {nullptr, nullptr, {}, {}};
    phase = Phase::init;
    check(dnn.cudnnCreate(&run.handle), "cudnnCreate");
    void *stream = nullptr;
    check_cuda(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    check(dnn.cudnnSetStream(run.handle, stream), "cudnnSetStream");
{%- if history %}
    for (const Earlier &earlier : EARLIER) run_earlier(run.handle, earlier);
{%- endif %}
    void *graph = make_graph(run.handle);
    uint64_t workspace_bytes = 0;
    run.plan = make_plan(run.handle, make_configuration(graph), &workspace_bytes);
    print_files();
    const bool planned = KIND == Kind::accepted && BUG_PHASE <= Phase::plan;
    if (planned) finish(PRESENT, "what had to be refused got a plan");
    phase = Phase::allocate;
    static const char *names[3] = {"x", "w", "y"};
    for (int which = 0; which < 3; which++) {
        {%- if family == "pooling" %}
        const uint64_t elements = which == FILTER ? 0 : count_of(TENSORS[which]);
        const uint64_t bytes = elements * width_of(TENSORS[which]);
        {%- else %}
        const uint64_t bytes = count_of(TENSORS[which]) * width_of(TENSORS[which]);
        {%- endif %}
        run.buffers.push_back(allocate(names[which], bytes, 256));
    }
    run.buffers.push_back(allocate("workspace", workspace_bytes, WORKSPACE_ALIGNMENT));
    int executions = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (const Recipe &recipe : RECIPES) {
            for (int time = 0; time < recipe.times; time++) run_once(run, recipe, executions++);
        }
    }
    phase = Phase::teardown;
    while (!descriptors.empty()) {
        dnn.cudnnBackendDestroyDescriptor(descriptors.back());
        descriptors.pop_back();
    }
    dnn.cudnnDestroy(run.handle);
    finish(ABSENT, "%d executions showed nothing", executions);
}

// Prints the bits of every tensor, the first bytes of a random workspace, and for every output checked the
// expected bits and the sums behind them.
static void show() {
    const Recipe &recipe = RECIPES.front();
    Contents contents[3];
    for (int which = 0; which < 3; which++) {
        const Tensor &tensor = TENSORS[which];
        {%- if family == "pooling" %}
        if (which == FILTER) continue;
        {%- endif %}
        contents[which] = filled(recipe, which);
        std::printf("%c", tensor.name);
        for (uint64_t linear = 0; linear < count_of(tensor); linear++) {
            std::printf(" %llx", big(load_bits(tensor, contents[which], offset_at(tensor, linear))));
        }
        std::printf("\n");
    }
    if (recipe.workspace == Bytes::random) {
        std::printf("workspace");
        for (uint8_t byte : stream_bytes(recipe.workspace_seed, 13)) std::printf(" %x", byte);
        std::printf("\n");
    }
    const Reference reference = reference_of(recipe, contents);
    for (size_t i = 0; i < reference.outputs.size(); i++) {
        const Sum &sum = reference.sums[i];
        const uint64_t bits = encode(TENSORS[OUTPUT].dtype, sum.value);
        std::printf("expected %llu %llx ", big(reference.outputs[i]), big(bits));
        std::printf("%.17g %.17g\n", sum.value, sum.absolute);
    }
}

static std::string variable_or(const char *name, const char *otherwise) {
    const char *value = std::getenv(name);
    return value != nullptr && *value != 0 ? value : otherwise;
}

int main(int count, char **arguments) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::string library = variable_or("CONVICT_CUDNN", "libcudnn.so.9");
    std::string driver = variable_or("CONVICT_DRIVER", "libcuda.so.1");
    std::vector<std::string> companions;
    int device = 0;
    for (int i = 1; i < count; i++) {
        const std::string argument = arguments[i];
        const bool option = argument.compare(0, 2, "--") == 0, valued = i + 1 < count;
        if (argument == "--show" && count == 2) return show(), 0;
        if (argument == "--driver" && valued) driver = arguments[++i];
        else if (argument == "--companion" && valued) companions.push_back(arguments[++i]);
        else if (argument == "--device" && valued) device = std::atoi(arguments[++i]);
        else if (!option && i == 1) library = argument;
        else finish(2, "repro [LIBCUDNN] [--driver FILE] [--companion DIR]... [--device N]");
    }
    open_driver(driver);
    open_device(device);
    open_cudnn(library, companions);
    run_case();
}
