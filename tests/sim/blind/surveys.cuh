// surveys.cuh - statistics: densities, rank correlation, variances of rows, joint histograms.
#ifndef BLIND_SURVEYS_CUH
#define BLIND_SURVEYS_CUH

#include "blind.cuh"

// ---- Densities from 1400 samples by Gaussian kernels: a thread or a warp per query ----

enum { DENSITY_SAMPLES = 1400 };

__global__ void density_thread_kernel(const float *samples, const float *at, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i >= n)
        return;
    for (int k = 0; k < DENSITY_SAMPLES; k++) {
        const float apart = (at[i] - samples[k]) * 20;
        sum += expf(-0.5f * apart * apart);
    }
    out[i] = sum / DENSITY_SAMPLES;
}

__global__ void density_warp_kernel(const float *samples, const float *at, float *out, int n)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    if (i >= n)
        return;
    const float mine = at[i];
    for (int k = lane; k < DENSITY_SAMPLES; k += 32) {
        const float apart = (mine - samples[k]) * 20;
        sum += expf(-0.5f * apart * apart);
    }
    for (int apart = 16; apart; apart /= 2)
        sum += __shfl_down_sync(~0u, sum, apart);
    if (lane == 0)
        out[i] = sum / DENSITY_SAMPLES;
}

static void density(Run &run, void (*kernel)(const float *, const float *, float *, int), int per)
{
    const int n = 7000;
    const std::vector<float> samples = floats(DENSITY_SAMPLES, 3061), at = floats(n, 3062);
    float *ds = run.upload(samples), *da = run.upload(at), *to = run.zeros<float>(n);
    run.measure([=] { kernel<<<blocks_for(n * per, 128), 128>>>(ds, da, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double sum = 0;
            for (float sample : samples) {
                const double apart = (at[i] - sample) * 20;
                sum += exp(-0.5 * apart * apart);
            }
            return sum / DENSITY_SAMPLES;
        },
        1e-4, 37);
}

static void density_thread(Run &run)
{
    density(run, density_thread_kernel, 1);
}

static void density_warp(Run &run)
{
    density(run, density_warp_kernel, 32);
}

// ---- Kendall's rank correlation, all pairs of 7680 points: a row per thread, or tiles ----

enum { KENDALL_POINTS = 7680, KENDALL_TILE = 128 };

__host__ __device__ inline int concordance(float2 a, float2 b)
{
    const float product = (a.x - b.x) * (a.y - b.y);
    return (product > 0) - (product < 0);
}

__global__ void kendall_rows_kernel(const float2 *points, int *total)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int k = i + 1; k < KENDALL_POINTS; k++)
        sum += concordance(points[i], points[k]);
    atomicAdd(total, sum);
}

__global__ void kendall_tiles_kernel(const float2 *points, int *total)
{
    __shared__ float2 tile[KENDALL_TILE];
    const int i = blockIdx.y * KENDALL_TILE + threadIdx.x, first = blockIdx.x * KENDALL_TILE;
    int sum = 0;
    if (blockIdx.x < blockIdx.y)
        return;
    tile[threadIdx.x] = points[first + threadIdx.x];
    __syncthreads(); // the tile is complete
    const float2 mine = points[i];
    for (int k = blockIdx.x == blockIdx.y ? threadIdx.x + 1 : 0; k < KENDALL_TILE; k++)
        sum += concordance(mine, tile[k]);
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, sum);
}

static void kendall(Run &run, void (*kernel)(const float2 *, int *), dim3 grid)
{
    const std::vector<float> drawn = floats(2 * KENDALL_POINTS, 3063);
    std::vector<float2> points(KENDALL_POINTS);
    int wanted = 0;
    for (int i = 0; i < KENDALL_POINTS; i++)
        points[i] = make_float2(drawn[2 * i], drawn[2 * i] + drawn[2 * i + 1]);
    for (int i = 0; i < KENDALL_POINTS; i++)
        for (int k = i + 1; k < KENDALL_POINTS; k++)
            wanted += concordance(points[i], points[k]);
    float2 *from = run.upload(points);
    int *total = run.zeros<int>(1);
    run.measure([=] { kernel<<<grid, KENDALL_TILE>>>(from, total); },
                [=] { CHECK(cudaMemset(total, 0, sizeof(int))); });
    run.expect(run.output(total, 1)[0], wanted, 0);
}

static void kendall_rows(Run &run)
{
    kendall(run, kendall_rows_kernel, KENDALL_POINTS / KENDALL_TILE);
}

static void kendall_tiles(Run &run)
{
    const int tiles = KENDALL_POINTS / KENDALL_TILE;
    kendall(run, kendall_tiles_kernel, dim3(tiles, tiles));
}

// ---- Variances of rows of 448 values, a warp per row: Welford's one pass, or two passes ----

enum { SPREAD_COLUMNS = 448 };

__global__ void variance_welford_kernel(const float *in, float *out, int rows)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float mean = 0, squares = 0, count = 0;
    if (row >= rows)
        return;
    for (int c = lane; c < SPREAD_COLUMNS; c += 32) {
        const float v = in[row * SPREAD_COLUMNS + c], apart = v - mean;
        count++;
        mean += apart / count;
        squares += apart * (v - mean);
    }
    for (int step = 16; step; step /= 2) {
        const float other = __shfl_xor_sync(~0u, mean, step), apart = other - mean;
        squares += __shfl_xor_sync(~0u, squares, step) + apart * apart * count / 2;
        mean = 0.5f * (mean + other);
        count *= 2;
    }
    if (lane == 0)
        out[row] = squares / count;
}

__global__ void variance_passes_kernel(const float *in, float *out, int rows)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0, squares = 0;
    if (row >= rows)
        return;
    for (int c = lane; c < SPREAD_COLUMNS; c += 32)
        sum += in[row * SPREAD_COLUMNS + c];
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    const float mean = sum / SPREAD_COLUMNS;
    for (int c = lane; c < SPREAD_COLUMNS; c += 32) {
        const float apart = in[row * SPREAD_COLUMNS + c] - mean;
        squares += apart * apart;
    }
    for (int step = 16; step; step /= 2)
        squares += __shfl_xor_sync(~0u, squares, step);
    if (lane == 0)
        out[row] = squares / SPREAD_COLUMNS;
}

static void variance(Run &run, void (*kernel)(const float *, float *, int))
{
    const int rows = 16000;
    const std::vector<float> in = floats(rows * SPREAD_COLUMNS, 3064, 0, 3);
    float *from = run.upload(in), *to = run.zeros<float>(rows);
    run.measure([=] { kernel<<<blocks_for(rows * 32, 256), 256>>>(from, to, rows); });
    run.expect_all(
        run.output(to, rows),
        [&](size_t row) {
            const float *v = &in[row * SPREAD_COLUMNS];
            double sum = 0, squares = 0;
            for (int c = 0; c < SPREAD_COLUMNS; c++)
                sum += v[c];
            for (int c = 0; c < SPREAD_COLUMNS; c++)
                squares += (v[c] - sum / SPREAD_COLUMNS) * (v[c] - sum / SPREAD_COLUMNS);
            return squares / SPREAD_COLUMNS;
        },
        1e-4, 11);
}

static void variance_welford(Run &run)
{
    variance(run, variance_welford_kernel);
}

static void variance_passes(Run &run)
{
    variance(run, variance_passes_kernel);
}

// ---- The joint histogram of two images, 32 x 32 bins: in global or in shared memory ----

enum { JOINT_BINS = 1024 };

__device__ inline int joint_bin(uint32_t a, uint32_t b, int shift)
{
    return (a >> shift & 255) / 8 * 32 + (b >> shift & 255) / 8;
}

__global__ void joint_global_kernel(const uint32_t *a, const uint32_t *b, int *bins, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int shift = 0; shift < 32; shift += 8)
        atomicAdd(&bins[joint_bin(a[i], b[i], shift)], 1);
}

__global__ void joint_shared_kernel(const uint32_t *a, const uint32_t *b, int *bins, int n)
{
    __shared__ int mine[JOINT_BINS];
    for (int k = threadIdx.x; k < JOINT_BINS; k += blockDim.x)
        mine[k] = 0;
    __syncthreads(); // the bins are zero
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        for (int shift = 0; shift < 32; shift += 8)
            atomicAdd(&mine[joint_bin(a[i], b[i], shift)], 1);
    __syncthreads(); // the block's bins are complete
    for (int k = threadIdx.x; k < JOINT_BINS; k += blockDim.x)
        if (mine[k])
            atomicAdd(&bins[k], mine[k]);
}

static void joint(Run &run, void (*kernel)(const uint32_t *, const uint32_t *, int *, int),
                  int blocks, int block)
{
    const int n = 600000;
    std::vector<uint32_t> a(n), b(n);
    std::vector<int> wanted(JOINT_BINS);
    for (int i = 0; i < 4 * n; i++) {
        const uint32_t v = (mix(i + 3065) % 128 + i / 4 % 600 / 5) & 255;
        const uint32_t w = (v + mix(i + 3066) % 40) & 255;
        a[i / 4] |= v << i % 4 * 8;
        b[i / 4] |= w << i % 4 * 8;
        wanted[v / 8 * 32 + w / 8]++;
    }
    uint32_t *da = run.upload(a), *db = run.upload(b);
    int *bins = run.zeros<int>(JOINT_BINS);
    run.measure([=] { kernel<<<blocks, block>>>(da, db, bins, n); },
                [=] { CHECK(cudaMemset(bins, 0, JOINT_BINS * sizeof(int))); });
    run.expect_all(
        run.output(bins, JOINT_BINS), [&](size_t i) { return wanted[i]; }, 0);
}

static void joint_global(Run &run)
{
    joint(run, joint_global_kernel, blocks_for(600000, 256), 256);
}

static void joint_shared(Run &run)
{
    joint(run, joint_shared_kernel, 132, 512);
}

#endif
