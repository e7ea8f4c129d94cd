// hives.cuh - honey bees: directions of dances, heat in a comb of hexagons, bees that meet, and the
// best patches of flowers.
#ifndef BLIND_HIVES_CUH
#define BLIND_HIVES_CUH

#include "blind.cuh"

// ---- Directions of waggle dances, as mean vectors of doubled headings: a thread per dance, or a
// warp ----

enum { HIVE_DANCES = 7100, HIVE_SHORTEST = 12, HIVE_SPREAD = 120 };

struct HiveDances {
    std::vector<int> first; // per dance, then the end
    std::vector<float2> at;
};

// A dancer walks ahead and swings from side to side.
static HiveDances hive_dances()
{
    HiveDances d;
    const std::vector<int> lengths = integers(HIVE_DANCES, HIVE_SPREAD, 19000);
    const std::vector<float> ways = floats(HIVE_DANCES, 19001, 0, 6.28f);
    const std::vector<float> noise =
        floats((size_t) 2 * HIVE_DANCES * (HIVE_SHORTEST + HIVE_SPREAD), 19002, -0.6f, 0.6f);
    for (int i = 0; i < HIVE_DANCES; i++) {
        float x = 0, y = 0;
        d.first.push_back((int) d.at.size());
        for (int k = 0; k < HIVE_SHORTEST + lengths[i]; k++) {
            const size_t draw = 2 * d.at.size();
            x += cosf(ways[i]) + noise[draw];
            y += sinf(ways[i]) + noise[draw + 1];
            d.at.push_back(make_float2(x, y));
        }
    }
    d.first.push_back((int) d.at.size());
    return d;
}

// Adds the step from `a` to `b`. Doubled angles: ahead and back are the same direction.
__host__ __device__ inline void hive_step(float2 a, float2 b, float2 *sum)
{
    const float dx = b.x - a.x, dy = b.y - a.y;
    const float heading = atan2f(dy, dx), length = sqrtf(dx * dx + dy * dy);
    sum->x += length * cosf(2 * heading);
    sum->y += length * sinf(2 * heading);
}

__host__ __device__ inline float2 hive_dance(const float2 *at, int begin, int end)
{
    float2 sum = { 0, 0 };
    for (int k = begin; k + 1 < end; k++)
        hive_step(at[k], at[k + 1], &sum);
    return make_float2(sum.x / (end - begin - 1), sum.y / (end - begin - 1));
}

__global__ void hive_dance_thread_kernel(const float2 *at, const int *first, float2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < HIVE_DANCES)
        out[i] = hive_dance(at, first[i], first[i + 1]);
}

__global__ void hive_dance_warp_kernel(const float2 *at, const int *first, float2 *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= HIVE_DANCES)
        return;
    const int begin = first[i], end = first[i + 1];
    float2 sum = { 0, 0 };
    for (int k = begin + lane; k + 1 < end; k += 32)
        hive_step(at[k], at[k + 1], &sum);
    for (int d = 16; d; d /= 2) {
        sum.x += __shfl_xor_sync(~0u, sum.x, d);
        sum.y += __shfl_xor_sync(~0u, sum.y, d);
    }
    if (lane == 0)
        out[i] = make_float2(sum.x / (end - begin - 1), sum.y / (end - begin - 1));
}

static void hive_dance_run(Run &run, bool warps)
{
    const HiveDances d = hive_dances();
    const float2 *at = run.upload(d.at);
    const int *first = run.upload(d.first);
    float2 *to = run.zeros<float2>(HIVE_DANCES);
    run.measure([=] {
        if (warps)
            hive_dance_warp_kernel<<<blocks_for(HIVE_DANCES * 32, 256), 256>>>(at, first, to);
        else
            hive_dance_thread_kernel<<<blocks_for(HIVE_DANCES, 64), 64>>>(at, first, to);
    });
    const std::vector<float2> got = run.output(to, HIVE_DANCES);
    for (int i = 0; i < HIVE_DANCES; i += 7) {
        const float2 wanted = hive_dance(d.at.data(), d.first[i], d.first[i + 1]);
        run.expect(got[i].x, wanted.x, 1e-4);
        run.expect(got[i].y, wanted.y, 1e-4);
    }
}

static void hive_dance_thread(Run &run)
{
    hive_dance_run(run, false);
}

static void hive_dance_warp(Run &run)
{
    hive_dance_run(run, true);
}

// ---- Heat in a comb of hexagons, which bees warm: a kernel per step, or tiles for four steps ----

enum { HIVE_W = 512, HIVE_H = 320, HIVE_STEPS = 8, HIVE_HALO = 4 };
enum { HIVE_INNER_W = 32, HIVE_INNER_H = 16 };
enum { HIVE_TILE_W = HIVE_INNER_W + 2 * HIVE_HALO, HIVE_TILE_H = HIVE_INNER_H + 2 * HIVE_HALO };
enum { HIVE_TILE = HIVE_TILE_W * HIVE_TILE_H };

constexpr float hive_outside = 18;

__host__ __device__ inline float hive_next(float mine, float sum, float bees)
{
    return mine + 0.1f * (sum - 6 * mine) + 0.02f * bees * fmaxf(34 - mine, 0);
}

__host__ __device__ inline bool hive_inside(int x, int y)
{
    return x >= 0 && y >= 0 && x < HIVE_W && y < HIVE_H;
}

__host__ __device__ inline float hive_at(const float *heat, int x, int y)
{
    return hive_inside(x, y) ? heat[y * HIVE_W + x] : hive_outside;
}

// Odd rows are half a cell to the right.
__host__ __device__ inline float hive_cell(const float *heat, const float *bees, int x, int y)
{
    const int left = x - 1 + (y & 1);
    const float sum = hive_at(heat, x - 1, y) + hive_at(heat, x + 1, y) +
                      hive_at(heat, left, y - 1) + hive_at(heat, left + 1, y - 1) +
                      hive_at(heat, left, y + 1) + hive_at(heat, left + 1, y + 1);
    return hive_next(heat[y * HIVE_W + x], sum, bees[y * HIVE_W + x]);
}

__global__ void hive_heat_step_kernel(const float *in, const float *bees, float *out)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    out[y * HIVE_W + x] = hive_cell(in, bees, x, y);
}

// `i`: of the tile's cell; `odd`: its row is an odd one of the comb.
__device__ inline float hive_tile_sum(const float *tile, int i, int odd)
{
    const float *above = tile + i - HIVE_TILE_W - 1 + odd, *below = above + 2 * HIVE_TILE_W;
    return tile[i - 1] + tile[i + 1] + above[0] + above[1] + below[0] + below[1];
}

// Cells that are right become fewer by one on each side with each step. Those outside of the comb
// keep their value.
__global__ void hive_heat_tile_kernel(const float *in, const float *bees, float *out)
{
    extern __shared__ float hive_tiles[];
    const int x0 = blockIdx.x * HIVE_INNER_W - HIVE_HALO,
              y0 = blockIdx.y * HIVE_INNER_H - HIVE_HALO;
    float *now = hive_tiles, *next = hive_tiles + HIVE_TILE;
    for (int i = threadIdx.x; i < HIVE_TILE; i += blockDim.x)
        now[i] = next[i] = hive_at(in, x0 + i % HIVE_TILE_W, y0 + i / HIVE_TILE_W);
    __syncthreads();
    for (int step = 1; step <= HIVE_HALO; step++) {
        for (int i = threadIdx.x; i < HIVE_TILE; i += blockDim.x) {
            const int tx = i % HIVE_TILE_W, ty = i / HIVE_TILE_W, x = x0 + tx, y = y0 + ty;
            if (tx >= step && ty >= step && tx < HIVE_TILE_W - step && ty < HIVE_TILE_H - step &&
                hive_inside(x, y))
                next[i] = hive_next(now[i], hive_tile_sum(now, i, y & 1), bees[y * HIVE_W + x]);
        }
        __syncthreads();
        float *const before = now;
        now = next;
        next = before;
    }
    for (int i = threadIdx.x; i < HIVE_INNER_W * HIVE_INNER_H; i += blockDim.x) {
        const int tx = i % HIVE_INNER_W + HIVE_HALO, ty = i / HIVE_INNER_W + HIVE_HALO;
        out[(y0 + ty) * HIVE_W + x0 + tx] = now[ty * HIVE_TILE_W + tx];
    }
}

static void hive_heat(Run &run, bool tiles)
{
    const size_t n = (size_t) HIVE_W * HIVE_H;
    const std::vector<float> heat = floats(n, 19003, 18, 36), bees = floats(n, 19004, 0, 4);
    const float *from = run.upload(heat), *db = run.upload(bees);
    float *a = run.zeros<float>(n), *b = run.zeros<float>(n);
    const int times = tiles ? HIVE_STEPS / HIVE_HALO : HIVE_STEPS;
    run.measure([=] {
        const float *in = from;
        for (int t = 0; t < times; t++) {
            float *out = t % 2 ? b : a;
            if (tiles)
                hive_heat_tile_kernel<<<dim3(HIVE_W / HIVE_INNER_W, HIVE_H / HIVE_INNER_H), 256,
                                        2 * HIVE_TILE * sizeof(float)>>>(in, db, out);
            else
                hive_heat_step_kernel<<<dim3(HIVE_W / 32, HIVE_H / 4), dim3(32, 4)>>>(in, db, out);
            in = out;
        }
    });
    std::vector<float> now = heat, next(n);
    for (int t = 0; t < HIVE_STEPS; t++) {
        for (size_t i = 0; i < n; i++)
            next[i] = hive_cell(now.data(), bees.data(), i % HIVE_W, (int) (i / HIVE_W));
        now.swap(next);
    }
    run.expect_all(
        run.output(b, n), [&](size_t i) { return now[i]; }, 1e-5);
}

static void hive_heat_steps(Run &run)
{
    hive_heat(run, false);
}

static void hive_heat_tiles(Run &run)
{
    hive_heat(run, true);
}

// ---- Bees that face each other, counted over frames of a film: a block per frame, or a thread per
// pair ----

enum { HIVE_BEES = 190, HIVE_FRAMES = 150, HIVE_REACH = 60 };

// x, y: the place; z, w: the direction.
__host__ __device__ inline bool hive_meets(int4 a, int4 b)
{
    const int dx = b.x - a.x, dy = b.y - a.y;
    return dx * dx + dy * dy < HIVE_REACH * HIVE_REACH && dx * a.z + dy * a.w > 0 &&
           dx * b.z + dy * b.w < 0;
}

__global__ void hive_meet_frames_kernel(const int4 *film, int *counts)
{
    __shared__ int4 bees[HIVE_BEES];
    const int i = threadIdx.x;
    if (i < HIVE_BEES)
        bees[i] = film[blockIdx.x * HIVE_BEES + i];
    __syncthreads();
    for (int j = i + 1; j < HIVE_BEES; j++)
        if (hive_meets(bees[i], bees[j]))
            atomicAdd(&counts[i * HIVE_BEES + j], 1);
}

__global__ void hive_meet_pairs_kernel(const int4 *film, int *counts)
{
    const int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 2 + threadIdx.y;
    int count = 0;
    if (i >= j || j >= HIVE_BEES)
        return;
    for (int f = 0; f < HIVE_FRAMES; f++)
        count += hive_meets(film[f * HIVE_BEES + i], film[f * HIVE_BEES + j]);
    counts[i * HIVE_BEES + j] = count;
}

static void hive_meet(Run &run, bool pairs)
{
    const size_t n = (size_t) HIVE_BEES * HIVE_BEES;
    const std::vector<int> draws = integers((size_t) 4 * HIVE_BEES * HIVE_FRAMES, 900, 19005);
    std::vector<int4> film;
    for (size_t i = 0; i < draws.size(); i += 4)
        film.push_back(
            make_int4(draws[i], draws[i + 1], draws[i + 2] % 65 - 32, draws[i + 3] % 65 - 32));
    const int4 *from = run.upload(film);
    int *to = run.zeros<int>(n);
    run.measure(
        [=] {
            if (pairs)
                hive_meet_pairs_kernel<<<dim3(6, HIVE_BEES / 2), dim3(32, 2)>>>(from, to);
            else
                hive_meet_frames_kernel<<<HIVE_FRAMES, 192>>>(from, to);
        },
        [=] { CHECK(cudaMemset(to, 0, n * sizeof(int))); });
    run.expect_all(
        run.output(to, n),
        [&](size_t at) {
            const size_t i = at / HIVE_BEES, j = at % HIVE_BEES;
            int count = 0;
            for (int f = 0; f < HIVE_FRAMES && i < j; f++)
                count += hive_meets(film[f * HIVE_BEES + i], film[f * HIVE_BEES + j]);
            return count;
        },
        0);
}

static void hive_meet_frames(Run &run)
{
    hive_meet(run, false);
}

static void hive_meet_pairs(Run &run)
{
    hive_meet(run, true);
}

// ---- The five best patches of flowers for each bee: an array by insertion, or exchanges in
// registers ----

enum { HIVE_FORAGERS = 12000, HIVE_PATCHES = 280, HIVE_BEST = 5 };

// The rating of a patch, with its number in the low bits: keys differ.
__host__ __device__ inline uint32_t hive_key(int2 bee, int4 patch, int number)
{
    const int dx = patch.x - bee.x, dy = patch.y - bee.y;
    return (uint32_t) (patch.z * patch.w / (64 + (dx * dx + dy * dy) / 16)) << 9 | number;
}

__host__ __device__ inline void hive_best(int2 bee, const int4 *patches, uint32_t *best)
{
    for (int k = 0; k < HIVE_BEST; k++)
        best[k] = 0;
    for (int p = 0; p < HIVE_PATCHES; p++) {
        const uint32_t key = hive_key(bee, patches[p], p);
        if (key <= best[HIVE_BEST - 1])
            continue;
        int k = HIVE_BEST - 1;
        for (; k > 0 && best[k - 1] < key; k--)
            best[k] = best[k - 1];
        best[k] = key;
    }
}

__global__ void hive_best_array_kernel(const int2 *bees, const int4 *patches, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t best[HIVE_BEST];
    if (i >= HIVE_FORAGERS)
        return;
    hive_best(bees[i], patches, best);
    for (int k = 0; k < HIVE_BEST; k++)
        out[k * HIVE_FORAGERS + i] = best[k];
}

__global__ void hive_best_exchange_kernel(const int2 *bees, const int4 *patches, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t best[HIVE_BEST] = {};
    if (i >= HIVE_FORAGERS)
        return;
    const int2 bee = bees[i];
    for (int p = 0; p < HIVE_PATCHES; p++) {
        uint32_t key = hive_key(bee, patches[p], p);
#pragma unroll
        for (int k = 0; k < HIVE_BEST; k++) {
            const uint32_t more = max(best[k], key);
            key = min(best[k], key);
            best[k] = more;
        }
    }
#pragma unroll
    for (int k = 0; k < HIVE_BEST; k++)
        out[k * HIVE_FORAGERS + i] = best[k];
}

static void hive_best_run(Run &run, bool exchange)
{
    const std::vector<int> a = integers(2 * HIVE_FORAGERS, 4000, 19006);
    const std::vector<int> b = integers(4 * HIVE_PATCHES, 4000, 19007);
    std::vector<int2> bees;
    std::vector<int4> patches;
    for (int i = 0; i < HIVE_FORAGERS; i++)
        bees.push_back(make_int2(a[2 * i], a[2 * i + 1]));
    for (int i = 0; i < 4 * HIVE_PATCHES; i += 4)
        patches.push_back(make_int4(b[i], b[i + 1], 500 + b[i + 2], 1000 + b[i + 3] * 10));
    const int2 *db = run.upload(bees);
    const int4 *dp = run.upload(patches);
    uint32_t *to = run.zeros<uint32_t>(HIVE_BEST * HIVE_FORAGERS);
    const int blocks = blocks_for(HIVE_FORAGERS, 128);
    run.measure([=] {
        if (exchange)
            hive_best_exchange_kernel<<<blocks, 128>>>(db, dp, to);
        else
            hive_best_array_kernel<<<blocks, 128>>>(db, dp, to);
    });
    const std::vector<uint32_t> got = run.output(to, HIVE_BEST * HIVE_FORAGERS);
    for (int i = 0; i < HIVE_FORAGERS; i += 5) {
        uint32_t best[HIVE_BEST];
        hive_best(bees[i], patches.data(), best);
        for (int k = 0; k < HIVE_BEST; k++)
            run.expect(got[k * HIVE_FORAGERS + i], best[k], 0);
    }
}

static void hive_best_array(Run &run)
{
    hive_best_run(run, false);
}

static void hive_best_exchange(Run &run)
{
    hive_best_run(run, true);
}

#endif
