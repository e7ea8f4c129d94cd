// sums.cuh - sums over matrices and rows: the trace of a product, largest columns, column sums,
// products of polynomials.
#ifndef BLIND_SUMS_CUH
#define BLIND_SUMS_CUH

#include "blind.cuh"

// ---- The trace of A B, the sum of a[i][j] b[j][i]: b read down its columns, or by tiles ----

enum { TRACE_SIZE = 1376 };

__device__ inline void add_block_sum(float sum, float *total)
{
    __shared__ float part[8];
    const int t = threadIdx.y * blockDim.x + threadIdx.x;
    for (int apart = 16; apart; apart /= 2)
        sum += __shfl_down_sync(~0u, sum, apart);
    if (t % 32 == 0)
        part[t / 32] = sum;
    __syncthreads(); // the warps' sums are complete
    if (t)
        return;
    for (int w = 1; w < 8; w++)
        sum += part[w];
    atomicAdd(total, sum);
}

__global__ void trace_columns_kernel(const float *a, const float *b, float *total)
{
    const int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int row = blockIdx.y * 32 + threadIdx.y; row < blockIdx.y * 32 + 32; row += 8)
        sum += a[row * TRACE_SIZE + column] * b[column * TRACE_SIZE + row];
    add_block_sum(sum, total);
}

__global__ void trace_tiles_kernel(const float *a, const float *b, float *total)
{
    __shared__ float tile[32][33];
    const int x = threadIdx.x, left = blockIdx.x * 32, top = blockIdx.y * 32;
    float sum = 0;
    for (int y = threadIdx.y; y < 32; y += 8)
        tile[y][x] = b[(left + y) * TRACE_SIZE + top + x];
    __syncthreads(); // the tile is complete
    for (int y = threadIdx.y; y < 32; y += 8)
        sum += a[(top + y) * TRACE_SIZE + left + x] * tile[x][y];
    add_block_sum(sum, total);
}

static void trace(Run &run, void (*kernel)(const float *, const float *, float *))
{
    const int n = TRACE_SIZE * TRACE_SIZE;
    const std::vector<float> a = floats(n, 2091, 0, 1), b = floats(n, 2092, 0, 1);
    float *da = run.upload(a), *db = run.upload(b), *total = run.zeros<float>(1);
    const dim3 grid(TRACE_SIZE / 32, TRACE_SIZE / 32);
    double wanted = 0;
    run.measure([=] { kernel<<<grid, dim3(32, 8)>>>(da, db, total); },
                [=] { CHECK(cudaMemset(total, 0, sizeof(float))); });
    for (int i = 0; i < n; i++)
        wanted += (double) a[i] * b[i % TRACE_SIZE * TRACE_SIZE + i / TRACE_SIZE];
    run.expect(run.output(total, 1)[0], wanted, 1e-4);
}

static void trace_columns(Run &run)
{
    trace(run, trace_columns_kernel);
}

static void trace_tiles(Run &run)
{
    trace(run, trace_tiles_kernel);
}

// ---- The largest column of each row: a thread or a warp per row ----

enum { ARGMAX_COLUMNS = 500 };

__global__ void argmax_thread_kernel(const float *in, int *out, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
    if (row >= rows)
        return;
    for (int c = 1; c < ARGMAX_COLUMNS; c++)
        if (in[row * ARGMAX_COLUMNS + c] > in[row * ARGMAX_COLUMNS + best])
            best = c;
    out[row] = best;
}

__global__ void argmax_warp_kernel(const float *in, int *out, int rows)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float most = -1e30f;
    int best = 0;
    if (row >= rows)
        return;
    for (int c = lane; c < ARGMAX_COLUMNS; c += 32) {
        const float v = in[row * ARGMAX_COLUMNS + c];
        if (v > most) {
            most = v;
            best = c;
        }
    }
    for (int apart = 16; apart; apart /= 2) {
        const float v = __shfl_down_sync(~0u, most, apart);
        const int c = __shfl_down_sync(~0u, best, apart);
        if (v > most || (v == most && c < best)) {
            most = v;
            best = c;
        }
    }
    if (lane == 0)
        out[row] = best;
}

static void argmax(Run &run, void (*kernel)(const float *, int *, int), int per_row, int block)
{
    const int rows = 9000;
    const std::vector<float> in = floats(rows * ARGMAX_COLUMNS, 2093);
    float *di = run.upload(in);
    int *to = run.zeros<int>(rows);
    run.measure([=] { kernel<<<blocks_for(rows * per_row, block), block>>>(di, to, rows); });
    run.expect_all(
        run.output(to, rows),
        [&](size_t row) {
            const float *from = &in[row * ARGMAX_COLUMNS];
            return std::max_element(from, from + ARGMAX_COLUMNS) - from;
        },
        0, 7);
}

static void argmax_thread(Run &run)
{
    argmax(run, argmax_thread_kernel, 1, 64);
}

static void argmax_warp(Run &run)
{
    argmax(run, argmax_warp_kernel, 32, 256);
}

// ---- Sums of 1200 columns: a thread per column, or parts of 64 rows and atomic additions ----

enum { SUM_COLUMNS = 1200, SUM_ROWS = 2048, SUM_PART = 64 };

__global__ void colsum_thread_kernel(const float *in, float *out)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (c >= SUM_COLUMNS)
        return;
    for (int row = 0; row < SUM_ROWS; row++)
        sum += in[row * SUM_COLUMNS + c];
    out[c] = sum;
}

__global__ void colsum_parts_kernel(const float *in, float *out)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x, top = blockIdx.y * SUM_PART;
    float sum = 0;
    if (c >= SUM_COLUMNS)
        return;
    for (int row = top; row < top + SUM_PART; row++)
        sum += in[row * SUM_COLUMNS + c];
    atomicAdd(&out[c], sum);
}

static void colsum(Run &run, void (*kernel)(const float *, float *), int parts)
{
    const std::vector<float> in = floats(SUM_COLUMNS * SUM_ROWS, 2094);
    float *di = run.upload(in), *to = run.zeros<float>(SUM_COLUMNS);
    const dim3 grid(blocks_for(SUM_COLUMNS, 128), parts);
    run.measure([=] { kernel<<<grid, 128>>>(di, to); },
                [=] { CHECK(cudaMemset(to, 0, SUM_COLUMNS * sizeof(float))); });
    run.expect_all(
        run.output(to, SUM_COLUMNS),
        [&](size_t c) {
            double sum = 0;
            for (int row = 0; row < SUM_ROWS; row++)
                sum += in[row * SUM_COLUMNS + c];
            return sum;
        },
        1e-3, 3);
}

static void colsum_thread(Run &run)
{
    colsum(run, colsum_thread_kernel, 1);
}

static void colsum_parts(Run &run)
{
    colsum(run, colsum_parts_kernel, SUM_ROWS / SUM_PART);
}

// ---- Products of polynomials of 768 coefficients, modulo 2^32: from global or shared memory ----

enum { POLYNOMIAL = 768, POLYNOMIAL_BATCH = 40 };

__global__ void product_global_kernel(const uint32_t *a, const uint32_t *b, uint32_t *out)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x, batch = blockIdx.y;
    uint32_t sum = 0;
    for (int i = 0; i < POLYNOMIAL; i++)
        if (k - i >= 0 && k - i < POLYNOMIAL)
            sum += a[batch * POLYNOMIAL + i] * b[batch * POLYNOMIAL + k - i];
    out[batch * 2 * POLYNOMIAL + k] = sum;
}

__global__ void product_shared_kernel(const uint32_t *a, const uint32_t *b, uint32_t *out)
{
    __shared__ uint32_t left[POLYNOMIAL], right[POLYNOMIAL];
    const int k = blockIdx.x * blockDim.x + threadIdx.x, batch = blockIdx.y;
    uint32_t sum = 0;
    for (int i = threadIdx.x; i < POLYNOMIAL; i += blockDim.x) {
        left[i] = a[batch * POLYNOMIAL + i];
        right[i] = b[batch * POLYNOMIAL + i];
    }
    __syncthreads(); // both factors are here
    for (int i = max(0, k - POLYNOMIAL + 1); i <= min(k, POLYNOMIAL - 1); i++)
        sum += left[i] * right[k - i];
    out[batch * 2 * POLYNOMIAL + k] = sum;
}

static void polynomial_product(Run &run,
                               void (*kernel)(const uint32_t *, const uint32_t *, uint32_t *))
{
    const int n = POLYNOMIAL * POLYNOMIAL_BATCH, size = POLYNOMIAL;
    const std::vector<uint32_t> a = words(n, 2095), b = words(n, 2096);
    uint32_t *da = run.upload(a), *db = run.upload(b), *to = run.zeros<uint32_t>(2 * n);
    const dim3 grid(2 * POLYNOMIAL / 128, POLYNOMIAL_BATCH);
    run.measure([=] { kernel<<<grid, 128>>>(da, db, to); });
    run.expect_all(
        run.output(to, 2 * n),
        [&](int at) {
            const int k = at % (2 * size), base = at / (2 * size) * size;
            uint32_t sum = 0;
            for (int i = 0; i < size; i++)
                if (k - i >= 0 && k - i < size)
                    sum += a[base + i] * b[base + k - i];
            return sum;
        },
        0, 43);
}

static void product_global(Run &run)
{
    polynomial_product(run, product_global_kernel);
}

static void product_shared(Run &run)
{
    polynomial_product(run, product_shared_kernel);
}

#endif
