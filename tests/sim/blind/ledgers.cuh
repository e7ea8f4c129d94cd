// ledgers.cuh - counting and pricing: links between genotypes, an option on a grid, counts of a
// stream, medians.
#ifndef BLIND_LEDGERS_CUH
#define BLIND_LEDGERS_CUH

#include "blind.cuh"

// ---- Correlation of genotypes (0, 1 or 2) of all pairs of sites: bytes, or planes of bits ----

enum { LINK_SITES = 128, LINK_PEOPLE = 3072 };

__host__ __device__ inline float link_r2(int n, int a, int b, int aa, int bb, int ab)
{
    const float cov = (float) n * ab - (float) a * b;
    const float va = (float) n * aa - (float) a * a, vb = (float) n * bb - (float) b * b;
    return cov * cov / (va * vb);
}

__global__ void linkage_bytes_kernel(const unsigned char *sites, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int a = 0, b = 0, aa = 0, bb = 0, ab = 0;
    if (x > y)
        return;
    for (int k = 0; k < LINK_PEOPLE; k++) {
        const int p = sites[x * LINK_PEOPLE + k], q = sites[y * LINK_PEOPLE + k];
        a += p;
        b += q;
        aa += p * p;
        bb += q * q;
        ab += p * q;
    }
    out[y * LINK_SITES + x] = link_r2(LINK_PEOPLE, a, b, aa, bb, ab);
}

// A value is the number of its bits that are set in two planes.
__global__ void linkage_bits_kernel(const uint2 *sites, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int a = 0, b = 0, both_a = 0, both_b = 0, ab = 0;
    if (x > y)
        return;
    for (int k = 0; k < LINK_PEOPLE / 32; k++) {
        const uint2 p = sites[x * LINK_PEOPLE / 32 + k], q = sites[y * LINK_PEOPLE / 32 + k];
        a += __popc(p.x) + __popc(p.y);
        b += __popc(q.x) + __popc(q.y);
        both_a += __popc(p.x & p.y);
        both_b += __popc(q.x & q.y);
        ab += __popc(p.x & q.x) + __popc(p.x & q.y) + __popc(p.y & q.x) + __popc(p.y & q.y);
    }
    out[y * LINK_SITES + x] = link_r2(LINK_PEOPLE, a, b, a + 2 * both_a, b + 2 * both_b, ab);
}

static void linkage(Run &run, bool bits)
{
    std::vector<unsigned char> bytes(LINK_SITES * LINK_PEOPLE);
    std::vector<uint2> planes(LINK_SITES * LINK_PEOPLE / 32);
    for (size_t i = 0; i < bytes.size(); i++) {
        bytes[i] = mix((uint32_t) i + 5081) % 3;
        planes[i / 32].x |= (uint32_t) (bytes[i] > 0) << i % 32;
        planes[i / 32].y |= (uint32_t) (bytes[i] > 1) << i % 32;
    }
    unsigned char *from = run.upload(bytes);
    uint2 *dp = run.upload(planes);
    float *to = run.zeros<float>(LINK_SITES * LINK_SITES);
    run.measure([=] {
        const dim3 grid(LINK_SITES / 16, LINK_SITES / 16), block(16, 16);
        if (bits)
            linkage_bits_kernel<<<grid, block>>>(dp, to);
        else
            linkage_bytes_kernel<<<grid, block>>>(from, to);
    });
    const std::vector<float> got = run.output(to, LINK_SITES * LINK_SITES);
    for (int y = 0; y < LINK_SITES; y += 11)
        for (int x = 0; x <= y; x += 7) {
            const unsigned char *p = &bytes[x * LINK_PEOPLE], *q = &bytes[y * LINK_PEOPLE];
            int a = 0, b = 0, aa = 0, bb = 0, ab = 0;
            for (int k = 0; k < LINK_PEOPLE; k++) {
                a += p[k];
                b += q[k];
                aa += p[k] * p[k];
                bb += q[k] * q[k];
                ab += p[k] * q[k];
            }
            run.expect(got[y * LINK_SITES + x], link_r2(LINK_PEOPLE, a, b, aa, bb, ab), 1e-4);
        }
}

static void linkage_bytes(Run &run)
{
    linkage(run, false);
}

static void linkage_bits(Run &run)
{
    linkage(run, true);
}

// ---- American puts on a grid of prices, explicit in time: a block per option, or a thread ----

enum { PUT_OPTIONS = 128, PUT_PRICES = 128, PUT_STEPS = 400 };

__host__ __device__ inline float put_payoff(float strike, int k)
{
    return fmaxf(strike - k * 2.0f, 0);
}

// `s`: the variance over a step.
__host__ __device__ inline float put_step(float below, float here, float above, int k, float s)
{
    const float spread = 0.5f * s * k * k, drift = 0.00005f * k;
    return here + spread * (below - 2 * here + above) + drift * (above - below) - 0.0001f * here;
}

__global__ void puts_block_kernel(const float2 *options, float *out)
{
    __shared__ float old[PUT_PRICES];
    const int k = threadIdx.x;
    const float strike = options[blockIdx.x].x, s = options[blockIdx.x].y;
    old[k] = put_payoff(strike, k);
    __syncthreads();
    for (int step = 0; step < PUT_STEPS; step++) {
        float value = old[k];
        if (k > 0 && k < PUT_PRICES - 1)
            value = put_step(old[k - 1], value, old[k + 1], k, s);
        __syncthreads();
        old[k] = fmaxf(value, put_payoff(strike, k));
        __syncthreads();
    }
    if (k == PUT_PRICES / 2)
        out[blockIdx.x] = old[k];
}

__host__ __device__ inline float put_value(float strike, float s)
{
    float grid[PUT_PRICES];
    for (int k = 0; k < PUT_PRICES; k++)
        grid[k] = put_payoff(strike, k);
    for (int step = 0; step < PUT_STEPS; step++) {
        float below = grid[0];
        for (int k = 1; k < PUT_PRICES - 1; k++) {
            const float here = grid[k];
            grid[k] = fmaxf(put_step(below, here, grid[k + 1], k, s), put_payoff(strike, k));
            below = here;
        }
    }
    return grid[PUT_PRICES / 2];
}

__global__ void puts_thread_kernel(const float2 *options, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = put_value(options[i].x, options[i].y);
}

static void puts_on_grid(Run &run, bool block)
{
    const std::vector<float> v = floats(2 * PUT_OPTIONS, 5082, 0, 1);
    std::vector<float2> options(PUT_OPTIONS);
    for (int i = 0; i < PUT_OPTIONS; i++)
        options[i] = make_float2(100 + 50 * v[2 * i], 1e-5f + 4e-5f * v[2 * i + 1]);
    float2 *from = run.upload(options);
    float *to = run.zeros<float>(PUT_OPTIONS);
    run.measure([=] {
        if (block)
            puts_block_kernel<<<PUT_OPTIONS, PUT_PRICES>>>(from, to);
        else
            puts_thread_kernel<<<PUT_OPTIONS / 32, 32>>>(from, to);
    });
    run.expect_all(
        run.output(to, PUT_OPTIONS), [&](int i) { return put_value(options[i].x, options[i].y); },
        1e-3, 5);
}

static void puts_block(Run &run)
{
    puts_on_grid(run, true);
}

static void puts_thread(Run &run)
{
    puts_on_grid(run, false);
}

// ---- A count-min sketch of four rows: counted in global memory, or per block first ----

enum { SKETCH_KEYS = 1 << 19, SKETCH_WIDTH = 2048 };

__host__ __device__ inline uint32_t sketch_place(uint32_t key, int row)
{
    const uint32_t h = (key ^ row * 0x9e3779b9u) * (0x85ebca6bu + 2 * row);
    return row * SKETCH_WIDTH + ((h ^ h >> 15) * 0xc2b2ae35u >> 21);
}

__global__ void sketch_global_kernel(const uint32_t *keys, unsigned *counts)
{
    const uint32_t key = keys[blockIdx.x * blockDim.x + threadIdx.x];
    for (int row = 0; row < 4; row++)
        atomicAdd(&counts[sketch_place(key, row)], 1u);
}

__global__ void sketch_shared_kernel(const uint32_t *keys, unsigned *counts)
{
    __shared__ unsigned mine[4 * SKETCH_WIDTH];
    for (int i = threadIdx.x; i < 4 * SKETCH_WIDTH; i += blockDim.x)
        mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < SKETCH_KEYS;
         i += gridDim.x * blockDim.x)
        for (int row = 0; row < 4; row++)
            atomicAdd(&mine[sketch_place(keys[i], row)], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 4 * SKETCH_WIDTH; i += blockDim.x)
        atomicAdd(&counts[i], mine[i]);
}

// A tenth of the keys is the same one.
static void sketch(Run &run, void (*kernel)(const uint32_t *, unsigned *), int blocks, int block)
{
    std::vector<uint32_t> keys = words(SKETCH_KEYS, 5083);
    std::vector<unsigned> wanted(4 * SKETCH_WIDTH);
    for (uint32_t &key : keys) {
        key = key % 10 ? key >> key % 12 : 77;
        for (int row = 0; row < 4; row++)
            wanted[sketch_place(key, row)]++;
    }
    uint32_t *from = run.upload(keys);
    unsigned *counts = run.zeros<unsigned>(4 * SKETCH_WIDTH);
    run.measure([=] { kernel<<<blocks, block>>>(from, counts); },
                [=] { CHECK(cudaMemset(counts, 0, 4 * SKETCH_WIDTH * sizeof *counts)); });
    run.expect_all(
        run.output(counts, 4 * SKETCH_WIDTH), [&](int i) { return wanted[i]; }, 0);
}

static void sketch_global(Run &run)
{
    sketch(run, sketch_global_kernel, SKETCH_KEYS / 256, 256);
}

static void sketch_shared(Run &run)
{
    sketch(run, sketch_shared_kernel, 64, 512);
}

// ---- Medians of 63 values: by quickselect in a local array, or by counting the smaller ones ----

enum { MEDIAN_GROUPS = 12000, MEDIAN_SIZE = 63 };

__global__ void medians_select_kernel(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[MEDIAN_SIZE];
    if (i >= MEDIAN_GROUPS)
        return;
    for (int k = 0; k < MEDIAN_SIZE; k++)
        v[k] = in[i * MEDIAN_SIZE + k];
    int low = 0, high = MEDIAN_SIZE - 1;
    while (low < high) {
        const float pivot = v[(low + high) / 2];
        int a = low, b = high;
        while (a <= b) {
            while (v[a] < pivot)
                a++;
            while (v[b] > pivot)
                b--;
            if (a <= b) {
                const float swap = v[a];
                v[a++] = v[b];
                v[b--] = swap;
            }
        }
        if (b < MEDIAN_SIZE / 2)
            low = a;
        if (MEDIAN_SIZE / 2 < a)
            high = b;
    }
    out[i] = v[MEDIAN_SIZE / 2];
}

// A block per group, a thread per value.
__global__ void medians_count_kernel(const float *in, float *out)
{
    __shared__ float v[MEDIAN_SIZE];
    const int t = threadIdx.x;
    int smaller = 0;
    if (t < MEDIAN_SIZE)
        v[t] = in[blockIdx.x * MEDIAN_SIZE + t];
    __syncthreads();
    if (t >= MEDIAN_SIZE)
        return;
    for (int k = 0; k < MEDIAN_SIZE; k++)
        smaller += v[k] < v[t] || (v[k] == v[t] && k < t);
    if (smaller == MEDIAN_SIZE / 2)
        out[blockIdx.x] = v[t];
}

static void medians(Run &run, bool select)
{
    const std::vector<float> in = floats(MEDIAN_GROUPS * MEDIAN_SIZE, 5084);
    float *from = run.upload(in), *to = run.zeros<float>(MEDIAN_GROUPS);
    run.measure([=] {
        if (select)
            medians_select_kernel<<<blocks_for(MEDIAN_GROUPS, 128), 128>>>(from, to);
        else
            medians_count_kernel<<<MEDIAN_GROUPS, 64>>>(from, to);
    });
    run.expect_all(
        run.output(to, MEDIAN_GROUPS),
        [&](int i) {
            std::vector<float> v(in.begin() + i * MEDIAN_SIZE, in.begin() + (i + 1) * MEDIAN_SIZE);
            std::sort(v.begin(), v.end());
            return v[MEDIAN_SIZE / 2];
        },
        0, 37);
}

static void medians_select(Run &run)
{
    medians(run, true);
}

static void medians_count(Run &run)
{
    medians(run, false);
}

#endif
