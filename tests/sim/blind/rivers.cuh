// rivers.cuh - depths from flows, floods that run down reaches, runoff of catchments, silt.
#ifndef BLIND_RIVERS_CUH
#define BLIND_RIVERS_CUH

#include "blind.cuh"

// ---- The depth of a river at a given flow, by Manning's equation: Newton's method, or a table of
// flows per gauge, which each block makes ----

enum { RIVER_GAUGES = 64, RIVER_READINGS = 16384, RIVER_TABLE = 128, RIVER_SPLIT = 24 };

// A gauge: the bed's width, the slope of the banks, and the roughness with the bed's slope. Depths
// are up to 8 m.
template <class T> __host__ __device__ inline T river_flow(float4 gauge, T depth, T &slope)
{
    const T bank = gauge.y, side = 2 * sqrt(1 + bank * bank);
    const T area = (T(gauge.x) + bank * depth) * depth, wet = T(gauge.x) + side * depth;
    const T flow = T(gauge.z) * area * pow(area / wet, T(2) / 3);
    slope = flow * (5 * (T(gauge.x) + 2 * bank * depth) / area - 2 * side / wet) / 3;
    return flow;
}

template <class T> __host__ __device__ inline T river_depth(float4 gauge, T flow)
{
    T depth = 2, step = 1;
    for (int k = 0; k < 20 && fabs(step) > T(1e-4); k++) {
        T slope;
        step = (river_flow(gauge, depth, slope) - flow) / slope;
        depth = max(depth - step, depth / 4);
    }
    return depth;
}

// The row of readings of a gauge has RIVER_SPLIT blocks.
__global__ void river_depth_newton_kernel(const float4 *gauges, const float *flows, float *out)
{
    const float4 gauge = gauges[blockIdx.y];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < RIVER_READINGS;
         i += gridDim.x * blockDim.x)
        out[blockIdx.y * RIVER_READINGS + i] =
            river_depth(gauge, flows[blockIdx.y * RIVER_READINGS + i]);
}

__global__ void river_depth_table_kernel(const float4 *gauges, const float *flows, float *out)
{
    __shared__ float table[RIVER_TABLE];
    const float unit = 8.0f / (RIVER_TABLE - 1);
    float slope;
    for (int i = threadIdx.x; i < RIVER_TABLE; i += blockDim.x)
        table[i] = i ? river_flow(gauges[blockIdx.y], i * unit, slope) : 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < RIVER_READINGS;
         i += gridDim.x * blockDim.x) {
        const float flow = flows[blockIdx.y * RIVER_READINGS + i];
        int at = 0;
        for (int step = RIVER_TABLE / 2; step; step /= 2)
            if (at + step < RIVER_TABLE - 1 && table[at + step] <= flow)
                at += step;
        out[blockIdx.y * RIVER_READINGS + i] =
            unit * (at + (flow - table[at]) / (table[at + 1] - table[at]));
    }
}

static void river_depths(Run &run, bool table)
{
    const size_t n = (size_t) RIVER_GAUGES * RIVER_READINGS;
    const std::vector<float> draws = floats(RIVER_GAUGES * 3, 21560, 0, 1);
    const std::vector<float> depths = floats(n, 21561, 0.3f, 7.8f);
    std::vector<float4> gauges(RIVER_GAUGES);
    std::vector<float> flows(n);
    for (int i = 0; i < RIVER_GAUGES; i++)
        gauges[i] = { 3 + 30 * draws[i * 3], 0.5f + 2 * draws[i * 3 + 1],
                      0.5f + 1.5f * draws[i * 3 + 2], 0 };
    for (size_t i = 0; i < n; i++) {
        double slope;
        flows[i] = (float) river_flow<double>(gauges[i / RIVER_READINGS], depths[i], slope);
    }
    const float4 *dg = run.upload(gauges);
    const float *from = run.upload(flows);
    float *to = run.zeros<float>(n);
    run.measure([=] {
        const dim3 grid(RIVER_SPLIT, RIVER_GAUGES);
        if (table)
            river_depth_table_kernel<<<grid, 128>>>(dg, from, to);
        else
            river_depth_newton_kernel<<<grid, 128>>>(dg, from, to);
    });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return depths[i]; }, 3e-3, 7);
}

static void river_depth_newton(Run &run)
{
    river_depths(run, false);
}

static void river_depth_table(Run &run)
{
    river_depths(run, true);
}

// ---- How a flood runs down 32 reaches, by Muskingum's method: a thread per river, with all
// reaches in registers, or a warp, in which each lane is one hour behind the one before ----

enum { RIVER_COURSES = 4096, RIVER_REACHES = 32, RIVER_HOURS = 256 };

// A river's weights: of the inflow now, of the inflow before, of the outflow before.
__host__ __device__ inline float river_reach(float4 weights, float now, float before, float own)
{
    return weights.x * now + weights.y * before + weights.z * own;
}

// Flows lie by hour, then by river. flows[0] and out[0] are those of the own river.
__host__ __device__ inline void river_flood(float4 weights, const float *flows, float *out)
{
    float own[RIVER_REACHES + 1] = {}; // own[0] is what flows into the first reach
    for (int hour = 0; hour < RIVER_HOURS; hour++) {
        float before = own[0];
        own[0] = flows[hour * RIVER_COURSES];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int k = 1; k <= RIVER_REACHES; k++) {
            const float last = own[k];
            own[k] = river_reach(weights, own[k - 1], before, last);
            before = last;
        }
        out[hour * RIVER_COURSES] = own[RIVER_REACHES];
    }
}

__global__ void river_flood_thread_kernel(const float4 *weights, const float *flows, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    river_flood(weights[i], flows + i, out + i);
}

__global__ void river_flood_warp_kernel(const float4 *weights, const float *flows, float *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float4 weight = weights[i];
    float own = 0, before = 0;
    for (int step = 0; step < RIVER_HOURS + RIVER_REACHES - 1; step++) {
        float now = __shfl_up_sync(~0u, own, 1);
        if (!lane)
            now = step < RIVER_HOURS ? flows[step * RIVER_COURSES + i] : 0;
        own = river_reach(weight, now, before, own);
        before = now;
        if (lane == RIVER_REACHES - 1 && step >= lane)
            out[(step - lane) * RIVER_COURSES + i] = own;
    }
}

static void river_floods(Run &run, bool warp)
{
    const size_t n = (size_t) RIVER_COURSES * RIVER_HOURS;
    const std::vector<float> flows = floats(n, 21563, 1, 20);
    const std::vector<float> draws = floats(RIVER_COURSES * 2, 21564, 0, 1);
    std::vector<float4> weights(RIVER_COURSES);
    for (int i = 0; i < RIVER_COURSES; i++) {
        const float x = 0.1f + 0.3f * draws[2 * i], y = 0.2f + 0.3f * draws[2 * i + 1];
        weights[i] = { x, y, 1 - x - y, 0 };
    }
    const float4 *dw = run.upload(weights);
    const float *from = run.upload(flows);
    float *to = run.zeros<float>(n);
    run.measure([=] {
        if (warp)
            river_flood_warp_kernel<<<RIVER_COURSES / 8, 256>>>(dw, from, to);
        else
            river_flood_thread_kernel<<<RIVER_COURSES / 64, 64>>>(dw, from, to);
    });
    const std::vector<float> got = run.output(to, n);
    std::vector<float> wanted(n);
    for (int i = 0; i < RIVER_COURSES; i += 5) {
        river_flood(weights[i], &flows[i], &wanted[i]);
        for (int hour = 0; hour < RIVER_HOURS; hour++)
            run.expect(got[hour * RIVER_COURSES + i], wanted[hour * RIVER_COURSES + i], 1e-4);
    }
}

static void river_flood_thread(Run &run)
{
    river_floods(run, false);
}

static void river_flood_warp(Run &run)
{
    river_floods(run, true);
}

// ---- Runoff of catchments: each hour's rain, spread over the hours after it. A few have records
// of years: a block per catchment, or a block per 256 hours of all records ----

enum { RIVER_CATCHMENTS = 1500, RIVER_SPREAD = 72, RIVER_PIECE = 256 };

// A record's hours are `begin` up to `hour`, which is the last.
__host__ __device__ inline float river_runoff(const float *rain, const float *unit, int begin,
                                              int hour)
{
    float sum = 0;
    for (int k = 0; k < RIVER_SPREAD && hour - k >= begin; k++)
        sum += unit[k] * rain[hour - k];
    return sum;
}

__global__ void river_runoff_blocks_kernel(const int *starts, const float *rain, const float *units,
                                           float *out)
{
    __shared__ float unit[RIVER_SPREAD];
    const int begin = starts[blockIdx.x], end = starts[blockIdx.x + 1];
    if (threadIdx.x < RIVER_SPREAD)
        unit[threadIdx.x] = units[blockIdx.x * RIVER_SPREAD + threadIdx.x];
    __syncthreads();
    for (int hour = begin + threadIdx.x; hour < end; hour += blockDim.x)
        out[hour] = river_runoff(rain, unit, begin, hour);
}

__global__ void river_runoff_pieces_kernel(const int *starts, const float *rain, const float *units,
                                           float *out)
{
    const int hour = blockIdx.x * RIVER_PIECE + threadIdx.x;
    if (hour >= starts[RIVER_CATCHMENTS])
        return;
    int low = 0, high = RIVER_CATCHMENTS;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (starts[middle] <= hour)
            low = middle;
        else
            high = middle;
    }
    out[hour] = river_runoff(rain, units + low * RIVER_SPREAD, starts[low], hour);
}

static void river_runoffs(Run &run, bool pieces)
{
    const std::vector<int> draws = integers(RIVER_CATCHMENTS, 3000, 21566);
    std::vector<int> starts(1, 0);
    for (int i = 0; i < RIVER_CATCHMENTS; i++)
        starts.push_back(starts[i] +
                         (draws[i] < 30 ? 8760 * (1 + draws[i] % 3) : 24 + draws[i] / 8));
    const int n = starts.back();
    const std::vector<float> rain = floats(n, 21567, 0, 10);
    const std::vector<float> units = floats(RIVER_CATCHMENTS * RIVER_SPREAD, 21568, 0, 0.1f);
    const int *ds = run.upload(starts);
    const float *dr = run.upload(rain), *du = run.upload(units);
    float *to = run.zeros<float>(n);
    run.measure([=] {
        if (pieces)
            river_runoff_pieces_kernel<<<blocks_for(n, RIVER_PIECE), RIVER_PIECE>>>(ds, dr, du, to);
        else
            river_runoff_blocks_kernel<<<RIVER_CATCHMENTS, 128>>>(ds, dr, du, to);
    });
    const std::vector<float> got = run.output(to, n);
    for (int i = 0; i < RIVER_CATCHMENTS; i++)
        for (int hour = starts[i]; hour < starts[i + 1]; hour++)
            run.expect(got[hour],
                       river_runoff(rain.data(), &units[i * RIVER_SPREAD], starts[i], hour), 1e-5);
}

static void river_runoff_blocks(Run &run)
{
    river_runoffs(run, false);
}

static void river_runoff_pieces(Run &run)
{
    river_runoffs(run, true);
}

// ---- Where grains of silt settle on the bed, as the water whirls them: masses summed in global
// memory, or first in shared memory ----

enum { RIVER_GRAINS = 300000, RIVER_BED = 2048, RIVER_SILT_BLOCKS = 264 };

// A grain's place when it has sunk. Heavy grains sink faster.
__host__ __device__ inline int river_settle(int grain, int mass)
{
    uint32_t whirl = 2654435769u * (grain + 1);
    int place = grain % 512, height = 200;
    while (height > 0) {
        whirl = whirl * 1664525u + 1013904223u;
        place += 4 + (int) (whirl >> 28) + height / 32;
        height += (int) (whirl >> 12 & 15) - 8 - mass;
    }
    return min(place, RIVER_BED - 1);
}

__global__ void river_silt_global_kernel(const unsigned char *masses, int *bed)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < RIVER_GRAINS;
         i += gridDim.x * blockDim.x)
        atomicAdd(&bed[river_settle(i, masses[i])], masses[i]);
}

__global__ void river_silt_shared_kernel(const unsigned char *masses, int *bed)
{
    __shared__ int own[RIVER_BED];
    for (int k = threadIdx.x; k < RIVER_BED; k += blockDim.x)
        own[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < RIVER_GRAINS;
         i += gridDim.x * blockDim.x)
        atomicAdd(&own[river_settle(i, masses[i])], masses[i]);
    __syncthreads();
    for (int k = threadIdx.x; k < RIVER_BED; k += blockDim.x)
        if (own[k])
            atomicAdd(&bed[k], own[k]);
}

static void river_silt(Run &run, void (*kernel)(const unsigned char *, int *))
{
    const std::vector<int> draws = integers(RIVER_GRAINS, 12, 21570);
    std::vector<unsigned char> masses(RIVER_GRAINS);
    std::vector<int> bed(RIVER_BED);
    for (int i = 0; i < RIVER_GRAINS; i++) {
        masses[i] = (unsigned char) (2 + draws[i]);
        bed[river_settle(i, masses[i])] += masses[i];
    }
    const unsigned char *from = run.upload(masses);
    int *to = run.zeros<int>(RIVER_BED);
    run.measure([=] { kernel<<<RIVER_SILT_BLOCKS, 256>>>(from, to); },
                [=] { CHECK(cudaMemset(to, 0, RIVER_BED * sizeof(int))); });
    run.expect_all(
        run.output(to, RIVER_BED), [&](size_t i) { return bed[i]; }, 0);
}

static void river_silt_global(Run &run)
{
    river_silt(run, river_silt_global_kernel);
}

static void river_silt_shared(Run &run)
{
    river_silt(run, river_silt_shared_kernel);
}

#endif
