// brooks.cuh - brooks: floods along reaches, oxygen in the water, gauges, pebbles of the bed.
#ifndef BLIND_BROOKS_CUH
#define BLIND_BROOKS_CUH

#include "blind.cuh"

// ---- Peaks of floods at the ends of brooks, routed from reach to reach (Muskingum): a block per
// brook, the shortest brooks first, or the longest ----

enum { BROOK_BROOKS = 1500, BROOK_FLOODS = 256, BROOK_HOURS = 16 };

// The three weights of a reach: of the inflow now, of the inflow before and of the outflow before.
__host__ __device__ inline void brook_reach(float4 weights, float *flows)
{
    float in_before = flows[0], out = flows[0];
#pragma unroll
    for (int hour = 1; hour < BROOK_HOURS; hour++) {
        const float in = flows[hour];
        out = weights.x * in + weights.y * in_before + weights.z * out;
        flows[hour] = out;
        in_before = in;
    }
}

__host__ __device__ inline float brook_peak(const float4 *weights, int reaches, float2 flood)
{
    float flows[BROOK_HOURS], peak = 0;
#pragma unroll
    for (int hour = 0; hour < BROOK_HOURS; hour++)
        flows[hour] = hour <= 4 ? 1 + flood.x * hour : 1 + flood.x * 4 / (1 + flood.y * (hour - 4));
    for (int k = 0; k < reaches; k++)
        brook_reach(weights[k], flows);
#pragma unroll
    for (int hour = 0; hour < BROOK_HOURS; hour++)
        peak = fmaxf(peak, flows[hour]);
    return peak;
}

// Brooks are sorted by their reaches.
template <bool LONGEST_FIRST>
__global__ void brook_flood_kernel(const int *starts, const float4 *weights, const float2 *floods,
                                   float *peaks)
{
    const int brook = LONGEST_FIRST ? BROOK_BROOKS - 1 - blockIdx.x : blockIdx.x;
    const int start = starts[brook], reaches = starts[brook + 1] - start;
    peaks[brook * BROOK_FLOODS + threadIdx.x] =
        brook_peak(weights + start, reaches, floods[threadIdx.x]);
}

static void brook_flood(Run &run,
                        void (*kernel)(const int *, const float4 *, const float2 *, float *))
{
    std::vector<float> lengths = floats(BROOK_BROOKS, 23100, 0, 1);
    std::sort(lengths.begin(), lengths.end());
    std::vector<int> starts(1, 0);
    for (int i = 0; i < BROOK_BROOKS; i++)
        starts.push_back(starts[i] + 3 + (int) (120 * lengths[i] * lengths[i] * lengths[i]));
    const std::vector<float> draws = floats(2 * starts.back(), 23101, 0.1f, 0.4f);
    std::vector<float4> weights(starts.back());
    for (size_t i = 0; i < weights.size(); i++)
        weights[i] = { draws[2 * i], draws[2 * i + 1], 1 - draws[2 * i] - draws[2 * i + 1], 0 };
    const std::vector<float> shapes = floats(2 * BROOK_FLOODS, 23102, 0.2f, 3);
    std::vector<float2> floods(BROOK_FLOODS);
    for (int i = 0; i < BROOK_FLOODS; i++)
        floods[i] = { shapes[2 * i], shapes[2 * i + 1] };
    const int *ds = run.upload(starts);
    const float4 *dw = run.upload(weights);
    const float2 *df = run.upload(floods);
    float *to = run.zeros<float>(BROOK_BROOKS * BROOK_FLOODS);
    run.measure([=] { kernel<<<BROOK_BROOKS, BROOK_FLOODS>>>(ds, dw, df, to); });
    run.expect_all(
        run.output(to, BROOK_BROOKS * BROOK_FLOODS),
        [&](size_t i) {
            const int start = starts[i / BROOK_FLOODS], end = starts[i / BROOK_FLOODS + 1];
            return brook_peak(&weights[start], end - start, floods[i % BROOK_FLOODS]);
        },
        1e-4, 37);
}

static void brook_flood_short(Run &run)
{
    brook_flood(run, brook_flood_kernel<false>);
}

static void brook_flood_long(Run &run)
{
    brook_flood(run, brook_flood_kernel<true>);
}

// ---- The largest lack of oxygen below a sewer, integrated over time (Runge and Kutta) per
// scenario: in floats, or in doubles ----

enum { BROOK_SCENARIOS = 40000, BROOK_STEPS = 60 };

// How fast the lack grows. A scenario: rate of decay, rate of aeration, sewage, first lack.
template <class T>
__host__ __device__ inline T brook_growth(T decay, T aeration, T sewage, T time, T lack)
{
    return decay * sewage * exp(-decay * time) - aeration * lack;
}

template <class T> __host__ __device__ inline T brook_lack(float4 scenario)
{
    const T decay = scenario.x, aeration = scenario.y, sewage = scenario.z, step = T(0.125);
    T lack = scenario.w, most = lack;
    for (int k = 0; k < BROOK_STEPS; k++) {
        const T time = step * k, half = step / 2;
        const T a = brook_growth(decay, aeration, sewage, time, lack);
        const T b = brook_growth(decay, aeration, sewage, time + half, lack + half * a);
        const T c = brook_growth(decay, aeration, sewage, time + half, lack + half * b);
        const T d = brook_growth(decay, aeration, sewage, time + step, lack + step * c);
        lack += step / 6 * (a + 2 * b + 2 * c + d);
        most = lack > most ? lack : most;
    }
    return most;
}

template <class T> __global__ void brook_oxygen_kernel(const float4 *scenarios, float *most)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < BROOK_SCENARIOS)
        most[i] = (float) brook_lack<T>(scenarios[i]);
}

static void brook_oxygen(Run &run, void (*kernel)(const float4 *, float *))
{
    const std::vector<float> draws = floats(4 * BROOK_SCENARIOS, 23103, 0, 1);
    std::vector<float4> scenarios(BROOK_SCENARIOS);
    for (int i = 0; i < BROOK_SCENARIOS; i++)
        scenarios[i] = { 0.1f + draws[4 * i], 0.2f + 1.5f * draws[4 * i + 1],
                         5 + 20 * draws[4 * i + 2], 2 * draws[4 * i + 3] };
    const float4 *from = run.upload(scenarios);
    float *to = run.zeros<float>(BROOK_SCENARIOS);
    run.measure([=] { kernel<<<blocks_for(BROOK_SCENARIOS, 256), 256>>>(from, to); });
    run.expect_all(
        run.output(to, BROOK_SCENARIOS), [&](size_t i) { return brook_lack<double>(scenarios[i]); },
        1e-4, 11);
}

static void brook_oxygen_float(Run &run)
{
    brook_oxygen(run, brook_oxygen_kernel<float>);
}

static void brook_oxygen_double(Run &run)
{
    brook_oxygen(run, brook_oxygen_kernel<double>);
}

// ---- Discharges from depths and velocities across sections of brooks, a thread per section: the
// records lie section by section, or side by side ----

enum { BROOK_SECTIONS = 131072, BROOK_VERTICALS = 32 };

// A record: depth and velocity. `step` is the distance of a section's records.
__host__ __device__ inline float brook_discharge(const float2 *records, int step, float spacing)
{
    float2 last = records[0];
    float sum = 0;
    for (int k = 1; k < BROOK_VERTICALS; k++) {
        const float2 now = records[k * step];
        sum += (now.x + last.x) * (now.y + last.y);
        last = now;
    }
    return sum * spacing / 4;
}

__global__ void brook_gauge_strided_kernel(const float2 *records, const float *spacings,
                                           float *discharges)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    discharges[i] = brook_discharge(records + i * BROOK_VERTICALS, 1, spacings[i]);
}

__global__ void brook_gauge_coalesced_kernel(const float2 *records, const float *spacings,
                                             float *discharges)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    discharges[i] = brook_discharge(records + i, BROOK_SECTIONS, spacings[i]);
}

static void brook_gauge(Run &run, bool coalesced)
{
    const size_t n = (size_t) BROOK_SECTIONS * BROOK_VERTICALS;
    const std::vector<float> depths = floats(n, 23104, 0.05f, 1.2f);
    const std::vector<float> velocities = floats(n, 23105, 0.01f, 1.5f);
    const std::vector<float> spacings = floats(BROOK_SECTIONS, 23106, 0.1f, 0.5f);
    std::vector<float2> sections(n), sides(n);
    for (size_t i = 0; i < n; i++) {
        const size_t section = i / BROOK_VERTICALS, k = i % BROOK_VERTICALS;
        sections[i] = sides[k * BROOK_SECTIONS + section] = { depths[i], velocities[i] };
    }
    const float2 *from = run.upload(coalesced ? sides : sections);
    const float *ds = run.upload(spacings);
    float *to = run.zeros<float>(BROOK_SECTIONS);
    run.measure([=] {
        if (coalesced)
            brook_gauge_coalesced_kernel<<<BROOK_SECTIONS / 128, 128>>>(from, ds, to);
        else
            brook_gauge_strided_kernel<<<BROOK_SECTIONS / 128, 128>>>(from, ds, to);
    });
    run.expect_all(
        run.output(to, BROOK_SECTIONS),
        [&](size_t i) { return brook_discharge(&sections[i * BROOK_VERTICALS], 1, spacings[i]); },
        1e-5, 7);
}

static void brook_gauge_strided(Run &run)
{
    brook_gauge(run, false);
}

static void brook_gauge_coalesced(Run &run)
{
    brook_gauge(run, true);
}

// ---- Three quantiles of the sizes of pebbles per site, a warp each: by halving the range and
// counting again, or by the counts of all sizes in shared memory ----

enum { BROOK_SITES = 2400, BROOK_SIZES = 1024, BROOK_QUANTILES = 3 };

// How many pebbles are smaller than the quantile.
__host__ __device__ inline int brook_rank(int pebbles, int quantile)
{
    return pebbles * (quantile == 0 ? 16 : quantile == 1 ? 50 : 84) / 100;
}

__global__ void brook_pebbles_bisect_kernel(const int *starts, const int *sizes, int *quantiles)
{
    const int site = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int start = starts[site], end = starts[site + 1];
    for (int q = 0; q < BROOK_QUANTILES; q++) {
        const int rank = brook_rank(end - start, q);
        int size = 0;
        for (int step = BROOK_SIZES / 2; step; step /= 2) {
            int smaller = 0;
            for (int i = start + lane; i < end; i += 32)
                smaller += sizes[i] < size + step;
            if (__reduce_add_sync(~0u, smaller) <= rank)
                size += step;
        }
        if (lane == 0)
            quantiles[site * BROOK_QUANTILES + q] = size;
    }
}

__device__ inline int brook_prefix(int value, int lane)
{
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(~0u, value, step);
        value += lane >= step ? other : 0;
    }
    return value;
}

__global__ void brook_pebbles_counts_kernel(const int *starts, const int *sizes, int *quantiles)
{
    __shared__ int all[4][BROOK_SIZES];
    const int site = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int start = starts[site], end = starts[site + 1];
    int *counts = all[threadIdx.x / 32], before = 0, q = 0;
    for (int k = lane; k < BROOK_SIZES; k += 32)
        counts[k] = 0;
    __syncwarp();
    for (int i = start + lane; i < end; i += 32)
        atomicAdd(&counts[sizes[i]], 1);
    __syncwarp();
    for (int first = 0; q < BROOK_QUANTILES; first += 32) {
        const int up_to = before + brook_prefix(counts[first + lane], lane);
        before = __shfl_sync(~0u, up_to, 31);
        for (; q < BROOK_QUANTILES && brook_rank(end - start, q) < before; q++) {
            const uint32_t smaller = __ballot_sync(~0u, up_to <= brook_rank(end - start, q));
            if (lane == 0)
                quantiles[site * BROOK_QUANTILES + q] = first + __popc(smaller);
        }
    }
}

static void brook_pebbles(Run &run, void (*kernel)(const int *, const int *, int *))
{
    const std::vector<int> draws = integers(BROOK_SITES, 500, 23107);
    std::vector<int> starts(1, 0);
    for (int i = 0; i < BROOK_SITES; i++)
        starts.push_back(starts[i] + 100 + draws[i]);
    const std::vector<float> shares = floats(starts.back(), 23108, 0, 1);
    std::vector<int> sizes(shares.size());
    for (size_t i = 0; i < sizes.size(); i++)
        sizes[i] = (int) (BROOK_SIZES * shares[i] * shares[i]);
    const int *ds = run.upload(starts), *from = run.upload(sizes);
    int *to = run.zeros<int>(BROOK_SITES * BROOK_QUANTILES);
    run.measure([=] { kernel<<<BROOK_SITES * 32 / 128, 128>>>(ds, from, to); });
    for (int i = 0; i < BROOK_SITES; i++)
        std::sort(sizes.begin() + starts[i], sizes.begin() + starts[i + 1]);
    run.expect_all(
        run.output(to, BROOK_SITES * BROOK_QUANTILES),
        [&](size_t i) {
            const int start = starts[i / BROOK_QUANTILES];
            const int pebbles = starts[i / BROOK_QUANTILES + 1] - start;
            return sizes[start + brook_rank(pebbles, i % BROOK_QUANTILES)];
        },
        0);
}

static void brook_pebbles_bisect(Run &run)
{
    brook_pebbles(run, brook_pebbles_bisect_kernel);
}

static void brook_pebbles_counts(Run &run)
{
    brook_pebbles(run, brook_pebbles_counts_kernel);
}

#endif
