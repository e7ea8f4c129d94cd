// algebra.cuh - linear algebra: updates of rank 2k, packed triangles, sparse times dense, sampled
// products, exponentials of small matrices.
#ifndef BLIND_ALGEBRA_CUH
#define BLIND_ALGEBRA_CUH

#include "blind.cuh"

// ---- Lower triangle of A B' + B A': a thread per value, from global memory or by tiles ----

enum { SYR_N = 320, SYR_K = 144 };

__host__ __device__ inline float syr2k_value(const float *a, const float *b, int i, int j)
{
    float sum = 0;
    for (int k = 0; k < SYR_K; k++)
        sum += a[i * SYR_K + k] * b[j * SYR_K + k] + b[i * SYR_K + k] * a[j * SYR_K + k];
    return sum;
}

__global__ void syr2k_plain_kernel(const float *a, const float *b, float *c)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (j <= i && i < SYR_N)
        c[i * SYR_N + j] = 1.5f * syr2k_value(a, b, i, j) + 0.5f * c[i * SYR_N + j];
}

__global__ void __launch_bounds__(256) syr2k_tiles_kernel(const float *a, const float *b, float *c)
{
    __shared__ float ai[16][17], bi[16][17], aj[16][17], bj[16][17];
    const int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * 16 + ty;
    const int other = blockIdx.x * 16 + ty, j = blockIdx.x * 16 + tx;
    float sum = 0;
    if (blockIdx.x > blockIdx.y)
        return;
    for (int k0 = 0; k0 < SYR_K; k0 += 16) {
        ai[ty][tx] = a[i * SYR_K + k0 + tx];
        bi[ty][tx] = b[i * SYR_K + k0 + tx];
        aj[ty][tx] = a[other * SYR_K + k0 + tx];
        bj[ty][tx] = b[other * SYR_K + k0 + tx];
        __syncthreads(); // the tiles are complete
        for (int k = 0; k < 16; k++)
            sum += ai[ty][k] * bj[tx][k] + bi[ty][k] * aj[tx][k];
        __syncthreads(); // the tiles have been read
    }
    if (j <= i)
        c[i * SYR_N + j] = 1.5f * sum + 0.5f * c[i * SYR_N + j];
}

static void syr2k(Run &run, void (*kernel)(const float *, const float *, float *))
{
    const std::vector<float> a = floats(SYR_N * SYR_K, 721), b = floats(SYR_N * SYR_K, 722),
                             c = floats(SYR_N * SYR_N, 723);
    float *da = run.upload(a), *db = run.upload(b), *dc = run.upload(c);
    const size_t size = c.size() * sizeof(float);
    run.measure([=] { kernel<<<dim3(SYR_N / 16, SYR_N / 16), dim3(16, 16)>>>(da, db, dc); },
                [&] { CHECK(cudaMemcpy(dc, c.data(), size, cudaMemcpyHostToDevice)); });
    run.expect_all(
        run.output(dc, c.size()),
        [&](size_t at) {
            const int i = at / SYR_N, j = at % SYR_N;
            if (j > i)
                return c[at];
            return 1.5f * syr2k_value(a.data(), b.data(), i, j) + 0.5f * c[at];
        },
        1e-4, 13);
}

static void syr2k_plain(Run &run)
{
    syr2k(run, syr2k_plain_kernel);
}

static void syr2k_tiles(Run &run)
{
    syr2k(run, syr2k_tiles_kernel);
}

// ---- A packed lower triangle times a vector: a thread or a warp per row ----

__global__ void triangle_thread_kernel(const float *a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i >= n)
        return;
    const float *row = a + i * (i + 1) / 2;
    for (int k = 0; k <= i; k++)
        sum += row[k] * x[k];
    y[i] = sum;
}

__global__ void triangle_warp_kernel(const float *a, const float *x, float *y, int n)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    if (i >= n)
        return;
    const float *row = a + i * (i + 1) / 2;
    for (int k = lane; k <= i; k += 32)
        sum += row[k] * x[k];
    for (int apart = 16; apart; apart /= 2)
        sum += __shfl_down_sync(~0u, sum, apart);
    if (lane == 0)
        y[i] = sum;
}

static void triangle(Run &run, bool by_warp)
{
    const int n = 3600;
    const std::vector<float> a = floats(n * (n + 1) / 2, 724), x = floats(n, 725);
    float *da = run.upload(a), *dx = run.upload(x), *dy = run.zeros<float>(n);
    run.measure([=] {
        if (by_warp)
            triangle_warp_kernel<<<blocks_for(n * 32, 128), 128>>>(da, dx, dy, n);
        else
            triangle_thread_kernel<<<blocks_for(n, 128), 128>>>(da, dx, dy, n);
    });
    run.expect_all(
        run.output(dy, n),
        [&](size_t i) {
            double sum = 0;
            for (size_t k = 0; k <= i; k++)
                sum += (double) a[i * (i + 1) / 2 + k] * x[k];
            return sum;
        },
        1e-3);
}

static void triangle_thread(Run &run)
{
    triangle(run, false);
}

static void triangle_warp(Run &run)
{
    triangle(run, true);
}

// ---- Sparse times dense with 32 columns: a warp per row, or a thread per row and 8 columns ----

enum { SPMM_ROWS = 20000, SPMM_COLUMNS = 32 };

struct Sparse {
    std::vector<int> begin, column;
    std::vector<float> value;
};

static Sparse sparse_rows(int rows, int columns, int most, uint32_t seed)
{
    const std::vector<int> length = integers(rows, most, seed);
    Sparse s;
    s.begin.push_back(0);
    for (int i = 0; i < rows; i++)
        s.begin.push_back(s.begin.back() + length[i]);
    s.column = integers(s.begin.back(), columns, seed + 1);
    s.value = floats(s.begin.back(), seed + 2);
    return s;
}

__global__ void spmm_lanes_kernel(const int *begin, const int *column, const float *value,
                                  const float *dense, float *out)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    float sum = 0;
    if (row >= SPMM_ROWS)
        return;
    for (int k = begin[row]; k < begin[row + 1]; k++)
        sum += value[k] * dense[column[k] * SPMM_COLUMNS + lane];
    out[row * SPMM_COLUMNS + lane] = sum;
}

__global__ void spmm_thread_kernel(const int *begin, const int *column, const float *value,
                                   const float *dense, float *out)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 8;
    float sum[8] = {};
    if (row >= SPMM_ROWS)
        return;
    for (int k = begin[row]; k < begin[row + 1]; k++)
        for (int c = 0; c < 8; c++)
            sum[c] += value[k] * dense[column[k] * SPMM_COLUMNS + first + c];
    for (int c = 0; c < 8; c++)
        out[row * SPMM_COLUMNS + first + c] = sum[c];
}

static void spmm(Run &run, bool by_lanes)
{
    const Sparse s = sparse_rows(SPMM_ROWS, SPMM_ROWS, 24, 726);
    const int n = SPMM_ROWS * SPMM_COLUMNS;
    const std::vector<float> dense = floats(n, 729);
    const int *begin = run.upload(s.begin), *column = run.upload(s.column);
    float *value = run.upload(s.value), *from = run.upload(dense), *to = run.zeros<float>(n);
    run.measure([=] {
        if (by_lanes)
            spmm_lanes_kernel<<<SPMM_ROWS / 4, dim3(32, 4)>>>(begin, column, value, from, to);
        else
            spmm_thread_kernel<<<dim3(blocks_for(SPMM_ROWS, 128), SPMM_COLUMNS / 8), 128>>>(
                begin, column, value, from, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double sum = 0;
            const int row = i / SPMM_COLUMNS;
            for (int k = s.begin[row]; k < s.begin[row + 1]; k++)
                sum += (double) s.value[k] * dense[s.column[k] * SPMM_COLUMNS + i % SPMM_COLUMNS];
            return sum;
        },
        1e-4, 17);
}

static void spmm_lanes(Run &run)
{
    spmm(run, true);
}

static void spmm_thread(Run &run)
{
    spmm(run, false);
}

// ---- Products of rows of two factors at given places (SDDMM): a thread or a warp per place ----

enum { FACTOR_WIDTH = 64, FACTOR_ROWS = 12000 };

__global__ void sddmm_thread_kernel(const int2 *place, const float4 *u, const float4 *v, float *out,
                                    int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i >= n)
        return;
    const float4 *a = u + place[i].x * (FACTOR_WIDTH / 4), *b = v + place[i].y * (FACTOR_WIDTH / 4);
    for (int k = 0; k < FACTOR_WIDTH / 4; k++)
        sum += a[k].x * b[k].x + a[k].y * b[k].y + a[k].z * b[k].z + a[k].w * b[k].w;
    out[i] = sum;
}

__global__ void sddmm_warp_kernel(const int2 *place, const float2 *u, const float2 *v, float *out,
                                  int n)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n)
        return;
    const int2 at = place[i];
    const float2 a = u[at.x * 32 + lane], b = v[at.y * 32 + lane];
    float sum = a.x * b.x + a.y * b.y;
    for (int apart = 16; apart; apart /= 2)
        sum += __shfl_xor_sync(~0u, sum, apart);
    if (lane == 0)
        out[i] = sum;
}

static void sddmm(Run &run, bool by_warp)
{
    const int n = 110000;
    const std::vector<int> row = integers(n, FACTOR_ROWS, 731), column = integers(n, 9000, 732);
    const std::vector<float> u = floats(FACTOR_ROWS * FACTOR_WIDTH, 733),
                             v = floats(FACTOR_ROWS * FACTOR_WIDTH, 734);
    std::vector<int2> place(n);
    for (int i = 0; i < n; i++)
        place[i] = { row[i], column[i] };
    std::sort(place.begin(), place.end(), [](int2 a, int2 b) { return a.x < b.x; });
    int2 *dp = run.upload(place);
    float *du = run.upload(u), *dv = run.upload(v), *to = run.zeros<float>(n);
    run.measure([=] {
        if (by_warp)
            sddmm_warp_kernel<<<blocks_for(n * 32, 256), 256>>>(dp, (float2 *) du, (float2 *) dv,
                                                                to, n);
        else
            sddmm_thread_kernel<<<blocks_for(n, 256), 256>>>(dp, (float4 *) du, (float4 *) dv, to,
                                                             n);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double sum = 0;
            for (int k = 0; k < FACTOR_WIDTH; k++)
                sum += (double) u[place[i].x * FACTOR_WIDTH + k] * v[place[i].y * FACTOR_WIDTH + k];
            return sum;
        },
        1e-4, 29);
}

static void sddmm_thread(Run &run)
{
    sddmm(run, false);
}

static void sddmm_warp(Run &run)
{
    sddmm(run, true);
}

// ---- Exponentials of 3 by 3 matrices: scaled, Taylor's series, squared again ----

struct Three {
    float v[3][3];
};

__host__ __device__ inline Three times(const Three &a, const Three &b)
{
    Three c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.v[i][j] = a.v[i][0] * b.v[0][j] + a.v[i][1] * b.v[1][j] + a.v[i][2] * b.v[2][j];
    return c;
}

__host__ __device__ inline Three exponential(Three a)
{
    float size = 0;
    int halvings = 0;
    for (int i = 0; i < 3; i++)
        size = fmaxf(size, fabsf(a.v[i][0]) + fabsf(a.v[i][1]) + fabsf(a.v[i][2]));
    for (; size > 0.5f; size *= 0.5f)
        halvings++;
    Three term = { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } }, sum = term;
    for (int i = 0; i < 9; i++)
        a.v[i / 3][i % 3] = ldexpf(a.v[i / 3][i % 3], -halvings);
    for (int k = 1; k <= 7; k++) {
        term = times(term, a);
        for (int i = 0; i < 9; i++) {
            term.v[i / 3][i % 3] /= k;
            sum.v[i / 3][i % 3] += term.v[i / 3][i % 3];
        }
    }
    while (halvings--)
        sum = times(sum, sum);
    return sum;
}

__global__ void exponential_kernel(const Three *in, Three *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = exponential(in[i]);
}

static void exponential3(Run &run)
{
    const int n = 60000;
    const std::vector<float> in = floats(9 * n, 735, -1.2f, 1.2f);
    float *from = run.upload(in), *to = run.zeros<float>(9 * n);
    run.measure([=] {
        exponential_kernel<<<blocks_for(n, 128), 128>>>((const Three *) from, (Three *) to, n);
    });
    const std::vector<float> got = run.output(to, 9 * n);
    for (int i = 0; i < n; i += 41) {
        const Three wanted = exponential(((const Three *) in.data())[i]);
        for (int k = 0; k < 9; k++)
            run.expect(got[9 * i + k], wanted.v[k / 3][k % 3], 1e-3);
    }
}

#endif
