// [cuDNN 9.19.0] [matmul] [wrong result] [engine 2] on sm_90: f16 m1 n2 k2
//
// What it shows: 2 of 2 outputs wrong (all zero), first at (b0 m0 n0): got 0, expected 3; sums are exact (largest sum of absolute products 3 <= 2^24); largest error 3.0000e0, 1.503e6 times the element's bound, 2 beyond any rounding; int2 data
//
// One file of plain C++17. It opens the CUDA driver and cuDNN at run time, runs one product of matrices through
// cuDNN's backend (graph) API and compares every result with its own reference in double precision.
//
// Build:  g++ -std=c++17 -O2 -pthread repro.cpp -o repro -ldl
// Run:    ./repro [LIBCUDNN] [--driver FILE] [--companion DIR]... [--device N]
//         ./repro --show prints the inputs and the expected results, as bits, and needs no GPU
//         LIBCUDNN is libcudnn.so.N or its folder; without it CONVICT_CUDNN, then the loader's search.
//         --driver (or CONVICT_DRIVER) opens that file in place of libcuda.so.1; --companion names a folder
//         where libcublasLt and libnvrtc lie.
// Exit:   1 the bug is present    0 it is absent    2 wrong usage
//         77 can't be tried here: no GPU, no library, or this cuDNN declines the case
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
//   matmul f16 m1 n2 k2 engine=2 set=9.19.0-full wsfill=ff fill=int2:1 out=nan
//
// Seen with cuDNN 9.19.0 (full) on NVIDIA H200, driver 580.159.04.

enum class Kind { wrong, inexact, nondet, oob, input, status, device, crash, hang, accepted };
enum class Phase {
    load, init, describe, heuristics, plan, allocate, execute, sync, readback, judge, teardown
};
enum class Op { maxpool, avgpool, matmul, rmsnorm };
enum class Fill { zero, one, int2, int1, tern, real, index, onehot, ramp, nan, sparse };
enum class Bytes { zero, ones, random };

// cudnnDataType_t
enum : int { CUDNN_DATA_FLOAT = 0, CUDNN_DATA_DOUBLE = 1, CUDNN_DATA_HALF = 2, CUDNN_DATA_BFLOAT16 = 9 };
// cudnnBackendHeurMode_t
enum : int { CUDNN_HEUR_MODE_B = 1, CUDNN_HEUR_MODE_FALLBACK = 2, CUDNN_HEUR_MODE_A = 3 };

// Dimensions: x b, m, 1, 1, k; w b, k, 1, 1, n; y b, m, 1, 1, n.
struct Tensor { char name; int dtype; int64_t extent[5], stride[5]; };
struct Knob { int type; int64_t value; };
// Contents of the buffers before an execution, and how many executions in a row start from them.
struct Recipe {
    Fill fill; uint64_t seed; int output_byte; Bytes workspace; uint64_t workspace_seed; int times;
};

constexpr Kind KIND = Kind::wrong;
constexpr Phase BUG_PHASE = Phase::judge;
constexpr int BUG_CODE = -1;  // no status or CUDA error is waited for

constexpr Op OPERATION = Op::matmul;
constexpr int AXES = 1;
constexpr Tensor TENSORS[3] = {
    {'x', CUDNN_DATA_HALF, {1, 1, 1, 1, 2}, {2, 2, 0, 0, 1}},
    {'w', CUDNN_DATA_HALF, {1, 2, 1, 1, 2}, {4, 2, 0, 0, 1}},
    {'y', CUDNN_DATA_HALF, {1, 1, 1, 1, 2}, {2, 2, 0, 0, 1}},
};
constexpr int COMPUTE = CUDNN_DATA_FLOAT;
constexpr int64_t GROUPS = 1;
// Along d, h, w.
constexpr int64_t PAD_BEFORE[3] = {0, 0, 0};
constexpr int64_t PAD_AFTER[3] = {0, 0, 0};
constexpr int64_t STRIDE[3] = {1, 1, 1};
constexpr int64_t DILATION[3] = {1, 1, 1};
constexpr double ALPHA = 1e0;
constexpr double BETA = 0e0;

constexpr int64_t ENGINE = 2;  // global index; -1 takes a heuristic list instead
static const std::vector<Knob> KNOBS = {};  // none: the engine's defaults
constexpr int HEURISTIC_MODE = CUDNN_HEUR_MODE_A;
constexpr size_t HEURISTIC_RANK = 0;
constexpr bool ASK_EVERY_HEURISTIC = false;
// Value of CUDNN_LIB_CONFIG, unless it is set: engine numbers belong to a configuration.
constexpr const char *LIBRARY_CONFIGURATION = "FULL";

constexpr int64_t WORKSPACE_EXTRA = 0;  // bytes beyond what the plan asks for
constexpr int64_t WORKSPACE_MAX = -1;  // bytes; -1: no limit
constexpr uint64_t WORKSPACE_ALIGNMENT = 256;  // and no larger power of two
static const std::vector<Recipe> RECIPES = {
    {Fill::int2, 1u, 0xFF, Bytes::ones, 0u, 1},
};
constexpr int ROUNDS = 10;  // through all recipes, in order; fewer where the bug shows before

// An output may be wrong by ACCUMULATE * (sum of absolute products) + RELATIVE * |expected| + ABSOLUTE; all 0
// asks for the exact value, rounded once to the output's type.
constexpr double ACCUMULATE = 6.454245522467011e-7;
constexpr double RELATIVE = 0e0;
constexpr double ABSOLUTE = 5.960464477539063e-8;
// Outputs (linear, row-major) seen wrong before: checked even where the case is too large to check all.
static const std::vector<uint64_t> SEEN_WRONG = {0, 1};

constexpr int IMAGE = 0, FILTER = 1, RESPONSE = 2;  // x, w and y
constexpr int OUTPUT = RESPONSE;
constexpr int PROBE = IMAGE;
constexpr uint64_t GUARD = 1 << 20;  // bytes before and after every buffer
constexpr int SHOWN_MAX = 8;         // mismatches printed for one execution

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

// ---- Values: the same bits as the run that found the bug --------------------------------------------------

using Contents = std::vector<uint8_t>;  // the bytes of a buffer

static uint64_t count_of(const Tensor &tensor) {
    uint64_t count = 1;
    for (int64_t extent : tensor.extent) count *= extent > 0 ? static_cast<uint64_t>(extent) : 0;
    return count;
}

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t word(uint64_t seed, int tensor, const int64_t *at) {
    uint64_t z = mix(seed ^ (0x9E3779B97F4A7C15u * (static_cast<uint64_t>(tensor) + 1)));
    for (int i = 0; i < 5; i++) z = mix(z ^ (static_cast<uint64_t>(at[i]) * 0xD1342543DE82EF95u));
    return z;
}

static uint64_t stream_word(uint64_t seed, uint64_t index) {
    return mix(seed ^ (0x9E3779B97F4A7C15u * (index + 1)));
}

static double int2(uint64_t bits) {
    const double values[] = {-2, -1, 1, 2};
    return values[bits >> 62];
}

static double ramp(uint64_t linear) { return static_cast<double>(linear % 257) - 128; }

static double index_value(const int64_t *at) {
    return static_cast<double>((31 * at[0] + 17 * at[1] + 11 * at[2] + 7 * at[3] + 3 * at[4]) % 61) - 30;
}

// Value of an element before it is rounded to its type. Some families single out elements of one tensor only.
static double raw_value(const Recipe &recipe, int tensor, const int64_t *at, uint64_t linear) {
    const uint64_t bits = word(recipe.seed, tensor, at);
    const bool probe = tensor == PROBE, picked = linear == mix(recipe.seed) % count_of(TENSORS[tensor]);
    switch (recipe.fill) {
    case Fill::zero: return 0;
    case Fill::one: return 1;
    case Fill::int2: return int2(bits);
    case Fill::int1: return bits >> 63 ? 1 : -1;
    case Fill::tern: return static_cast<double>(((bits >> 32) * 3) >> 32) - 1;
    case Fill::real: return static_cast<double>(bits >> 40) / 8388608 - 1;
    case Fill::index: return index_value(at);
    case Fill::onehot: return probe ? picked : ramp(linear);
    case Fill::ramp: return probe ? ramp(linear) : int2(bits);
    case Fill::nan: return probe && picked ? std::nan("") : int2(bits);
    case Fill::sparse: return probe && bits % 8 != 0 ? 0 : int2(bits);
    }
    return 0;
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Rounds to nearest, ties to even, into a format of so many exponent and mantissa bits.
static uint64_t narrow(double value, int exponent, int mantissa) {
    const uint64_t bits = bits_of(std::fabs(value)), infinite = ((1ull << exponent) - 1) << mantissa;
    if (std::isnan(value)) return infinite | (1ull << (mantissa - 1));
    const uint64_t sign = static_cast<uint64_t>(std::signbit(value)) << (exponent + mantissa);
    const int biased = static_cast<int>(bits >> 52) - 1023 + (1 << (exponent - 1)) - 1;
    if (biased >= (1 << exponent) - 1) return sign | infinite;
    const int shift = 52 - mantissa + (biased > 0 ? 0 : 1 - biased);
    if (shift > 53) return sign;
    const uint64_t significand = (bits & ((1ull << 52) - 1)) | 1ull << 52, half = 1ull << (shift - 1);
    const uint64_t kept = significand >> shift, rest = significand & (2 * half - 1);
    const uint64_t rounded = kept + (rest > half || (rest == half && (kept & 1)));
    return sign | (rounded + (biased > 0 ? static_cast<uint64_t>(biased - 1) << mantissa : 0));
}

static uint64_t encode(int dtype, double value) {
    switch (dtype) {
    case CUDNN_DATA_HALF: return narrow(value, 5, 10);
    case CUDNN_DATA_BFLOAT16: return narrow(value, 8, 7);
    case CUDNN_DATA_FLOAT: return narrow(value, 8, 23);
    default: return std::isnan(value) ? 0x7FF8000000000000u : bits_of(value);
    }
}

static double widen(uint64_t bits, int exponent, int mantissa) {
    const int largest = (1 << exponent) - 1, biased = static_cast<int>(bits >> mantissa) & largest;
    const uint64_t fraction = bits & ((1ull << mantissa) - 1), leading = biased ? 1ull << mantissa : 0;
    const int scale = std::max(biased, 1) - largest / 2 - mantissa;
    double magnitude = std::ldexp(static_cast<double>(fraction | leading), scale);
    if (biased == largest) magnitude = fraction ? std::nan("") : HUGE_VAL;
    return bits >> (exponent + mantissa) & 1 ? -magnitude : magnitude;
}

static double decode(int dtype, uint64_t bits) {
    switch (dtype) {
    case CUDNN_DATA_HALF: return widen(bits, 5, 10);
    case CUDNN_DATA_BFLOAT16: return widen(bits, 8, 7);
    case CUDNN_DATA_FLOAT: return widen(bits, 8, 23);
    default: return widen(bits, 11, 52);
    }
}

static uint64_t width_of(const Tensor &tensor) {
    return tensor.dtype == CUDNN_DATA_DOUBLE ? 8 : tensor.dtype == CUDNN_DATA_FLOAT ? 4 : 2;
}

static void coordinates(const Tensor &tensor, uint64_t linear, int64_t *at) {
    for (int i = 4; i >= 0; i--) {
        at[i] = static_cast<int64_t>(linear % static_cast<uint64_t>(tensor.extent[i]));
        linear /= static_cast<uint64_t>(tensor.extent[i]);
    }
}

static int64_t offset(const Tensor &tensor, const int64_t *at) {
    int64_t sum = 0;
    for (int i = 0; i < 5; i++) sum += at[i] * tensor.stride[i];
    return sum;
}

static int64_t offset_at(const Tensor &tensor, uint64_t linear) {
    int64_t at[5];
    coordinates(tensor, linear, at);
    return offset(tensor, at);
}

static uint64_t load_bits(const Tensor &tensor, const Contents &bytes, int64_t element) {
    uint64_t bits = 0;
    std::memcpy(&bits, &bytes[static_cast<uint64_t>(element) * width_of(tensor)], width_of(tensor));
    return bits;
}

// Runs work(first, last) over parts of [0, count) on every core.
template <class Work> static void in_parallel(uint64_t count, const Work &work) {
    const uint64_t cores = std::max(1u, std::thread::hardware_concurrency());
    const uint64_t parts = std::max<uint64_t>(1, std::min<uint64_t>(cores, count / 256));
    std::vector<std::thread> threads;
    for (uint64_t part = 0; part < parts; part++) {
        const uint64_t first = count * part / parts, last = count * (part + 1) / parts;
        try {
            threads.emplace_back([&work, first, last] { work(first, last); });
        } catch (const std::system_error &) {
            work(first, last);  // no more threads, or built without -pthread on an old libc
        }
    }
    for (std::thread &thread : threads) thread.join();
}

static unsigned long long big(uint64_t value) { return value; }  // what %llu prints

// The bytes of a tensor as the recipe fills it. Tensors are packed: every byte belongs to an element.
static Contents filled(const Recipe &recipe, int which) {
    const Tensor &tensor = TENSORS[which];
    const uint64_t count = count_of(tensor), width = width_of(tensor);
    Contents bytes(count * width);
    in_parallel(count, [&](uint64_t first, uint64_t last) {
        for (uint64_t linear = first; linear < last; linear++) {
            int64_t at[5];
            coordinates(tensor, linear, at);
            const uint64_t bits = encode(tensor.dtype, raw_value(recipe, which, at, linear));
            std::memcpy(&bytes[static_cast<uint64_t>(offset(tensor, at)) * width], &bits, width);
        }
    });
    return bytes;
}

static std::vector<double> decoded(const Tensor &tensor, const Contents &bytes) {
    std::vector<double> values(count_of(tensor));
    for (size_t i = 0; i < values.size(); i++) {
        values[i] = decode(tensor.dtype, load_bits(tensor, bytes, static_cast<int64_t>(i)));
    }
    return values;
}

// ---- Reference: the product of matrices by its definition, in double ----------------------------------------------

struct Sum {
    double value = 0, absolute = 0;
    void add(double product) { value += product; absolute += std::fabs(product); }
};

using Values = std::vector<double>;

static double element(int which, const Values *values, std::initializer_list<int64_t> at) {
    return values[which][static_cast<uint64_t>(offset(TENSORS[which], at.begin()))];
}

// y[b][m][n] = sum over k of x[b][m][k] * w[b][k][n]
static Sum sum_at(const int64_t *at, const Values *values) {
    Sum sum;
    for (int64_t k = 0; k < TENSORS[FILTER].extent[1]; k++) {
        sum.add(element(IMAGE, values, {at[0], at[1], 0, 0, k}) * element(FILTER, values, {at[0], k, 0, 0, at[4]}));
    }
    return sum;
}

// What the case should give, at chosen outputs.
struct Reference {
    Fill fill;
    uint64_t seed;
    std::vector<uint64_t> outputs;
    std::vector<Sum> sums;
};

// Every output, or an even sample where that would take minutes on a CPU.
static std::vector<uint64_t> chosen_outputs() {
    const uint64_t count = count_of(TENSORS[OUTPUT]);
    const double per_response = static_cast<double>(TENSORS[FILTER].extent[1]);
    const double products = static_cast<double>(count_of(TENSORS[RESPONSE])) * per_response;
    const uint64_t step = 1 + static_cast<uint64_t>(products / 2e10);
    std::vector<uint64_t> outputs;
    for (uint64_t linear = 0; linear < count; linear += step) outputs.push_back(linear);
    for (uint64_t linear : SEEN_WRONG) {
        if (linear < count && linear % step != 0) outputs.push_back(linear);
    }
    std::sort(outputs.begin(), outputs.end());
    return outputs;
}

static Reference reference_of(const Recipe &recipe, const Contents *inputs) {
    Values values[3];
    for (int which = 0; which < 3; which++) {
        if (which != OUTPUT) values[which] = decoded(TENSORS[which], inputs[which]);
    }
    Reference reference = {recipe.fill, recipe.seed, chosen_outputs(), {}};
    reference.sums.resize(reference.outputs.size());
    const Tensor &output = TENSORS[OUTPUT];
    in_parallel(reference.outputs.size(), [&](uint64_t first, uint64_t last) {
        for (uint64_t i = first; i < last; i++) {
            int64_t at[5];
            coordinates(output, reference.outputs[i], at);
            Sum sum = sum_at(at, values);
            sum.value *= ALPHA;
            sum.absolute *= std::fabs(ALPHA);
            if (BETA != 0) {
                const double raw = raw_value(recipe, OUTPUT, at, reference.outputs[i]);
                sum.add(BETA * decode(output.dtype, encode(output.dtype, raw)));
            }
            reference.sums[i] = sum;
        }
    });
    return reference;
}

// ---- The CUDA driver --------------------------------------------------------------------------------------

using DevicePointer = unsigned long long;
enum : unsigned { CU_STREAM_NON_BLOCKING = 1 };  // CUstream_flags

static struct {
    int (*cuInit)(unsigned);
    int (*cuDriverGetVersion)(int *);
    int (*cuDeviceGet)(int *, int);
    int (*cuDeviceGetCount)(int *);
    int (*cuDeviceGetName)(char *, int, int);
    int (*cuDevicePrimaryCtxRetain)(void **, int);
    int (*cuCtxSetCurrent)(void *);
    int (*cuStreamCreate)(void **, unsigned);
    int (*cuMemAlloc)(DevicePointer *, size_t);
    int (*cuMemcpyHtoD)(DevicePointer, const void *, size_t);
    int (*cuMemcpyDtoH)(void *, DevicePointer, size_t);
    int (*cuMemsetD8)(DevicePointer, unsigned char, size_t);
    int (*cuCtxSynchronize)();
    int (*cuGetErrorName)(int, const char **);
} cuda;

template <class Function> static void find_optional(void *library, Function *&function, const char *name) {
    function = reinterpret_cast<Function *>(dlsym(library, name));
}

template <class Function> static void find(void *library, Function *&function, const char *name) {
    find_optional(library, function, name);
    if (function == nullptr) finish(NOT_APPLICABLE, "the library has no %s", name);
}

static void open_driver(const std::string &path) {
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) finish(NOT_APPLICABLE, "no CUDA driver: %s", dlerror());
    find(library, cuda.cuInit, "cuInit");
    find(library, cuda.cuDriverGetVersion, "cuDriverGetVersion");
    find(library, cuda.cuDeviceGet, "cuDeviceGet");
    find(library, cuda.cuDeviceGetCount, "cuDeviceGetCount");
    find(library, cuda.cuDeviceGetName, "cuDeviceGetName");
    find(library, cuda.cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
    find(library, cuda.cuCtxSetCurrent, "cuCtxSetCurrent");
    find(library, cuda.cuStreamCreate, "cuStreamCreate");
    find(library, cuda.cuMemAlloc, "cuMemAlloc_v2");
    find(library, cuda.cuMemcpyHtoD, "cuMemcpyHtoD_v2");
    find(library, cuda.cuMemcpyDtoH, "cuMemcpyDtoH_v2");
    find(library, cuda.cuMemsetD8, "cuMemsetD8_v2");
    find(library, cuda.cuCtxSynchronize, "cuCtxSynchronize");
    find(library, cuda.cuGetErrorName, "cuGetErrorName");
}

static bool launched = false;  // the plan, at least once

// Judges a CUresult. An error from the first launch on belongs to the plan: nothing else runs on the device.
static void check_cuda(int result, const char *what) {
    if (result == 0) return;
    const char *name = nullptr;
    if (cuda.cuGetErrorName(result, &name) != 0 || name == nullptr) name = "unknown";
    if (!launched) finish(NOT_APPLICABLE, "%s returned %s (%d)", what, name, result);
    if (KIND == Kind::device) {
        finish(PRESENT, "%s returned %s (%d) after the plan was launched%s", what, name, result,
               result == BUG_CODE ? "" : "; another error was seen when the bug was found");
    }
    finish(OTHER, "%s returned %s (%d) after the plan was launched", what, name, result);
}

static void open_device(int ordinal) {
    phase = Phase::init;
    check_cuda(cuda.cuInit(0), "cuInit");
    int version = 0, count = 0, device = 0;
    check_cuda(cuda.cuDriverGetVersion(&version), "cuDriverGetVersion");
    check_cuda(cuda.cuDeviceGetCount(&count), "cuDeviceGetCount");
    if (ordinal >= count) finish(NOT_APPLICABLE, "no device %d: %d visible", ordinal, count);
    check_cuda(cuda.cuDeviceGet(&device, ordinal), "cuDeviceGet");
    char name[256] = "";
    check_cuda(cuda.cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
    void *context = nullptr;  // the primary one, which cuDNN's own CUDA runtime uses
    check_cuda(cuda.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check_cuda(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    std::printf("device   %s, driver for CUDA %d.%d\n", name, version / 1000, version % 1000 / 10);
}

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
    return KIND == Kind::status && status == BUG_CODE && phase == BUG_PHASE;
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
    // A plan may launch several kernels. Where one has failed before cuDNN launches the next, cuDNN answers
    // with a status of its own, so the device is asked, too.
    if (KIND == Kind::device && launched) check_cuda(cuda.cuCtxSynchronize(), "cuCtxSynchronize");
    if (KIND == Kind::accepted && declined) finish(ABSENT, "what can't be computed was refused");
    if (phase < Phase::describe) finish(NOT_APPLICABLE, "cuDNN does not start here");
    if (phase < Phase::allocate && declined) finish(NOT_APPLICABLE, "this cuDNN declines the case");
    finish(OTHER, "a status that was not seen when the bug was found");
}

// cudnnBackendDescriptorType_t
enum : int {
    CUDNN_BACKEND_ENGINE_DESCRIPTOR = 2,
    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR = 3,
    CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR = 4,
    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR = 5,
    CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR = 7,
    CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR = 15,
    CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR = 16,
    CUDNN_BACKEND_TENSOR_DESCRIPTOR = 17,
    CUDNN_BACKEND_MATMUL_DESCRIPTOR = 18,
    CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR = 19,
};

// cudnnBackendAttributeType_t
enum : int {
    CUDNN_TYPE_HANDLE = 0, CUDNN_TYPE_DATA_TYPE = 1, CUDNN_TYPE_INT64 = 3, CUDNN_TYPE_FLOAT = 4,
    CUDNN_TYPE_DOUBLE = 5, CUDNN_TYPE_VOID_PTR = 6, CUDNN_TYPE_CONVOLUTION_MODE = 7, CUDNN_TYPE_HEUR_MODE = 8,
    CUDNN_TYPE_KNOB_TYPE = 9, CUDNN_TYPE_BACKEND_DESCRIPTOR = 15,
};

// cudnnBackendAttributeName_t
enum : int {
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
    CUDNN_ATTR_MATMUL_COMP_TYPE = 1500,
    CUDNN_ATTR_OPERATION_MATMUL_ADESC = 1520,
    CUDNN_ATTR_OPERATION_MATMUL_BDESC = 1521,
    CUDNN_ATTR_OPERATION_MATMUL_CDESC = 1522,
    CUDNN_ATTR_OPERATION_MATMUL_DESC = 1523,
};

static std::vector<void *> descriptors;  // all that were made, oldest first

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

static void finalize(void *descriptor) {
    check(dnn.cudnnBackendFinalize(descriptor), "cudnnBackendFinalize");
}

// Outer and inner extent, then the axes that the case has.
static std::vector<int64_t> logical(const int64_t *five) {
    std::vector<int64_t> values = {five[0], five[1]};
    values.insert(values.end(), five + 5 - AXES, five + 5);
    return values;
}

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

// What is no convolution, as descriptors: its tensors are finalized before.

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

static void *make_graph(void *handle) {
    phase = Phase::describe;
    void *x = make_tensor(IMAGE), *w = make_tensor(FILTER), *y = make_tensor(RESPONSE);
    void *operation = make_matmul(COMPUTE, x, w, y);
    void *graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
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

// ---- Buffers between guards -------------------------------------------------------------------------------

struct Buffer { const char *name; DevicePointer pointer; uint64_t bytes; };

// The address is a multiple of the alignment and of no larger power of two.
static Buffer allocate(const char *name, uint64_t bytes, uint64_t alignment) {
    DevicePointer base = 0;
    check_cuda(cuda.cuMemAlloc(&base, bytes + 2 * GUARD + 2 * alignment + 512), "cuMemAlloc");
    DevicePointer pointer = (base + GUARD + alignment - 1) / alignment * alignment;
    if (pointer % (2 * alignment) == 0) pointer += alignment;
    return {name, pointer, bytes};
}

static Contents stream_bytes(uint64_t seed, uint64_t bytes) {
    Contents stream(bytes);
    for (uint64_t i = 0; i < bytes; i += 8) {
        const uint64_t eight = stream_word(seed, i / 8);  // least significant byte first
        std::memcpy(&stream[i], &eight, std::min<uint64_t>(8, bytes - i));
    }
    return stream;
}

// Guard patterns take turns, so that a write that equals one of them shows against the other.
static Contents guard_pattern(int execution, uint64_t zone) {
    if (execution % 2 == 0) return Contents(GUARD, 0xFF);
    return stream_bytes(0x677561726473u + zone, GUARD);
}

static void upload(DevicePointer to, const Contents &bytes) {
    if (!bytes.empty()) check_cuda(cuda.cuMemcpyHtoD(to, bytes.data(), bytes.size()), "cuMemcpyHtoD");
}

static Contents download(DevicePointer from, uint64_t count) {
    Contents bytes(count);
    if (count != 0) check_cuda(cuda.cuMemcpyDtoH(bytes.data(), from, count), "cuMemcpyDtoH");
    return bytes;
}

static void paint_guards(const std::vector<Buffer> &buffers, int execution) {
    for (size_t i = 0; i < buffers.size(); i++) {
        upload(buffers[i].pointer - GUARD, guard_pattern(execution, 2 * i));
        upload(buffers[i].pointer + buffers[i].bytes, guard_pattern(execution, 2 * i + 1));
    }
}

// Bytes changed outside the buffers.
static uint64_t check_guards(const std::vector<Buffer> &buffers, int execution) {
    uint64_t total = 0;
    for (size_t zone = 0; zone < 2 * buffers.size(); zone++) {
        const Buffer &buffer = buffers[zone / 2];
        const bool after = zone % 2 == 1;
        const DevicePointer start = after ? buffer.pointer + buffer.bytes : buffer.pointer - GUARD;
        const Contents expected = guard_pattern(execution, zone), got = download(start, GUARD);
        if (got == expected) continue;
        uint64_t changed = 0, nearest = GUARD;
        for (uint64_t i = 0; i < GUARD; i++) {
            if (got[i] == expected[i]) continue;
            changed++;
            nearest = std::min(nearest, after ? i : GUARD - 1 - i);
        }
        total += changed;
        std::printf("guard    %llu bytes changed %s %s, the nearest %llu bytes off its edge\n", big(changed),
                    after ? "after" : "before", buffer.name, big(nearest));
    }
    return total;
}

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
    void *pointers[3], *workspace = nullptr;
    for (int which = 0; which < 3; which++) {
        pointers[which] = reinterpret_cast<void *>(run.buffers[which].pointer);
    }
    if (run.buffers[3].bytes != 0) workspace = reinterpret_cast<void *>(run.buffers[3].pointer);
    void *pack = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    set_int64(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {1, 2, 3});
    set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers);
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
    static const char *names[5] = {"b", "m", nullptr, nullptr, "n"};
    int64_t at[5];
    coordinates(TENSORS[OUTPUT], linear, at);
    std::string text;
    for (int i = 0; i < 5; i++) {
        if (names[i] != nullptr) text += (text.empty() ? "(" : " ") + std::string(names[i]) + std::to_string(at[i]);
    }
    return text + ")";
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
        if (which == OUTPUT) continue;
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
    void *graph = make_graph(run.handle);
    uint64_t workspace_bytes = 0;
    run.plan = make_plan(run.handle, make_configuration(graph), &workspace_bytes);
    print_files();
    const bool planned = KIND == Kind::accepted && BUG_PHASE <= Phase::plan;
    if (planned) finish(PRESENT, "what had to be refused got a plan");
    phase = Phase::allocate;
    static const char *names[3] = {"x", "w", "y"};
    for (int which = 0; which < 3; which++) {
        const uint64_t bytes = count_of(TENSORS[which]) * width_of(TENSORS[which]);
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
