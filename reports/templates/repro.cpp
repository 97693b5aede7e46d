// {{ title }}
//
// What it shows: {{ summary }}
//
{%- if plans_only %}
// One file of plain C++17. It opens cuDNN at run time, plans {{ convolutions }} through its backend (graph) API for a
// device that need not be there, and {{ checks }}. No GPU and no driver are needed.
//
{%- else %}
// One file of plain C++17. It opens the CUDA driver and cuDNN at run time, runs {{ convolutions }} through
// cuDNN's backend (graph) API and {{ checks }}.
//
{%- endif %}
// Build:  g++ -std=c++17 -O2 -pthread repro.cpp -o repro -ldl
{%- if plans_only %}
// Run:    ./repro [LIBCUDNN] [--driver FILE] [--companion DIR]...; run.sh brings stand-ins for a driver and a cuBLASLt
//         that are missing
{%- else %}
// Run:    ./repro [LIBCUDNN] [--driver FILE] [--companion DIR]... [--device N]
//         ./repro --show prints the inputs and the expected results, as bits, and needs no GPU
{%- endif %}
//         LIBCUDNN is libcudnn.so.N or its folder; without it CONVICT_CUDNN, then the loader's search.
//         --driver (or CONVICT_DRIVER) opens that file in place of libcuda.so.1; --companion names a folder
//         where libcublasLt and libnvrtc lie.
// Exit:   1 the bug is present    0 it is absent    2 wrong usage
//         77 can't be tried here: {{ "no library" if plans_only else "no GPU, no library" }}, or this cuDNN declines the case
//         3 something else failed: read the last line
{%- if signal_note %}
//         This bug ends or stalls the process itself; run.sh runs with a time limit and turns that into 1.
{%- endif %}

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
//   {{ case }}
//
// Seen with cuDNN {{ cudnn }} ({{ configuration }}) on {{ gpu }}, driver {{ driver }}.

enum class Kind { wrong, inexact, nondet, oob, input, status, device, crash, hang, accepted{{ ", workspace, reload" if plans_only }} };
enum class Phase {
    load, init, describe, heuristics, plan, allocate, execute, sync, readback, judge, teardown
};
enum class Op { {%- if family == "convolution" %} fprop, dgrad, wgrad {% else %} maxpool, avgpool, matmul, rmsnorm {% endif -%} };
enum class Fill { zero, one, int2, int1, tern, real, index, onehot, ramp, nan, sparse };
enum class Bytes { zero, ones, random };

// cudnnDataType_t
enum : int { CUDNN_DATA_FLOAT = 0, CUDNN_DATA_DOUBLE = 1, CUDNN_DATA_HALF = 2, CUDNN_DATA_BFLOAT16 = 9 };
{%- if integers %}
enum : int { CUDNN_DATA_INT8 = 3, CUDNN_DATA_INT32 = 4 };
{%- endif %}
// cudnnBackendHeurMode_t
enum : int { CUDNN_HEUR_MODE_B = 1, CUDNN_HEUR_MODE_FALLBACK = 2, CUDNN_HEUR_MODE_A = 3 };

{% if family == "pooling" -%}
// Dimensions: x and y n, c, d, h, w. There are no weights: what stands in their place tells the extents of the windows.
{%- elif family == "matmul" -%}
// Dimensions: x b, m, 1, 1, k; w b, k, 1, 1, n; y b, m, 1, 1, n.
{%- elif family == "rmsnorm" -%}
// Dimensions: x and y n, c, 1, 1, 1; w, the scale, 1, c, 1, 1, 1.
{%- else -%}
// Dimensions: image x n, c, d, h, w; filter w k, c/g, d, h, w; response y n, k, d, h, w.
{%- endif %}
struct Tensor { char name; int dtype; int64_t extent[5], stride[5]; };
struct Knob { int type; int64_t value; };
// Contents of the buffers before an execution, and how many executions in a row start from them.
struct Recipe {
    Fill fill; uint64_t seed; int output_byte; Bytes workspace; uint64_t workspace_seed; int times;
};

constexpr Kind KIND = Kind::{{ kind }};
constexpr Phase BUG_PHASE = Phase::{{ phase }};
constexpr int BUG_CODE = {{ code }};  // {{ code_note }}

constexpr Op OPERATION = Op::{{ operation }};
constexpr int AXES = {{ axes }};
constexpr Tensor TENSORS[3] = {
{%- for tensor in tensors %}
    {'{{ tensor.name }}', {{ tensor.dtype }}, { {{- tensor.extent -}} }, { {{- tensor.stride -}} }},
{%- endfor %}
};
{%- if vectors %}
// Channels that lie together as one element of x, w and y, whose extents and strides count such elements.
constexpr int64_t VECTORS[3] = { {{- vectors -}} };
{%- endif %}
constexpr int COMPUTE = {{ compute }};
constexpr int64_t GROUPS = {{ groups }};
// Along d, h, w.
constexpr int64_t PAD_BEFORE[3] = { {{- pad_before -}} };
constexpr int64_t PAD_AFTER[3] = { {{- pad_after -}} };
constexpr int64_t STRIDE[3] = { {{- stride -}} };
constexpr int64_t DILATION[3] = { {{- dilation -}} };
constexpr double ALPHA = {{ alpha }};{{ "  // one over the elements of a window" if operation == "avgpool" }}
constexpr double BETA = {{ beta }};

constexpr int64_t ENGINE = {{ engine }};  // global index; -1 takes a heuristic list instead
static const std::vector<Knob> KNOBS = { {{- knobs -}} };  // none: the engine's defaults
constexpr int HEURISTIC_MODE = {{ heuristic_mode }};
constexpr size_t HEURISTIC_RANK = {{ heuristic_rank }};
constexpr bool ASK_EVERY_HEURISTIC = {{ ask_every_heuristic }};
// Value of CUDNN_LIB_CONFIG, unless it is set: engine numbers belong to a configuration.
constexpr const char *LIBRARY_CONFIGURATION = "{{ library_configuration }}";

{%- if plans_only %}

// The device to plan for, as cuDNN writes and reads it.
static const char DEVICE_PROPERTIES[] = {{ device_properties }};
constexpr int64_t WORKSPACE_MAX = {{ workspace_max }};  // bytes; -1: no limit
{%- else %}

constexpr int64_t WORKSPACE_EXTRA = {{ workspace_extra }};  // bytes beyond what the plan asks for
constexpr int64_t WORKSPACE_MAX = {{ workspace_max }};  // bytes; -1: no limit
constexpr uint64_t WORKSPACE_ALIGNMENT = {{ workspace_alignment }};  // and no larger power of two
static const std::vector<Recipe> RECIPES = {
{%- for recipe in recipes %}
    {Fill::{{ recipe.fill }}, {{ recipe.seed }}u, 0x{{ recipe.output_byte }}, Bytes::{{ recipe.workspace -}}
    , {{ recipe.workspace_seed }}u, {{ recipe.times }}},
{%- endfor %}
};
{%- if kept %}
// The elements (linear, row-major) of x, w and y that keep their values, first and how many; every other one is 0.
// A count of 0 keeps all.
struct Kept { uint64_t first, count; };
constexpr Kept KEPT[3] = { {{- kept -}} };
{%- endif %}
constexpr int ROUNDS = {{ rounds }};  // through all recipes, in order; fewer where the bug shows before

// An output may be wrong by ACCUMULATE * (sum of absolute products) + RELATIVE * |expected| + ABSOLUTE; all 0
// asks for the exact value, rounded once to the output's type.
constexpr double ACCUMULATE = {{ accumulate }};
constexpr double RELATIVE = {{ relative }};
constexpr double ABSOLUTE = {{ absolute }};
// Outputs (linear, row-major) seen wrong before: checked even where the case is too large to check all.
static const std::vector<uint64_t> SEEN_WRONG = { {{- seen_wrong -}} };

{%- endif %}

constexpr int IMAGE = 0, FILTER = 1, RESPONSE = 2;
{%- if not plans_only %}
{%- if family == "convolution" %}
constexpr int OUTPUT = OPERATION == Op::fprop ? RESPONSE : OPERATION == Op::dgrad ? IMAGE : FILTER;
constexpr int PROBE = OPERATION == Op::dgrad ? RESPONSE : IMAGE;  // the image that the pass reads
{%- else %}  // x, w and y
constexpr int OUTPUT = RESPONSE;
constexpr int PROBE = IMAGE;
{%- endif %}
constexpr uint64_t GUARD = 1 << 20;  // bytes before and after every buffer
constexpr int SHOWN_MAX = 8;         // mismatches printed for one execution
{%- endif %}

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

{% if plans_only -%}
{% include "repro/symbols.cpp" %}

{% include "repro/library.cpp" %}

{% include "repro/graph.cpp" %}

{% include "repro/plans.cpp" %}
{%- else -%}
{% include "repro/values.cpp" %}

{% include "repro/reference.cpp" %}

{% include "repro/driver.cpp" %}

{% include "repro/library.cpp" %}

{% include "repro/graph.cpp" %}

{% include "repro/buffers.cpp" %}
{%- if history %}

{% include "repro/history.cpp" %}
{%- endif %}

{% include "repro/run.cpp" %}
{%- endif %}
