// bands.cuh - matrices with structure: Toeplitz, bands, Kronecker products, Cauchy.
#ifndef BLIND_BANDS_CUH
#define BLIND_BANDS_CUH

#include "blind.cuh"

// ---- A Toeplitz matrix times a vector: all from global memory, or by tiles in shared ----

enum { TOEPLITZ = 2048 };

__global__ void toeplitz_global_kernel(const float *t, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int j = 0; j < TOEPLITZ; j++)
        sum += t[TOEPLITZ - 1 + i - j] * x[j];
    y[i] = sum;
}

__global__ void toeplitz_shared_kernel(const float *t, const float *x, float *y)
{
    __shared__ float ts[128], xs[64];
    const int k = threadIdx.x, i = blockIdx.x * 64 + k;
    float sum = 0;
    for (int j = 0; j < TOEPLITZ; j += 64) {
        const int base = TOEPLITZ - 1 + blockIdx.x * 64 - j - 63;
        xs[k] = x[j + k];
        ts[k] = t[base + k];
        if (k < 63)
            ts[64 + k] = t[base + 64 + k];
        __syncthreads();
        for (int c = 0; c < 64; c++)
            sum += ts[63 + k - c] * xs[c];
        __syncthreads();
    }
    y[i] = sum;
}

static void toeplitz(Run &run, void (*kernel)(const float *, const float *, float *))
{
    const std::vector<float> t = floats(2 * TOEPLITZ, 6601), x = floats(TOEPLITZ, 6602);
    const float *dt = run.upload(t), *dx = run.upload(x);
    float *to = run.zeros<float>(TOEPLITZ);
    run.measure([=] { kernel<<<TOEPLITZ / 64, 64>>>(dt, dx, to); });
    run.expect_all(
        run.output(to, TOEPLITZ),
        [&](size_t i) {
            double sum = 0;
            for (int j = 0; j < TOEPLITZ; j++)
                sum += (double) t[TOEPLITZ - 1 + i - j] * x[j];
            return sum;
        },
        1e-3, 17);
}

static void toeplitz_global(Run &run)
{
    toeplitz(run, toeplitz_global_kernel);
}

static void toeplitz_shared(Run &run)
{
    toeplitz(run, toeplitz_shared_kernel);
}

// ---- A matrix of 17 bands times a vector: its rows are stored, or its diagonals ----

enum { BAND_ROWS = 1 << 19, BAND_WIDTH = 17 };

template <bool DIAGONALS> __global__ void banded_kernel(const float *a, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int d = 0; d < BAND_WIDTH; d++) {
        const int j = i + d - BAND_WIDTH / 2;
        if (j >= 0 && j < BAND_ROWS)
            sum += a[DIAGONALS ? d * BAND_ROWS + i : i * BAND_WIDTH + d] * x[j];
    }
    y[i] = sum;
}

template <bool DIAGONALS> static void banded(Run &run)
{
    const std::vector<float> a = floats(BAND_ROWS * BAND_WIDTH, 6603), x = floats(BAND_ROWS, 6604);
    const float *da = run.upload(a), *dx = run.upload(x);
    float *to = run.zeros<float>(BAND_ROWS);
    run.measure([=] { banded_kernel<DIAGONALS><<<BAND_ROWS / 128, 128>>>(da, dx, to); });
    run.expect_all(
        run.output(to, BAND_ROWS),
        [&](size_t i) {
            double sum = 0;
            for (int d = 0; d < BAND_WIDTH; d++) {
                const int j = (int) i + d - BAND_WIDTH / 2;
                if (j >= 0 && j < BAND_ROWS)
                    sum += (double) x[j] * a[DIAGONALS ? d * BAND_ROWS + i : i * BAND_WIDTH + d];
            }
            return sum;
        },
        1e-4, 991);
}

static void banded_rows(Run &run)
{
    banded<false>(run);
}

static void banded_diagonals(Run &run)
{
    banded<true>(run);
}

// ---- The Kronecker product of two matrices: by divisions with sizes known late, or shapes ----

enum { KRON = 40 };

__global__ void kron_divisions_kernel(const float *a, const float *b, float *c, int na, int nb)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = na * nb;
    const int row = i / n, column = i % n;
    c[i] = a[row / nb * na + column / nb] * b[row % nb * nb + column % nb];
}

__global__ void kron_grid_kernel(const float *a, const float *b, float *c, int na, int nb)
{
    const float *from = b + threadIdx.y * nb;
    const float factor = a[blockIdx.y * na + blockIdx.x];
    for (int y = threadIdx.y; y < nb; y += blockDim.y, from += blockDim.y * nb)
        c[(blockIdx.y * nb + y) * na * nb + blockIdx.x * nb + threadIdx.x] =
            factor * from[threadIdx.x];
}

static void kron(Run &run, bool grid)
{
    const std::vector<float> a = floats(KRON * KRON, 6605), b = floats(KRON * KRON, 6606);
    const float *da = run.upload(a), *db = run.upload(b);
    const size_t side = KRON * KRON;
    float *to = run.zeros<float>(side * side);
    run.measure([=] {
        if (grid)
            kron_grid_kernel<<<dim3(KRON, KRON), dim3(KRON, 8)>>>(da, db, to, KRON, KRON);
        else
            kron_divisions_kernel<<<side * side / 256, 256>>>(da, db, to, KRON, KRON);
    });
    run.expect_all(
        run.output(to, side * side),
        [&](size_t i) {
            const size_t r = i / side, c = i % side;
            return a[r / KRON * KRON + c / KRON] * b[r % KRON * KRON + c % KRON];
        },
        1e-6, 4999);
}

static void kron_divisions(Run &run)
{
    kron(run, false);
}

static void kron_grid(Run &run)
{
    kron(run, true);
}

// ---- A Cauchy matrix times a vector, elements computed: a row per thread, or per warp ----

enum { CAUCHY = 2048 };

__global__ void cauchy_thread_kernel(const float *p, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int j = 0; j < CAUCHY; j++)
        sum += x[j] / (p[i] + p[j]);
    y[i] = sum;
}

__global__ void cauchy_warp_kernel(const float *p, const float *x, float *y)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int j = lane; j < CAUCHY; j += 32)
        sum += x[j] / (p[i] + p[j]);
    for (int by = 16; by; by /= 2)
        sum += __shfl_down_sync(~0u, sum, by);
    if (lane == 0)
        y[i] = sum;
}

static void cauchy(Run &run, void (*kernel)(const float *, const float *, float *), int each)
{
    const std::vector<float> p = floats(CAUCHY, 6607, 1, 2), x = floats(CAUCHY, 6608);
    const float *dp = run.upload(p), *dx = run.upload(x);
    float *to = run.zeros<float>(CAUCHY);
    run.measure([=] { kernel<<<CAUCHY * each / 128, 128>>>(dp, dx, to); });
    run.expect_all(
        run.output(to, CAUCHY),
        [&](size_t i) {
            double sum = 0;
            for (int j = 0; j < CAUCHY; j++)
                sum += x[j] / ((double) p[i] + p[j]);
            return sum;
        },
        1e-3, 13);
}

static void cauchy_thread(Run &run)
{
    cauchy(run, cauchy_thread_kernel, 1);
}

static void cauchy_warp(Run &run)
{
    cauchy(run, cauchy_warp_kernel, 32);
}

#endif
