// [cuDNN 9.19.0] [dgrad] [unexpected status] [engine 25] on sm_90: i8 nchw n1 c1 k1 i1x1x1 f1x1x1
//
// What it shows: INTERNAL_ERROR (4000) in plan: status, though the library blames itself (in no list)
//
// One file of plain C++17. It opens cuDNN at run time, plans one convolution through its backend (graph) API for a
// device that need not be there, and waits for the status that should not come back. No GPU and no driver are needed.
//
// Build:  g++ -std=c++17 -O2 -pthread repro.cpp -o repro -ldl
// Run:    ./repro [LIBCUDNN] [--driver FILE] [--companion DIR]...; run.sh brings stand-ins for a driver and a cuBLASLt
//         that are missing
//         LIBCUDNN is libcudnn.so.N or its folder; without it CONVICT_CUDNN, then the loader's search.
//         --driver (or CONVICT_DRIVER) opens that file in place of libcuda.so.1; --companion names a folder
//         where libcublasLt and libnvrtc lie.
// Exit:   1 the bug is present    0 it is absent    2 wrong usage
//         77 can't be tried here: no library, or this cuDNN declines the case
//         3 something else failed: read the last line

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

// ---- The case ---------------------------------------------------------------------------------------------
//
//   dgrad i8 nchw n1 c1 k1 i1x1x1 f1x1x1 engine=25 set=9.19.0-full
//
// Seen with cuDNN 9.19.0 (full) on NVIDIA H200, driver unknown.

enum class Kind { wrong, inexact, nondet, oob, input, status, device, crash, hang, accepted, workspace, reload };
enum class Phase {
    load, init, describe, heuristics, plan, allocate, execute, sync, readback, judge, teardown
};
enum class Op { fprop, dgrad, wgrad };
enum class Fill { zero, one, int2, int1, tern, real, index, onehot, ramp, nan, sparse };
enum class Bytes { zero, ones, random };

// cudnnDataType_t
enum : int { CUDNN_DATA_FLOAT = 0, CUDNN_DATA_DOUBLE = 1, CUDNN_DATA_HALF = 2, CUDNN_DATA_BFLOAT16 = 9 };
enum : int { CUDNN_DATA_INT8 = 3, CUDNN_DATA_INT32 = 4 };
// cudnnBackendHeurMode_t
enum : int { CUDNN_HEUR_MODE_B = 1, CUDNN_HEUR_MODE_FALLBACK = 2, CUDNN_HEUR_MODE_A = 3 };

// Dimensions: image x n, c, d, h, w; filter w k, c/g, d, h, w; response y n, k, d, h, w.
struct Tensor { char name; int dtype; int64_t extent[5], stride[5]; };
struct Knob { int type; int64_t value; };
// Contents of the buffers before an execution, and how many executions in a row start from them.
struct Recipe {
    Fill fill; uint64_t seed; int output_byte; Bytes workspace; uint64_t workspace_seed; int times;
};

constexpr Kind KIND = Kind::status;
constexpr Phase BUG_PHASE = Phase::plan;
constexpr int BUG_CODE = 4000;  // cudnnStatus_t: INTERNAL_ERROR

constexpr Op OPERATION = Op::dgrad;
constexpr int AXES = 3;
constexpr Tensor TENSORS[3] = {
    {'x', CUDNN_DATA_INT8, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}},
    {'w', CUDNN_DATA_INT8, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}},
    {'y', CUDNN_DATA_INT8, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}},
};
constexpr int COMPUTE = CUDNN_DATA_INT32;
constexpr int64_t GROUPS = 1;
// Along d, h, w.
constexpr int64_t PAD_BEFORE[3] = {0, 0, 0};
constexpr int64_t PAD_AFTER[3] = {0, 0, 0};
constexpr int64_t STRIDE[3] = {1, 1, 1};
constexpr int64_t DILATION[3] = {1, 1, 1};
constexpr double ALPHA = 1e0;
constexpr double BETA = 0e0;

constexpr int64_t ENGINE = 25;  // global index; -1 takes a heuristic list instead
static const std::vector<Knob> KNOBS = {};  // none: the engine's defaults
constexpr int HEURISTIC_MODE = CUDNN_HEUR_MODE_A;
constexpr size_t HEURISTIC_RANK = 0;
constexpr bool ASK_EVERY_HEURISTIC = false;
// Value of CUDNN_LIB_CONFIG, unless it is set: engine numbers belong to a configuration.
constexpr const char *LIBRARY_CONFIGURATION = "FULL";

// The device to plan for, as cuDNN writes and reads it.
static const char DEVICE_PROPERTIES[] = "{\"cudaDeviceId\":0,\"deviceName\":\"NVIDIA H200\",\"deviceVer\":900,\"driverVer\":13000,\"isTccDriver\":0,\"l2CacheSize\":62914560,\"maxBlockSize\":[1024,1024,64],\"maxCtasPerSM\":32,\"maxGridSize\":[2147483647,65535,65535],\"maxRegistersPerSM\":65536,\"maxSharedMemoryPerBlock\":49152,\"maxSharedMemoryPerBlockOptin\":232448,\"maxThreadsPerBlock\":1024,\"maxThreadsPerSM\":2048,\"memClockRateKHz\":3201000,\"memoryBusWidth\":6144,\"multiProcessorCount\":132,\"pciDeviceId\":6,\"regsPerBlock\":65536,\"reservedSharedMemoryPerBlock\":1024,\"smClockRateKHz\":1980000,\"supportCoopLaunch\":1,\"totalGlobalMem\":150109880320,\"warpSize\":32}";
constexpr int64_t WORKSPACE_MAX = -1;  // bytes; -1: no limit

constexpr int IMAGE = 0, FILTER = 1, RESPONSE = 2;

// ---- The end ----------------------------------------------------------------------------------------------

enum : int { ABSENT = 0, PRESENT = 1, OTHER = 3, NOT_APPLICABLE = 77 };
static Phase phase = Phase::load;

static const char *phase_name() {
    static const char *names[] = {"load", "init", "describe", "heuristics", "plan", "allocate",
                                  "execute", "sync", "readback", "judge", "teardown"};
    return names[static_cast<int>(phase)];
}

// Ends without running exit handlers: after a device fault they may fail and change the exit code.
[[noreturn]] __attribute__((format(printf, 2, 3))) static void finish(int code, const char *format, ...) {
    const char *word = code == PRESENT ? "BUG PRESENT" : code == ABSENT ? "bug absent" : "usage";
    if (code == NOT_APPLICABLE) word = "not applicable";
    if (code == OTHER) word = "another failure";
    std::printf("%s: ", word);
    va_list arguments;
    va_start(arguments, format);
    std::vprintf(format, arguments);
    va_end(arguments);
    std::printf("\n");
    std::fflush(stdout);
    std::_Exit(code);
}

// ---- Symbols ----------------------------------------------------------------------------------------------

template <class Function> static void find_optional(void *library, Function *&function, const char *name) {
    function = reinterpret_cast<Function *>(dlsym(library, name));
}

template <class Function> static void find(void *library, Function *&function, const char *name) {
    find_optional(library, function, name);
    if (function == nullptr) finish(NOT_APPLICABLE, "the library has no %s", name);
}

static bool reading = false;  // a plan from its JSON

// ---- cuDNN ------------------------------------------------------------------------------------------------

static struct {
    size_t (*cudnnGetVersion)();
    const char *(*cudnnGetErrorString)(int);
    int (*cudnnCreate)(void **);
    int (*cudnnSetStream)(void *, void *);
    int (*cudnnDestroy)(void *);
    int (*cudnnBackendCreateDescriptor)(int, void **);
    int (*cudnnBackendDestroyDescriptor)(void *);
    int (*cudnnBackendSetAttribute)(void *, int, int, int64_t, const void *);
    int (*cudnnBackendGetAttribute)(void *, int, int, int64_t, int64_t *, void *);
    int (*cudnnBackendFinalize)(void *);
    int (*cudnnBackendExecute)(void *, void *, void *);
    void (*cudnnGetLastErrorString)(char *, size_t);  // from 9.0
    size_t (*cudnnGetCudartVersion)();                // only asked which companions fit
} dnn;

static std::string folder_of(const std::string &path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

static bool exists(const std::string &path) {
    struct stat facts;
    return stat(path.c_str(), &facts) == 0;
}

// Opens a library that cuDNN will ask for by name, so that its own look-up finds it. Returns the path opened.
static std::string preload(const std::string &name, const std::vector<std::string> &folders) {
    for (const std::string &folder : folders) {
        const std::string path = folder + "/" + name;
        if (exists(path) && dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return path;
    }
    return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr ? name : "";
}

static void open_companions(const std::string &home, std::vector<std::string> folders) {
    folders.push_back(home);
    for (const char *wheel : {"cublas", "cuda_nvrtc", "cu13", "cu12"}) {
        folders.push_back(home + "/../../" + wheel + "/lib");
    }
    const bool asked = dnn.cudnnGetCudartVersion != nullptr;
    const std::string major = std::to_string(asked ? dnn.cudnnGetCudartVersion() / 1000 : 13);
    folders.push_back("/usr/local/cuda-" + major + "/lib64");
    folders.push_back("/usr/local/cuda/lib64");
    const std::string cublas = "libcublasLt.so." + major, nvrtc = "libnvrtc.so." + major;
    if (preload(cublas, folders).empty()) {
        std::printf("note     %s was not found; name its folder with --companion\n", cublas.c_str());
        // The complete cuDNN aborts the process without it, which would look like a crash of the case.
        const bool complete = exists(home + "/libcudnn_engines_precompiled.so.9");
        if (complete) finish(NOT_APPLICABLE, "%s is missing", cublas.c_str());
    }
    const std::string opened = preload(nvrtc, folders);
    if (opened.empty()) {
        const char *note = "was not found; before cuDNN 9.22 run-time-compiled engines need it";
        std::printf("note     %s %s\n", nvrtc.c_str(), note);
        return;
    }
    for (int minor = 0; minor < 10; minor++) {
        preload("libnvrtc-builtins.so." + major + "." + std::to_string(minor), {folder_of(opened)});
    }
}

static void open_cudnn(std::string path, const std::vector<std::string> &companions) {
    phase = Phase::load;
    if (*LIBRARY_CONFIGURATION != 0) setenv("CUDNN_LIB_CONFIG", LIBRARY_CONFIGURATION, 0);
    struct stat facts;
    if (stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) {
        path += exists(path + "/libcudnn.so.9") ? "/libcudnn.so.9" : "/libcudnn.so.8";
    }
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) finish(NOT_APPLICABLE, "no cuDNN: %s", dlerror());
    find(library, dnn.cudnnGetVersion, "cudnnGetVersion");
    find(library, dnn.cudnnGetErrorString, "cudnnGetErrorString");
    find(library, dnn.cudnnCreate, "cudnnCreate");
    find(library, dnn.cudnnSetStream, "cudnnSetStream");
    find(library, dnn.cudnnDestroy, "cudnnDestroy");
    find(library, dnn.cudnnBackendCreateDescriptor, "cudnnBackendCreateDescriptor");
    find(library, dnn.cudnnBackendDestroyDescriptor, "cudnnBackendDestroyDescriptor");
    find(library, dnn.cudnnBackendSetAttribute, "cudnnBackendSetAttribute");
    find(library, dnn.cudnnBackendGetAttribute, "cudnnBackendGetAttribute");
    find(library, dnn.cudnnBackendFinalize, "cudnnBackendFinalize");
    find(library, dnn.cudnnBackendExecute, "cudnnBackendExecute");
    find_optional(library, dnn.cudnnGetLastErrorString, "cudnnGetLastErrorString");
    find_optional(library, dnn.cudnnGetCudartVersion, "cudnnGetCudartVersion");
    Dl_info facts_of;
    const bool known = dladdr(reinterpret_cast<void *>(dnn.cudnnGetVersion), &facts_of) != 0;
    open_companions(folder_of(known && facts_of.dli_fname ? facts_of.dli_fname : path), companions);
    std::printf("cuDNN    %zu\n", dnn.cudnnGetVersion());
}

// Libraries that are mapped now: a mixed set explains much.
static void print_files() {
    std::FILE *maps = std::fopen("/proc/self/maps", "r");
    if (maps == nullptr) return;
    std::vector<std::string> seen;
    char line[4352];
    while (std::fgets(line, sizeof line, maps) != nullptr) {
        const char *start = std::strchr(line, '/');
        if (start == nullptr) continue;
        const std::string path(start, std::strcspn(start, "\n"));
        const std::string name = path.substr(path.rfind('/') + 1);
        bool ours = false;
        for (const char *prefix : {"libcudnn", "libcublas", "libnvrtc", "libcuda.so", "libnvidia-"}) {
            ours = ours || name.compare(0, std::strlen(prefix), prefix) == 0;
        }
        if (!ours || std::find(seen.begin(), seen.end(), path) != seen.end()) continue;
        seen.push_back(path);
        std::printf("mapped   %s\n", path.c_str());
    }
    std::fclose(maps);
}

// True where a status says "I do not support this", by the numbers of cuDNN 9 or 8.
static bool is_refusal(int status) {
    if (dnn.cudnnGetVersion() >= 90000) return status >= 3000 && status < 4000;
    return status == 6 || status == 9 || status == 11;
}

// True where a status says that the caller asked for something impossible.
static bool is_bad_parameter(int status) {
    return dnn.cudnnGetVersion() >= 90000 ? status >= 2000 && status < 3000 : status == 3 || status == 5;
}

static bool is_the_bug(int status) {
    const bool kind = reading ? KIND == Kind::reload : KIND == Kind::status;
    return kind && status == BUG_CODE && phase == BUG_PHASE;
}

static void check(int status, const char *what) {
    if (status == 0) return;
    char words[2048] = "";
    if (dnn.cudnnGetLastErrorString != nullptr) dnn.cudnnGetLastErrorString(words, sizeof words);
    words[sizeof words - 1] = 0;
    std::printf("status   %s returned %d, %s, in phase %s: %s\n", what, status,
                dnn.cudnnGetErrorString(status), phase_name(), words);
    const bool declined = is_refusal(status) || is_bad_parameter(status);
    if (is_the_bug(status)) finish(PRESENT, "the status that was seen before");
    if (KIND == Kind::accepted && declined) finish(ABSENT, "what can't be computed was refused");
    if (phase < Phase::describe) finish(NOT_APPLICABLE, "cuDNN does not start here");
    if (phase < Phase::allocate && declined) finish(NOT_APPLICABLE, "this cuDNN declines the case");
    finish(OTHER, "a status that was not seen when the bug was found");
}

// cudnnBackendDescriptorType_t
enum : int {
    CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR = 1,
    CUDNN_BACKEND_ENGINE_DESCRIPTOR = 2,
    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR = 3,
    CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR = 4,
    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR = 5,
    CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR = 7,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR = 12,
    CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR = 15,
    CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR = 16,
    CUDNN_BACKEND_TENSOR_DESCRIPTOR = 17,
    CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR = 38,
};

// cudnnBackendAttributeType_t
enum : int {
    CUDNN_TYPE_HANDLE = 0, CUDNN_TYPE_DATA_TYPE = 1, CUDNN_TYPE_INT64 = 3, CUDNN_TYPE_FLOAT = 4,
    CUDNN_TYPE_DOUBLE = 5, CUDNN_TYPE_VOID_PTR = 6, CUDNN_TYPE_CONVOLUTION_MODE = 7, CUDNN_TYPE_HEUR_MODE = 8,
    CUDNN_TYPE_KNOB_TYPE = 9, CUDNN_TYPE_BACKEND_DESCRIPTOR = 15,
    CUDNN_TYPE_CHAR = 24,
};

// cudnnBackendAttributeName_t
enum : int {
    CUDNN_ATTR_CONVOLUTION_COMP_TYPE = 100,
    CUDNN_ATTR_CONVOLUTION_CONV_MODE = 101,
    CUDNN_ATTR_CONVOLUTION_DILATIONS = 102,
    CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES = 103,
    CUDNN_ATTR_CONVOLUTION_POST_PADDINGS = 104,
    CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS = 105,
    CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS = 106,
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
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA = 706,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA = 707,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC = 708,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX = 710,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W = 709,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY = 711,
    CUDNN_ATTR_OPERATIONGRAPH_HANDLE = 800,
    CUDNN_ATTR_OPERATIONGRAPH_OPS = 801,
    CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT = 900,
    CUDNN_ATTR_TENSOR_DATA_TYPE = 901,
    CUDNN_ATTR_TENSOR_DIMENSIONS = 902,
    CUDNN_ATTR_TENSOR_STRIDES = 903,
    CUDNN_ATTR_TENSOR_UNIQUE_ID = 906,
    CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS = 1000,
    CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS = 1001,
    CUDNN_ATTR_VARIANT_PACK_WORKSPACE = 1003,
    CUDNN_ATTR_ENGINE_OPERATION_GRAPH = 1300,
    CUDNN_ATTR_ENGINE_GLOBAL_INDEX = 1301,
    CUDNN_ATTR_ENGINEHEUR_DEVICEPROP = 204,
    CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE = 303,
    CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION = 405,
    CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP = 407,
    CUDNN_ATTR_ENGINE_DEVICEPROP = 1307,
    CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION = 2702,
};

enum : int { CUDNN_CROSS_CORRELATION = 1 };  // cudnnConvolutionMode_t

static std::vector<void *> descriptors;  // all that were made, oldest first
static void *device = nullptr;           // the properties to plan for

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

// Scales are doubles only where the sums are.
static void set_scale(void *descriptor, int name, double value) {
    const float single = static_cast<float>(value);
    if (COMPUTE == CUDNN_DATA_DOUBLE) set(descriptor, name, CUDNN_TYPE_DOUBLE, 1, &value);
    else set(descriptor, name, CUDNN_TYPE_FLOAT, 1, &single);
}

static void finalize(void *descriptor) {
    check(dnn.cudnnBackendFinalize(descriptor), "cudnnBackendFinalize");
}

// Outer and inner extent, then the axes that the case has.
static std::vector<int64_t> logical(const int64_t *five) {
    std::vector<int64_t> values = {five[0], five[1]};
    values.insert(values.end(), five + 5 - AXES, five + 5);
    return values;
}

static std::vector<int64_t> axes(const int64_t *three) { return {three + 3 - AXES, three + 3}; }

static void *make_tensor(int which) {
    const Tensor &tensor = TENSORS[which];
    void *descriptor = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    set_enum(descriptor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, tensor.dtype);
    set_int64(descriptor, CUDNN_ATTR_TENSOR_DIMENSIONS, logical(tensor.extent));
    set_int64(descriptor, CUDNN_ATTR_TENSOR_STRIDES, logical(tensor.stride));
    set_int64(descriptor, CUDNN_ATTR_TENSOR_UNIQUE_ID, {which + 1});
    set_int64(descriptor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16});
    finalize(descriptor);
    return descriptor;
}

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

static void *make_graph() {
    phase = Phase::describe;
    void *convolution = make_convolution();
    void *image = make_tensor(IMAGE), *filter = make_tensor(FILTER), *response = make_tensor(RESPONSE);
    void *operation = make(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
    set_scale(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, ALPHA);
    set_scale(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, BETA);
    set_descriptors(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, {convolution});
    set_descriptors(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, {image});
    set_descriptors(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, {filter});
    set_descriptors(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, {response});
    finalize(operation);
    void *graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
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
    set_descriptors(heuristic, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, {device});
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
    set_descriptors(engine, CUDNN_ATTR_ENGINE_DEVICEPROP, {device});
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
}

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
