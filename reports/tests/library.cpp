// A CUDA driver and a cuDNN in one file, in host memory, that take every convolution and compute none: they leave
// the output alone. FAULT names what goes wrong besides. Knows the calls that reproducers make, and nothing else.
#include <cstdint>
#include <cstdlib>
#include <cstring>

static int sync_result = 0;
static char *tensors[3];
static int output = 0;  // position of the tensor that the pass writes

static bool fault(const char *name) {
    const char *chosen = std::getenv("FAULT");
    return chosen != nullptr && std::strcmp(chosen, name) == 0;
}

static unsigned char *memory(unsigned long long pointer) { return reinterpret_cast<unsigned char *>(pointer); }

extern "C" {

int cuInit(unsigned) { return fault("no_device") ? 100 : 0; }
int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuDeviceGetName(char *name, int bytes, int) { return std::strncpy(name, "fake", static_cast<size_t>(bytes)), 0; }
int cuDevicePrimaryCtxRetain(void **context, int) { return *context = tensors, 0; }
int cuCtxSetCurrent(void *) { return 0; }
int cuStreamCreate(void **stream, unsigned) { return *stream = tensors, 0; }
int cuMemAlloc_v2(unsigned long long *pointer, size_t bytes) {
    return *pointer = reinterpret_cast<unsigned long long>(std::malloc(bytes)), 0;
}
int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes) {
    return std::memcpy(memory(to), from, bytes), 0;
}
int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) {
    return std::memcpy(to, memory(from), bytes), 0;
}
int cuMemsetD8_v2(unsigned long long to, unsigned char value, size_t bytes) {
    return std::memset(memory(to), value, bytes), 0;
}
int cuCtxSynchronize() { return sync_result; }
int cuGetErrorName(int, const char **name) { return *name = "CUDA_ERROR_OF_THE_FAKE", 0; }

size_t cudnnGetVersion() { return 91900; }
const char *cudnnGetErrorString(int) { return "CUDNN_STATUS_OF_THE_FAKE"; }
int cudnnCreate(void **handle) { return *handle = tensors, 0; }
int cudnnSetStream(void *, void *) { return 0; }
int cudnnDestroy(void *) { return 0; }

int cudnnBackendCreateDescriptor(int type, void **descriptor) {
    if (type == 10) output = 2;
    if (type == 11) output = 1;
    return *descriptor = new int(type), 0;
}
int cudnnBackendDestroyDescriptor(void *descriptor) {
    delete static_cast<int *>(descriptor);
    return 0;
}
int cudnnBackendSetAttribute(void *, int name, int, int64_t count, const void *elements) {
    if (name == 1001 && count == 3) std::memcpy(tensors, elements, sizeof tensors);
    return 0;
}
int cudnnBackendGetAttribute(void *, int name, int, int64_t, int64_t *count, void *elements) {
    if (name == 402) std::memset(elements, 0, sizeof(int64_t));
    return *count = name == 202 ? 3 : 1, 0;
}

// Types: 2 engine, 4 heuristics,  5 plan, 15 operation graph.
int cudnnBackendFinalize(void *descriptor) {
    const int type = *static_cast<int *>(descriptor);
    if (fault("crash") && type == 4) std::abort();
    if (fault("refuse") && type == 2) return 3000;
    if (fault("status") && type == 5) return 4000;
    if (fault("other_status") && type == 5) return 4002;
    return fault("bad_parameter") && type == 15 ? 2000 : 0;
}

int cudnnBackendExecute(void *, void *, void *) {
    static char calls = 0;  // this one included
    calls++;
    if (fault("before")) tensors[output][-1] ^= 1;
    if (fault("input")) tensors[(output + 1) % 3][0] ^= 1;
    if (fault("nondet")) tensors[output][0] = calls;
    if (fault("device")) sync_result = 700;
    if (fault("noticed_device")) return sync_result = 700, 5003;
    if (fault("fourth_device") && calls == 4) sync_result = 700;
    while (fault("hang")) {}
    return 0;
}

}
