// harvests.cuh - harvests: maps of yields, growth of crops, rotations of crops, bales of straw.
#ifndef BLIND_HARVESTS_CUH
#define BLIND_HARVESTS_CUH

#include "blind.cuh"

// ---- A map of the yield, from points that harvesters measured: blocks take each 264th tile of the
// map, or the next tile by a ticket. Harvesters turned at the top, where points are dense ----

enum { HARVEST_TILES = 32, HARVEST_TILE = 16, HARVEST_MAP = HARVEST_TILES * HARVEST_TILE };
enum { HARVEST_STAGE = HARVEST_TILE * HARVEST_TILE };

// A point: its place in cells and its yield. `sum` collects weights and weighted yields.
__host__ __device__ inline void harvest_weigh(float3 point, float x, float y, float2 &sum)
{
    const float dx = point.x - x, dy = point.y - y;
    const float weight = 1 / (1 + dx * dx + dy * dy);
    sum.x += weight;
    sum.y += weight * point.z;
}

// Points lie by tile, in rows of tiles: those of neighbours in a row follow each other.
__host__ __device__ inline int2 harvest_range(const int *first, int tile, int row)
{
    const int y = tile / HARVEST_TILES + row, x = tile % HARVEST_TILES;
    if (y < 0 || y >= HARVEST_TILES)
        return { 0, 0 };
    const int left = x ? x - 1 : 0, right = x < HARVEST_TILES - 1 ? x + 1 : x;
    return { first[y * HARVEST_TILES + left], first[y * HARVEST_TILES + right + 1] };
}

__device__ inline void harvest_tile(const int *first, const float3 *points, int tile, float *out)
{
    __shared__ float3 staged[HARVEST_STAGE];
    const int x = tile % HARVEST_TILES * HARVEST_TILE + threadIdx.x % HARVEST_TILE;
    const int y = tile / HARVEST_TILES * HARVEST_TILE + threadIdx.x / HARVEST_TILE;
    float2 sum = { 1e-6f, 0 };
    for (int row = -1; row <= 1; row++) {
        const int2 range = harvest_range(first, tile, row);
        for (int at = range.x; at < range.y; at += HARVEST_STAGE) {
            const int count = min(range.y - at, (int) HARVEST_STAGE);
            __syncthreads();
            if (threadIdx.x < count)
                staged[threadIdx.x] = points[at + threadIdx.x];
            __syncthreads();
            for (int k = 0; k < count; k++)
                harvest_weigh(staged[k], x, y, sum);
        }
    }
    out[y * HARVEST_MAP + x] = sum.y / sum.x;
}

__global__ void harvest_map_shares_kernel(const int *first, const float3 *points, float *out)
{
    for (int tile = blockIdx.x; tile < HARVEST_TILES * HARVEST_TILES; tile += gridDim.x)
        harvest_tile(first, points, tile, out);
}

__global__ void harvest_map_tickets_kernel(const int *first, const float3 *points, int *tickets,
                                           float *out)
{
    __shared__ int drawn;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0)
            drawn = atomicAdd(tickets, 1);
        __syncthreads();
        const int tile = drawn;
        if (tile >= HARVEST_TILES * HARVEST_TILES)
            return;
        harvest_tile(first, points, tile, out);
    }
}

static void harvest_map(Run &run, bool by_tickets)
{
    const int tiles = HARVEST_TILES * HARVEST_TILES;
    const std::vector<int> counts = integers(tiles, 30, 21300);
    std::vector<int> first(1, 0);
    for (int i = 0; i < tiles; i++)
        first.push_back(first[i] + 8 + counts[i] * (i < 3 * HARVEST_TILES ? 12 : 1));
    const std::vector<float> draws = floats(3 * (size_t) first[tiles], 21301, 0, 1);
    std::vector<float3> points(first[tiles]);
    for (int tile = 0; tile < tiles; tile++)
        for (int k = first[tile]; k < first[tile + 1]; k++)
            points[k] = { (tile % HARVEST_TILES + draws[3 * k]) * HARVEST_TILE,
                          (tile / HARVEST_TILES + draws[3 * k + 1]) * HARVEST_TILE,
                          2 + 9 * draws[3 * k + 2] };
    const int *df = run.upload(first);
    const float3 *dp = run.upload(points);
    int *tickets = run.zeros<int>(1);
    float *to = run.zeros<float>(HARVEST_MAP * HARVEST_MAP);
    run.measure(
        [=] {
            if (by_tickets)
                harvest_map_tickets_kernel<<<264, HARVEST_STAGE>>>(df, dp, tickets, to);
            else
                harvest_map_shares_kernel<<<264, HARVEST_STAGE>>>(df, dp, to);
        },
        [=] { CHECK(cudaMemset(tickets, 0, sizeof(int))); });
    run.expect_all(
        run.output(to, HARVEST_MAP * HARVEST_MAP),
        [&](size_t i) {
            const int x = i % HARVEST_MAP, y = i / HARVEST_MAP;
            const int tile = y / HARVEST_TILE * HARVEST_TILES + x / HARVEST_TILE;
            float2 sum = { 1e-6f, 0 };
            for (int row = -1; row <= 1; row++) {
                const int2 range = harvest_range(first.data(), tile, row);
                for (int k = range.x; k < range.y; k++)
                    harvest_weigh(points[k], x, y, sum);
            }
            return sum.y / sum.x;
        },
        1e-3, 23);
}

static void harvest_map_shares(Run &run)
{
    harvest_map(run, false);
}

static void harvest_map_tickets(Run &run)
{
    harvest_map(run, true);
}

// ---- How crops grow from day to day until they are ripe: the weather of each field in floats, or
// in bytes ----

enum { HARVEST_FIELDS = 16384, HARVEST_DAYS = 128 };

// x: temperature, y: rain, z: sun, w: wind.
__host__ __device__ inline float4 harvest_weather(uchar4 day)
{
    return { day.x * 0.25f - 16, day.y * 0.125f, day.z * 0.0625f, day.w * 0.0625f };
}

__host__ __device__ inline float4 harvest_weather(float4 day)
{
    return day;
}

template <class Day>
__host__ __device__ inline float harvest_grow(const Day *days, int field, float cap)
{
    float soil = cap / 2, heat = 0, mass = 0.05f;
    for (int day = 0; day < HARVEST_DAYS && heat < 1100; day++) {
        const float4 now = harvest_weather(days[day * HARVEST_FIELDS + field]);
        const float warm = fminf(fmaxf(now.x - 6, 0), 24);
        const float dried = sqrtf(now.w + 0.5f) * (0.4f * now.z + 0.05f * warm);
        soil = fminf(fmaxf(soil + now.y - dried * soil / cap, 0), cap);
        heat += warm;
        const float light = 1 - expf(-0.6f * mass);
        if (now.x < -8)
            mass *= 0.7f;
        else
            mass += 0.02f * light * now.z * warm * fminf(1, 2 * soil / cap) / (1 + 0.3f * mass);
    }
    return mass;
}

template <class Day>
__global__ void harvest_growth_kernel(const Day *days, const float *caps, float *out)
{
    const int field = blockIdx.x * blockDim.x + threadIdx.x;
    out[field] = harvest_grow(days, field, caps[field]);
}

static void harvest_growth(Run &run, bool bytes)
{
    const size_t n = (size_t) HARVEST_FIELDS * HARVEST_DAYS;
    const std::vector<uint32_t> draws = words(n, 21310);
    const std::vector<float> caps = floats(HARVEST_FIELDS, 21311, 40, 160);
    std::vector<uchar4> packed(n);
    std::vector<float4> plain(n);
    for (size_t i = 0; i < n; i++) {
        const uint32_t v = draws[i];
        const int warmth = (int) (i % HARVEST_FIELDS % 61);
        packed[i] = { (unsigned char) ((v & 127) + warmth + 10),
                      (unsigned char) (v >> 8 & 3 ? 0 : v >> 10 & 127),
                      (unsigned char) (v >> 17 & 255), (unsigned char) (v >> 25) };
        plain[i] = harvest_weather(packed[i]);
    }
    const uchar4 *db = run.upload(packed);
    const float4 *df = run.upload(plain);
    const float *dc = run.upload(caps);
    float *to = run.zeros<float>(HARVEST_FIELDS);
    run.measure([=] {
        if (bytes)
            harvest_growth_kernel<<<HARVEST_FIELDS / 64, 64>>>(db, dc, to);
        else
            harvest_growth_kernel<<<HARVEST_FIELDS / 64, 64>>>(df, dc, to);
    });
    run.expect_all(
        run.output(to, HARVEST_FIELDS),
        [&](size_t i) { return harvest_grow(plain.data(), (int) i, caps[i]); }, 1e-3, 3);
}

static void harvest_growth_floats(Run &run)
{
    harvest_growth(run, false);
}

static void harvest_growth_bytes(Run &run)
{
    harvest_growth(run, true);
}

// ---- The best crops for fields over the years, where crops harm those that follow them: a thread
// per field, or a lane per crop ----

enum { HARVEST_PLOTS = 65536, HARVEST_YEARS = 20, HARVEST_CROPS = 8 };

__constant__ int harvest_prices[HARVEST_YEARS * HARVEST_CROPS];
__constant__ int harvest_harms[HARVEST_CROPS * HARVEST_CROPS]; // by crop, then by the one before

__host__ __device__ inline int harvest_best(const int *soil, const int *prices, const int *harms)
{
    int best[HARVEST_CROPS] = {}, top = 0;
    for (int year = 0; year < HARVEST_YEARS; year++) {
        int next[HARVEST_CROPS];
#pragma unroll
        for (int crop = 0; crop < HARVEST_CROPS; crop++) {
            int from = best[0] - harms[crop * HARVEST_CROPS];
#pragma unroll
            for (int k = 1; k < HARVEST_CROPS; k++)
                from = max(from, best[k] - harms[crop * HARVEST_CROPS + k]);
            next[crop] = from + (soil[crop] * prices[year * HARVEST_CROPS + crop] >> 6);
        }
#pragma unroll
        for (int crop = 0; crop < HARVEST_CROPS; crop++)
            best[crop] = next[crop];
    }
    for (int crop = 0; crop < HARVEST_CROPS; crop++)
        top = max(top, best[crop] * HARVEST_CROPS + crop);
    return top;
}

__global__ void harvest_rotation_thread_kernel(const int4 *soils, int *out)
{
    const int plot = blockIdx.x * blockDim.x + threadIdx.x;
    const int4 low = soils[2 * plot], high = soils[2 * plot + 1];
    const int soil[HARVEST_CROPS] = { low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w };
    out[plot] = harvest_best(soil, harvest_prices, harvest_harms);
}

__global__ void harvest_rotation_lanes_kernel(const int *soils, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, crop = threadIdx.x % HARVEST_CROPS;
    const int soil = soils[i];
    int harms[HARVEST_CROPS], best = 0;
#pragma unroll
    for (int k = 0; k < HARVEST_CROPS; k++)
        harms[k] = harvest_harms[crop * HARVEST_CROPS + k];
    for (int year = 0; year < HARVEST_YEARS; year++) {
        int from = __shfl_sync(~0u, best, 0, HARVEST_CROPS) - harms[0];
#pragma unroll
        for (int k = 1; k < HARVEST_CROPS; k++)
            from = max(from, __shfl_sync(~0u, best, k, HARVEST_CROPS) - harms[k]);
        best = from + (soil * harvest_prices[year * HARVEST_CROPS + crop] >> 6);
    }
    int top = best * HARVEST_CROPS + crop;
    for (int d = HARVEST_CROPS / 2; d; d /= 2)
        top = max(top, __shfl_down_sync(~0u, top, d, HARVEST_CROPS));
    if (crop == 0)
        out[i / HARVEST_CROPS] = top;
}

static void harvest_rotation(Run &run, bool lanes)
{
    const size_t n = (size_t) HARVEST_PLOTS * HARVEST_CROPS;
    const std::vector<int> soils = integers(n, 100, 21320);
    std::vector<int> prices = integers(HARVEST_YEARS * HARVEST_CROPS, 200, 21321);
    std::vector<int> harms = integers(HARVEST_CROPS * HARVEST_CROPS, 60, 21322);
    for (int crop = 0; crop < HARVEST_CROPS; crop++)
        harms[crop * (HARVEST_CROPS + 1)] += 120;
    for (int &price : prices)
        price += 100;
    CHECK(cudaMemcpyToSymbol(harvest_prices, prices.data(), sizeof harvest_prices));
    CHECK(cudaMemcpyToSymbol(harvest_harms, harms.data(), sizeof harvest_harms));
    const int *from = run.upload(soils);
    int *to = run.zeros<int>(HARVEST_PLOTS);
    run.measure([=] {
        if (lanes)
            harvest_rotation_lanes_kernel<<<n / 256, 256>>>(from, to);
        else
            harvest_rotation_thread_kernel<<<HARVEST_PLOTS / 256, 256>>>((const int4 *) from, to);
    });
    run.expect_all(
        run.output(to, HARVEST_PLOTS),
        [&](size_t i) {
            return harvest_best(&soils[i * HARVEST_CROPS], prices.data(), harms.data());
        },
        0, 3);
}

static void harvest_rotation_thread(Run &run)
{
    harvest_rotation(run, false);
}

static void harvest_rotation_lanes(Run &run)
{
    harvest_rotation(run, true);
}

// ---- Where a press drops bales along the rows of a round field, a thread per row: the samples of
// a row follow each other, or those of one step do. Rows in the middle are long ----

enum { HARVEST_ROWS = 32768, HARVEST_LONGEST = 320, HARVEST_BALE = 900 };

// Bales times 65536 plus the sum of their places, modulo 65536.
__host__ __device__ inline uint32_t harvest_press(const uint16_t *straw, int step, int count)
{
    uint32_t bales = 0, places = 0;
    int load = 0;
    for (int k = 0; k < count; k++) {
        load += straw[(size_t) k * step];
        if (load >= HARVEST_BALE) {
            load = 0;
            bales++;
            places += k;
        }
    }
    return bales << 16 | (places & 0xffff);
}

__global__ void harvest_bales_rows_kernel(const uint16_t *straw, const int *counts, uint32_t *out)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    out[row] = harvest_press(straw + (size_t) row * HARVEST_LONGEST, 1, counts[row]);
}

__global__ void harvest_bales_steps_kernel(const uint16_t *straw, const int *counts, uint32_t *out)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    out[row] = harvest_press(straw + row, HARVEST_ROWS, counts[row]);
}

static void harvest_bales(Run &run, bool steps)
{
    const size_t n = (size_t) HARVEST_ROWS * HARVEST_LONGEST;
    const std::vector<int> draws = integers(n, 200, 21330);
    std::vector<uint16_t> straw(draws.begin(), draws.end()), turned(n);
    std::vector<int> counts(HARVEST_ROWS);
    for (int row = 0; row < HARVEST_ROWS; row++) {
        const double away = (row + 0.5) / HARVEST_ROWS * 2 - 1;
        counts[row] = (int) (HARVEST_LONGEST * sqrt(1 - away * away));
        for (int k = 0; k < HARVEST_LONGEST; k++)
            turned[(size_t) k * HARVEST_ROWS + row] = straw[(size_t) row * HARVEST_LONGEST + k];
    }
    const uint16_t *from = run.upload(steps ? turned : straw);
    const int *dc = run.upload(counts);
    uint32_t *to = run.zeros<uint32_t>(HARVEST_ROWS);
    run.measure([=] {
        if (steps)
            harvest_bales_steps_kernel<<<HARVEST_ROWS / 128, 128>>>(from, dc, to);
        else
            harvest_bales_rows_kernel<<<HARVEST_ROWS / 128, 128>>>(from, dc, to);
    });
    run.expect_all(
        run.output(to, HARVEST_ROWS),
        [&](size_t i) { return harvest_press(&straw[i * HARVEST_LONGEST], 1, counts[i]); }, 0);
}

static void harvest_bales_rows(Run &run)
{
    harvest_bales(run, false);
}

static void harvest_bales_steps(Run &run)
{
    harvest_bales(run, true);
}

#endif
