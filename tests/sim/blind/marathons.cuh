// marathons.cuh - marathons: chips at mats, pace on hills, bibs on photos, best parts of a race.
#ifndef BLIND_MARATHONS_CUH
#define BLIND_MARATHONS_CUH

#include "blind.cuh"

#include <climits>
#include <functional>

// ---- The first time of each runner at each mat, from many readings of chips that come in bursts:
// an atomic per reading, or per burst ----

enum { MARATHON_READINGS = 1600000, MARATHON_CHIPS = 20000, MARATHON_MATS = 9 };

// A reading: chip and mat as one key, milliseconds.
__global__ void marathon_chips_each_kernel(const int2 *readings, int *first)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < MARATHON_READINGS)
        atomicMin(&first[readings[i].x], readings[i].y);
}

__global__ void marathon_chips_bursts_kernel(const int2 *readings, int *first)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= MARATHON_READINGS)
        return;
    const int2 mine = readings[i];
    if (i && readings[i - 1].x == mine.x)
        return;
    int earliest = mine.y;
    for (int k = i + 1; k < MARATHON_READINGS && readings[k].x == mine.x; k++)
        earliest = min(earliest, readings[k].y);
    atomicMin(&first[mine.x], earliest);
}

static std::vector<int2> marathon_readings()
{
    const std::vector<uint32_t> v = words(MARATHON_READINGS, 22030);
    std::vector<int2> readings;
    for (int burst = 0; (int) readings.size() < MARATHON_READINGS; burst++) {
        const int key = v[burst] % (MARATHON_CHIPS * MARATHON_MATS), length = 1 + (v[burst] >> 28);
        for (int k = 0; k < length && (int) readings.size() < MARATHON_READINGS; k++)
            readings.push_back({ key, burst * 40 + (int) (v[readings.size()] >> 19) });
    }
    return readings;
}

static void marathon_chips(Run &run, void (*kernel)(const int2 *, int *))
{
    const std::vector<int2> readings = marathon_readings();
    const int count = MARATHON_CHIPS * MARATHON_MATS;
    const int2 *from = run.upload(readings);
    int *to = run.zeros<int>(count);
    run.measure([=] { kernel<<<blocks_for(MARATHON_READINGS, 256), 256>>>(from, to); },
                [=] { CHECK(cudaMemset(to, 0x7f, count * sizeof(int))); });
    std::vector<int> wanted(count, 0x7f7f7f7f);
    for (const int2 &reading : readings)
        wanted[reading.x] = std::min(wanted[reading.x], reading.y);
    run.expect_all(
        run.output(to, count), [&](size_t i) { return wanted[i]; }, 0);
}

static void marathon_chips_each(Run &run)
{
    marathon_chips(run, marathon_chips_each_kernel);
}

static void marathon_chips_bursts(Run &run)
{
    marathon_chips(run, marathon_chips_bursts_kernel);
}

// ---- Times of runners on a hilly course, of whom the last ones do not reach the finish in time:
// the cost of a slope by a polynomial at each step, or once per block ----

enum { MARATHON_RUNNERS = 28000, MARATHON_STEPS = 844 };

__constant__ float marathon_slopes[MARATHON_STEPS];

// Joules per kilogram and meter.
__host__ __device__ inline float marathon_cost(float slope)
{
    return ((((155.4f * slope - 30.4f) * slope - 43.3f) * slope + 46.3f) * slope + 19.5f) * slope +
           3.6f;
}

// A runner: watts per kilogram, joules per kilogram of sugar, the share of the watts without it.
// The values of steps are slopes, or COSTS. x: seconds, y: meters.
template <bool COSTS>
__host__ __device__ inline float2 marathon_run(float4 runner, const float *values)
{
    float seconds = 0, sugar = runner.y;
    int step = 0;
    for (; step < MARATHON_STEPS && seconds < 21600; step++) {
        const float joules = 50 * (COSTS ? values[step] : marathon_cost(values[step]));
        const float power = sugar > 0 ? runner.x : runner.x * runner.z;
        seconds += joules / power;
        sugar -= joules * (0.3f + 0.04f * power);
    }
    return { seconds, 50.0f * step };
}

__global__ void marathon_pace_formula_kernel(const float4 *runners, float2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < MARATHON_RUNNERS)
        out[i] = marathon_run<false>(runners[i], marathon_slopes);
}

__global__ void marathon_pace_table_kernel(const float4 *runners, float2 *out)
{
    __shared__ float costs[MARATHON_STEPS];
    for (int k = threadIdx.x; k < MARATHON_STEPS; k += blockDim.x)
        costs[k] = marathon_cost(marathon_slopes[k]);
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < MARATHON_RUNNERS)
        out[i] = marathon_run<true>(runners[i], costs);
}

static void marathon_pace(Run &run, void (*kernel)(const float4 *, float2 *))
{
    const std::vector<float> slopes = floats(MARATHON_STEPS, 22031, -0.09f, 0.1f);
    const std::vector<float> v = floats(2 * MARATHON_RUNNERS, 22032, 0, 1);
    std::vector<float> watts = floats(MARATHON_RUNNERS, 22033, 5, 19);
    std::vector<float4> runners(MARATHON_RUNNERS);
    std::sort(watts.begin(), watts.end(), std::greater<float>());
    for (int i = 0; i < MARATHON_RUNNERS; i++)
        runners[i] = { watts[i], 70000 + 60000 * v[2 * i], 0.7f + 0.25f * v[2 * i + 1], 0 };
    CHECK(cudaMemcpyToSymbol(marathon_slopes, slopes.data(), sizeof marathon_slopes));
    const float4 *from = run.upload(runners);
    float2 *to = run.zeros<float2>(MARATHON_RUNNERS);
    run.measure([=] { kernel<<<blocks_for(MARATHON_RUNNERS, 128), 128>>>(from, to); });
    const std::vector<float2> got = run.output(to, MARATHON_RUNNERS);
    for (int i = 0; i < MARATHON_RUNNERS; i += 7) {
        const float2 wanted = marathon_run<false>(runners[i], slopes.data());
        run.expect(got[i].x, wanted.x, 5e-3);
        run.expect(got[i].y, wanted.y, 1e-2);
    }
}

static void marathon_pace_formula(Run &run)
{
    marathon_pace(run, marathon_pace_formula_kernel);
}

static void marathon_pace_table(Run &run)
{
    marathon_pace(run, marathon_pace_table_kernel);
}

// ---- Which bibs fit numbers that are partly hidden on photos: five characters, or five digits of
// four bits in a word ----

enum { MARATHON_PHOTOS = 6144, MARATHON_BIBS = 4096, MARATHON_TILE = 256 };

// Five characters, of which '?' is hidden.
struct MarathonText {
    char at[5];
};

__host__ __device__ inline bool marathon_fits(const MarathonText &seen, const char *bib)
{
    for (int k = 0; k < 5; k++)
        if (seen.at[k] != '?' && seen.at[k] != bib[k])
            return false;
    return true;
}

// x: how many bibs fit, y: the first of them.
__global__ void marathon_bibs_bytes_kernel(const MarathonText *photos, const MarathonText *bibs,
                                           int2 *out)
{
    __shared__ MarathonText tile[MARATHON_TILE];
    const int photo = blockIdx.x * blockDim.x + threadIdx.x;
    const MarathonText seen = photos[photo];
    int count = 0, first = MARATHON_BIBS;
    for (int begin = 0; begin < MARATHON_BIBS; begin += MARATHON_TILE) {
        __syncthreads();
        for (int k = threadIdx.x; k < MARATHON_TILE; k += blockDim.x)
            tile[k] = bibs[begin + k];
        __syncthreads();
        for (int k = 0; k < MARATHON_TILE; k++)
            if (marathon_fits(seen, tile[k].at)) {
                count++;
                first = min(first, begin + k);
            }
    }
    out[photo] = { count, first };
}

// x: the digits, y: 15 for each digit that is seen.
__device__ inline uint2 marathon_digits(const MarathonText &text)
{
    uint2 digits = { 0, 0 };
    for (int k = 0; k < 5; k++) {
        const bool seen = text.at[k] != '?';
        digits.x = digits.x << 4 | (seen ? text.at[k] & 15 : 0);
        digits.y = digits.y << 4 | (seen ? 15 : 0);
    }
    return digits;
}

__global__ void marathon_bibs_digits_kernel(const MarathonText *photos, const MarathonText *bibs,
                                            int2 *out)
{
    __shared__ uint32_t tile[MARATHON_TILE];
    const int photo = blockIdx.x * blockDim.x + threadIdx.x;
    const uint2 seen = marathon_digits(photos[photo]);
    int count = 0, first = MARATHON_BIBS;
    for (int begin = 0; begin < MARATHON_BIBS; begin += MARATHON_TILE) {
        __syncthreads();
        for (int k = threadIdx.x; k < MARATHON_TILE; k += blockDim.x)
            tile[k] = marathon_digits(bibs[begin + k]).x;
        __syncthreads();
        for (int k = 0; k < MARATHON_TILE; k++)
            if ((tile[k] & seen.y) == seen.x) {
                count++;
                first = min(first, begin + k);
            }
    }
    out[photo] = { count, first };
}

static std::vector<MarathonText> marathon_texts(int count, int seed, int hidden)
{
    const std::vector<uint32_t> v = words(5 * count, seed);
    std::vector<MarathonText> texts(count);
    for (int i = 0; i < 5 * count; i++)
        texts[i / 5].at[i % 5] = (int) (v[i] >> 25) < hidden ? '?' : '0' + v[i] % 10;
    return texts;
}

static void marathon_bibs(Run &run,
                          void (*kernel)(const MarathonText *, const MarathonText *, int2 *))
{
    const std::vector<MarathonText> photos = marathon_texts(MARATHON_PHOTOS, 22034, 50);
    const std::vector<MarathonText> bibs = marathon_texts(MARATHON_BIBS, 22035, 0);
    const MarathonText *dp = run.upload(photos), *db = run.upload(bibs);
    int2 *to = run.zeros<int2>(MARATHON_PHOTOS);
    run.measure([=] { kernel<<<MARATHON_PHOTOS / 64, 64>>>(dp, db, to); });
    const std::vector<int2> got = run.output(to, MARATHON_PHOTOS);
    for (int i = 0; i < MARATHON_PHOTOS; i += 3) {
        int count = 0, first = MARATHON_BIBS;
        for (int k = MARATHON_BIBS - 1; k >= 0; k--)
            if (marathon_fits(photos[i], bibs[k].at)) {
                count++;
                first = k;
            }
        run.expect(got[i].x, count, 0);
        run.expect(got[i].y, first, 0);
    }
}

static void marathon_bibs_bytes(Run &run)
{
    marathon_bibs(run, marathon_bibs_bytes_kernel);
}

static void marathon_bibs_digits(Run &run)
{
    marathon_bibs(run, marathon_bibs_digits_kernel);
}

// ---- The fastest five kilometers of each runner, from places at equal intervals. Slow runners
// have longer tracks, and are last: a thread with two fingers per runner, or a block that searches
// ----

enum { MARATHON_TRACKS = 3072, MARATHON_PART = 5000 };

__global__ void marathon_best_thread_kernel(const float *meters, const int *first, int *out)
{
    const int runner = blockIdx.x * blockDim.x + threadIdx.x;
    const int end = first[runner + 1];
    int best = INT_MAX, front = first[runner];
    for (int back = front; front < end; back++) {
        const float goal = meters[back] + MARATHON_PART;
        while (front < end && meters[front] < goal)
            front++;
        if (front < end)
            best = min(best, front - back);
    }
    out[runner] = best;
}

// The first place from `begin` that reaches the goal, or `end`.
__device__ inline int marathon_reach(const float *meters, int begin, int end, float goal)
{
    while (begin < end) {
        const int middle = (begin + end) / 2;
        if (meters[middle] < goal)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

__global__ void marathon_best_block_kernel(const float *meters, const int *first, int *out)
{
    __shared__ int shared;
    const int end = first[blockIdx.x + 1];
    int best = INT_MAX;
    if (threadIdx.x == 0)
        shared = INT_MAX;
    __syncthreads();
    for (int back = first[blockIdx.x] + threadIdx.x; back < end; back += blockDim.x) {
        const int front = marathon_reach(meters, back, end, meters[back] + MARATHON_PART);
        if (front < end)
            best = min(best, front - back);
    }
    best = __reduce_min_sync(~0u, best);
    if (threadIdx.x % 32 == 0)
        atomicMin(&shared, best);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = shared;
}

// Tracks sorted by length, and the places in meters.
static std::vector<int> marathon_tracks(std::vector<float> &meters)
{
    std::vector<int> lengths = integers(MARATHON_TRACKS, 450, 22036), first(1, 0);
    std::sort(lengths.begin(), lengths.end());
    for (int i = 0; i < MARATHON_TRACKS; i++) {
        const int length = 120 + lengths[i] * lengths[i] / 450;
        const std::vector<float> speeds = floats(length, 22100 + i, 0.5f, 1.5f);
        float at = 0;
        for (const float speed : speeds) {
            at += roundf(speed * 42195 / length);
            meters.push_back(at);
        }
        first.push_back(first.back() + length);
    }
    return first;
}

static void marathon_best(Run &run, bool by_block)
{
    std::vector<float> meters;
    const std::vector<int> first = marathon_tracks(meters);
    const float *from = run.upload(meters);
    const int *df = run.upload(first);
    int *to = run.zeros<int>(MARATHON_TRACKS);
    run.measure([=] {
        if (by_block)
            marathon_best_block_kernel<<<MARATHON_TRACKS, 64>>>(from, df, to);
        else
            marathon_best_thread_kernel<<<MARATHON_TRACKS / 64, 64>>>(from, df, to);
    });
    run.expect_all(
        run.output(to, MARATHON_TRACKS),
        [&](size_t i) {
            int best = INT_MAX;
            const float *end = &meters[0] + first[i + 1];
            for (const float *back = &meters[first[i]]; back < end; back++) {
                const float *front = std::lower_bound(back, end, *back + MARATHON_PART);
                if (front < end)
                    best = std::min(best, (int) (front - back));
            }
            return best;
        },
        0);
}

static void marathon_best_thread(Run &run)
{
    marathon_best(run, false);
}

static void marathon_best_block(Run &run)
{
    marathon_best(run, true);
}

#endif
