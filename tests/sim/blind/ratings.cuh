// ratings.cuh - recommenders: scores of pairs, means of items, crossed features, items in common.
#ifndef BLIND_RATINGS_CUH
#define BLIND_RATINGS_CUH

#include "blind.cuh"

// ---- Scores: products of a user's and an item's 64 factors, by a thread or by 16 lanes ----

enum { SCORE_USERS = 100000, SCORE_ITEMS = 50000, SCORE_DIMS = 64, SCORE_PAIRS = 262144 };

__global__ void scores_thread_kernel(const int2 *pairs, const float4 *users, const float4 *items,
                                     float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 *u = users + (size_t) pairs[i].x * (SCORE_DIMS / 4);
    const float4 *v = items + (size_t) pairs[i].y * (SCORE_DIMS / 4);
    float sum = 0;
    for (int k = 0; k < SCORE_DIMS / 4; k++) {
        const float4 a = u[k], b = v[k];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    out[i] = sum;
}

__global__ void scores_lanes_kernel(const int2 *pairs, const float4 *users, const float4 *items,
                                    float *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
    const float4 a = users[(size_t) pairs[i].x * (SCORE_DIMS / 4) + lane];
    const float4 b = items[(size_t) pairs[i].y * (SCORE_DIMS / 4) + lane];
    float sum = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    for (int d = 8; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0)
        out[i] = sum;
}

static void scores(Run &run, bool lanes)
{
    const std::vector<int> u = integers(SCORE_PAIRS, SCORE_USERS, 11001);
    const std::vector<int> v = integers(SCORE_PAIRS, SCORE_ITEMS, 11002);
    const std::vector<float> users = floats(SCORE_USERS * SCORE_DIMS, 11003);
    const std::vector<float> items = floats(SCORE_ITEMS * SCORE_DIMS, 11004);
    std::vector<int2> pairs(SCORE_PAIRS);
    for (int i = 0; i < SCORE_PAIRS; i++)
        pairs[i] = make_int2(u[i], v[i]);
    const int2 *dp = run.upload(pairs);
    const float4 *du = (const float4 *) run.upload(users);
    const float4 *dv = (const float4 *) run.upload(items);
    float *to = run.zeros<float>(SCORE_PAIRS);
    run.measure([=] {
        if (lanes)
            scores_lanes_kernel<<<SCORE_PAIRS / 16, 256>>>(dp, du, dv, to);
        else
            scores_thread_kernel<<<SCORE_PAIRS / 256, 256>>>(dp, du, dv, to);
    });
    run.expect_all(
        run.output(to, SCORE_PAIRS),
        [&](size_t i) {
            double sum = 0;
            for (int k = 0; k < SCORE_DIMS; k++)
                sum += (double) users[u[i] * SCORE_DIMS + k] * items[v[i] * SCORE_DIMS + k];
            return sum;
        },
        1e-4, 97);
}

static void scorepairs_thread(Run &run)
{
    scores(run, false);
}

static void scorepairs_lanes(Run &run)
{
    scores(run, true);
}

// ---- Sums of items' ratings: atomics as users come, or a warp per item's list ----

enum { STARS = 1 << 23, STAR_ITEMS = 20000 };

__global__ void stars_atomic_kernel(const int *items, const float *values, float *sums, int *counts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&sums[items[i]], values[i]);
    atomicAdd(&counts[items[i]], 1);
}

__global__ void stars_lists_kernel(const int *starts, const float *values, float *sums, int *counts)
{
    const int item = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int begin = starts[item], end = starts[item + 1];
    float sum = 0;
    for (int i = begin + threadIdx.x % 32; i < end; i += 32)
        sum += values[i];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) {
        sums[item] = sum;
        counts[item] = end - begin;
    }
}

static void star_lists(const std::vector<int> &items, const std::vector<float> &values,
                       std::vector<int> &starts, std::vector<float> &sorted)
{
    starts.assign(STAR_ITEMS + 1, 0);
    sorted.resize(STARS);
    for (int item : items)
        starts[item + 1]++;
    for (int k = 0; k < STAR_ITEMS; k++)
        starts[k + 1] += starts[k];
    std::vector<int> at(starts);
    for (int i = 0; i < STARS; i++)
        sorted[at[items[i]]++] = values[i];
}

static void stars(Run &run, bool lists)
{
    std::vector<int> items = integers(STARS, 1 << 16, 11005), starts;
    for (int &item : items) // some items are popular
        item = (int) ((long long) item * item % (1LL << 32) * STAR_ITEMS >> 32);
    const std::vector<float> values = floats(STARS, 11006, 1, 5);
    std::vector<float> sorted;
    star_lists(items, values, starts, sorted);
    const int *di = run.upload(items), *ds = run.upload(starts);
    const float *dv = run.upload(lists ? sorted : values);
    float *sums = run.zeros<float>(STAR_ITEMS);
    int *counts = run.zeros<int>(STAR_ITEMS);
    run.measure(
        [=] {
            if (lists)
                stars_lists_kernel<<<STAR_ITEMS / 8, 256>>>(ds, dv, sums, counts);
            else
                stars_atomic_kernel<<<STARS / 256, 256>>>(di, dv, sums, counts);
        },
        [=] {
            CHECK(cudaMemset(sums, 0, STAR_ITEMS * sizeof(float)));
            CHECK(cudaMemset(counts, 0, STAR_ITEMS * sizeof(int)));
        });
    run.expect_all(
        run.output(counts, STAR_ITEMS), [&](size_t i) { return starts[i + 1] - starts[i]; }, 0);
    run.expect_all(
        run.output(sums, STAR_ITEMS),
        [&](size_t item) {
            double sum = 0;
            for (int i = starts[item]; i < starts[item + 1]; i++)
                sum += sorted[i];
            return sum;
        },
        1e-4);
}

static void itemmeans_atomic(Run &run)
{
    stars(run, false);
}

static void itemmeans_lists(Run &run)
{
    stars(run, true);
}

// ---- Crossed features: six pairs of four fields choose weights, by a remainder or by a mask ----

enum { CROSS_ROWS = 393216, CROSS_WEIGHTS = 1 << 23, CROSS_PRIME = 8388593 };

__host__ __device__ inline unsigned long long cross_hash(unsigned a, unsigned b)
{
    unsigned long long h = (unsigned long long) a << 32 | b;
    h *= 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

template <bool MASK>
__global__ void crossed_kernel(const uint4 *rows, const float *weights, unsigned long long size,
                               float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 row = rows[i];
    const unsigned field[4] = { row.x, row.y, row.z, row.w };
    float sum = 0;
#pragma unroll
    for (int a = 0; a < 4; a++)
#pragma unroll
        for (int b = a + 1; b < 4; b++) {
            const unsigned long long h = cross_hash(field[a], field[b]);
            sum += weights[MASK ? h & (size - 1) : h % size];
        }
    out[i] = 1 / (1 + expf(-sum));
}

template <bool MASK> static void crossed(Run &run)
{
    const std::vector<uint32_t> rows = words(4 * CROSS_ROWS, 11007);
    const std::vector<float> weights = floats(CROSS_WEIGHTS, 11008);
    const uint4 *from = (const uint4 *) run.upload(rows);
    const float *dw = run.upload(weights);
    float *to = run.zeros<float>(CROSS_ROWS);
    const unsigned long long size = MASK ? CROSS_WEIGHTS : CROSS_PRIME;
    run.measure([=] { crossed_kernel<MASK><<<CROSS_ROWS / 256, 256>>>(from, dw, size, to); });
    run.expect_all(
        run.output(to, CROSS_ROWS),
        [&](size_t i) {
            double sum = 0;
            for (int a = 0; a < 4; a++)
                for (int b = a + 1; b < 4; b++)
                    sum += weights[cross_hash(rows[4 * i + a], rows[4 * i + b]) % size];
            return 1 / (1 + exp(-sum));
        },
        1e-4, 61);
}

static void crossed_remainder(Run &run)
{
    crossed<false>(run);
}

static void crossed_mask(Run &run)
{
    crossed<true>(run);
}

// ---- How many users bought both items: bits of rows compared directly, or by tiles ----

enum { BOUGHT_ITEMS = 768, BOUGHT_WORDS = 64 };

__global__ void bought_direct_kernel(const uint32_t *bits, int *out)
{
    const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    int both = 0;
    for (int k = 0; k < BOUGHT_WORDS; k++)
        both += __popc(bits[i * BOUGHT_WORDS + k] & bits[j * BOUGHT_WORDS + k]);
    out[i * BOUGHT_ITEMS + j] = both;
}

__global__ void bought_tiles_kernel(const uint32_t *bits, int *out)
{
    __shared__ uint32_t a[16][17], b[16][17];
    const int x = threadIdx.x, y = threadIdx.y;
    int both = 0;
    for (int k = 0; k < BOUGHT_WORDS; k += 16) {
        a[y][x] = bits[(blockIdx.y * 16 + y) * BOUGHT_WORDS + k + x];
        b[y][x] = bits[(blockIdx.x * 16 + y) * BOUGHT_WORDS + k + x];
        __syncthreads();
        for (int w = 0; w < 16; w++)
            both += __popc(a[y][w] & b[x][w]);
        __syncthreads();
    }
    out[(blockIdx.y * 16 + y) * BOUGHT_ITEMS + blockIdx.x * 16 + x] = both;
}

static void bought(Run &run, void (*kernel)(const uint32_t *, int *))
{
    const std::vector<uint32_t> bits = words(BOUGHT_ITEMS * BOUGHT_WORDS, 11009);
    const uint32_t *from = run.upload(bits);
    int *to = run.zeros<int>(BOUGHT_ITEMS * BOUGHT_ITEMS);
    const dim3 grid(BOUGHT_ITEMS / 16, BOUGHT_ITEMS / 16), block(16, 16);
    run.measure([=] { kernel<<<grid, block>>>(from, to); });
    run.expect_all(
        run.output(to, BOUGHT_ITEMS * BOUGHT_ITEMS),
        [&](size_t i) {
            int both = 0;
            for (int k = 0; k < BOUGHT_WORDS; k++)
                both += __builtin_popcount(bits[i / BOUGHT_ITEMS * BOUGHT_WORDS + k] &
                                           bits[i % BOUGHT_ITEMS * BOUGHT_WORDS + k]);
            return both;
        },
        0, 89);
}

static void bought_direct(Run &run)
{
    bought(run, bought_direct_kernel);
}

static void bought_tiles(Run &run)
{
    bought(run, bought_tiles_kernel);
}

#endif
