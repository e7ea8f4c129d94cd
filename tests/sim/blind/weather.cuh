// weather.cuh - stations and their years: maps from stations, dry spells, trends, snow.
#ifndef BLIND_WEATHER_CUH
#define BLIND_WEATHER_CUH

#include "blind.cuh"

// ---- A map from stations by inverse distance: stations in global memory, or in shared ----

enum { IDW_SIDE = 192, IDW_STATIONS = 256 };

__global__ void distance_map_global_kernel(const float3 *stations, float *out)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0, weights = 0;
    for (int k = 0; k < IDW_STATIONS; k++) {
        const float dx = stations[k].x - x, dy = stations[k].y - y;
        const float w = 1 / (dx * dx + dy * dy + 0.1f);
        sum += w * stations[k].z;
        weights += w;
    }
    out[y * IDW_SIDE + x] = sum / weights;
}

__global__ void distance_map_shared_kernel(const float3 *stations, float *out)
{
    __shared__ float3 tile[IDW_STATIONS];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    tile[threadIdx.y * 32 + threadIdx.x] = stations[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    float sum = 0, weights = 0;
    for (int k = 0; k < IDW_STATIONS; k++) {
        const float dx = tile[k].x - x, dy = tile[k].y - y;
        const float w = __fdividef(1, dx * dx + dy * dy + 0.1f);
        sum += w * tile[k].z;
        weights += w;
    }
    out[y * IDW_SIDE + x] = sum / weights;
}

static void distance_map(Run &run, void (*kernel)(const float3 *, float *))
{
    const std::vector<float> v = floats(3 * IDW_STATIONS, 6201, 0, IDW_SIDE);
    const float3 *from = (const float3 *) run.upload(v);
    float *to = run.zeros<float>(IDW_SIDE * IDW_SIDE);
    run.measure([=] { kernel<<<dim3(IDW_SIDE / 32, IDW_SIDE / 8), dim3(32, 8)>>>(from, to); });
    run.expect_all(
        run.output(to, IDW_SIDE * IDW_SIDE),
        [&](size_t i) {
            double sum = 0, weights = 0;
            for (int k = 0; k < IDW_STATIONS; k++) {
                const double dx = v[3 * k] - (double) (i % IDW_SIDE);
                const double dy = v[3 * k + 1] - (double) (i / IDW_SIDE);
                const double w = 1 / (dx * dx + dy * dy + 0.1);
                sum += w * v[3 * k + 2];
                weights += w;
            }
            return sum / weights;
        },
        1e-3, 499);
}

static void distance_map_global(Run &run)
{
    distance_map(run, distance_map_global_kernel);
}

static void distance_map_shared(Run &run)
{
    distance_map(run, distance_map_shared_kernel);
}

// ---- The longest dry spell of each station: a thread walks its days, or a warp joins pieces ----

enum { DRY_STATIONS = 4096, DRY_DAYS = 1024 };

__global__ void dry_thread_kernel(const unsigned char *rain, int *out)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    int longest = 0, run = 0;
    for (int d = 0; d < DRY_DAYS; d++) {
        run = rain[s * DRY_DAYS + d] < 200 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    out[s] = longest;
}

// The bits of 32 days at a time; a run of n ones survives n - 1 steps of x &= x >> 1.
__global__ void dry_warp_kernel(const unsigned char *rain, int *out)
{
    const int s = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    int longest = 0, before = 0;
    for (int d = 0; d < DRY_DAYS; d += 32) {
        const unsigned dry = __ballot_sync(~0u, rain[s * DRY_DAYS + d + lane] < 200);
        const int head = dry == ~0u ? 32 : __ffs(~dry) - 1;
        longest = max(longest, before + head);
        before = dry == ~0u ? before + 32 : __clz(~dry);
        int run = 0;
        for (unsigned bits = dry; bits; bits &= bits >> 1)
            run++;
        longest = max(longest, run);
    }
    if (lane == 0)
        out[s] = max(longest, before);
}

static void dry_spells(Run &run, bool warp)
{
    const std::vector<uint32_t> w = words(DRY_STATIONS * DRY_DAYS / 4, 6202);
    const unsigned char *from = (const unsigned char *) run.upload(w);
    int *to = run.zeros<int>(DRY_STATIONS);
    run.measure([=] {
        if (warp)
            dry_warp_kernel<<<DRY_STATIONS / 4, dim3(32, 4)>>>(from, to);
        else
            dry_thread_kernel<<<DRY_STATIONS / 128, 128>>>(from, to);
    });
    const unsigned char *rain = (const unsigned char *) w.data();
    run.expect_all(
        run.output(to, DRY_STATIONS),
        [&](size_t s) {
            int longest = 0, dry = 0;
            for (int d = 0; d < DRY_DAYS; d++) {
                dry = rain[s * DRY_DAYS + d] < 200 ? dry + 1 : 0;
                longest = std::max(longest, dry);
            }
            return longest;
        },
        0, 61);
}

static void dry_thread(Run &run)
{
    dry_spells(run, false);
}

static void dry_warp(Run &run)
{
    dry_spells(run, true);
}

// ---- The trend of each cell over 40 years: in float, or in double as the textbook has it ----

enum { TREND_CELLS = 1 << 19, TREND_YEARS = 40 };

template <class T> __global__ void trend_kernel(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    T sy = 0, sxy = 0, sxx = 0;
    for (int t = 0; t < TREND_YEARS; t++) {
        const T x = t - (T) (TREND_YEARS - 1) / 2, y = in[t * TREND_CELLS + i];
        sy += y;
        sxy += x * y;
        sxx += x * x;
    }
    out[i] = (float) (sxy / sxx);
    out[TREND_CELLS + i] = (float) (sy / TREND_YEARS);
}

template <class T> static void trend(Run &run)
{
    const std::vector<float> in = floats((size_t) TREND_CELLS * TREND_YEARS, 6203);
    const float *from = run.upload(in);
    float *to = run.zeros<float>(2 * TREND_CELLS);
    run.measure([=] { trend_kernel<T><<<TREND_CELLS / 256, 256>>>(from, to); });
    std::vector<float> got = run.output(to, 2 * TREND_CELLS);
    for (int i = 0; i < TREND_CELLS; i += 503) {
        double sy = 0;
        for (int t = 0; t < TREND_YEARS; t++)
            sy += in[(size_t) t * TREND_CELLS + i];
        run.expect(got[TREND_CELLS + i], sy / TREND_YEARS, 1e-4);
    }
}

static void trend_float(Run &run)
{
    trend<float>(run);
}

static void trend_double(Run &run)
{
    trend<double>(run);
}

// ---- Snow by degree days, a cell per thread, in blocks of 32 or of 1024 threads ----

enum { SNOW_CELLS = 1 << 12, SNOW_DAYS = 1825 };

__host__ __device__ inline int snow_model(uint32_t seed)
{
    int pack = 0, melted = 0;
    for (int d = 0; d < SNOW_DAYS; d++) {
        seed = seed * 1664525u + 1013904223u;
        const int warmth = (int) (seed >> 24) - 128 + (d % 365 < 180 ? -60 : 60),
                  fall = seed >> 16 & 63;
        if (warmth < 0) {
            pack += fall;
        } else {
            const int melt = warmth * 3 / 8 < pack ? warmth * 3 / 8 : pack;
            pack -= melt;
            melted += melt;
        }
    }
    return melted * 4096 + pack % 4096;
}

__global__ void snow_kernel(int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = snow_model(i * 2654435769u);
}

static void snow(Run &run, int cells, int block)
{
    int *to = run.zeros<int>(cells);
    run.measure([=] { snow_kernel<<<cells / block, block>>>(to); });
    run.expect_all(
        run.output(to, cells), [](size_t i) { return snow_model((uint32_t) i * 2654435769u); }, 0,
        211);
}

static void snow_32(Run &run)
{
    snow(run, SNOW_CELLS, 32);
}

static void snow_1024(Run &run)
{
    snow(run, SNOW_CELLS, 1024);
}

#endif
