// serials.cuh - long threads: sorts in local memory, curves by recursion, power iteration, lists of
// buckets, stiff reactions.
#ifndef BLIND_SERIALS_CUH
#define BLIND_SERIALS_CUH

#include "blind.cuh"

// ---- Merge sort of 32 values by each thread: by recursion, or from runs of one upwards ----

enum { MERGE_VALUES = 32 };

__device__ inline void merge_runs(const float *in, float *out, int first, int middle, int end)
{
    int a = first, b = middle;
    for (int k = first; k < end; k++)
        out[k] = b >= end || (a < middle && in[a] <= in[b]) ? in[a++] : in[b++];
}

__device__ __noinline__ void merge_recursive(float *v, float *spare, int first, int end)
{
    const int middle = (first + end) / 2;
    if (end - first < 2)
        return;
    merge_recursive(v, spare, first, middle);
    merge_recursive(v, spare, middle, end);
    merge_runs(v, spare, first, middle, end);
    for (int k = first; k < end; k++)
        v[k] = spare[k];
}

__global__ void merge_recursive_kernel(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[MERGE_VALUES], spare[MERGE_VALUES];
    if (i >= n)
        return;
    for (int k = 0; k < MERGE_VALUES; k++)
        v[k] = in[k * n + i];
    merge_recursive(v, spare, 0, MERGE_VALUES);
    for (int k = 0; k < MERGE_VALUES; k++)
        out[k * n + i] = v[k];
}

__global__ void merge_upwards_kernel(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float first[MERGE_VALUES], second[MERGE_VALUES], *from = first, *to = second;
    if (i >= n)
        return;
    for (int k = 0; k < MERGE_VALUES; k++)
        first[k] = in[k * n + i];
    for (int size = 1; size < MERGE_VALUES; size *= 2) {
        for (int at = 0; at < MERGE_VALUES; at += 2 * size)
            merge_runs(from, to, at, at + size, at + 2 * size);
        float *swap = from;
        from = to;
        to = swap;
    }
    for (int k = 0; k < MERGE_VALUES; k++)
        out[k * n + i] = from[k];
}

static void merge_local(Run &run, void (*kernel)(const float *, float *, int))
{
    const int n = 9000;
    const std::vector<float> in = floats(n * MERGE_VALUES, 3071);
    float *from = run.upload(in), *to = run.zeros<float>(n * MERGE_VALUES);
    run.measure([=] { kernel<<<blocks_for(n, 64), 64>>>(from, to, n); });
    const std::vector<float> got = run.output(to, n * MERGE_VALUES);
    for (int i = 0; i < n; i += 7) {
        float wanted[MERGE_VALUES];
        for (int k = 0; k < MERGE_VALUES; k++)
            wanted[k] = in[k * n + i];
        std::sort(wanted, wanted + MERGE_VALUES);
        for (int k = 0; k < MERGE_VALUES; k++)
            run.expect(got[k * n + i], wanted[k], 0);
    }
}

static void merge_recursion(Run &run)
{
    merge_local(run, merge_recursive_kernel);
}

static void merge_upwards(Run &run)
{
    merge_local(run, merge_upwards_kernel);
}

// ---- Places on Hilbert's curve of order 11: quarters by recursion, or bits in a loop ----

enum { HILBERT_ORDER = 11 };

__host__ __device__ inline int2 hilbert_turned(int2 p, int quarter, int side)
{
    if (quarter == 0)
        return make_int2(p.y, p.x);
    if (quarter == 3)
        return make_int2(2 * side - 1 - p.y, side - 1 - p.x);
    return make_int2(p.x + (quarter == 2 ? side : 0), p.y + side);
}

__device__ __noinline__ int2 hilbert_place(uint32_t at, int order)
{
    if (order == 0)
        return make_int2(0, 0);
    const int side = 1 << (order - 1);
    const int2 inner = hilbert_place(at & (side * side - 1), order - 1);
    return hilbert_turned(inner, at >> 2 * (order - 1), side);
}

__global__ void hilbert_recursive_kernel(const uint32_t *at, int2 *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = hilbert_place(at[i], HILBERT_ORDER);
}

__host__ __device__ inline int2 hilbert_looped(uint32_t at)
{
    int2 p = make_int2(0, 0);
    for (int k = 0; k < HILBERT_ORDER; k++)
        p = hilbert_turned(p, at >> 2 * k & 3, 1 << k);
    return p;
}

__global__ void hilbert_loop_kernel(const uint32_t *at, int2 *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = hilbert_looped(at[i]);
}

static void hilbert(Run &run, void (*kernel)(const uint32_t *, int2 *, int))
{
    const int n = 300000;
    std::vector<uint32_t> at = words(n, 3072);
    for (uint32_t &v : at)
        v &= (1u << 2 * HILBERT_ORDER) - 1;
    uint32_t *from = run.upload(at);
    int2 *to = run.zeros<int2>(n);
    run.measure([=] { kernel<<<blocks_for(n, 128), 128>>>(from, to, n); });
    const std::vector<int2> got = run.output(to, n);
    for (int i = 0; i < n; i += 5) {
        run.expect(got[i].x, hilbert_looped(at[i]).x, 0);
        run.expect(got[i].y, hilbert_looped(at[i]).y, 0);
    }
}

static void hilbert_recursive(Run &run)
{
    hilbert(run, hilbert_recursive_kernel);
}

static void hilbert_loop(Run &run)
{
    hilbert(run, hilbert_loop_kernel);
}

// ---- The largest eigenvector, 24 steps: all in one block, or a launch per step ----

enum { POWER_SIZE = 256, POWER_STEPS = 24 };

// A warp's product of one row and a vector, with the vector's length.
__device__ inline float power_row(const float *row, const float *x)
{
    float sum = 0, squares = 0;
    for (int c = threadIdx.x % 32; c < POWER_SIZE; c += 32) {
        sum += row[c] * x[c];
        squares += x[c] * x[c];
    }
    for (int apart = 16; apart; apart /= 2) {
        sum += __shfl_xor_sync(~0u, sum, apart);
        squares += __shfl_xor_sync(~0u, squares, apart);
    }
    return sum * rsqrtf(squares);
}

__global__ void power_block_kernel(const float *matrix, float *out)
{
    __shared__ float vectors[2][POWER_SIZE];
    if (threadIdx.x < POWER_SIZE)
        vectors[0][threadIdx.x] = 1;
    __syncthreads(); // the start is here
    for (int step = 0; step < POWER_STEPS; step++) {
        for (int row = threadIdx.x / 32; row < POWER_SIZE; row += blockDim.x / 32) {
            const float v = power_row(matrix + row * POWER_SIZE, vectors[step % 2]);
            if (threadIdx.x % 32 == 0)
                vectors[1 - step % 2][row] = v;
        }
        __syncthreads(); // the next vector is complete
    }
    if (threadIdx.x < POWER_SIZE)
        out[threadIdx.x] = vectors[POWER_STEPS % 2][threadIdx.x];
}

__global__ void power_step_kernel(const float *matrix, const float *x, float *y)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const float v = power_row(matrix + row * POWER_SIZE, x);
    if (threadIdx.x % 32 == 0)
        y[row] = v;
}

template <class Launch> static void power(Run &run, Launch launch)
{
    const int n = POWER_SIZE;
    const std::vector<float> matrix = floats(n * n, 3073, 0, 1);
    std::vector<double> x(n, 1), y(n);
    float *from = run.upload(matrix), *start = run.upload(std::vector<float>(n, 1));
    float *spare = run.zeros<float>(n), *to = run.zeros<float>(n);
    run.measure([=] { launch(from, start, spare, to); });
    for (int step = 0; step < POWER_STEPS; step++, std::swap(x, y)) {
        double squares = 0;
        for (double v : x)
            squares += v * v;
        for (int row = 0; row < n; row++) {
            y[row] = 0;
            for (int c = 0; c < n; c++)
                y[row] += matrix[row * n + c] * x[c] / sqrt(squares);
        }
    }
    run.expect_all(
        run.output(to, n), [&](size_t i) { return x[i]; }, 1e-4);
}

static void power_block(Run &run)
{
    power(run, [](const float *matrix, const float *, float *, float *to) {
        power_block_kernel<<<1, 1024>>>(matrix, to);
    });
}

static void power_launches(Run &run)
{
    power(run, [](const float *matrix, const float *start, float *spare, float *to) {
        for (int step = 0; step < POWER_STEPS; step++)
            power_step_kernel<<<POWER_SIZE / 4, 128>>>(matrix, step ? step % 2 ? spare : to : start,
                                                       step % 2 ? to : spare);
    });
}

// ---- Lists of buckets: each item is put at its list's head, then each list is walked ----

enum { LIST_ITEMS = 300000, LIST_BUCKETS = 50000 };

__global__ void link_items_kernel(const uint32_t *keys, int *heads, int *next)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < LIST_ITEMS)
        next[i] = atomicExch(&heads[keys[i] % LIST_BUCKETS], i);
}

__global__ void walk_lists_kernel(const uint32_t *keys, const int *heads, const int *next,
                                  uint32_t *sums)
{
    const int bucket = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t sum = 0;
    if (bucket >= LIST_BUCKETS)
        return;
    for (int i = heads[bucket]; i >= 0; i = next[i])
        sum += keys[i];
    sums[bucket] = sum;
}

static void bucket_lists(Run &run)
{
    const std::vector<uint32_t> keys = words(LIST_ITEMS, 3074);
    std::vector<uint32_t> wanted(LIST_BUCKETS);
    for (uint32_t key : keys)
        wanted[key % LIST_BUCKETS] += key;
    uint32_t *dk = run.upload(keys), *sums = run.zeros<uint32_t>(LIST_BUCKETS);
    int *heads = run.zeros<int>(LIST_BUCKETS), *next = run.zeros<int>(LIST_ITEMS);
    run.measure(
        [=] {
            link_items_kernel<<<blocks_for(LIST_ITEMS, 256), 256>>>(dk, heads, next);
            walk_lists_kernel<<<blocks_for(LIST_BUCKETS, 128), 128>>>(dk, heads, next, sums);
        },
        [=] { CHECK(cudaMemset(heads, 0xff, LIST_BUCKETS * sizeof(int))); });
    run.expect_all(
        run.output(sums, LIST_BUCKETS), [&](size_t i) { return wanted[i]; }, 0);
}

// ---- Robertson's stiff reactions: implicit steps, each by Newton until it stands still ----

enum { STIFF_STEPS = 30 };

__host__ __device__ inline double stiff_end(double fast)
{
    const double step = 0.05, slow = 0.04, middle = 1e4;
    double a = 1, b = 0, c = 0;
    for (int k = 0; k < STIFF_STEPS; k++) {
        double x = a, y = b, moved = 1;
        for (int round = 0; round < 20 && moved > 1e-12; round++) {
            const double z = a + b + c - x - y;
            const double f = x - a + step * (slow * x - middle * y * z);
            const double g = y - b - step * (slow * x - middle * y * z - fast * y * y);
            const double fx = 1 + step * (slow + middle * y), fy = -step * middle * (z - y);
            const double gx = -step * (slow + middle * y);
            const double gy = 1 + step * (middle * (z - y) + 2 * fast * y);
            const double det = fx * gy - fy * gx;
            const double dx = (f * gy - g * fy) / det, dy = (g * fx - f * gx) / det;
            x -= dx;
            y -= dy;
            moved = fabs(dx) + fabs(dy);
        }
        c = a + b + c - x - y;
        a = x;
        b = y;
    }
    return a;
}

__global__ void stiff_kernel(double *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = stiff_end(1e6 + 2e4 * i);
}

static void stiff_reactions(Run &run)
{
    const int n = 3000;
    double *to = run.zeros<double>(n);
    run.measure([=] { stiff_kernel<<<blocks_for(n, 64), 64>>>(to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return stiff_end(1e6 + 2e4 * i); }, 1e-8, 7);
}

#endif
