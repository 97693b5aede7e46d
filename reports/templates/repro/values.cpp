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
{%- if kept %}
            const bool zero = KEPT[which].count != 0 && linear - KEPT[which].first >= KEPT[which].count;
            const uint64_t bits = encode(tensor.dtype, zero ? 0 : raw_value(recipe, which, at, linear));
{%- else %}
            const uint64_t bits = encode(tensor.dtype, raw_value(recipe, which, at, linear));
{%- endif %}
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
