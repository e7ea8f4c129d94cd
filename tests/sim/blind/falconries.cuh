// falconries.cuh - falcons: dives onto prey, circles in flight, weights of birds, pedigrees.
#ifndef BLIND_FALCONRIES_CUH
#define BLIND_FALCONRIES_CUH

#include "blind.cuh"

// ---- The top speed of dives from different heights: the density of the air by a formula, or from
// a table in shared memory ----

enum { FALCONRY_DIVES = 65536, FALCONRY_LEVELS = 512 };

template <class T> struct FalconryAir {
    __host__ __device__ T operator()(T height) const
    {
        return T(1.225) * exp(-height / T(8500));
    }
};

// A level per four metres.
struct FalconryAirTable {
    const float *table;

    __device__ float operator()(float height) const
    {
        const float at = height * 0.25f;
        const int level = (int) at;
        return table[level] + (at - level) * (table[level + 1] - table[level]);
    }
};

// A dive: height, height of the prey, drag by mass, speed.
template <class T, class Air> __host__ __device__ inline T falconry_dive(float4 dive, Air air)
{
    T height = dive.x, speed = dive.w, top = speed;
    while (height > dive.y) {
        speed += T(0.05) * (T(9.81) - dive.z * air(height) * speed * speed);
        height -= T(0.05) * speed;
        top = speed > top ? speed : top;
    }
    return top;
}

__global__ void falconry_dive_formula_kernel(const float4 *dives, float *tops)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tops[i] = falconry_dive<float>(dives[i], FalconryAir<float>());
}

__global__ void falconry_dive_table_kernel(const float4 *dives, float *tops)
{
    __shared__ float table[FALCONRY_LEVELS + 1];
    for (int k = threadIdx.x; k <= FALCONRY_LEVELS; k += blockDim.x)
        table[k] = FalconryAir<float>()(4.0f * k);
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tops[i] = falconry_dive<float>(dives[i], FalconryAirTable{ table });
}

static void falconry_dives(Run &run, void (*kernel)(const float4 *, float *))
{
    const std::vector<float> draws = floats(FALCONRY_DIVES * 4, 24500, 0, 1);
    std::vector<float4> dives(FALCONRY_DIVES);
    for (int i = 0; i < FALCONRY_DIVES; i++)
        dives[i] = { 400 + 1500 * draws[i * 4], 20 + 200 * draws[i * 4 + 1],
                     0.0012f + 0.002f * draws[i * 4 + 2], 5 + 15 * draws[i * 4 + 3] };
    const float4 *from = run.upload(dives);
    float *to = run.zeros<float>(FALCONRY_DIVES);
    run.measure([=] { kernel<<<FALCONRY_DIVES / 256, 256>>>(from, to); });
    run.expect_all(
        run.output(to, FALCONRY_DIVES),
        [&](size_t i) { return falconry_dive<double>(dives[i], FalconryAir<double>()); }, 1e-3, 11);
}

static void falconry_dive_formula(Run &run)
{
    falconry_dives(run, falconry_dive_formula_kernel);
}

static void falconry_dive_table(Run &run)
{
    falconry_dives(run, falconry_dive_table_kernel);
}

// ---- Turns to the left and the enclosed area of flights, which are sorted by length: a warp per
// flight. Warps have equal shares of flights, or draw tickets for the next one ----

enum { FALCONRY_FLIGHTS = 4000, FALCONRY_FLIGHT_BLOCKS = 250 };

// How much point i of a flight adds to both sums.
__host__ __device__ inline int2 falconry_turn(const int2 *points, int i)
{
    const int2 a = points[i], b = points[i + 1], c = points[i + 2];
    const int turn = (b.x - a.x) * (c.y - b.y) - (b.y - a.y) * (c.x - b.x);
    return { turn > 0 ? 1 : 0, (a.x * b.y - a.y * b.x) >> 4 };
}

__device__ inline void falconry_flight(const int2 *points, const int *first, int2 *out, int flight)
{
    const int lane = threadIdx.x % 32, end = first[flight + 1] - 2;
    int left = 0, area = 0;
    for (int i = first[flight] + lane; i < end; i += 32) {
        const int2 turn = falconry_turn(points, i);
        left += turn.x;
        area += turn.y;
    }
    for (int step = 16; step; step /= 2) {
        left += __shfl_xor_sync(~0u, left, step);
        area += __shfl_xor_sync(~0u, area, step);
    }
    if (lane == 0)
        out[flight] = { left, area };
}

__global__ void falconry_circles_shares_kernel(const int2 *points, const int *first, int2 *out,
                                               int *)
{
    const int share = FALCONRY_FLIGHTS / (FALCONRY_FLIGHT_BLOCKS * 4);
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (int k = 0; k < share; k++)
        falconry_flight(points, first, out, warp * share + k);
}

__global__ void falconry_circles_tickets_kernel(const int2 *points, const int *first, int2 *out,
                                                int *next)
{
    for (;;) {
        int ticket = 0;
        if (threadIdx.x % 32 == 0)
            ticket = atomicAdd(next, 1);
        ticket = __shfl_sync(~0u, ticket, 0);
        if (ticket >= FALCONRY_FLIGHTS)
            return;
        falconry_flight(points, first, out, FALCONRY_FLIGHTS - 1 - ticket);
    }
}

static void falconry_circles(Run &run, void (*kernel)(const int2 *, const int *, int2 *, int *))
{
    std::vector<float> draws = floats(FALCONRY_FLIGHTS, 24501, 0, 1);
    std::sort(draws.begin(), draws.end());
    std::vector<int> first(1, 0);
    for (float draw : draws)
        first.push_back(first.back() + 40 + (int) (3000 * draw * draw * draw * draw));
    const int count = first.back();
    const std::vector<int> places = integers((size_t) count * 2, 2000, 24502);
    std::vector<int2> points(count);
    for (int i = 0; i < count; i++)
        points[i] = { places[i * 2], places[i * 2 + 1] };
    const int2 *dp = run.upload(points);
    const int *df = run.upload(first);
    int2 *to = run.zeros<int2>(FALCONRY_FLIGHTS);
    int *next = run.zeros<int>(1);
    run.measure([=] { kernel<<<FALCONRY_FLIGHT_BLOCKS, 128>>>(dp, df, to, next); },
                [=] { CHECK(cudaMemset(next, 0, sizeof(int))); });
    const std::vector<int2> got = run.output(to, FALCONRY_FLIGHTS);
    for (int flight = 0; flight < FALCONRY_FLIGHTS; flight++) {
        int2 sum = { 0, 0 };
        for (int i = first[flight]; i < first[flight + 1] - 2; i++) {
            const int2 turn = falconry_turn(points.data(), i);
            sum = { sum.x + turn.x, sum.y + turn.y };
        }
        run.expect(got[flight].x, sum.x, 0);
        run.expect(got[flight].y, sum.y, 0);
    }
}

static void falconry_circles_shares(Run &run)
{
    falconry_circles(run, falconry_circles_shares_kernel);
}

static void falconry_circles_tickets(Run &run)
{
    falconry_circles(run, falconry_circles_tickets_kernel);
}

// ---- Alarms from the daily weights of birds, of which each is compared with a running mean: the
// days of a bird lie together, or the birds of a day ----

enum { FALCONRY_BIRDS = 38400, FALCONRY_DAYS = 120 };

// How many alarms, and the deepest fall below the mean.
__host__ __device__ inline int2 falconry_weigh(const unsigned short *weights, int step)
{
    int mean = weights[0] << 8, alarms = 0, deepest = 0;
    for (int day = 1; day < FALCONRY_DAYS; day++) {
        const int weight = weights[day * step] << 8, fall = mean - weight;
        alarms += fall > mean / 32;
        deepest = fall > deepest ? fall : deepest;
        mean -= fall / 8;
    }
    return { alarms, deepest };
}

__global__ void falconry_weights_birds_kernel(const unsigned short *weights, int2 *out)
{
    const int bird = blockIdx.x * blockDim.x + threadIdx.x;
    out[bird] = falconry_weigh(weights + bird * FALCONRY_DAYS, 1);
}

__global__ void falconry_weights_days_kernel(const unsigned short *weights, int2 *out)
{
    const int bird = blockIdx.x * blockDim.x + threadIdx.x;
    out[bird] = falconry_weigh(weights + bird, FALCONRY_BIRDS);
}

static void falconry_weights(Run &run, bool days)
{
    const size_t count = (size_t) FALCONRY_BIRDS * FALCONRY_DAYS;
    const std::vector<int> draws = integers(count, 500, 24503);
    std::vector<unsigned short> birds(count), turned(count);
    for (int bird = 0; bird < FALCONRY_BIRDS; bird++)
        for (int day = 0; day < FALCONRY_DAYS; day++) {
            const size_t at = (size_t) bird * FALCONRY_DAYS + day;
            birds[at] = (unsigned short) (6000 + bird % 1000 + draws[at]);
            turned[(size_t) day * FALCONRY_BIRDS + bird] = birds[at];
        }
    const unsigned short *from = run.upload(days ? turned : birds);
    int2 *to = run.zeros<int2>(FALCONRY_BIRDS);
    run.measure([=] {
        if (days)
            falconry_weights_days_kernel<<<FALCONRY_BIRDS / 128, 128>>>(from, to);
        else
            falconry_weights_birds_kernel<<<FALCONRY_BIRDS / 128, 128>>>(from, to);
    });
    const std::vector<int2> got = run.output(to, FALCONRY_BIRDS);
    for (int bird = 0; bird < FALCONRY_BIRDS; bird += 3) {
        const int2 wanted = falconry_weigh(&birds[(size_t) bird * FALCONRY_DAYS], 1);
        run.expect(got[bird].x, wanted.x, 0);
        run.expect(got[bird].y, wanted.y, 0);
    }
}

static void falconry_weights_birds(Run &run)
{
    falconry_weights(run, false);
}

static void falconry_weights_days(Run &run)
{
    falconry_weights(run, true);
}

// ---- How often two birds share an ancestor five generations ago: a thread per pair with lists in
// local arrays, or a warp per pair, with an ancestor of each bird per lane ----

enum { FALCONRY_PAIRS = 32768, FALCONRY_STUD = 1000 };

// The 32 ancestors: each generation takes the place of the one after it.
__host__ __device__ inline void falconry_ancestors(const int2 *parents, int bird, int *list)
{
    list[0] = bird;
    for (int count = 1; count < 32; count *= 2)
        for (int k = count - 1; k >= 0; k--) {
            const int2 two = parents[list[k]];
            list[2 * k] = two.x;
            list[2 * k + 1] = two.y;
        }
}

__host__ __device__ inline int falconry_shared(const int2 *parents, int2 pair)
{
    int a[32], b[32], count = 0;
    falconry_ancestors(parents, pair.x, a);
    falconry_ancestors(parents, pair.y, b);
    for (int i = 0; i < 32; i++)
        for (int k = 0; k < 32; k++)
            count += a[i] == b[k];
    return count;
}

__global__ void falconry_pedigree_thread_kernel(const int2 *parents, const int2 *pairs, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = falconry_shared(parents, pairs[i]);
}

// The bits of `path` say whether to go to the first or the second parent.
__device__ inline int falconry_ancestor(const int2 *parents, int bird, int path)
{
    for (int k = 0; k < 5; k++) {
        const int2 two = parents[bird];
        bird = path >> k & 1 ? two.y : two.x;
    }
    return bird;
}

__global__ void falconry_pedigree_warp_kernel(const int2 *parents, const int2 *pairs, int *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int a = falconry_ancestor(parents, pairs[i].x, lane);
    const int b = falconry_ancestor(parents, pairs[i].y, lane);
    int count = 0;
    for (int k = 0; k < 32; k++)
        count += a == __shfl_sync(~0u, b, k);
    count = __reduce_add_sync(~0u, count);
    if (lane == 0)
        out[i] = count;
}

static void falconry_pedigree(Run &run, bool warp)
{
    const std::vector<int> draws =
        integers(2 * (FALCONRY_STUD + FALCONRY_PAIRS), FALCONRY_STUD, 24504);
    std::vector<int2> parents(FALCONRY_STUD), pairs(FALCONRY_PAIRS);
    for (int i = 0; i < FALCONRY_STUD; i++)
        parents[i] = { draws[i * 2], draws[i * 2 + 1] };
    for (int i = 0; i < FALCONRY_PAIRS; i++)
        pairs[i] = { draws[(FALCONRY_STUD + i) * 2], draws[(FALCONRY_STUD + i) * 2 + 1] };
    const int2 *dparents = run.upload(parents), *dpairs = run.upload(pairs);
    int *to = run.zeros<int>(FALCONRY_PAIRS);
    run.measure([=] {
        if (warp)
            falconry_pedigree_warp_kernel<<<FALCONRY_PAIRS / 8, 256>>>(dparents, dpairs, to);
        else
            falconry_pedigree_thread_kernel<<<FALCONRY_PAIRS / 128, 128>>>(dparents, dpairs, to);
    });
    run.expect_all(
        run.output(to, FALCONRY_PAIRS),
        [&](size_t i) { return falconry_shared(parents.data(), pairs[i]); }, 0, 3);
}

static void falconry_pedigree_thread(Run &run)
{
    falconry_pedigree(run, false);
}

static void falconry_pedigree_warp(Run &run)
{
    falconry_pedigree(run, true);
}

#endif
