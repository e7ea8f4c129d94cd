// cellars.cuh - cellars: damp walls, gifts of bottles, labels that look alike, seals of ledgers.
#ifndef BLIND_CELLARS_CUH
#define BLIND_CELLARS_CUH

#include "blind.cuh"

// ---- Moisture that creeps through walls of 128 layers: a block per wall with neighbours in shared
// memory, or a warp per wall with four layers per lane and shuffles ----

enum { CELLAR_WALLS = 800, CELLAR_LAYERS = 128, CELLAR_DAYS = 150 };

// What flows from a layer to the next one. Wet layers conduct better.
__host__ __device__ inline float cellar_flow(float wet, float next)
{
    const float mean = (wet + next) / 2;
    return (0.02f + mean * (0.1f + 0.2f * mean)) * (wet - next);
}

// The soil is wet outside (x), the room dry inside (y).
__global__ void cellar_damp_shared_kernel(const float2 *sides, float *walls)
{
    __shared__ float layers[2][CELLAR_LAYERS + 2];
    const int at = threadIdx.x + 1, own = blockIdx.x * CELLAR_LAYERS + threadIdx.x;
    if (threadIdx.x < 2) {
        layers[threadIdx.x][0] = sides[blockIdx.x].x;
        layers[threadIdx.x][CELLAR_LAYERS + 1] = sides[blockIdx.x].y;
    }
    float wet = walls[own];
    for (int day = 0; day < CELLAR_DAYS; day++) {
        float *now = layers[day % 2];
        now[at] = wet;
        __syncthreads();
        wet += cellar_flow(now[at - 1], wet) - cellar_flow(wet, now[at + 1]);
    }
    walls[own] = wet;
}

__global__ void cellar_damp_shuffles_kernel(const float2 *sides, float4 *walls)
{
    const int own = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const float2 side = sides[own / 32];
    float4 wet = walls[own];
    for (int day = 0; day < CELLAR_DAYS; day++) {
        float before = __shfl_up_sync(~0u, wet.w, 1), after = __shfl_down_sync(~0u, wet.x, 1);
        before = lane == 0 ? side.x : before;
        after = lane == 31 ? side.y : after;
        const float a = cellar_flow(before, wet.x), b = cellar_flow(wet.x, wet.y);
        const float c = cellar_flow(wet.y, wet.z), d = cellar_flow(wet.z, wet.w);
        const float e = cellar_flow(wet.w, after);
        wet = { wet.x + (a - b), wet.y + (b - c), wet.z + (c - d), wet.w + (d - e) };
    }
    walls[own] = wet;
}

static void cellar_damp_host(float2 side, float *wall)
{
    for (int day = 0; day < CELLAR_DAYS; day++) {
        float in = cellar_flow(side.x, wall[0]);
        for (int k = 0; k < CELLAR_LAYERS; k++) {
            const float out = cellar_flow(wall[k], k + 1 < CELLAR_LAYERS ? wall[k + 1] : side.y);
            wall[k] += in - out;
            in = out;
        }
    }
}

static void cellar_damp(Run &run, bool shuffles)
{
    const int n = CELLAR_WALLS * CELLAR_LAYERS;
    std::vector<float> walls = floats(n, 23200, 0.1f, 0.9f);
    const std::vector<float> draws = floats(2 * CELLAR_WALLS, 23201, 0, 0.5f);
    std::vector<float2> sides(CELLAR_WALLS);
    for (int i = 0; i < CELLAR_WALLS; i++)
        sides[i] = { 1 - draws[2 * i], draws[2 * i + 1] };
    const float2 *ds = run.upload(sides);
    const float *from = run.upload(walls);
    float *to = run.zeros<float>(n);
    run.measure(
        [=] {
            if (shuffles)
                cellar_damp_shuffles_kernel<<<CELLAR_WALLS / 4, 128>>>(ds, (float4 *) to);
            else
                cellar_damp_shared_kernel<<<CELLAR_WALLS, CELLAR_LAYERS>>>(ds, to);
        },
        [=] { CHECK(cudaMemcpy(to, from, n * sizeof(float), cudaMemcpyDeviceToDevice)); });
    const std::vector<float> got = run.output(to, n);
    for (int i = 0; i < CELLAR_WALLS; i += 5) {
        cellar_damp_host(sides[i], &walls[i * CELLAR_LAYERS]);
        for (int k = i * CELLAR_LAYERS; k < (i + 1) * CELLAR_LAYERS; k++)
            run.expect(got[k], walls[k], 1e-4);
    }
}

static void cellar_damp_shared(Run &run)
{
    cellar_damp(run, false);
}

static void cellar_damp_shuffles(Run &run)
{
    cellar_damp(run, true);
}

// ---- The best gift of bottles within a budget, per order: blocks take each 264th order, or draw
// tickets. A few orders choose from hundreds of bottles ----

enum { CELLAR_ORDERS = 2000, CELLAR_BUDGETS = 512, CELLAR_GIVERS = 264 };

// A bottle: price and points.
__device__ inline void cellar_gift_of(const int *starts, const int2 *bottles, int order, int *out)
{
    __shared__ int best[2][CELLAR_BUDGETS];
    const int start = starts[order], end = starts[order + 1];
    for (int budget = threadIdx.x; budget < CELLAR_BUDGETS; budget += blockDim.x)
        best[0][budget] = 0;
    __syncthreads();
    for (int i = start; i < end; i++) {
        const int2 bottle = bottles[i];
        const int *from = best[(i - start) % 2];
        int *to = best[(i - start + 1) % 2];
        for (int budget = threadIdx.x; budget < CELLAR_BUDGETS; budget += blockDim.x) {
            const int rest = budget - bottle.x;
            to[budget] = max(from[budget], rest >= 0 ? from[rest] + bottle.y : 0);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[order] = best[(end - start) % 2][CELLAR_BUDGETS - 1];
    __syncthreads();
}

__global__ void cellar_gift_shares_kernel(const int *starts, const int2 *bottles, int *out, int *)
{
    for (int order = blockIdx.x; order < CELLAR_ORDERS; order += gridDim.x)
        cellar_gift_of(starts, bottles, order, out);
}

__global__ void cellar_gift_tickets_kernel(const int *starts, const int2 *bottles, int *out,
                                           int *tickets)
{
    __shared__ int ticket;
    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(tickets, 1);
        __syncthreads();
        const int order = ticket;
        if (order >= CELLAR_ORDERS)
            return;
        cellar_gift_of(starts, bottles, order, out);
    }
}

static int cellar_gift_host(const int2 *bottles, int count)
{
    std::vector<int> best(CELLAR_BUDGETS, 0);
    for (int i = 0; i < count; i++)
        for (int budget = CELLAR_BUDGETS - 1; budget >= bottles[i].x; budget--)
            best[budget] = std::max(best[budget], best[budget - bottles[i].x] + bottles[i].y);
    return best.back();
}

static void cellar_gift(Run &run, bool by_tickets)
{
    const std::vector<int> draws = integers(CELLAR_ORDERS, 1000, 23202);
    std::vector<int> starts(1, 0);
    for (int i = 0; i < CELLAR_ORDERS; i++)
        starts.push_back(starts[i] + (draws[i] < 15 ? 250 + 20 * draws[i] : 6 + draws[i] / 40));
    const std::vector<int> prices = integers(starts.back(), 120, 23203);
    const std::vector<int> points = integers(starts.back(), 100, 23204);
    std::vector<int2> bottles(starts.back());
    for (size_t i = 0; i < bottles.size(); i++)
        bottles[i] = { 8 + prices[i], prices[i] / 2 + points[i] };
    const int *ds = run.upload(starts);
    const int2 *db = run.upload(bottles);
    int *to = run.zeros<int>(CELLAR_ORDERS), *tickets = run.zeros<int>(1);
    run.measure(
        [=] {
            if (by_tickets)
                cellar_gift_tickets_kernel<<<CELLAR_GIVERS, 128>>>(ds, db, to, tickets);
            else
                cellar_gift_shares_kernel<<<CELLAR_GIVERS, 128>>>(ds, db, to, tickets);
        },
        [=] { CHECK(cudaMemset(tickets, 0, sizeof(int))); });
    run.expect_all(
        run.output(to, CELLAR_ORDERS),
        [&](size_t i) { return cellar_gift_host(&bottles[starts[i]], starts[i + 1] - starts[i]); },
        0);
}

static void cellar_gift_shares(Run &run)
{
    cellar_gift(run, false);
}

static void cellar_gift_tickets(Run &run)
{
    cellar_gift(run, true);
}

// ---- How many labels of the stock differ from a label in at most three of 16 letters: letter by
// letter, or four letters at once ----

enum { CELLAR_LABELS = 1024, CELLAR_STOCK = 8192, CELLAR_TILE = 256, CELLAR_LETTERS = 16 };

__host__ __device__ inline int cellar_differ_bytes(const uint8_t *a, const uint8_t *b)
{
    int count = 0;
#pragma unroll
    for (int k = 0; k < CELLAR_LETTERS; k++)
        count += a[k] != b[k];
    return count;
}

__device__ inline int cellar_differ_words(uint4 a, uint4 b)
{
    const uint32_t sum = __vsetne4(a.x, b.x) + __vsetne4(a.y, b.y) + __vsetne4(a.z, b.z) +
                         __vsetne4(a.w, b.w); // a count per byte
    return (int) (sum * 0x01010101u >> 24);
}

__global__ void cellar_labels_bytes_kernel(const uint8_t *labels, const uint8_t *stock, int *counts)
{
    __shared__ uint8_t tile[CELLAR_TILE * CELLAR_LETTERS];
    const int label = blockIdx.x * blockDim.x + threadIdx.x;
    const size_t first = (size_t) blockIdx.y * CELLAR_TILE * CELLAR_LETTERS;
    uint8_t own[CELLAR_LETTERS];
    for (int k = 0; k < CELLAR_LETTERS; k++)
        own[k] = labels[label * CELLAR_LETTERS + k];
    for (int i = threadIdx.x; i < CELLAR_TILE * CELLAR_LETTERS; i += blockDim.x)
        tile[i] = stock[first + i];
    __syncthreads();
    int count = 0;
    for (int i = 0; i < CELLAR_TILE; i++)
        count += cellar_differ_bytes(own, tile + i * CELLAR_LETTERS) <= 3;
    atomicAdd(&counts[label], count);
}

__global__ void cellar_labels_words_kernel(const uint4 *labels, const uint4 *stock, int *counts)
{
    __shared__ uint4 tile[CELLAR_TILE];
    const int label = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 own = labels[label];
    for (int i = threadIdx.x; i < CELLAR_TILE; i += blockDim.x)
        tile[i] = stock[blockIdx.y * CELLAR_TILE + i];
    __syncthreads();
    int count = 0;
    for (int i = 0; i < CELLAR_TILE; i++)
        count += cellar_differ_words(own, tile[i]) <= 3;
    atomicAdd(&counts[label], count);
}

// Labels of the stock are copies of the labels in which some letters are smudged.
static void cellar_smudge(const std::vector<uint8_t> &labels, std::vector<uint8_t> *stock)
{
    const std::vector<int> originals = integers(CELLAR_STOCK, CELLAR_LABELS, 23206);
    const std::vector<uint32_t> draws = words(stock->size(), 23207);
    for (size_t i = 0; i < stock->size(); i++) {
        const size_t original = originals[i / CELLAR_LETTERS];
        const uint8_t letter = labels[original * CELLAR_LETTERS + i % CELLAR_LETTERS];
        (*stock)[i] = draws[i] % 5 ? letter : (uint8_t) ('A' + draws[i] / 8 % 26);
    }
}

static void cellar_labels(Run &run, bool in_words)
{
    const std::vector<int> letters = integers(CELLAR_LABELS * CELLAR_LETTERS, 26, 23205);
    std::vector<uint8_t> labels(letters.size()), stock(CELLAR_STOCK * CELLAR_LETTERS);
    for (size_t i = 0; i < labels.size(); i++)
        labels[i] = (uint8_t) ('A' + letters[i]);
    cellar_smudge(labels, &stock);
    const uint8_t *dl = run.upload(labels), *ds = run.upload(stock);
    int *to = run.zeros<int>(CELLAR_LABELS);
    run.measure(
        [=] {
            const dim3 grid(CELLAR_LABELS / 128, CELLAR_STOCK / CELLAR_TILE);
            if (in_words)
                cellar_labels_words_kernel<<<grid, 128>>>((const uint4 *) dl, (const uint4 *) ds,
                                                          to);
            else
                cellar_labels_bytes_kernel<<<grid, 128>>>(dl, ds, to);
        },
        [=] { CHECK(cudaMemset(to, 0, CELLAR_LABELS * sizeof(int))); });
    run.expect_all(
        run.output(to, CELLAR_LABELS),
        [&](size_t i) {
            int count = 0;
            for (int k = 0; k < CELLAR_STOCK; k++)
                count += cellar_differ_bytes(&labels[i * CELLAR_LETTERS],
                                             &stock[k * CELLAR_LETTERS]) <= 3;
            return count;
        },
        0, 5);
}

static void cellar_labels_bytes(Run &run)
{
    cellar_labels(run, false);
}

static void cellar_labels_words(Run &run)
{
    cellar_labels(run, true);
}

// ---- Seals of a ledger's entries: a hash of 64 bits of each entry's letters, a thread each. The
// entries are taken as they lie, or in the order of their lengths ----

enum { CELLAR_ENTRIES = 40000 };

__host__ __device__ inline unsigned long long cellar_seal(const uint8_t *text, int length)
{
    unsigned long long hash = 14695981039346656037ull;
    for (int i = 0; i < length; i++)
        hash = (hash ^ text[i]) * 1099511628211ull;
    return hash ^ hash >> 29;
}

__global__ void cellar_seals_mixed_kernel(const int *starts, const uint8_t *text, const int *,
                                          unsigned long long *seals)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < CELLAR_ENTRIES)
        seals[i] = cellar_seal(text + starts[i], starts[i + 1] - starts[i]);
}

__global__ void cellar_seals_sorted_kernel(const int *starts, const uint8_t *text, const int *order,
                                           unsigned long long *seals)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= CELLAR_ENTRIES)
        return;
    const int entry = order[i];
    seals[entry] = cellar_seal(text + starts[entry], starts[entry + 1] - starts[entry]);
}

static void cellar_seals(Run &run, bool sorted)
{
    const std::vector<float> draws = floats(CELLAR_ENTRIES, 23208, 0, 1);
    std::vector<int> starts(1, 0), order(CELLAR_ENTRIES);
    for (int i = 0; i < CELLAR_ENTRIES; i++) {
        starts.push_back(starts[i] + 8 + (int) (500 * draws[i] * draws[i] * draws[i] * draws[i]));
        order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return starts[a + 1] - starts[a] < starts[b + 1] - starts[b];
    });
    const std::vector<int> letters = integers(starts.back(), 96, 23209);
    std::vector<uint8_t> text(letters.size());
    for (size_t i = 0; i < text.size(); i++)
        text[i] = (uint8_t) (32 + letters[i]);
    const int *ds = run.upload(starts), *dorder = run.upload(order);
    const uint8_t *dt = run.upload(text);
    unsigned long long *to = run.zeros<unsigned long long>(CELLAR_ENTRIES);
    run.measure([=] {
        const int blocks = blocks_for(CELLAR_ENTRIES, 128);
        if (sorted)
            cellar_seals_sorted_kernel<<<blocks, 128>>>(ds, dt, dorder, to);
        else
            cellar_seals_mixed_kernel<<<blocks, 128>>>(ds, dt, dorder, to);
    });
    const std::vector<unsigned long long> got = run.output(to, CELLAR_ENTRIES);
    for (int i = 0; i < CELLAR_ENTRIES; i++)
        run.expect(got[i] == cellar_seal(&text[starts[i]], starts[i + 1] - starts[i]), 1, 0);
}

static void cellar_seals_mixed(Run &run)
{
    cellar_seals(run, false);
}

static void cellar_seals_sorted(Run &run)
{
    cellar_seals(run, true);
}

#endif
