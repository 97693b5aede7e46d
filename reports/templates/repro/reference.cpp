// ---- Reference: the {{ what }} by its definition, in double ----------------------------------------------

struct Sum {
    double value = 0, absolute = 0;
    void add(double product) { value += product; absolute += std::fabs(product); }
};

{% if family == "convolution" or family == "pooling" -%}
static bool inside(const Tensor &tensor, int64_t d, int64_t h, int64_t w) {
    return d >= 0 && d < tensor.extent[2] && h >= 0 && h < tensor.extent[3] && w >= 0 && w < tensor.extent[4];
}

{% endif -%}

using Values = std::vector<double>;

static double element(int which, const Values *values, std::initializer_list<int64_t> at) {
    return values[which][static_cast<uint64_t>(offset(TENSORS[which], at.begin()))];
}

{% if family == "convolution" or family == "pooling" -%}
template <class Visit> static void each_position(const Tensor &tensor, const Visit &visit) {
    for (int64_t d = 0; d < tensor.extent[2]; d++)
        for (int64_t h = 0; h < tensor.extent[3]; h++)
            for (int64_t w = 0; w < tensor.extent[4]; w++) visit(d, h, w);
}

{% endif -%}
{% if operation == "fprop" -%}
// Position in the image along an axis (0 = d, 1 = h, 2 = w) that output o and filter tap f meet.
static int64_t image_position(int axis, int64_t o, int64_t f) {
    return o * STRIDE[axis] - PAD_BEFORE[axis] + f * DILATION[axis];
}

// y[n][k] = sum over c, taps of x[n][c] * w[k][c]
static Sum sum_at(const int64_t *at, const Values *values) {
    const int64_t channels = TENSORS[FILTER].extent[1], filters = TENSORS[FILTER].extent[0] / GROUPS;
    Sum sum;
    for (int64_t c = 0; c < channels; c++) {
        each_position(TENSORS[FILTER], [&](int64_t r, int64_t s, int64_t t) {
            const int64_t d = image_position(0, at[2], r), h = image_position(1, at[3], s);
            const int64_t w = image_position(2, at[4], t);
            if (!inside(TENSORS[IMAGE], d, h, w)) return;
            sum.add(element(IMAGE, values, {at[0], at[1] / filters * channels + c, d, h, w}) *
                    element(FILTER, values, {at[1], c, r, s, t}));
        });
    }
    return sum;
}
{%- elif operation == "dgrad" -%}
// The output of one axis that meets image position i at filter tap f; -1 where there is none.
static int64_t response_position(int axis, int64_t i, int64_t f) {
    const int64_t scaled = i + PAD_BEFORE[axis] - f * DILATION[axis];
    return scaled >= 0 && scaled % STRIDE[axis] == 0 ? scaled / STRIDE[axis] : -1;
}

// x[n][c] = sum over k, taps of y[n][k] * w[k][c]
static Sum sum_at(const int64_t *at, const Values *values) {
    const int64_t channels = TENSORS[FILTER].extent[1], filters = TENSORS[FILTER].extent[0] / GROUPS;
    Sum sum;
    for (int64_t k = at[1] / channels * filters; k < (at[1] / channels + 1) * filters; k++) {
        each_position(TENSORS[FILTER], [&](int64_t r, int64_t s, int64_t t) {
            const int64_t d = response_position(0, at[2], r), h = response_position(1, at[3], s);
            const int64_t w = response_position(2, at[4], t);
            if (!inside(TENSORS[RESPONSE], d, h, w)) return;
            sum.add(element(RESPONSE, values, {at[0], k, d, h, w}) *
                    element(FILTER, values, {k, at[1] % channels, r, s, t}));
        });
    }
    return sum;
}
{%- elif family == "pooling" -%}
// Position along an axis (0 = d, 1 = h, 2 = w) that output o meets at place f of its window.
static int64_t position(int axis, int64_t o, int64_t f) { return o * STRIDE[axis] - PAD_BEFORE[axis] + f; }

{% if operation == "maxpool" -%}
static double larger(double one, double other) {
    return std::isnan(one) || std::isnan(other) ? std::nan("") : std::max(one, other);
}

// y[n][c] = largest of the window, and with it the largest magnitude
{%- else -%}
// y[n][c] = sum of the window; ALPHA makes it the mean
{%- endif %}
static Sum sum_at(const int64_t *at, const Values *values) {
    Sum sum;
    {%- if operation == "maxpool" %}
    sum.value = -HUGE_VAL;
    {%- endif %}
    each_position(TENSORS[FILTER], [&](int64_t r, int64_t s, int64_t t) {
        const int64_t d = position(0, at[2], r), h = position(1, at[3], s), w = position(2, at[4], t);
        if (!inside(TENSORS[IMAGE], d, h, w)) return;
        const double value = element(IMAGE, values, {at[0], at[1], d, h, w});
        {%- if operation == "maxpool" %}
        sum.value = larger(sum.value, value);
        sum.absolute = larger(sum.absolute, std::fabs(value));
        {%- else %}
        sum.add(value);
        {%- endif %}
    });
    return sum;
}
{%- elif family == "matmul" -%}
// y[b][m][n] = sum over k of x[b][m][k] * w[b][k][n]
static Sum sum_at(const int64_t *at, const Values *values) {
    Sum sum;
    for (int64_t k = 0; k < TENSORS[FILTER].extent[1]; k++) {
        sum.add(element(IMAGE, values, {at[0], at[1], 0, 0, k}) * element(FILTER, values, {at[0], k, 0, 0, at[4]}));
    }
    return sum;
}
{%- elif family == "rmsnorm" -%}
constexpr double EPSILON = {{ epsilon }};

// y[n][c] = x[n][c] * w[c] / sqrt(mean of the squares of x[n] + EPSILON)
static Sum sum_at(const int64_t *at, const Values *values) {
    const int64_t channels = TENSORS[IMAGE].extent[1];
    double squares = 0;
    for (int64_t c = 0; c < channels; c++) {
        const double value = element(IMAGE, values, {at[0], c, 0, 0, 0});
        squares += value * value;
    }
    const double root = std::sqrt(squares / static_cast<double>(channels) + EPSILON);
    const double value = element(IMAGE, values, {at[0], at[1], 0, 0, 0});
    Sum sum;
    sum.add(value * element(FILTER, values, {0, at[1], 0, 0, 0}) / root);
    return sum;
}
{%- else -%}
// Position in the image along an axis (0 = d, 1 = h, 2 = w) that output o and filter tap f meet.
static int64_t image_position(int axis, int64_t o, int64_t f) {
    return o * STRIDE[axis] - PAD_BEFORE[axis] + f * DILATION[axis];
}

// w[k][c] = sum over n, outputs of x[n][c] * y[n][k]
static Sum sum_at(const int64_t *at, const Values *values) {
    const int64_t channels = TENSORS[FILTER].extent[1], filters = TENSORS[FILTER].extent[0] / GROUPS;
    Sum sum;
    for (int64_t n = 0; n < TENSORS[IMAGE].extent[0]; n++) {
        each_position(TENSORS[RESPONSE], [&](int64_t p, int64_t q, int64_t o) {
            const int64_t d = image_position(0, p, at[2]), h = image_position(1, q, at[3]);
            const int64_t w = image_position(2, o, at[4]);
            if (!inside(TENSORS[IMAGE], d, h, w)) return;
            sum.add(element(IMAGE, values, {n, at[0] / filters * channels + at[1], d, h, w}) *
                    element(RESPONSE, values, {n, at[0], p, q, o}));
        });
    }
    return sum;
}
{%- endif %}

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
    {%- if family == "matmul" %}
    const double per_response = static_cast<double>(TENSORS[FILTER].extent[1]);
    {%- else %}
    const double per_response = static_cast<double>(count_of(TENSORS[FILTER]) / TENSORS[FILTER].extent[0]);
    {%- endif %}
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
        if (which != OUTPUT{{ " && which != FILTER" if family == "pooling" }}) values[which] = decoded(TENSORS[which], inputs[which]);
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
