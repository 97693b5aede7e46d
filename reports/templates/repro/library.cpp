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
    const std::string major = std::to_string(asked ? dnn.cudnnGetCudartVersion() / 1000 : {{ cudart_major }});
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
{%- if plans_only %}
    const bool kind = reading ? KIND == Kind::reload : KIND == Kind::status;
    return kind && status == BUG_CODE && phase == BUG_PHASE;
{%- else %}
    return KIND == Kind::status && status == BUG_CODE && phase == BUG_PHASE;
{%- endif %}
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
{%- if not plans_only %}
    // A plan may launch several kernels. Where one has failed before cuDNN launches the next, cuDNN answers
    // with a status of its own, so the device is asked, too.
    if (KIND == Kind::device && launched) check_cuda(cuda.cuCtxSynchronize(), "cuCtxSynchronize");
{%- endif %}
    if (KIND == Kind::accepted && declined) finish(ABSENT, "what can't be computed was refused");
    if (phase < Phase::describe) finish(NOT_APPLICABLE, "cuDNN does not start here");
    if (phase < Phase::allocate && declined) finish(NOT_APPLICABLE, "this cuDNN declines the case");
    finish(OTHER, "a status that was not seen when the bug was found");
}
