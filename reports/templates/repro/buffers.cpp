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
