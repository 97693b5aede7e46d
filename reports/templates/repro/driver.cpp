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
