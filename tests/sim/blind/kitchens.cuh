// kitchens.cuh - loaves that bake, menus within a budget, burners for banquets, nutrients of
// recipes.
#ifndef BLIND_KITCHENS_CUH
#define BLIND_KITCHENS_CUH

#include "blind.cuh"

#include <cuda_fp16.h>

// ---- How many steps until the core of a loaf is done: a thread per loaf, with the layers in
// registers, or a warp per loaf, with a lane per layer ----

enum { KITCHEN_LOAVES = 4096, KITCHEN_LAYERS = 32, KITCHEN_DONE = 94 << 16 };

// A loaf: rate of warming, and the oven's temperature. Temperatures have 16 bits behind the point.
__host__ __device__ inline int kitchen_warmer(int below, int own, int above, int rate)
{
    return own + ((below + above - 2 * own) >> 8) * rate;
}

__host__ __device__ inline int kitchen_bake(int2 loaf)
{
    int layers[KITCHEN_LAYERS], steps = 0;
    for (int k = 0; k < KITCHEN_LAYERS; k++)
        layers[k] = 20 << 16;
    for (; layers[KITCHEN_LAYERS / 2] < KITCHEN_DONE; steps++) {
        int below = loaf.y;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int k = 0; k < KITCHEN_LAYERS; k++) {
            const int own = layers[k], above = k + 1 < KITCHEN_LAYERS ? layers[k + 1] : loaf.y;
            layers[k] = kitchen_warmer(below, own, above, loaf.x);
            below = own;
        }
    }
    return steps;
}

__global__ void kitchen_bake_thread_kernel(const int2 *loaves, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = kitchen_bake(loaves[i]);
}

__global__ void kitchen_bake_lanes_kernel(const int2 *loaves, int *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int2 loaf = loaves[i];
    int own = 20 << 16, steps = 0;
    for (; __shfl_sync(~0u, own, KITCHEN_LAYERS / 2) < KITCHEN_DONE; steps++) {
        int below = __shfl_up_sync(~0u, own, 1), above = __shfl_down_sync(~0u, own, 1);
        below = lane ? below : loaf.y;
        above = lane < KITCHEN_LAYERS - 1 ? above : loaf.y;
        own = kitchen_warmer(below, own, above, loaf.x);
    }
    if (!lane)
        out[i] = steps;
}

static void kitchen_bakes(Run &run, bool lanes)
{
    const std::vector<int> draws = integers(KITCHEN_LOAVES * 2, 80, 21500);
    std::vector<int2> loaves(KITCHEN_LOAVES);
    for (int i = 0; i < KITCHEN_LOAVES; i++)
        loaves[i] = { 25 + draws[2 * i], (170 + draws[2 * i + 1]) << 16 };
    const int2 *from = run.upload(loaves);
    int *to = run.zeros<int>(KITCHEN_LOAVES);
    run.measure([=] {
        if (lanes)
            kitchen_bake_lanes_kernel<<<KITCHEN_LOAVES / 8, 256>>>(from, to);
        else
            kitchen_bake_thread_kernel<<<KITCHEN_LOAVES / 64, 64>>>(from, to);
    });
    run.expect_all(
        run.output(to, KITCHEN_LOAVES), [&](size_t i) { return kitchen_bake(loaves[i]); }, 0, 3);
}

static void kitchen_bake_thread(Run &run)
{
    kitchen_bakes(run, false);
}

static void kitchen_bake_lanes(Run &run)
{
    kitchen_bakes(run, true);
}

// ---- How many menus of three courses cost what guests want to spend, per starter: each dessert
// is tried, or desserts are sorted and the two limits are searched ----

enum { KITCHEN_STARTERS = 320, KITCHEN_MAINS = 1024, KITCHEN_DESSERTS = 256 };
enum { KITCHEN_CHEAP = 4200, KITCHEN_COSTLY = 4700 };

// How many prices of the sorted list are below `limit`.
__host__ __device__ inline int kitchen_below(const int *prices, int limit)
{
    int at = 0;
    for (int step = KITCHEN_DESSERTS; step; step /= 2)
        if (at + step <= KITCHEN_DESSERTS && prices[at + step - 1] < limit)
            at += step;
    return at;
}

template <bool SEARCH>
__global__ void kitchen_menu_kernel(const int *starters, const int *mains, const int *desserts,
                                    int *out)
{
    __shared__ int prices[KITCHEN_DESSERTS];
    prices[threadIdx.x] = desserts[threadIdx.x];
    __syncthreads();
    int count = 0;
    for (int i = threadIdx.x; i < KITCHEN_MAINS; i += blockDim.x) {
        const int cost = starters[blockIdx.x] + mains[i];
        if (SEARCH) {
            count += kitchen_below(prices, KITCHEN_COSTLY - cost) -
                     kitchen_below(prices, KITCHEN_CHEAP - cost);
        } else {
            for (int k = 0; k < KITCHEN_DESSERTS; k++)
                count += cost + prices[k] >= KITCHEN_CHEAP && cost + prices[k] < KITCHEN_COSTLY;
        }
    }
    count = __reduce_add_sync(~0u, count);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&out[blockIdx.x], count);
}

static void kitchen_menu(Run &run, bool search)
{
    std::vector<int> starters = integers(KITCHEN_STARTERS, 1000, 21502);
    std::vector<int> mains = integers(KITCHEN_MAINS, 2400, 21503);
    std::vector<int> desserts = integers(KITCHEN_DESSERTS, 900, 21504);
    for (int &price : starters)
        price += 500;
    for (int &price : mains)
        price += 1200;
    for (int &price : desserts)
        price += 350;
    std::sort(desserts.begin(), desserts.end());
    const int *ds = run.upload(starters), *dm = run.upload(mains), *dd = run.upload(desserts);
    int *to = run.zeros<int>(KITCHEN_STARTERS);
    run.measure(
        [=] {
            if (search)
                kitchen_menu_kernel<true><<<KITCHEN_STARTERS, KITCHEN_DESSERTS>>>(ds, dm, dd, to);
            else
                kitchen_menu_kernel<false><<<KITCHEN_STARTERS, KITCHEN_DESSERTS>>>(ds, dm, dd, to);
        },
        [=] { CHECK(cudaMemset(to, 0, KITCHEN_STARTERS * sizeof(int))); });
    run.expect_all(
        run.output(to, KITCHEN_STARTERS),
        [&](size_t i) {
            int count = 0;
            for (const int price : mains) {
                const int cost = starters[i] + price;
                count += kitchen_below(desserts.data(), KITCHEN_COSTLY - cost) -
                         kitchen_below(desserts.data(), KITCHEN_CHEAP - cost);
            }
            return count;
        },
        0);
}

static void kitchen_menu_each(Run &run)
{
    kitchen_menu(run, false);
}

static void kitchen_menu_search(Run &run)
{
    kitchen_menu(run, true);
}

// ---- How many burners an order needs at its busiest minute. The largest orders come first: each
// block has a share of neighbouring orders, or blocks draw tickets for the next order ----

enum { KITCHEN_ORDERS = 2904, KITCHEN_MINUTES = 512, KITCHEN_STAFF = 264 };
enum { KITCHEN_EACH = KITCHEN_ORDERS / KITCHEN_STAFF };

// A dish: the minutes at which it begins and ends. Each of 128 threads sums four minutes.
__device__ inline void kitchen_order(const int *starts, const int2 *dishes, int order, int *out)
{
    __shared__ __align__(16) int change[KITCHEN_MINUTES];
    __shared__ int sums[4];
    for (int i = threadIdx.x; i < KITCHEN_MINUTES; i += blockDim.x)
        change[i] = 0;
    __syncthreads();
    for (int i = starts[order] + threadIdx.x; i < starts[order + 1]; i += blockDim.x) {
        atomicAdd(&change[dishes[i].x], 1);
        atomicSub(&change[dishes[i].y], 1);
    }
    __syncthreads();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int4 four = ((const int4 *) change)[threadIdx.x];
    int sum = four.x + four.y + four.z + four.w;
    for (int d = 1; d < 32; d *= 2) {
        const int other = __shfl_up_sync(~0u, sum, d);
        sum += lane >= d ? other : 0;
    }
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    for (int k = 0; k < warp; k++)
        sum += sums[k];
    // `sum` counts the dishes after the four minutes.
    const int most =
        max(max(sum, sum - four.w), max(sum - four.w - four.z, sum - four.w - four.z - four.y));
    const int top = __reduce_max_sync(~0u, most);
    if (!lane)
        atomicMax(&out[order], top);
    __syncthreads();
}

__global__ void kitchen_burners_shares_kernel(const int *starts, const int2 *dishes, int *out,
                                              int *)
{
    for (int k = 0; k < KITCHEN_EACH; k++)
        kitchen_order(starts, dishes, blockIdx.x * KITCHEN_EACH + k, out);
}

__global__ void kitchen_burners_tickets_kernel(const int *starts, const int2 *dishes, int *out,
                                               int *next)
{
    __shared__ int drawn;
    for (;;) {
        if (!threadIdx.x)
            drawn = atomicAdd(next, 1);
        __syncthreads();
        const int order = drawn;
        if (order >= KITCHEN_ORDERS)
            return;
        kitchen_order(starts, dishes, order, out); // ends with a barrier
    }
}

static void kitchen_burners(Run &run, bool tickets)
{
    std::vector<int> sizes = integers(KITCHEN_ORDERS, 3000, 21506);
    for (int &size : sizes)
        size = size < 60 ? 3000 + 60 * size : 10 + size / 10;
    std::sort(sizes.rbegin(), sizes.rend());
    std::vector<int> starts(1, 0);
    for (int i = 0; i < KITCHEN_ORDERS; i++)
        starts.push_back(starts[i] + sizes[i]);
    const std::vector<int> draws = integers(2 * (size_t) starts.back(), 1 << 16, 21507);
    std::vector<int2> dishes(starts.back());
    for (size_t i = 0; i < dishes.size(); i++) {
        const int begin = draws[2 * i] % 400;
        dishes[i] = { begin, begin + 3 + draws[2 * i + 1] % 100 };
    }
    const int *ds = run.upload(starts);
    const int2 *dd = run.upload(dishes);
    int *to = run.zeros<int>(KITCHEN_ORDERS), *next = run.zeros<int>(1);
    run.measure(
        [=] {
            if (tickets)
                kitchen_burners_tickets_kernel<<<KITCHEN_STAFF, 128>>>(ds, dd, to, next);
            else
                kitchen_burners_shares_kernel<<<KITCHEN_STAFF, 128>>>(ds, dd, to, next);
        },
        [=] {
            CHECK(cudaMemset(to, 0, KITCHEN_ORDERS * sizeof(int)));
            CHECK(cudaMemset(next, 0, sizeof(int)));
        });
    run.expect_all(
        run.output(to, KITCHEN_ORDERS),
        [&](size_t order) {
            int change[KITCHEN_MINUTES] = {}, busy = 0, most = 0;
            for (int i = starts[order]; i < starts[order + 1]; i++) {
                change[dishes[i].x]++;
                change[dishes[i].y]--;
            }
            for (int minute : change)
                most = std::max(most, busy += minute);
            return most;
        },
        0);
}

static void kitchen_burners_shares(Run &run)
{
    kitchen_burners(run, false);
}

static void kitchen_burners_tickets(Run &run)
{
    kitchen_burners(run, true);
}

// ---- Nutrients of recipes from lists of ingredients: the table of 64 nutrients per ingredient in
// floats or in halves, of which each lane reads two ----

enum { KITCHEN_RECIPES = 12000, KITCHEN_FOODS = 6000, KITCHEN_NUTRIENTS = 64 };

__global__ void kitchen_nutrients_float_kernel(const int *starts, const int2 *parts,
                                               const float2 *table, float2 *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float2 sum = { 0, 0 };
    for (int k = starts[i]; k < starts[i + 1]; k++) {
        const int2 part = parts[k];
        const float2 food = table[part.x * 32 + lane];
        sum.x += part.y * food.x;
        sum.y += part.y * food.y;
    }
    out[i * 32 + lane] = sum;
}

__global__ void kitchen_nutrients_half_kernel(const int *starts, const int2 *parts,
                                              const __half2 *table, float2 *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float2 sum = { 0, 0 };
    for (int k = starts[i]; k < starts[i + 1]; k++) {
        const int2 part = parts[k];
        const float2 food = __half22float2(table[part.x * 32 + lane]);
        sum.x += part.y * food.x;
        sum.y += part.y * food.y;
    }
    out[i * 32 + lane] = sum;
}

static void kitchen_nutrients(Run &run, bool halves)
{
    const std::vector<int> draws = integers(KITCHEN_RECIPES, 25, 21508);
    std::vector<int> starts(1, 0);
    for (int i = 0; i < KITCHEN_RECIPES; i++)
        starts.push_back(starts[i] + 3 + draws[i]);
    const std::vector<int> foods = integers(starts.back(), KITCHEN_FOODS, 21509);
    const std::vector<int> grams = integers(starts.back(), 500, 21510);
    std::vector<int2> parts(starts.back());
    for (size_t i = 0; i < parts.size(); i++)
        parts[i] = { foods[i], 1 + grams[i] };
    // Multiples of 1/8 below 128: exact in halves.
    const size_t cells = (size_t) KITCHEN_FOODS * KITCHEN_NUTRIENTS / 2;
    const std::vector<int> values = integers(2 * cells, 1024, 21511);
    std::vector<float2> floats2(cells);
    std::vector<__half2> halves2(cells);
    for (size_t i = 0; i < cells; i++) {
        floats2[i] = { values[2 * i] / 8.0f, values[2 * i + 1] / 8.0f };
        halves2[i] = __floats2half2_rn(floats2[i].x, floats2[i].y);
    }
    const int *ds = run.upload(starts);
    const int2 *dp = run.upload(parts);
    const float2 *df = run.upload(floats2);
    const __half2 *dh = run.upload(halves2);
    float2 *to = run.zeros<float2>(KITCHEN_RECIPES * 32);
    run.measure([=] {
        if (halves)
            kitchen_nutrients_half_kernel<<<KITCHEN_RECIPES / 4, 128>>>(ds, dp, dh, to);
        else
            kitchen_nutrients_float_kernel<<<KITCHEN_RECIPES / 4, 128>>>(ds, dp, df, to);
    });
    const std::vector<float2> got = run.output(to, KITCHEN_RECIPES * 32);
    for (size_t i = 0; i < got.size(); i += 5) {
        double x = 0, y = 0;
        for (int k = starts[i / 32]; k < starts[i / 32 + 1]; k++) {
            x += parts[k].y * floats2[parts[k].x * 32 + i % 32].x;
            y += parts[k].y * floats2[parts[k].x * 32 + i % 32].y;
        }
        run.expect(got[i].x, x, 1e-5);
        run.expect(got[i].y, y, 1e-5);
    }
}

static void kitchen_nutrients_float(Run &run)
{
    kitchen_nutrients(run, false);
}

static void kitchen_nutrients_half(Run &run)
{
    kitchen_nutrients(run, true);
}

#endif
