// ---- Planning ---------------------------------------------------------------------------------------------

static void make_device() {
    phase = Phase::init;
    device = make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    const int64_t length = sizeof DEVICE_PROPERTIES;
    set(device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, length, DEVICE_PROPERTIES);
    finalize(device);
}

static long long workspace_of(void *plan) {
    int64_t bytes = 0;
    get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &bytes);
    return bytes;
}

static void *make_plan(void *configuration) {
    void *plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set_descriptors(plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, {device});
    set_descriptors(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, {configuration});
    finalize(plan);
    return plan;
}

static std::string json_of(void *plan) {
    const int name = CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION;
    const int64_t length = get(plan, name, CUDNN_TYPE_CHAR, 0, nullptr);
    std::vector<char> text(static_cast<size_t>(std::max<int64_t>(length, 0)) + 1, 0);
    get(plan, name, CUDNN_TYPE_CHAR, length, text.data());
    return text.data();
}

static void *read_plan(const std::string &json) {
    void *plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set_descriptors(plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, {device});
    const int64_t length = static_cast<int64_t>(json.size()) + 1;
    set(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, length, json.c_str());
    finalize(plan);
    return plan;
}

[[noreturn]] static void run_case() {
{%- if history %}
    finish(NOT_APPLICABLE, "it shows only after other plans in the same process; convict check repeats those");
{%- endif %}
    make_device();
    void *configuration = make_configuration(make_graph());
    int64_t announced = 0, count = 0;
    const int name = CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE;  // from 9.2
    const bool told =
        dnn.cudnnBackendGetAttribute(configuration, name, CUDNN_TYPE_INT64, 1, &count, &announced) == 0;
    void *plan = make_plan(configuration);
    print_files();
    if (KIND == Kind::accepted) finish(PRESENT, "what had to be refused got a plan");
    const long long asked = workspace_of(plan);
    if (WORKSPACE_MAX >= 0 && asked > WORKSPACE_MAX) finish(NOT_APPLICABLE, "the plan asks for too much workspace");
    std::printf("plan     asks for %lld bytes of workspace\n", asked);
    if (told) std::printf("plan     its configuration announces %lld\n", static_cast<long long>(announced));
    const bool contradicts = asked < 0 || (told && announced != asked);
    if (KIND == Kind::workspace && contradicts) finish(PRESENT, "the two sizes of the workspace contradict");
    reading = true;
    const std::string json = json_of(plan);
    void *again = read_plan(json);
    std::printf("plan     read back from its JSON it asks for %lld\n", workspace_of(again));
    if (KIND == Kind::workspace && workspace_of(again) != asked) finish(PRESENT, "another size after its JSON");
    if (KIND == Kind::reload && json_of(again) != json) finish(PRESENT, "another JSON after its JSON");
    finish(ABSENT, "the plan was built, and is the same after its JSON");
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
    for (int i = 1; i < count; i++) {
        const std::string argument = arguments[i];
        const bool option = argument.compare(0, 2, "--") == 0, valued = i + 1 < count;
        if (argument == "--driver" && valued) driver = arguments[++i];
        else if (argument == "--companion" && valued) companions.push_back(arguments[++i]);
        else if (argument == "--device" && valued) i++;  // none is used
        else if (!option && i == 1) library = argument;
        else finish(2, "repro [LIBCUDNN] [--driver FILE] [--companion DIR]...");
    }
    // Where there is none, engines that compile at run time are missing, and 9.28 does not plan at all.
    if (dlopen(driver.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) std::printf("note     %s\n", dlerror());
    open_cudnn(library, companions);
    run_case();
}
