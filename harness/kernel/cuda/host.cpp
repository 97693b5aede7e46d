// Runs a kernel of convict.cu on the host, for the tests. Knows just enough of CUDA to make it plain C++: the
// threads of a block are threads, blocks run one after another. Build: g++ -std=c++20 -ffp-contract=off.
//
// Input: u32 kernel, grid x, grid y, parameter bytes, buffers; the parameters; then per buffer u64 offset of
// its pointer in the parameters, u64 byte count, u64 misalignment, bytes. Output: every buffer's bytes.

#include <barrier>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

struct Dim { unsigned x, y; };
static thread_local Dim threadIdx;
static Dim blockIdx, gridDim;
static std::barrier<> barrier(256);

#define __device__ static inline
#define __global__
#define __shared__ static
#define __launch_bounds__(threads)

static void __syncthreads() { barrier.arrive_and_wait(); }
static double __dmul_rn(double a, double b) { return a * b; }
static double __dadd_rn(double a, double b) { return a + b; }
static double __ddiv_rn(double a, double b) { return a / b; }
static double __dsqrt_rn(double a) { return std::sqrt(a); }
static long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
static double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
static float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }

typedef unsigned long long Word;
static void atomicAdd(Word *into, Word value) { __atomic_fetch_add(into, value, __ATOMIC_RELAXED); }
static void exchange(Word *into, Word value, bool (*better)(Word, Word)) {
    Word old = __atomic_load_n(into, __ATOMIC_RELAXED);
    while (better(value, old)
           && !__atomic_compare_exchange_n(into, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}
static void atomicMin(Word *into, Word value) { exchange(into, value, [](Word a, Word b) { return a < b; }); }
static void atomicMax(Word *into, Word value) { exchange(into, value, [](Word a, Word b) { return a > b; }); }

#include "convict.cu"

template <typename Params> void launch(void (*kernel)(Params), const std::vector<u8> &bytes) {
    if (bytes.size() != sizeof(Params)) exit(3);
    Params params;
    memcpy(&params, bytes.data(), sizeof params);
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++) {
        for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) {
            std::vector<std::thread> block;
            for (unsigned i = 0; i < BLOCK; i++) {
                block.emplace_back([=] { threadIdx = {i, 0}; kernel(params); });
            }
            for (std::thread &thread : block) thread.join();
        }
    }
}

static void read(void *into, size_t bytes) {
    if (bytes && fread(into, bytes, 1, stdin) != 1) exit(2);
}

int main() {
    struct { u32 kernel, grid_x, grid_y, param_bytes, buffers; } head;
    read(&head, sizeof head);
    gridDim = {head.grid_x, head.grid_y};
    std::vector<u8> params(head.param_bytes);
    read(params.data(), params.size());
    struct Buffer { u64 pointer_offset, bytes, skew; };
    std::vector<Buffer> buffers(head.buffers);
    std::vector<std::vector<u64>> memory;
    for (Buffer &buffer : buffers) {
        read(&buffer, sizeof buffer);
        memory.emplace_back((buffer.bytes + buffer.skew) / 8 + 1);
        u8 *start = (u8 *)memory.back().data() + buffer.skew;
        read(start, buffer.bytes);
        memcpy(params.data() + buffer.pointer_offset, &start, sizeof start);
    }
    switch (head.kernel) {
    case 0: launch(convict_fill, params); break;
    case 1: launch(convict_verify, params); break;
    case 2: launch(convict_reference, params); break;
    case 3: launch(convict_compare, params); break;
    case 4: launch(convict_zones, params); break;
    case 5: launch(convict_diff, params); break;
    case 6: launch(convict_elementwise, params); break;
    default: return 4;
    }
    for (size_t i = 0; i < buffers.size(); i++) {
        fwrite((u8 *)memory[i].data() + buffers[i].skew, 1, buffers[i].bytes, stdout);
    }
}
