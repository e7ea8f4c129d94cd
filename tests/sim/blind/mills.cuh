// mills.cuh - mills: grains through sieves, grains that break, classes of sizes over time,
// contacts.
#ifndef BLIND_MILLS_CUH
#define BLIND_MILLS_CUH

#include "blind.cuh"

// ---- Counts and masses per sieve: all meshes compared, or by halving ----

enum { MILL_GRAINS = 4000000, MILL_SIEVES = 15, MILL_SIEVE_BLOCKS = 396 };

__constant__ float mill_meshes[MILL_SIEVES + 1];

// The class: how many meshes are finer than the grain.
template <bool HALVES> __host__ __device__ inline int mill_class(float size, const float *meshes)
{
    int at = 0;
    if (HALVES) {
        for (int step = 8; step; step /= 2)
            at += size > meshes[at + step - 1] ? step : 0;
    } else {
        for (int k = 0; k < MILL_SIEVES; k++)
            at += size > meshes[k];
    }
    return at;
}

template <bool HALVES>
__global__ void mill_sieve_kernel(const float *sizes, unsigned *counts, unsigned *masses)
{
    __shared__ unsigned count[MILL_SIEVES + 1], mass[MILL_SIEVES + 1];
    if (threadIdx.x <= MILL_SIEVES)
        count[threadIdx.x] = mass[threadIdx.x] = 0;
    __syncthreads();
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < MILL_GRAINS; i += step) {
        const float size = sizes[i];
        const int at = mill_class<HALVES>(size, mill_meshes);
        atomicAdd(&count[at], 1u);
        atomicAdd(&mass[at], (unsigned) (size * 16));
    }
    __syncthreads();
    if (threadIdx.x <= MILL_SIEVES) {
        atomicAdd(&counts[threadIdx.x], count[threadIdx.x]);
        atomicAdd(&masses[threadIdx.x], mass[threadIdx.x]);
    }
}

static void mill_sieve(Run &run, void (*kernel)(const float *, unsigned *, unsigned *))
{
    const int classes = MILL_SIEVES + 1;
    const std::vector<float> v = floats(MILL_GRAINS, 20010, 0, 1);
    std::vector<float> sizes(v), meshes(classes, 1e9f);
    for (float &size : sizes)
        size = 32 * size * size;
    for (int k = 0; k < MILL_SIEVES; k++)
        meshes[k] = 0.05f * (1 << k * 2 / 3) + 0.4f * k;
    CHECK(cudaMemcpyToSymbol(mill_meshes, meshes.data(), sizeof(mill_meshes)));
    const float *from = run.upload(sizes);
    unsigned *counts = run.zeros<unsigned>(classes), *masses = run.zeros<unsigned>(classes);
    run.measure([=] { kernel<<<MILL_SIEVE_BLOCKS, 256>>>(from, counts, masses); },
                [=] {
                    CHECK(cudaMemset(counts, 0, classes * sizeof(unsigned)));
                    CHECK(cudaMemset(masses, 0, classes * sizeof(unsigned)));
                });
    std::vector<unsigned> count(classes), mass(classes);
    for (float size : sizes) {
        const int at = mill_class<false>(size, meshes.data());
        count[at]++;
        mass[at] += (unsigned) (size * 16);
    }
    run.expect_all(
        run.output(counts, classes), [&](size_t i) { return count[i]; }, 0);
    run.expect_all(
        run.output(masses, classes), [&](size_t i) { return mass[i]; }, 0);
}

static void mill_sieve_compare(Run &run)
{
    mill_sieve(run, mill_sieve_kernel<false>);
}

static void mill_sieve_halve(Run &run)
{
    mill_sieve(run, mill_sieve_kernel<true>);
}

// ---- Grains break until all pieces are fine: a thread per grain, or warps that draw tickets for
// the next 32 grains ----

enum { MILL_FEED = 61440, MILL_FINE = 64, MILL_STACK = 32, MILL_BREAK_BLOCKS = 264 };

// x: how many fine pieces, y: how many breaks, each weighted by a hash.
__host__ __device__ inline int2 mill_break(int size, unsigned seed)
{
    int stack[MILL_STACK], depth = 0;
    int2 sum = { 0, 0 };
    stack[depth++] = size;
    while (depth) {
        const int piece = stack[--depth];
        if (piece <= MILL_FINE) {
            sum.x++;
            continue;
        }
        seed = seed * 1664525u + 1013904223u;
        const int part = piece / 4 + (int) ((seed >> 16) % (unsigned) (piece / 2));
        stack[depth++] = part;
        stack[depth++] = piece - part;
        sum.y += 1 + (int) (seed >> 28);
    }
    return sum;
}

__global__ void mill_break_fixed_kernel(const int *sizes, int2 *out, int *)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = mill_break(sizes[i], 2 * i + 1);
}

__global__ void mill_break_tickets_kernel(const int *sizes, int2 *out, int *next)
{
    const int lane = threadIdx.x % 32;
    for (;;) {
        int first = 0;
        if (!lane)
            first = atomicAdd(next, 32);
        const int i = __shfl_sync(~0u, first, 0) + lane;
        if (i >= MILL_FEED) // a multiple of 32: true for all lanes or for none
            return;
        out[i] = mill_break(sizes[i], 2 * i + 1);
    }
}

// Coarse grains come in lumps.
static std::vector<int> mill_feed()
{
    const std::vector<uint32_t> v = words(MILL_FEED, 20011);
    std::vector<int> sizes(MILL_FEED);
    for (int i = 0; i < MILL_FEED; i++) {
        const bool lump = v[i / 192] % 37 == 0;
        sizes[i] = 20 + (int) (v[i] >> 8) % (lump ? 25000 : 800);
    }
    return sizes;
}

static void mill_breaks(Run &run, bool tickets)
{
    const std::vector<int> sizes = mill_feed();
    const int *from = run.upload(sizes);
    int2 *to = run.zeros<int2>(MILL_FEED);
    int *next = run.zeros<int>(1);
    run.measure(
        [=] {
            if (tickets)
                mill_break_tickets_kernel<<<MILL_BREAK_BLOCKS, 128>>>(from, to, next);
            else
                mill_break_fixed_kernel<<<MILL_FEED / 192, 192>>>(from, to, next);
        },
        [=] { CHECK(cudaMemset(next, 0, sizeof(int))); });
    const std::vector<int2> got = run.output(to, MILL_FEED);
    for (int i = 0; i < MILL_FEED; i += 5) {
        const int2 wanted = mill_break(sizes[i], 2 * i + 1);
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].y, wanted.y, 0);
    }
}

static void mill_break_fixed(Run &run)
{
    mill_breaks(run, false);
}

static void mill_break_tickets(Run &run)
{
    mill_breaks(run, true);
}

// ---- Shares of size classes over time, as coarse classes feed finer ones: the triangle of
// fragments in global memory, or in shared memory ----

enum { MILL_MILLS = 528, MILL_CLASSES = 64, MILL_STEPS = 30 };

// What class `to` gains: from all coarser classes. An entry of the triangle is at [from][to].
template <class Rates>
__host__ __device__ inline float mill_gain(const float *triangle, Rates broken, int to)
{
    float gain = 0;
    for (int from = MILL_CLASSES - 1; from > to; from--)
        gain += triangle[from * MILL_CLASSES + to] * broken[from];
    return gain;
}

template <bool SHARED>
__global__ void mill_grind_kernel(const float *triangle, const float *speeds, float *shares)
{
    __shared__ float copy[SHARED ? MILL_CLASSES * MILL_CLASSES : 1], broken[MILL_CLASSES];
    const int own = threadIdx.x;
    const float speed = speeds[blockIdx.x] * (own + 1) / MILL_CLASSES;
    float share = shares[blockIdx.x * MILL_CLASSES + own];
    if (SHARED) {
        for (int k = own; k < MILL_CLASSES * MILL_CLASSES; k += MILL_CLASSES)
            copy[k] = triangle[k];
        triangle = copy;
    }
    for (int step = 0; step < MILL_STEPS; step++) {
        __syncthreads();
        broken[own] = own ? speed * share : 0;
        __syncthreads();
        share += mill_gain(triangle, broken, own) - broken[own];
    }
    shares[blockIdx.x * MILL_CLASSES + own] = share;
}

static void mill_grind_host(const std::vector<float> &triangle, float speed, float *shares)
{
    float broken[MILL_CLASSES];
    for (int step = 0; step < MILL_STEPS; step++) {
        for (int k = 0; k < MILL_CLASSES; k++)
            broken[k] = k ? speed * (k + 1) / MILL_CLASSES * shares[k] : 0;
        for (int k = 0; k < MILL_CLASSES; k++)
            shares[k] += mill_gain(triangle.data(), broken, k) - broken[k];
    }
}

static void mill_grind(Run &run, void (*kernel)(const float *, const float *, float *))
{
    const int count = MILL_MILLS * MILL_CLASSES;
    const std::vector<float> feed = floats(count, 20012, 0, 1);
    const std::vector<float> speeds = floats(MILL_MILLS, 20013, 0.02f, 0.2f);
    std::vector<float> triangle(MILL_CLASSES * MILL_CLASSES), wanted(feed);
    for (int from = 1; from < MILL_CLASSES; from++) // equal shares, for the finest twice as much
        for (int to = 0; to < from; to++)
            triangle[from * MILL_CLASSES + to] = (to ? 1.0f : 2.0f) / (from + 1);
    const float *dt = run.upload(triangle), *ds = run.upload(speeds), *from = run.upload(feed);
    float *shares = run.zeros<float>(count);
    run.measure(
        [=] { kernel<<<MILL_MILLS, MILL_CLASSES>>>(dt, ds, shares); },
        [=] { CHECK(cudaMemcpy(shares, from, count * sizeof(float), cudaMemcpyDeviceToDevice)); });
    for (int i = 0; i < MILL_MILLS; i++)
        mill_grind_host(triangle, speeds[i], &wanted[i * MILL_CLASSES]);
    run.expect_all(
        run.output(shares, count), [&](size_t i) { return wanted[i]; }, 1e-4);
}

static void mill_grind_global(Run &run)
{
    mill_grind(run, mill_grind_kernel<false>);
}

static void mill_grind_shared(Run &run)
{
    mill_grind(run, mill_grind_kernel<true>);
}

// ---- Contacts of grains within cells, of which a few are crowded: a block per cell, or a warp
// ----

enum { MILL_CELLS = 3000 };

// x, y, z: the place, w: the radius.
__host__ __device__ inline float mill_press(float4 a, float4 b)
{
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    const float apart = sqrtf(x * x + y * y + z * z), over = a.w + b.w - apart;
    return over > 0 ? over * sqrtf(over) : 0.0f;
}

__host__ __device__ inline float mill_pressed(const float4 *grains, int begin, int end, int own)
{
    const float4 grain = grains[own];
    float sum = 0;
    for (int k = begin; k < end; k++)
        if (k != own)
            sum += mill_press(grain, grains[k]);
    return sum;
}

template <int THREADS>
__global__ void mill_contacts_kernel(const float4 *grains, const int *first, float *out)
{
    const int cell = (blockIdx.x * blockDim.x + threadIdx.x) / THREADS;
    if (cell >= MILL_CELLS)
        return;
    const int begin = first[cell], end = first[cell + 1];
    for (int own = begin + threadIdx.x % THREADS; own < end; own += THREADS)
        out[own] = mill_pressed(grains, begin, end, own);
}

static void mill_contacts(Run &run, int threads)
{
    const std::vector<uint32_t> v = words(MILL_CELLS, 20014);
    std::vector<int> first(1, 0);
    for (int i = 0; i < MILL_CELLS; i++)
        first.push_back(first[i] + (int) (v[i] % 40 + (v[i] / 64 % 71 ? 0 : 100 + v[i] % 300)));
    const int count = first.back();
    const std::vector<float> places = floats(4 * count, 20015, 0, 1);
    std::vector<float4> grains(count);
    for (int i = 0; i < count; i++)
        grains[i] = { places[4 * i], places[4 * i + 1], places[4 * i + 2],
                      0.05f + 0.2f * places[4 * i + 3] };
    const float4 *dg = run.upload(grains);
    const int *df = run.upload(first);
    float *to = run.zeros<float>(count);
    run.measure([=] {
        if (threads == 32)
            mill_contacts_kernel<32><<<blocks_for(MILL_CELLS * 32, 256), 256>>>(dg, df, to);
        else
            mill_contacts_kernel<128><<<MILL_CELLS, 128>>>(dg, df, to);
    });
    const std::vector<float> got = run.output(to, count);
    for (int cell = 0; cell < MILL_CELLS; cell += 3)
        for (int own = first[cell]; own < first[cell + 1]; own++)
            run.expect(got[own], mill_pressed(grains.data(), first[cell], first[cell + 1], own),
                       1e-4);
}

static void mill_contacts_block(Run &run)
{
    mill_contacts(run, 128);
}

static void mill_contacts_warp(Run &run)
{
    mill_contacts(run, 32);
}

#endif
