// markets.cuh - trading: drawdowns of price series, Sobol's numbers, implied volatility, joins with
// a small table, an order book.
#ifndef BLIND_MARKETS_CUH
#define BLIND_MARKETS_CUH

#include "blind.cuh"

// ---- Largest drawdown of each price series: a thread per series, or a warp with scans ----

enum { DRAW_SERIES = 16384, DRAW_DAYS = 256 };

__global__ void drawdown_thread_kernel(const float *prices, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float *mine = prices + i * DRAW_DAYS;
    float peak = mine[0], most = 0;
    for (int t = 1; t < DRAW_DAYS; t++) {
        peak = fmaxf(peak, mine[t]);
        most = fmaxf(most, (peak - mine[t]) / peak);
    }
    out[i] = most;
}

__global__ void drawdown_warp_kernel(const float *prices, float *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float before = 0, most = 0;
    for (int t = lane; t < DRAW_DAYS; t += 32) {
        const float v = prices[i * DRAW_DAYS + t];
        float peak = fmaxf(v, before);
        for (int apart = 1; apart < 32; apart *= 2) {
            const float other = __shfl_up_sync(~0u, peak, apart);
            if (lane >= apart)
                peak = fmaxf(peak, other);
        }
        most = fmaxf(most, (peak - v) / peak);
        before = __shfl_sync(~0u, peak, 31);
    }
    for (int apart = 16; apart; apart /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, apart));
    if (lane == 0)
        out[i] = most;
}

static void drawdown(Run &run, void (*kernel)(const float *, float *), int threads)
{
    const std::vector<float> prices = floats(DRAW_SERIES * DRAW_DAYS, 4041, 50, 150);
    float *from = run.upload(prices), *to = run.zeros<float>(DRAW_SERIES);
    run.measure([=] { kernel<<<DRAW_SERIES * threads / 128, 128>>>(from, to); });
    run.expect_all(
        run.output(to, DRAW_SERIES),
        [&](size_t i) {
            float peak = 0, most = 0;
            for (int t = 0; t < DRAW_DAYS; t++) {
                const float v = prices[i * DRAW_DAYS + t];
                peak = std::max(peak, v);
                most = std::max(most, (peak - v) / peak);
            }
            return most;
        },
        1e-5, 7);
}

static void drawdown_thread(Run &run)
{
    drawdown(run, drawdown_thread_kernel, 1);
}

static void drawdown_warp(Run &run)
{
    drawdown(run, drawdown_warp_kernel, 32);
}

// ---- Sobol's numbers in 8 dimensions: all bits of each index, or by Gray code along 32 indices
// ----

enum { SOBOL_DIMENSIONS = 8, SOBOL_POINTS = 1 << 17, SOBOL_RUN = 32 };

__host__ __device__ inline uint32_t sobol_number(const uint32_t *directions, uint32_t index)
{
    uint32_t gray = index ^ index >> 1, v = 0;
    for (int b = 0; gray; b++, gray >>= 1)
        if (gray & 1)
            v ^= directions[b];
    return v;
}

__global__ void sobol_bits_kernel(const uint32_t *directions, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, d = blockIdx.y;
    out[d * SOBOL_POINTS + i] = sobol_number(directions + 32 * d, i) * 0x1p-32f;
}

// Thread t has the points t, t + stride and so on, so that neighbours store side by side: the
// stride is a power of two, and thus the next index changes one bit of the Gray code and another.
__global__ void sobol_gray_kernel(const uint32_t *directions, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, d = blockIdx.y;
    const int stride = SOBOL_POINTS / SOBOL_RUN, low = __ffs(stride) - 1;
    const uint32_t *mine = directions + 32 * d;
    uint32_t v = sobol_number(mine, i);
    out[d * SOBOL_POINTS + i] = v * 0x1p-32f;
    for (int k = 1; k < SOBOL_RUN; k++) {
        v ^= mine[low + __ffs(k) - 1] ^ mine[low - 1];
        out[d * SOBOL_POINTS + k * stride + i] = v * 0x1p-32f;
    }
}

static void sobol(Run &run, bool gray)
{
    const int n = SOBOL_DIMENSIONS * SOBOL_POINTS;
    std::vector<uint32_t> directions = words(32 * SOBOL_DIMENSIONS, 4042);
    for (int i = 0; i < 32 * SOBOL_DIMENSIONS; i++) // one leading bit each
        directions[i] = (directions[i] | 1) << (31 - i % 32);
    uint32_t *from = run.upload(directions);
    float *to = run.zeros<float>(n);
    const int threads = gray ? SOBOL_POINTS / SOBOL_RUN : SOBOL_POINTS;
    run.measure([=] {
        const dim3 grid(threads / 64, SOBOL_DIMENSIONS);
        if (gray)
            sobol_gray_kernel<<<grid, 64>>>(from, to);
        else
            sobol_bits_kernel<<<grid, 64>>>(from, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            return sobol_number(&directions[i / SOBOL_POINTS * 32], i % SOBOL_POINTS) * 0x1p-32f;
        },
        1e-6, 61);
}

static void sobol_bits(Run &run)
{
    sobol(run, false);
}

static void sobol_gray(Run &run)
{
    sobol(run, true);
}

// ---- Implied volatility: bisection of 24 steps, or Newton's steps until they are small ----

__host__ __device__ inline float implied_normal(float x)
{
    return 0.5f * erfcf(-x * 0.70710678f);
}

// A call on 100, without interest.
__host__ __device__ inline float implied_price(float strike, float time, float volatility)
{
    const float width = volatility * sqrtf(time);
    const float d = logf(100 / strike) / width + width / 2;
    return 100 * implied_normal(d) - strike * implied_normal(d - width);
}

__global__ void implied_bisect_kernel(const float *strikes, const float *times, const float *prices,
                                      float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float low = 0.01f, high = 2;
    if (i >= n)
        return;
    for (int k = 0; k < 24; k++) {
        const float middle = (low + high) / 2;
        if (implied_price(strikes[i], times[i], middle) < prices[i])
            low = middle;
        else
            high = middle;
    }
    out[i] = (low + high) / 2;
}

__global__ void implied_newton_kernel(const float *strikes, const float *times, const float *prices,
                                      float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float strike = strikes[i], time = times[i], price = prices[i];
    float v = 0.5f, step = 1;
    for (int k = 0; k < 16 && fabsf(step) > 1e-4f; k++) {
        const float width = v * sqrtf(time), d = logf(100 / strike) / width + width / 2;
        const float vega = 39.894228f * expf(-d * d / 2) * sqrtf(time);
        step = (implied_price(strike, time, v) - price) / vega;
        v = fminf(fmaxf(v - step, 0.02f), 2.0f);
    }
    out[i] = v;
}

static void implied(Run &run,
                    void (*kernel)(const float *, const float *, const float *, float *, int))
{
    const int n = 60000;
    const std::vector<float> strikes = floats(n, 4043, 85, 120), times = floats(n, 4044, 0.4f, 2);
    const std::vector<float> wanted = floats(n, 4045, 0.15f, 0.8f);
    std::vector<float> prices(n);
    for (int i = 0; i < n; i++)
        prices[i] = implied_price(strikes[i], times[i], wanted[i]);
    float *ds = run.upload(strikes), *dt = run.upload(times), *dp = run.upload(prices);
    float *to = run.zeros<float>(n);
    run.measure([=] { kernel<<<blocks_for(n, 128), 128>>>(ds, dt, dp, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return wanted[i]; }, 1e-3, 9);
}

static void implied_bisect(Run &run)
{
    implied(run, implied_bisect_kernel);
}

static void implied_newton(Run &run)
{
    implied(run, implied_newton_kernel);
}

// ---- Trades joined with 96 instruments in shared memory: a loop over all, or a table of hashes
// ----

enum { JOIN_ROWS = 700000, JOIN_DIMENSION = 96, JOIN_SLOTS = 256, JOIN_KEYS = 4096 };

__global__ void join_loop_kernel(const int *keys, const float *amounts, const int *dimension,
                                 const float *factors, float *out)
{
    __shared__ int known[JOIN_DIMENSION];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < JOIN_DIMENSION)
        known[threadIdx.x] = dimension[threadIdx.x];
    __syncthreads(); // the instruments are here
    if (i >= JOIN_ROWS)
        return;
    const int key = keys[i];
    float result = 0;
    for (int k = 0; k < JOIN_DIMENSION; k++)
        if (known[k] == key) {
            result = amounts[i] * factors[k];
            break;
        }
    out[i] = result;
}

__device__ inline int join_slot(int key)
{
    return (uint32_t) key * 2654435769u >> 24;
}

__global__ void join_hash_kernel(const int *keys, const float *amounts, const int *dimension,
                                 const float *factors, float *out)
{
    __shared__ int slots[JOIN_SLOTS];
    __shared__ float values[JOIN_SLOTS];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < JOIN_SLOTS; k += blockDim.x)
        slots[k] = -1;
    __syncthreads(); // the table is empty
    if (threadIdx.x < JOIN_DIMENSION) {
        const int key = dimension[threadIdx.x];
        int at = join_slot(key);
        while (atomicCAS(&slots[at], -1, key) != -1)
            at = (at + 1) % JOIN_SLOTS;
        values[at] = factors[threadIdx.x];
    }
    __syncthreads(); // the table is complete
    if (i >= JOIN_ROWS)
        return;
    const int key = keys[i];
    int at = join_slot(key);
    while (slots[at] != -1 && slots[at] != key)
        at = (at + 1) % JOIN_SLOTS;
    out[i] = slots[at] == key ? amounts[i] * values[at] : 0;
}

static void join(Run &run,
                 void (*kernel)(const int *, const float *, const int *, const float *, float *))
{
    std::vector<int> keys = integers(JOIN_ROWS, JOIN_DIMENSION + 8, 4046), dimension;
    const std::vector<float> amounts = floats(JOIN_ROWS, 4047, 1, 9);
    const std::vector<float> factors = floats(JOIN_DIMENSION, 4048, 1, 2);
    for (int k = 0; k < JOIN_DIMENSION; k++)
        dimension.push_back(k * 37 % JOIN_KEYS);
    for (int &key : keys) // about 8 percent are unknown
        key = key * 37 % JOIN_KEYS;
    int *dk = run.upload(keys), *dd = run.upload(dimension);
    float *da = run.upload(amounts), *df = run.upload(factors), *to = run.zeros<float>(JOIN_ROWS);
    run.measure([=] { kernel<<<blocks_for(JOIN_ROWS, 512), 512>>>(dk, da, dd, df, to); });
    run.expect_all(
        run.output(to, JOIN_ROWS),
        [&](size_t i) {
            for (int k = 0; k < JOIN_DIMENSION; k++)
                if (dimension[k] == keys[i])
                    return amounts[i] * factors[k];
            return 0.0f;
        },
        1e-5, 41);
}

static void join_loop(Run &run)
{
    join(run, join_loop_kernel);
}

static void join_hash(Run &run)
{
    join(run, join_hash_kernel);
}

// ---- An order book per thread: each order trades with the best of the other side, or waits ----

enum { BOOK_COUNT = 1024, BOOK_ORDERS = 200, BOOK_LEVELS = 24 };

__host__ __device__ inline int book_traded(const uint32_t *orders, int pitch)
{
    int waiting[2][BOOK_LEVELS], traded = 0; // bids and asks per price
    for (int k = 0; k < BOOK_LEVELS; k++)
        waiting[0][k] = waiting[1][k] = 0;
    for (int t = 0; t < BOOK_ORDERS; t++) {
        const uint32_t order = orders[t * pitch];
        const int price = (order >> 8) % BOOK_LEVELS, side = order & 1;
        int left = 1 + (order >> 1 & 15);
        // A bid takes the cheapest asks up to its price, an ask the highest bids down to its price.
        for (int k = side ? BOOK_LEVELS - 1 : 0; left && (side ? k >= price : k <= price);
             k += side ? -1 : 1) {
            const int there = waiting[!side][k], taken = left < there ? left : there;
            waiting[!side][k] -= taken;
            traded += taken;
            left -= taken;
        }
        waiting[side][price] += left;
    }
    return traded;
}

__global__ void book_kernel(const uint32_t *orders, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = book_traded(orders + i, BOOK_COUNT);
}

static void order_book(Run &run)
{
    const std::vector<uint32_t> orders = words(BOOK_COUNT * BOOK_ORDERS, 4049);
    uint32_t *from = run.upload(orders);
    int *to = run.zeros<int>(BOOK_COUNT);
    run.measure([=] { book_kernel<<<BOOK_COUNT / 32, 32>>>(from, to); });
    run.expect_all(
        run.output(to, BOOK_COUNT), [&](size_t i) { return book_traded(&orders[i], BOOK_COUNT); },
        0, 3);
}

#endif
