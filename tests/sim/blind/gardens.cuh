// gardens.cuh - gardens: hours of sun, slugs, pollen, gaps between plants.
#ifndef BLIND_GARDENS_CUH
#define BLIND_GARDENS_CUH

#include "blind.cuh"

#include <cuda_fp16.h>

// ---- Light at each place of a garden over a day, with trees that throw shade: the sun's place
// computed by each thread, or read from a table ----

enum { GARDEN_WIDTH = 256, GARDEN_HEIGHT = 192, GARDEN_TREES = 24, GARDEN_TIMES = 32 };

// A tree: place, radius, height. A sun: direction, tangent and sine of its elevation.
__constant__ float4 garden_trees[GARDEN_TREES], garden_suns[GARDEN_TIMES];

template <class T> struct GardenSun {
    T x, y, tangent, sine;
};

template <class T> __host__ __device__ inline GardenSun<T> garden_sun(int time)
{
    const T hour = (time - (GARDEN_TIMES - 1) * T(0.5)) * T(0.085);
    const T sine = T(0.21) + T(0.6) * cos(hour), level = sqrt(1 - sine * sine);
    return { sin(hour * T(1.1)), cos(hour * T(1.1)), sine / level, sine };
}

// The light that a tree lets through.
template <class T>
__host__ __device__ inline T garden_through(GardenSun<T> sun, float4 tree, int x, int y)
{
    const T dx = T(tree.x) - x, dy = T(tree.y) - y, along = sun.x * dx + sun.y * dy;
    if (along <= 0)
        return 1;
    const T side = T(tree.z) - fabs(sun.x * dy - sun.y * dx);
    const T above = T(tree.w) - along * sun.tangent;
    return 1 - fmin(fmax(side, T(0)), T(1)) * fmin(fmax(above, T(0)), T(1)) * fmin(along, T(1));
}

template <class T>
__host__ __device__ inline T garden_light(GardenSun<T> sun, const float4 *trees, int x, int y)
{
    T light = sun.sine;
    for (int k = 0; k < GARDEN_TREES && light > 0; k++)
        light *= garden_through(sun, trees[k], x, y);
    return light;
}

template <bool TABLE> __global__ void garden_sun_kernel(float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int time = 0; time < GARDEN_TIMES; time++) {
        const float4 s = TABLE ? garden_suns[time] : float4{};
        const GardenSun<float> sun =
            TABLE ? GardenSun<float>{ s.x, s.y, s.z, s.w } : garden_sun<float>(time);
        sum += garden_light(sun, garden_trees, x, y);
    }
    out[y * GARDEN_WIDTH + x] = sum;
}

static void garden_suns_day(Run &run, void (*kernel)(float *))
{
    const std::vector<float> v = floats(4 * GARDEN_TREES, 22000, 0, 1);
    std::vector<float4> trees, suns;
    for (int k = 0; k < GARDEN_TREES; k++)
        trees.push_back({ v[4 * k] * GARDEN_WIDTH, v[4 * k + 1] * GARDEN_HEIGHT,
                          3 + 9 * v[4 * k + 2], 10 + 30 * v[4 * k + 3] });
    for (int time = 0; time < GARDEN_TIMES; time++) {
        const GardenSun<double> s = garden_sun<double>(time);
        suns.push_back({ (float) s.x, (float) s.y, (float) s.tangent, (float) s.sine });
    }
    CHECK(cudaMemcpyToSymbol(garden_trees, trees.data(), sizeof garden_trees));
    CHECK(cudaMemcpyToSymbol(garden_suns, suns.data(), sizeof garden_suns));
    float *to = run.zeros<float>(GARDEN_WIDTH * GARDEN_HEIGHT);
    run.measure([=] { kernel<<<dim3(GARDEN_WIDTH / 32, GARDEN_HEIGHT / 8), dim3(32, 8)>>>(to); });
    run.expect_all(
        run.output(to, GARDEN_WIDTH * GARDEN_HEIGHT),
        [&](int i) {
            double sum = 0;
            for (int time = 0; time < GARDEN_TIMES; time++)
                sum += garden_light(garden_sun<double>(time), trees.data(), i % GARDEN_WIDTH,
                                    i / GARDEN_WIDTH);
            return sum;
        },
        1e-3, 7);
}

static void garden_sun_computed(Run &run)
{
    garden_suns_day(run, garden_sun_kernel<false>);
}

static void garden_sun_table(Run &run)
{
    garden_suns_day(run, garden_sun_kernel<true>);
}

// ---- Slugs that creep until they find lettuce, which is rare at one end of the garden: a slug per
// thread, or lanes that draw the next slug as soon as they are free ----

enum { GARDEN_SLUGS = 32768, GARDEN_MAP = 512, GARDEN_PATIENCE = 500, GARDEN_BLOCKS = 160 };

struct GardenSlug {
    uint32_t at, state;
    int steps;
};

__host__ __device__ inline GardenSlug garden_slug(int number)
{
    return { (uint32_t) number * (GARDEN_MAP * GARDEN_MAP / GARDEN_SLUGS), number * 2654435769u + 5,
             0 };
}

// True: it creeps further.
__host__ __device__ inline bool garden_creep(const unsigned char *lettuce, GardenSlug &slug)
{
    slug.state = slug.state * 1664525u + 1013904223u;
    const int by = slug.state >> 31 ? GARDEN_MAP : 1;
    slug.at += slug.state >> 30 & 1 ? by : -by;
    slug.at %= GARDEN_MAP * GARDEN_MAP;
    slug.steps++;
    return !lettuce[slug.at] && slug.steps < GARDEN_PATIENCE;
}

__global__ void garden_slugs_thread_kernel(const unsigned char *lettuce, int2 *out, int *)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    GardenSlug slug = garden_slug(i);
    while (garden_creep(lettuce, slug))
        ;
    out[i] = { (int) slug.at, slug.steps };
}

// The numbers of the next slugs for the lanes in `idle`, one of which is the caller.
__device__ inline int garden_draw(int *next, uint32_t idle)
{
    const int lane = threadIdx.x % 32, first = __ffs(idle) - 1;
    int number = 0;
    if (lane == first)
        number = atomicAdd(next, __popc(idle));
    return __shfl_sync(idle, number, first) + __popc(idle & ((1u << lane) - 1));
}

__global__ void garden_slugs_tickets_kernel(const unsigned char *lettuce, int2 *out, int *next)
{
    int number = -1; // none
    GardenSlug slug = {};
    for (;;) {
        const uint32_t idle = __ballot_sync(~0u, number < 0);
        if (number < 0) {
            number = garden_draw(next, idle);
            slug = garden_slug(number);
        }
        if (__all_sync(~0u, number >= GARDEN_SLUGS))
            return;
        bool creeps = number < GARDEN_SLUGS;
        const bool mine = creeps;
        for (int k = 0; k < 20 && creeps; k++)
            creeps = garden_creep(lettuce, slug);
        if (mine && !creeps) {
            out[number] = { (int) slug.at, slug.steps };
            number = -1;
        }
    }
}

static void garden_slugs(Run &run, bool tickets)
{
    std::vector<unsigned char> lettuce(GARDEN_MAP * GARDEN_MAP);
    const std::vector<int> draws = integers(lettuce.size(), 1 << 20, 22001);
    for (int i = 0; i < (int) lettuce.size(); i++)
        lettuce[i] = draws[i] < (1 << 20) / (20 + i / GARDEN_MAP);
    const unsigned char *map = run.upload(lettuce);
    int2 *to = run.zeros<int2>(GARDEN_SLUGS);
    int *next = run.zeros<int>(1);
    run.measure(
        [=] {
            if (tickets)
                garden_slugs_tickets_kernel<<<GARDEN_BLOCKS, 128>>>(map, to, next);
            else
                garden_slugs_thread_kernel<<<GARDEN_SLUGS / 128, 128>>>(map, to, next);
        },
        [=] { CHECK(cudaMemset(next, 0, sizeof(int))); });
    const std::vector<int2> got = run.output(to, GARDEN_SLUGS);
    for (int i = 0; i < GARDEN_SLUGS; i += 3) {
        GardenSlug slug = garden_slug(i);
        while (garden_creep(lettuce.data(), slug))
            ;
        run.expect(got[i].x, slug.at, 0);
        run.expect(got[i].y, slug.steps, 0);
    }
}

static void garden_slugs_thread(Run &run)
{
    garden_slugs(run, false);
}

static void garden_slugs_tickets(Run &run)
{
    garden_slugs(run, true);
}

// ---- Pollen at each place from many flowers: in floats, or two flowers at once in half2 ----

enum { GARDEN_PLACES = 81920, GARDEN_FLOWERS = 320 };

// Flowers lie as x, y and strength. Places are multiples of 1/64, which a half holds exactly.
__global__ void garden_pollen_float_kernel(const float *flowers, const float2 *places, float *out)
{
    __shared__ float shared[GARDEN_FLOWERS * 3];
    for (int k = threadIdx.x; k < GARDEN_FLOWERS * 3; k += blockDim.x)
        shared[k] = flowers[k];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 at = places[i];
    float sum = 0;
    for (int k = 0; k < GARDEN_FLOWERS; k++) {
        const float dx = at.x - shared[3 * k], dy = at.y - shared[3 * k + 1];
        sum += shared[3 * k + 2] * exp2f(-(dx * dx + dy * dy));
    }
    out[i] = sum;
}

__global__ void garden_pollen_half2_kernel(const float *flowers, const float2 *places, float *out)
{
    __shared__ __half2 xs[GARDEN_FLOWERS / 2], ys[GARDEN_FLOWERS / 2],
        strengths[GARDEN_FLOWERS / 2];
    for (int k = threadIdx.x; k < GARDEN_FLOWERS / 2; k += blockDim.x) {
        xs[k] = __floats2half2_rn(flowers[6 * k], flowers[6 * k + 3]);
        ys[k] = __floats2half2_rn(flowers[6 * k + 1], flowers[6 * k + 4]);
        strengths[k] = __floats2half2_rn(flowers[6 * k + 2], flowers[6 * k + 5]);
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const __half2 x = __float2half2_rn(places[i].x), y = __float2half2_rn(places[i].y);
    float sum = 0;
    for (int first = 0; first < GARDEN_FLOWERS / 2; first += 8) {
        __half2 part = __float2half2_rn(0);
#pragma unroll
        for (int k = first; k < first + 8; k++) {
            const __half2 dx = __hsub2(x, xs[k]), dy = __hsub2(y, ys[k]);
            const __half2 far = __hfma2(dx, dx, __hmul2(dy, dy));
            part = __hfma2(strengths[k], h2exp2(__hneg2(far)), part);
        }
        sum += __low2float(part) + __high2float(part);
    }
    out[i] = sum;
}

static void garden_pollen(Run &run, void (*kernel)(const float *, const float2 *, float *))
{
    const std::vector<int> a = integers(GARDEN_FLOWERS * 3, 512, 22002);
    const std::vector<int> b = integers(GARDEN_PLACES * 2, 512, 22003);
    std::vector<float> flowers;
    for (int k = 0; k < GARDEN_FLOWERS * 3; k++)
        flowers.push_back(a[k] / (k % 3 == 2 ? 512.0f : 64.0f));
    std::vector<float2> places;
    for (int i = 0; i < GARDEN_PLACES; i++)
        places.push_back({ b[2 * i] / 64.0f, b[2 * i + 1] / 64.0f });
    const float *df = run.upload(flowers);
    const float2 *dp = run.upload(places);
    float *to = run.zeros<float>(GARDEN_PLACES);
    run.measure([=] { kernel<<<GARDEN_PLACES / 256, 256>>>(df, dp, to); });
    run.expect_all(
        run.output(to, GARDEN_PLACES),
        [&](size_t i) {
            double sum = 0;
            for (int k = 0; k < GARDEN_FLOWERS; k++) {
                const double dx = places[i].x - flowers[3 * k],
                             dy = places[i].y - flowers[3 * k + 1];
                sum += flowers[3 * k + 2] * exp2(-(dx * dx + dy * dy));
            }
            return sum;
        },
        1e-2, 17);
}

static void garden_pollen_float(Run &run)
{
    garden_pollen(run, garden_pollen_float_kernel);
}

static void garden_pollen_half2(Run &run)
{
    garden_pollen(run, garden_pollen_half2_kernel);
}

// ---- The narrowest gap between two plants of each bed, of which a few are huge: a block per bed,
// or a warp per 32 plants ----

enum { GARDEN_BEDS = 800 };

__host__ __device__ inline int garden_apart(int2 a, int2 b)
{
    const int x = a.x - b.x, y = a.y - b.y;
    return x * x + y * y;
}

// The square of the gap between plant `own` and those after it.
__host__ __device__ inline int garden_gap(const int2 *plants, int own, int end)
{
    const int2 mine = plants[own];
    int gap = 0x7f7f7f7f;
    for (int k = own + 1; k < end; k++) {
        const int apart = garden_apart(mine, plants[k]);
        gap = apart < gap ? apart : gap;
    }
    return gap;
}

__global__ void garden_gap_beds_kernel(const int2 *plants, const int *first, int *out)
{
    __shared__ int narrowest;
    const int end = first[blockIdx.x + 1];
    int gap = 0x7f7f7f7f;
    if (threadIdx.x == 0)
        narrowest = gap;
    __syncthreads();
    for (int own = first[blockIdx.x] + threadIdx.x; own < end; own += blockDim.x)
        gap = min(gap, garden_gap(plants, own, end));
    gap = __reduce_min_sync(~0u, gap);
    if (threadIdx.x % 32 == 0)
        atomicMin(&narrowest, gap);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = narrowest;
}

// A piece: its first plant, and its bed.
__global__ void garden_gap_pieces_kernel(const int2 *plants, const int *first, const int2 *pieces,
                                         int count, int *out)
{
    const int piece = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (piece >= count)
        return;
    const int bed = pieces[piece].y, own = pieces[piece].x + threadIdx.x % 32, end = first[bed + 1];
    const int gap = __reduce_min_sync(~0u, own < end ? garden_gap(plants, own, end) : 0x7f7f7f7f);
    if (threadIdx.x % 32 == 0)
        atomicMin(&out[bed], gap);
}

static void garden_gaps(Run &run, bool by_pieces)
{
    const std::vector<uint32_t> v = words(GARDEN_BEDS, 22004);
    std::vector<int> first(1, 0);
    std::vector<int2> pieces, plants;
    for (int bed = 0; bed < GARDEN_BEDS; bed++) {
        first.push_back(first[bed] + (int) (20 + v[bed] % 120 + (v[bed] / 128 % 97 ? 0 : 1100)));
        for (int own = first[bed]; own < first[bed + 1]; own += 32)
            pieces.push_back({ own, bed });
    }
    const std::vector<int> places = integers(2 * first.back(), 8192, 22005);
    for (int i = 0; i < first.back(); i++)
        plants.push_back({ places[2 * i], places[2 * i + 1] });
    const int2 *dp = run.upload(plants), *list = run.upload(pieces);
    const int *df = run.upload(first), count = (int) pieces.size();
    int *to = run.zeros<int>(GARDEN_BEDS);
    run.measure(
        [=] {
            if (by_pieces)
                garden_gap_pieces_kernel<<<blocks_for(count * 32, 128), 128>>>(dp, df, list, count,
                                                                               to);
            else
                garden_gap_beds_kernel<<<GARDEN_BEDS, 96>>>(dp, df, to);
        },
        [=] { CHECK(cudaMemset(to, 0x7f, GARDEN_BEDS * sizeof(int))); });
    run.expect_all(
        run.output(to, GARDEN_BEDS),
        [&](size_t bed) {
            int gap = 0x7f7f7f7f;
            for (int own = first[bed]; own < first[bed + 1]; own++)
                gap = std::min(gap, garden_gap(plants.data(), own, first[bed + 1]));
            return gap;
        },
        0);
}

static void garden_gap_beds(Run &run)
{
    garden_gaps(run, false);
}

static void garden_gap_pieces(Run &run)
{
    garden_gaps(run, true);
}

#endif
