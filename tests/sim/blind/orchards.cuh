// orchards.cuh - fruit trees: chill of a winter, grades of fruit, branches to prune, rows to pick.
#ifndef BLIND_ORCHARDS_CUH
#define BLIND_ORCHARDS_CUH

#include "blind.cuh"

// ---- Chill that buds collect in a winter, per station: exponentials per hour, or a table by
// temperature ----

enum { ORCHARD_STATIONS = 16896, ORCHARD_HOURS = 400, ORCHARD_DEGREES = 512 };

// The level to which chill tends at a temperature (here in tenths of a degree, from -20), and what
// remains of the distance to it after an hour.
template <class T> __host__ __device__ inline void orchard_rates(int tenths, T &level, T &rest)
{
    const T kelvin = T(253.15) + tenths * T(0.1);
    level = exp(T(14.6) - T(4100) / kelvin);
    rest = exp(-exp(T(38.4) - T(11200) / kelvin));
}

// Chill that an hour adds. A part of it is then kept for ever.
template <class T> __host__ __device__ inline void orchard_hour(T level, T rest, T &chill, T &kept)
{
    chill = level - (level - chill) * rest;
    const T moved = chill * chill * T(0.05);
    kept += moved;
    chill -= moved;
}

__global__ void orchard_chill_exact_kernel(const short *tenths, float *out)
{
    const int station = blockIdx.x * blockDim.x + threadIdx.x;
    float chill = 0, kept = 0;
    for (int h = 0; h < ORCHARD_HOURS; h++) {
        float level, rest;
        orchard_rates(tenths[h * ORCHARD_STATIONS + station], level, rest);
        orchard_hour(level, rest, chill, kept);
    }
    out[station] = kept;
}

__global__ void orchard_chill_table_kernel(const short *tenths, float *out)
{
    __shared__ float2 table[ORCHARD_DEGREES];
    for (int i = threadIdx.x; i < ORCHARD_DEGREES; i += blockDim.x)
        orchard_rates(i, table[i].x, table[i].y);
    __syncthreads();
    const int station = blockIdx.x * blockDim.x + threadIdx.x;
    float chill = 0, kept = 0;
    for (int h = 0; h < ORCHARD_HOURS; h++) {
        const float2 rates = table[tenths[h * ORCHARD_STATIONS + station]];
        orchard_hour(rates.x, rates.y, chill, kept);
    }
    out[station] = kept;
}

static double orchard_host_chill(const std::vector<short> &tenths, size_t station)
{
    double chill = 0, kept = 0, level, rest;
    for (int h = 0; h < ORCHARD_HOURS; h++) {
        orchard_rates(tenths[(size_t) h * ORCHARD_STATIONS + station], level, rest);
        orchard_hour(level, rest, chill, kept);
    }
    return kept;
}

static void orchard_chill(Run &run, bool table)
{
    const size_t n = (size_t) ORCHARD_STATIONS * ORCHARD_HOURS;
    const std::vector<int> draws = integers(n, 160, 20510);
    std::vector<short> tenths(n);
    for (size_t i = 0; i < n; i++)
        tenths[i] = (short) (120 + i / ORCHARD_STATIONS % 24 * 8 + draws[i]);
    const short *from = run.upload(tenths);
    float *to = run.zeros<float>(ORCHARD_STATIONS);
    run.measure([=] {
        if (table)
            orchard_chill_table_kernel<<<ORCHARD_STATIONS / 128, 128>>>(from, to);
        else
            orchard_chill_exact_kernel<<<ORCHARD_STATIONS / 128, 128>>>(from, to);
    });
    run.expect_all(
        run.output(to, ORCHARD_STATIONS), [&](size_t i) { return orchard_host_chill(tenths, i); },
        1e-3, 11);
}

static void orchard_chill_exact(Run &run)
{
    orchard_chill(run, false);
}

static void orchard_chill_table(Run &run)
{
    orchard_chill(run, true);
}

// ---- The grade of each fruit, that with the highest score: features as floats, or as bytes of
// which four are multiplied at once ----

enum { ORCHARD_FRUITS = 250000, ORCHARD_FEATURES = 64, ORCHARD_GRADES = 16 };

__global__ void orchard_grade_floats_kernel(const float *features, const float *weights, int *out)
{
    __shared__ float w[ORCHARD_FEATURES * ORCHARD_GRADES];
    for (int i = threadIdx.x; i < ORCHARD_FEATURES * ORCHARD_GRADES; i += blockDim.x)
        w[i] = weights[i];
    __syncthreads();
    const int fruit = blockIdx.x * blockDim.x + threadIdx.x;
    if (fruit >= ORCHARD_FRUITS)
        return;
    float scores[ORCHARD_GRADES] = {};
    for (int f = 0; f < ORCHARD_FEATURES; f++) {
        const float feature = features[(size_t) f * ORCHARD_FRUITS + fruit];
#pragma unroll
        for (int g = 0; g < ORCHARD_GRADES; g++)
            scores[g] += feature * w[f * ORCHARD_GRADES + g];
    }
    int best = 0;
    float top = scores[0];
#pragma unroll
    for (int g = 1; g < ORCHARD_GRADES; g++)
        if (scores[g] > top) {
            top = scores[g];
            best = g;
        }
    out[fruit] = best;
}

__global__ void orchard_grade_bytes_kernel(const int *features, const int *weights, int *out)
{
    __shared__ int w[ORCHARD_FEATURES / 4 * ORCHARD_GRADES];
    for (int i = threadIdx.x; i < ORCHARD_FEATURES / 4 * ORCHARD_GRADES; i += blockDim.x)
        w[i] = weights[i];
    __syncthreads();
    const int fruit = blockIdx.x * blockDim.x + threadIdx.x;
    if (fruit >= ORCHARD_FRUITS)
        return;
    int scores[ORCHARD_GRADES] = {};
    for (int f = 0; f < ORCHARD_FEATURES / 4; f++) {
        const int four = features[(size_t) f * ORCHARD_FRUITS + fruit];
#pragma unroll
        for (int g = 0; g < ORCHARD_GRADES; g++)
            scores[g] = __dp4a(four, w[f * ORCHARD_GRADES + g], scores[g]);
    }
    int best = 0, top = scores[0];
#pragma unroll
    for (int g = 1; g < ORCHARD_GRADES; g++)
        if (scores[g] > top) {
            top = scores[g];
            best = g;
        }
    out[fruit] = best;
}

static int orchard_byte(uint32_t four, int k)
{
    return (signed char) (four >> 8 * k);
}

// Four bytes per word as floats: `columns` words make four rows of floats.
static std::vector<float> orchard_floats(const std::vector<uint32_t> &fours, size_t columns)
{
    std::vector<float> v(fours.size() * 4);
    for (size_t i = 0; i < fours.size(); i++)
        for (int k = 0; k < 4; k++)
            v[(i / columns * 4 + k) * columns + i % columns] = (float) orchard_byte(fours[i], k);
    return v;
}

static void orchard_grade(Run &run, bool bytes)
{
    const std::vector<uint32_t> features =
        words((size_t) ORCHARD_FRUITS * ORCHARD_FEATURES / 4, 20520);
    const std::vector<uint32_t> weights = words(ORCHARD_GRADES * ORCHARD_FEATURES / 4, 20521);
    const uint32_t *df = bytes ? run.upload(features) : nullptr;
    const uint32_t *dw = bytes ? run.upload(weights) : nullptr;
    const float *ff = bytes ? nullptr : run.upload(orchard_floats(features, ORCHARD_FRUITS));
    const float *fw = bytes ? nullptr : run.upload(orchard_floats(weights, ORCHARD_GRADES));
    int *to = run.zeros<int>(ORCHARD_FRUITS);
    run.measure([=] {
        const int blocks = blocks_for(ORCHARD_FRUITS, 256);
        if (bytes)
            orchard_grade_bytes_kernel<<<blocks, 256>>>((const int *) df, (const int *) dw, to);
        else
            orchard_grade_floats_kernel<<<blocks, 256>>>(ff, fw, to);
    });
    run.expect_all(
        run.output(to, ORCHARD_FRUITS),
        [&](size_t fruit) {
            int best = 0, top = -1 << 30;
            for (int g = 0; g < ORCHARD_GRADES; g++) {
                int score = 0;
                for (int f = 0; f < ORCHARD_FEATURES; f++)
                    score += orchard_byte(features[f / 4 * ORCHARD_FRUITS + fruit], f % 4) *
                             orchard_byte(weights[f / 4 * ORCHARD_GRADES + g], f % 4);
                best = score > top ? g : best;
                top = std::max(top, score);
            }
            return best;
        },
        0, 7);
}

static void orchard_grade_floats(Run &run)
{
    orchard_grade(run, false);
}

static void orchard_grade_bytes(Run &run)
{
    orchard_grade(run, true);
}

// ---- Wood that remains if branches far from the root are cut: a thread's stack per tree, or a
// block's levels. A few trees are old and large ----

enum { ORCHARD_TREES = 6000, ORCHARD_STACK = 256, ORCHARD_WIDE = 1024 };

// A branch, with the branches that grow from it: `count` of them from `first`.
struct OrchardBranch {
    int first;
    short count, length;
};

__global__ void orchard_prune_stack_kernel(const int *roots, const int *limits,
                                           const OrchardBranch *branches, int *out)
{
    const int tree = blockIdx.x * blockDim.x + threadIdx.x;
    if (tree >= ORCHARD_TREES)
        return;
    int2 stack[ORCHARD_STACK]; // a branch and its distance to the root
    int top = 1, wood = 0;
    const int limit = limits[tree];
    stack[0] = make_int2(roots[tree], 0);
    while (top) {
        const int2 at = stack[--top];
        const OrchardBranch b = branches[at.x];
        const int reach = at.y + b.length;
        if (reach > limit)
            continue;
        wood += b.length;
        for (int k = 0; k < b.count; k++)
            stack[top++] = make_int2(b.first + k, reach);
    }
    out[tree] = wood;
}

__global__ void orchard_prune_levels_kernel(const int *roots, const int *limits,
                                            const OrchardBranch *branches, int *out)
{
    __shared__ int2 levels[2][ORCHARD_WIDE];
    __shared__ int sizes[2], wood;
    const int limit = limits[blockIdx.x];
    int mine = 0, now = 0;
    if (threadIdx.x == 0) {
        levels[0][0] = make_int2(roots[blockIdx.x], 0);
        sizes[0] = 1;
        sizes[1] = wood = 0;
    }
    __syncthreads();
    while (sizes[now]) {
        for (int i = threadIdx.x; i < sizes[now]; i += blockDim.x) {
            const int2 at = levels[now][i];
            const OrchardBranch b = branches[at.x];
            const int reach = at.y + b.length;
            if (reach > limit)
                continue;
            mine += b.length;
            const int to = b.count ? atomicAdd(&sizes[!now], b.count) : 0;
            for (int k = 0; k < b.count; k++)
                levels[!now][to + k] = make_int2(b.first + k, reach);
        }
        __syncthreads();
        if (threadIdx.x == 0)
            sizes[now] = 0;
        now = !now;
        __syncthreads();
    }
    atomicAdd(&wood, mine);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = wood;
}

// A tree of `size` branches, level after level: up to three grow from each.
static void orchard_grow(std::vector<OrchardBranch> &branches, int size, const uint32_t *draws)
{
    const int root = (int) branches.size();
    branches.push_back({ 0, 0, (short) (1 + draws[0] % 16) });
    for (int i = 0; i < size; i++) {
        const int open = (int) branches.size() - root - i;
        int count = std::min((int) (draws[i] / 16 % 4), size - (int) branches.size() + root);
        if (open <= 0)
            break;
        if (open == 1 && count == 0 && (int) branches.size() - root < size)
            count = 1;
        branches[root + i].first = (int) branches.size();
        branches[root + i].count = (short) count;
        for (int k = 0; k < count; k++)
            branches.push_back({ 0, 0, (short) (1 + draws[branches.size() - root] % 16) });
    }
}

static int orchard_host_wood(const std::vector<OrchardBranch> &branches, int at, int reach,
                             int limit)
{
    const OrchardBranch b = branches[at];
    int wood = b.length;
    if (reach + b.length > limit)
        return 0;
    for (int k = 0; k < b.count; k++)
        wood += orchard_host_wood(branches, b.first + k, reach + b.length, limit);
    return wood;
}

static void orchard_prune(Run &run, bool levels)
{
    const std::vector<int> sizes = integers(ORCHARD_TREES, 5000, 20530);
    std::vector<int> roots, limits = integers(ORCHARD_TREES, 120, 20531);
    std::vector<OrchardBranch> branches;
    for (int t = 0; t < ORCHARD_TREES; t++) {
        const int size = sizes[t] < 100 ? 1000 : 10 + sizes[t] / 55;
        roots.push_back((int) branches.size());
        limits[t] += size == 1000 ? 120 : 40;
        orchard_grow(branches, size, words(size, 20532 + t % 60).data());
    }
    const int *dr = run.upload(roots), *dl = run.upload(limits);
    const OrchardBranch *db = run.upload(branches);
    int *to = run.zeros<int>(ORCHARD_TREES);
    run.measure([=] {
        if (levels)
            orchard_prune_levels_kernel<<<ORCHARD_TREES, 64>>>(dr, dl, db, to);
        else
            orchard_prune_stack_kernel<<<blocks_for(ORCHARD_TREES, 32), 32>>>(dr, dl, db, to);
    });
    run.expect_all(
        run.output(to, ORCHARD_TREES),
        [&](size_t t) { return orchard_host_wood(branches, roots[t], 0, limits[t]); }, 0);
}

static void orchard_prune_stack(Run &run)
{
    orchard_prune(run, false);
}

static void orchard_prune_levels(Run &run)
{
    orchard_prune(run, true);
}

// ---- Days until the fruits of each row are soft: rows dealt to blocks in turn, or by tickets. The
// long rows are those of a few blocks ----

enum { ORCHARD_ROWS = 9000, ORCHARD_PICKERS = 1056 };

__host__ __device__ inline int orchard_days(uint32_t fruit)
{
    int firm = (int) (fruit & 255), days = 0;
    const int soft = 20 + (int) (fruit >> 8 & 15);
    for (; firm > soft; days++)
        firm -= firm >> 3;
    return days;
}

// Adds the days of a row. The block's threads share it.
__device__ inline void orchard_row(const int *starts, const uint32_t *fruits, int row, int *out)
{
    int days = 0;
    for (int i = starts[row] + threadIdx.x; i < starts[row + 1]; i += blockDim.x)
        days += orchard_days(fruits[i]);
    days = __reduce_add_sync(~0u, days);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&out[row], days);
}

__global__ void orchard_pick_turns_kernel(const int *starts, const uint32_t *fruits, int *out)
{
    for (int row = blockIdx.x; row < ORCHARD_ROWS; row += gridDim.x)
        orchard_row(starts, fruits, row, out);
}

__global__ void orchard_pick_tickets_kernel(const int *starts, const uint32_t *fruits, int *tickets,
                                            int *out)
{
    __shared__ int ticket;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0)
            ticket = atomicAdd(tickets, 1);
        __syncthreads();
        if (ticket >= ORCHARD_ROWS)
            return;
        orchard_row(starts, fruits, ticket, out);
    }
}

static void orchard_pick(Run &run, bool by_tickets)
{
    const std::vector<int> draws = integers(ORCHARD_ROWS, 600, 20610);
    std::vector<int> starts(1, 0);
    for (int r = 0; r < ORCHARD_ROWS; r++)
        starts.push_back(starts[r] + (r % ORCHARD_PICKERS < 40 ? 5000 : 100) + draws[r]);
    const std::vector<uint32_t> fruits = words(starts[ORCHARD_ROWS], 20611);
    const int *ds = run.upload(starts);
    const uint32_t *df = run.upload(fruits);
    int *to = run.zeros<int>(ORCHARD_ROWS), *tickets = run.zeros<int>(1);
    run.measure(
        [=] {
            if (by_tickets)
                orchard_pick_tickets_kernel<<<ORCHARD_PICKERS, 128>>>(ds, df, tickets, to);
            else
                orchard_pick_turns_kernel<<<ORCHARD_PICKERS, 128>>>(ds, df, to);
        },
        [=] {
            CHECK(cudaMemset(to, 0, ORCHARD_ROWS * sizeof(int)));
            CHECK(cudaMemset(tickets, 0, sizeof(int)));
        });
    run.expect_all(
        run.output(to, ORCHARD_ROWS),
        [&](size_t row) {
            int days = 0;
            for (int i = starts[row]; i < starts[row + 1]; i++)
                days += orchard_days(fruits[i]);
            return days;
        },
        0);
}

static void orchard_pick_turns(Run &run)
{
    orchard_pick(run, false);
}

static void orchard_pick_tickets(Run &run)
{
    orchard_pick(run, true);
}

#endif
