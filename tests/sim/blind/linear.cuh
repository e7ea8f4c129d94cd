// linear.cuh - linear algebra of small matrices: products, LU and Cholesky in batches, bytes by
// dp4a.
#ifndef BLIND_LINEAR_CUH
#define BLIND_LINEAR_CUH

#include "blind.cuh"

// ---- Batches of 4 x 4 products: a matrix per thread, or an element per thread ----

__device__ inline float4 row_times(float4 a, const float4 *b)
{
    return make_float4(a.x * b[0].x + a.y * b[1].x + a.z * b[2].x + a.w * b[3].x,
                       a.x * b[0].y + a.y * b[1].y + a.z * b[2].y + a.w * b[3].y,
                       a.x * b[0].z + a.y * b[1].z + a.z * b[2].z + a.w * b[3].z,
                       a.x * b[0].w + a.y * b[1].w + a.z * b[2].w + a.w * b[3].w);
}

__global__ void small4_thread_kernel(const float4 *a, const float4 *b, float4 *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 right[4];
    for (int k = 0; k < 4; k++)
        right[k] = b[4 * i + k];
    for (int k = 0; k < 4; k++)
        c[4 * i + k] = row_times(a[4 * i + k], right);
}

__global__ void small4_element_kernel(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 16 * n)
        return;
    int matrix = i & ~15, row = i >> 2 & 3, col = i & 3;
    float sum = 0;
    for (int k = 0; k < 4; k++)
        sum += __ldg(&a[matrix + 4 * row + k]) * __ldg(&b[matrix + 4 * k + col]);
    c[i] = sum;
}

template <class Launch> static void small4(Run &run, Launch launch)
{
    const int n = 300000;
    const std::vector<float> a = floats((size_t) n * 16, 111), b = floats((size_t) n * 16, 112);
    float *da = run.upload(a), *db = run.upload(b), *dc = run.zeros<float>(a.size());
    run.measure([=] { launch(da, db, dc, n); });
    run.expect_all(
        run.output(dc, a.size()),
        [&](size_t i) {
            const size_t matrix = i & ~(size_t) 15, row = i >> 2 & 3, col = i & 3;
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += (double) a[matrix + 4 * row + k] * b[matrix + 4 * k + col];
            return sum;
        },
        1e-5, 7);
}

static void small4_thread(Run &run)
{
    small4(run, [](float *a, float *b, float *c, int n) {
        small4_thread_kernel<<<blocks_for(n, 128), 128>>>((float4 *) a, (float4 *) b, (float4 *) c,
                                                          n);
    });
}

static void small4_element(Run &run)
{
    small4(run, [](float *a, float *b, float *c, int n) {
        small4_element_kernel<<<blocks_for(16 * (size_t) n, 256), 256>>>(a, b, c, n);
    });
}

// ---- LU of 16 x 16 without pivoting: by a block with barriers, or by a warp in registers ----

__global__ void lu16_block_kernel(const float *in, float *out)
{
    __shared__ float m[16][17];
    int col = threadIdx.x, row = threadIdx.y, at = blockIdx.x * 256 + row * 16 + col;
    m[row][col] = in[at];
    for (int k = 0; k < 15; k++) {
        __syncthreads(); // the previous step is complete
        if (col == k && row > k)
            m[row][k] /= m[k][k];
        __syncthreads(); // the column of factors is complete
        if (col > k && row > k)
            m[row][col] -= m[row][k] * m[k][col];
    }
    out[at] = m[row][col];
}

// Each lane holds half of a row.
__global__ void lu16_warp_kernel(const float *in, float *out, int n)
{
    int lane = threadIdx.x % 32, matrix = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int row = lane % 16, half = lane / 16;
    float v[8];
    if (matrix >= n)
        return;
    in += matrix * 256 + row * 16 + half * 8;
    out += matrix * 256 + row * 16 + half * 8;
    for (int j = 0; j < 8; j++)
        v[j] = in[j];
#pragma unroll
    for (int k = 0; k < 15; k++) {
        float pivot = __shfl_sync(~0u, v[k % 8], k + 16 * (k / 8));
        float factor = __shfl_sync(~0u, v[k % 8], row + 16 * (k / 8)) / pivot;
        for (int j = 0; j < 8; j++) {
            float above = __shfl_sync(~0u, v[j], k + 16 * half);
            if (row > k && half * 8 + j > k)
                v[j] -= factor * above;
            if (row > k && half * 8 + j == k)
                v[j] = factor;
        }
    }
    for (int j = 0; j < 8; j++)
        out[j] = v[j];
}

static std::vector<double> lu16_of(const float *in)
{
    std::vector<double> m(in, in + 256);
    for (int k = 0; k < 15; k++)
        for (int row = k + 1; row < 16; row++) {
            m[row * 16 + k] /= m[k * 16 + k];
            for (int col = k + 1; col < 16; col++)
                m[row * 16 + col] -= m[row * 16 + k] * m[k * 16 + col];
        }
    return m;
}

template <class Launch> static void lu16(Run &run, Launch launch)
{
    const int n = 1500;
    std::vector<float> in = floats((size_t) n * 256, 113);
    for (size_t i = 0; i < in.size(); i++)
        if (i / 16 % 16 == i % 16)
            in[i] += 20; // the diagonal dominates
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] { launch(from, to, n); });
    const std::vector<float> got = run.output(to, in.size());
    for (int i = 0; i < n; i += 31) {
        const std::vector<double> wanted = lu16_of(&in[(size_t) i * 256]);
        for (int k = 0; k < 256; k++)
            run.expect(got[(size_t) i * 256 + k], wanted[k], 1e-5);
    }
}

static void lu16_block(Run &run)
{
    lu16(run,
         [](float *from, float *to, int n) { lu16_block_kernel<<<n, dim3(16, 16)>>>(from, to); });
}

static void lu16_warp(Run &run)
{
    lu16(run, [](float *from, float *to, int n) {
        lu16_warp_kernel<<<blocks_for((size_t) n * 32, 64), 64>>>(from, to, n);
    });
}

// ---- Cholesky of 8 x 8: a matrix per thread, in registers; element e of matrix i at e * n + i
// ----

__host__ __device__ constexpr int triangle(int row, int col)
{
    return row * (row + 1) / 2 + col;
}

template <class T> __host__ __device__ inline void cholesky8_of(T *m)
{
#pragma unroll
    for (int col = 0; col < 8; col++) {
#pragma unroll
        for (int row = col; row < 8; row++) {
            T sum = m[triangle(row, col)];
#pragma unroll
            for (int k = 0; k < col; k++)
                sum -= m[triangle(row, k)] * m[triangle(col, k)];
            m[triangle(row, col)] = row == col ? sqrt(sum) : sum / m[triangle(col, col)];
        }
    }
}

__global__ void cholesky8_kernel(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float m[36];
    if (i >= n)
        return;
    for (int e = 0; e < 36; e++)
        m[e] = in[e * n + i];
    cholesky8_of(m);
    for (int e = 0; e < 36; e++)
        out[e * n + i] = m[e];
}

static void cholesky8(Run &run)
{
    const int n = 190000;
    std::vector<float> in = floats((size_t) n * 36, 114);
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            in[(size_t) triangle(k, k) * n + i] += 10;
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] { cholesky8_kernel<<<blocks_for(n, 128), 128>>>(from, to, n); });
    const std::vector<float> got = run.output(to, in.size());
    for (int i = 0; i < n; i += 997) {
        double m[36];
        for (int e = 0; e < 36; e++)
            m[e] = in[(size_t) e * n + i];
        cholesky8_of(m);
        for (int e = 0; e < 36; e++)
            run.expect(got[(size_t) e * n + i], m[e], 1e-5);
    }
}

// ---- Products of bytes by dp4a: C = A B', four bytes per word ----

__global__ void dp4a_naive_kernel(const int *a, const int *b, int *c, int n, int words)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int sum = 0;
    for (int k = 0; k < words; k++)
        sum = __dp4a(a[row * words + k], b[col * words + k], sum);
    c[row * n + col] = sum;
}

__global__ void dp4a_tiled_kernel(const int *a, const int *b, int *c, int n, int words)
{
    __shared__ int left[32][33], right[32][33];
    int x = threadIdx.x, y = threadIdx.y, sum[4] = {};
    a += blockIdx.y * 32 * words;
    b += blockIdx.x * 32 * words;
    for (int first = 0; first < words; first += 32) {
        for (int j = y; j < 32; j += 8) {
            left[j][x] = a[j * words + first + x];
            right[j][x] = b[j * words + first + x];
        }
        __syncthreads(); // the tiles are complete
        for (int k = 0; k < 32; k++)
            for (int j = 0; j < 4; j++)
                sum[j] = __dp4a(left[y + 8 * j][k], right[x][k], sum[j]);
        __syncthreads(); // the tiles are free again
    }
    for (int j = 0; j < 4; j++)
        c[(blockIdx.y * 32 + y + 8 * j) * n + blockIdx.x * 32 + x] = sum[j];
}

template <class Launch> static void dp4a_product(Run &run, Launch launch)
{
    const int m = 512, n = 768, words = 96;
    const std::vector<uint32_t> a = ::words((size_t) m * words, 115),
                                b = ::words((size_t) n * words, 116);
    const signed char *left = (const signed char *) a.data(), *right = (signed char *) b.data();
    int *da = (int *) run.upload(a), *db = (int *) run.upload(b), *c = run.zeros<int>(m * n);
    run.measure([=] { launch(da, db, c, m, n, words); });
    run.expect_all(
        run.output(c, m * n),
        [&](size_t i) {
            int sum = 0;
            for (size_t k = 0; k < 4 * words; k++)
                sum += left[i / n * 4 * words + k] * right[i % n * 4 * words + k];
            return sum;
        },
        0, 53);
}

static void dp4a_naive(Run &run)
{
    dp4a_product(run, [](int *a, int *b, int *c, int m, int n, int words) {
        dp4a_naive_kernel<<<dim3(n / 32, m / 8), dim3(32, 8)>>>(a, b, c, n, words);
    });
}

static void dp4a_tiled(Run &run)
{
    dp4a_product(run, [](int *a, int *b, int *c, int m, int n, int words) {
        dp4a_tiled_kernel<<<dim3(n / 32, m / 32), dim3(32, 8)>>>(a, b, c, n, words);
    });
}

#endif
