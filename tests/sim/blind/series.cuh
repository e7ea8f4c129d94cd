// series.cuh - time series: nearest subsequences, packed values, outliers, seasonal smoothing.
#ifndef BLIND_SERIES_CUH
#define BLIND_SERIES_CUH

#include "blind.cuh"

#include <cstring>

// ---- Per subsequence, the distance of the most similar other one: by rows, or along diagonals
// ----

enum { PROFILE_WINDOW = 24, PROFILE_COUNT = 1664, PROFILE_APART = 12 };

__device__ inline void profile_least(unsigned *at, float value)
{
    atomicMin(at, __float_as_uint(fmaxf(value, 0)));
}

// A block compares subsequence i with all others.
__global__ void profile_direct_kernel(const float *x, unsigned *out)
{
    __shared__ unsigned least;
    const int i = blockIdx.x;
    float best = 1e30f;
    if (threadIdx.x == 0)
        least = __float_as_uint(1e30f);
    __syncthreads();
    for (int j = threadIdx.x; j < PROFILE_COUNT; j += blockDim.x) {
        float sum = 0;
        for (int k = 0; k < PROFILE_WINDOW; k++) {
            const float d = x[i + k] - x[j + k];
            sum += d * d;
        }
        if (abs(i - j) >= PROFILE_APART)
            best = fminf(best, sum);
    }
    profile_least(&least, best);
    __syncthreads();
    if (threadIdx.x == 0)
        out[i] = least;
}

// A thread follows j - i = diagonal: each step adds a difference and subtracts the oldest.
__global__ void profile_diagonals_kernel(const float *x, unsigned *out)
{
    const int diagonal = PROFILE_APART + blockIdx.x * blockDim.x + threadIdx.x;
    if (diagonal >= PROFILE_COUNT)
        return;
    float sum = 0;
    for (int k = 0; k < PROFILE_WINDOW; k++) {
        const float d = x[k] - x[k + diagonal];
        sum += d * d;
    }
    for (int i = 0; i + diagonal < PROFILE_COUNT; i++) {
        profile_least(&out[i], sum);
        profile_least(&out[i + diagonal], sum);
        const int next = i + PROFILE_WINDOW;
        if (next + diagonal < PROFILE_COUNT + PROFILE_WINDOW) {
            const float a = x[i] - x[i + diagonal], b = x[next] - x[next + diagonal];
            sum += b * b - a * a;
        }
    }
}

static double profile_host(const std::vector<float> &x, int i)
{
    double best = 1e30;
    for (int j = 0; j < PROFILE_COUNT; j++) {
        double sum = 0;
        for (int k = 0; k < PROFILE_WINDOW; k++)
            sum += ((double) x[i + k] - x[j + k]) * ((double) x[i + k] - x[j + k]);
        if (abs(i - j) >= PROFILE_APART)
            best = std::min(best, sum);
    }
    return best;
}

static void profile(Run &run, bool diagonals)
{
    std::vector<float> x = floats(PROFILE_COUNT + PROFILE_WINDOW, 13040, -0.4f, 0.4f);
    for (size_t i = 0; i < x.size(); i++)
        x[i] += sinf(i * 0.21f) + 0.5f * sinf(i * 0.013f);
    const std::vector<unsigned> high(PROFILE_COUNT, 0x7f000000u);
    const float *from = run.upload(x);
    const unsigned *start = run.upload(high);
    unsigned *to = run.zeros<unsigned>(PROFILE_COUNT);
    run.measure(
        [=] {
            if (diagonals)
                profile_diagonals_kernel<<<blocks_for(PROFILE_COUNT - PROFILE_APART, 64), 64>>>(
                    from, to);
            else
                profile_direct_kernel<<<PROFILE_COUNT, 128>>>(from, to);
        },
        [=] {
            CHECK(cudaMemcpy(to, start, PROFILE_COUNT * sizeof(*to), cudaMemcpyDeviceToDevice));
        });
    const std::vector<unsigned> got = run.output(to, PROFILE_COUNT);
    for (int i = 0; i < PROFILE_COUNT; i += 29) {
        float value;
        memcpy(&value, &got[i], sizeof(value));
        run.expect(value, profile_host(x, i), 1e-3);
    }
}

static void profile_direct(Run &run)
{
    profile(run, false);
}

static void profile_diagonals(Run &run)
{
    profile(run, true);
}

// ---- Unpacks series of values that were packed by their differences in bits ----
//
// Bit 0: the value is that before. Bit 1: 5 bits with the lowest different bit, 5 bits with a
// length less 1, and that many bits of the exclusive or with the value before.

enum { UNXOR_SERIES = 4608, UNXOR_VALUES = 400 };

// Keeps the rest of a word, and takes the next when that is empty.
struct UnxorRest {
    const uint32_t *words;
    int left;
    uint32_t now;

    __device__ uint32_t take(int count)
    {
        uint32_t bits = 0;
        for (int missing = count; missing;) {
            if (!left) {
                now = *words++;
                left = 32;
            }
            const int some = missing < left ? missing : left;
            bits = some == 32 ? now : bits << some | now >> (32 - some);
            now = some == 32 ? 0 : now << some;
            left -= some;
            missing -= some;
        }
        return bits;
    }
};

// Reads the two words around its place again for each request.
struct UnxorPlace {
    const uint32_t *words;
    int at;

    __device__ uint32_t take(int count)
    {
        const uint32_t first = words[at / 32], second = words[at / 32 + 1];
        const uint32_t bits = __funnelshift_l(second, first, at % 32);
        at += count;
        return bits >> (32 - count);
    }
};

template <class Reader>
__global__ void unxor_kernel(const uint32_t *words, const int *begins, uint32_t *out)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    Reader reader = { words + begins[s] }; // other members: 0
    uint32_t value = 0;
    for (int k = 0; k < UNXOR_VALUES; k++) {
        if (reader.take(1)) {
            const int shift = reader.take(5), length = reader.take(5) + 1;
            value ^= reader.take(length) << shift;
        }
        out[k * UNXOR_SERIES + s] = value;
    }
}

static void unxor_put(std::vector<uint32_t> &stream, int &used, uint32_t bits, int count)
{
    for (int k = count - 1; k >= 0; k--, used++) {
        if (used % 32 == 0)
            stream.push_back(0);
        stream.back() |= (bits >> k & 1) << (31 - used % 32);
    }
}

static std::vector<uint32_t> unxor_pack(const uint32_t *values)
{
    std::vector<uint32_t> stream;
    uint32_t last = 0;
    int used = 0;
    for (int k = 0; k < UNXOR_VALUES; k++) {
        const uint32_t change = values[k] ^ last;
        last = values[k];
        unxor_put(stream, used, change != 0, 1);
        if (!change)
            continue;
        const int shift = __builtin_ctz(change), length = 32 - __builtin_clz(change) - shift;
        unxor_put(stream, used, shift, 5);
        unxor_put(stream, used, length - 1, 5);
        unxor_put(stream, used, change >> shift, length);
    }
    return stream;
}

// Sensors whose values often stay, or change by steps of 1/4, 1/2 or 1, some of them finely.
static std::vector<uint32_t> unxor_values()
{
    const int n = UNXOR_SERIES * UNXOR_VALUES;
    const std::vector<int> r = integers(n, 1 << 20, 13041);
    std::vector<uint32_t> values(n);
    for (int s = 0; s < UNXOR_SERIES; s++) {
        float value = 20 + r[s] % 64;
        const int lazy = 1 + r[s] / 64 % 6;
        for (int k = 0; k < UNXOR_VALUES; k++) {
            const int move = r[s * UNXOR_VALUES + k];
            if (move % lazy == 0)
                value += (move / 8 % 9 - 4) * (s % 16 ? 0.25f : 0.01f);
            memcpy(&values[s * UNXOR_VALUES + k], &value, sizeof(value));
        }
    }
    return values;
}

template <class Reader> static void unxor(Run &run)
{
    const std::vector<uint32_t> values = unxor_values();
    std::vector<uint32_t> words;
    std::vector<int> begins;
    for (int s = 0; s < UNXOR_SERIES; s++) {
        const std::vector<uint32_t> stream = unxor_pack(&values[s * UNXOR_VALUES]);
        begins.push_back((int) words.size());
        words.insert(words.end(), stream.begin(), stream.end());
    }
    words.push_back(0); // read with the last word
    const uint32_t *from = run.upload(words);
    const int *db = run.upload(begins);
    uint32_t *to = run.zeros<uint32_t>(values.size());
    run.measure([=] { unxor_kernel<Reader><<<UNXOR_SERIES / 64, 64>>>(from, db, to); });
    run.expect_all(
        run.output(to, values.size()),
        [&](size_t i) { return values[i % UNXOR_SERIES * UNXOR_VALUES + i / UNXOR_SERIES]; }, 0,
        17);
}

static void unxor_rest(Run &run)
{
    unxor<UnxorRest>(run);
}

static void unxor_place(Run &run)
{
    unxor<UnxorPlace>(run);
}

// ---- Outliers replaced by the median of 11 values: sorted twice, or found by ranks ----

enum { HAMPEL_COUNT = 220000, HAMPEL_WINDOW = 11 };

// By insertion.
__host__ __device__ inline float hampel_sorted(const float *window)
{
    float v[HAMPEL_WINDOW];
    for (int k = 0; k < HAMPEL_WINDOW; k++) {
        int at = k;
        for (; at > 0 && v[at - 1] > window[k]; at--)
            v[at] = v[at - 1];
        v[at] = window[k];
    }
    return v[HAMPEL_WINDOW / 2];
}

// The value that has 5 before it in order; equal ones count by their place.
__host__ __device__ inline float hampel_ranked(const float *window)
{
    float median = 0;
#pragma unroll
    for (int i = 0; i < HAMPEL_WINDOW; i++) {
        int before = 0;
#pragma unroll
        for (int k = 0; k < HAMPEL_WINDOW; k++)
            before += window[k] < window[i] || (k < i && window[k] == window[i]);
        if (before == HAMPEL_WINDOW / 2)
            median = window[i];
    }
    return median;
}

template <bool SORTED> __host__ __device__ inline float hampel_at(const float *x)
{
    float window[HAMPEL_WINDOW], off[HAMPEL_WINDOW];
    for (int k = 0; k < HAMPEL_WINDOW; k++)
        window[k] = x[k];
    const float median = SORTED ? hampel_sorted(window) : hampel_ranked(window);
    for (int k = 0; k < HAMPEL_WINDOW; k++)
        off[k] = fabsf(window[k] - median);
    const float usual = SORTED ? hampel_sorted(off) : hampel_ranked(off);
    const float value = window[HAMPEL_WINDOW / 2];
    return fabsf(value - median) > 4.5f * usual ? median : value;
}

template <bool SORTED> __global__ void hampel_kernel(const float *x, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < HAMPEL_COUNT)
        out[i] = hampel_at<SORTED>(x + i);
}

template <bool SORTED> static void hampel(Run &run)
{
    const std::vector<int> r = integers(HAMPEL_COUNT + HAMPEL_WINDOW, 1000, 13042);
    std::vector<float> x(r.size());
    for (size_t i = 0; i < r.size(); i++) // eighths: all sums and comparisons are exact
        x[i] = (r[i] % 40 + i / 100 % 64) * 0.125f + (r[i] < 40 ? 25.0f : 0);
    const float *from = run.upload(x);
    float *to = run.zeros<float>(HAMPEL_COUNT);
    run.measure([=] { hampel_kernel<SORTED><<<blocks_for(HAMPEL_COUNT, 192), 192>>>(from, to); });
    run.expect_all(
        run.output(to, HAMPEL_COUNT), [&](size_t i) { return hampel_at<true>(&x[i]); }, 0, 23);
}

static void hampel_sorts(Run &run)
{
    hampel<true>(run);
}

static void hampel_ranks(Run &run)
{
    hampel<false>(run);
}

// ---- Level, trend and season of hourly series: stored by series, or by hour ----

enum { HOLT_SERIES = 9216, HOLT_HOURS = 480, HOLT_SEASON = 24 };

// Writes the last forecast of a day. Values are `stride` apart.
__host__ __device__ inline void holt_smooth(const float *x, int stride, float *season, float *out)
{
    float level = x[0], trend = 0;
    for (int h = 0; h < HOLT_SEASON; h++)
        season[h] = x[h * stride] - level;
    for (int t = HOLT_SEASON; t < HOLT_HOURS; t++) {
        const float value = x[t * stride], last = level;
        float *usual = &season[t % HOLT_SEASON];
        level = 0.3f * (value - *usual) + 0.7f * (level + trend);
        trend = 0.1f * (level - last) + 0.9f * trend;
        *usual = 0.2f * (value - level) + 0.8f * *usual;
    }
    for (int h = 0; h < HOLT_SEASON; h++)
        out[h * stride] = level + (h + 1) * trend + season[(HOLT_HOURS + h) % HOLT_SEASON];
}

__global__ void holt_rows_kernel(const float *x, float *out)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    float season[HOLT_SEASON];
    holt_smooth(x + s * HOLT_HOURS, 1, season, out + s * HOLT_SEASON);
}

__global__ void holt_columns_kernel(const float *x, float *out)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    float season[HOLT_SEASON];
    holt_smooth(x + s, HOLT_SERIES, season, out + s);
}

static void holt(Run &run, bool columns)
{
    std::vector<float> rows = floats(HOLT_SERIES * HOLT_HOURS, 13043, -0.2f, 0.2f);
    std::vector<float> by_hour(rows.size());
    for (int i = 0; i < HOLT_SERIES * HOLT_HOURS; i++) {
        const int s = i / HOLT_HOURS, t = i % HOLT_HOURS;
        rows[i] += s % 5 + sinf(t * 0.2617994f + s) + 0.002f * t;
        by_hour[t * HOLT_SERIES + s] = rows[i];
    }
    const float *from = run.upload(columns ? by_hour : rows);
    float *to = run.zeros<float>(HOLT_SERIES * HOLT_SEASON);
    run.measure([=] {
        if (columns)
            holt_columns_kernel<<<HOLT_SERIES / 128, 128>>>(from, to);
        else
            holt_rows_kernel<<<HOLT_SERIES / 128, 128>>>(from, to);
    });
    const std::vector<float> got = run.output(to, HOLT_SERIES * HOLT_SEASON);
    for (int s = 0; s < HOLT_SERIES; s += 37) {
        float season[HOLT_SEASON], wanted[HOLT_SEASON];
        holt_smooth(&rows[s * HOLT_HOURS], 1, season, wanted);
        for (int h = 0; h < HOLT_SEASON; h++)
            run.expect(got[columns ? h * HOLT_SERIES + s : s * HOLT_SEASON + h], wanted[h], 1e-3);
    }
}

static void holt_rows(Run &run)
{
    holt(run, false);
}

static void holt_columns(Run &run)
{
    holt(run, true);
}

#endif
