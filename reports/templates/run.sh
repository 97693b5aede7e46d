#!/bin/sh
# Builds repro.cpp and runs it under a time limit. Arguments go to the program: ./run.sh [LIBCUDNN] [...]
# CXX chooses the compiler, CONVICT_TIMEOUT the limit in seconds.
# Exit: 1 the bug is present, 0 it is absent, 77 it can't be tried here, 3 something else failed, 2 usage.
set -u

stops_process={{ stops_process }}  # yes: this bug shows as a signal or as a call that never returns
limit=${CONVICT_TIMEOUT:-{{ limit_seconds }}}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 2
build=$(mktemp -d) || exit 2
trap 'rm -rf -- "$build"' EXIT
trap 'exit 3' HUP INT TERM

if ! "${CXX:-g++}" -std=c++17 -O2 -pthread "$here/repro.cpp" -o "$build/repro" -ldl; then
    echo "not applicable: repro.cpp was not compiled; CXX names a C++17 compiler"
    exit 77
fi
if ! command -v timeout > /dev/null; then
    echo "not applicable: timeout(1) is missing"
    exit 77
fi
{%- if plans_only %}

# Planning opens a driver and cuBLASLt and uses neither: where one is missing, a stand-in that refuses its calls does.
stand_in() {
    ldconfig -p 2> /dev/null | grep -q "$1" && return
    mkdir -p "$build/stand-in"
    "${CXX:-g++}" -x c -w -shared -fPIC - -o "$build/stand-in/$1" || exit 77
    echo "note: a stand-in takes the place of $1 where no other is found"
}
stand_in libcuda.so.1 << 'END'
#define NO(name) int name(void) { return 3; }
#define LOADED(name) int name(void **handle) { *handle = (void *)64; return 0; }
#define DONE(name) int name(void) { return 0; }
int cuInit(unsigned flags) { return 100; }
int cuDriverGetVersion(int *version) { *version = {{ driver_version }}; return 0; }
int cuDeviceGetCount(int *count) { *count = 0; return 100; }
int cuGetErrorString(int code, const char **text) { *text = "no device"; return 0; }
int cuKernelGetAttribute(int *value) { *value = 0; return 0; }
int cuOccupancyMaxPotentialClusterSize(int *blocks) { *blocks = 16; return 0; }
LOADED(cuLibraryLoadData) LOADED(cuLibraryLoadFromFile) LOADED(cuLibraryGetKernel) LOADED(cuKernelGetFunction)
DONE(cuLibraryUnload) DONE(cuKernelSetAttribute)
NO(cuCtxGetCurrent) NO(cuCtxGetLimit) NO(cuCtxPopCurrent) NO(cuCtxPushCurrent) NO(cuDeviceGet) NO(cuGetErrorName)
NO(cuGetExportTable) NO(cuLaunchCooperativeKernel) NO(cuLaunchKernel) NO(cuLaunchKernelEx) NO(cuLinkAddData)
NO(cuLinkComplete) NO(cuLinkCreate) NO(cuLinkDestroy) NO(cuModuleGetFunction) NO(cuModuleLoadData)
NO(cuModuleUnload) NO(cuStreamGetCtx) NO(cuTensorMapEncodeIm2col) NO(cuTensorMapEncodeTiled)
END
stand_in libcublasLt.so.{{ cudart_major }} << 'END'
#define NO(name) int name(void) { return 15; }
unsigned long cublasLtGetVersion(void) { return 130100; }
NO(cublasLtCreate) NO(cublasLtDestroy) NO(cublasLtGetProperty) NO(cublasLtMatmul)
NO(cublasLtMatmulAlgoGetHeuristic) NO(cublasLtMatmulDescCreate) NO(cublasLtMatmulDescDestroy)
NO(cublasLtMatmulDescSetAttribute) NO(cublasLtMatmulPreferenceCreate) NO(cublasLtMatmulPreferenceDestroy)
NO(cublasLtMatmulPreferenceSetAttribute) NO(cublasLtMatrixLayoutCreate) NO(cublasLtMatrixLayoutDestroy)
NO(cublasLtMatrixLayoutSetAttribute) NO(cublasLtMatrixTransform) NO(cublasLtMatrixTransformDescCreate)
NO(cublasLtMatrixTransformDescDestroy) NO(cublasLtMatrixTransformDescSetAttribute)
NO(cublasLtGroupedMatrixLayoutCreate)
END
LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$build/stand-in"
export LD_LIBRARY_PATH
{%- endif %}

# In the foreground, so that Ctrl-C reaches the program; an old timeout(1) does not know the option.
foreground=
timeout --foreground 1 true 2> /dev/null && foreground=--foreground
echo "waiting up to $limit s"
timeout $foreground -k 5 "$limit" "$build/repro" "$@"
code=$?
case $code in
    0 | 1 | 2 | 3 | 77) exit "$code" ;;
    129 | 130 | 143)
        echo "interrupted: the program was ended by signal $((code - 128))"
        exit 3
        ;;
    124 | 137) what="no end within $limit s" ;;
    *) what="exit code $code: ended by signal $((code - 128))" ;;
esac
if [ "$stops_process" = yes ]; then
    echo "BUG PRESENT: $what"
    exit 1
fi
echo "another failure: $what"
exit 3
