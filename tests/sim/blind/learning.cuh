// learning.cuh - kernels of neural networks: matrix products, softmax, layer norm, attention.
#ifndef BLIND_LEARNING_CUH
#define BLIND_LEARNING_CUH

#include "blind.cuh"

// ---- Matrix products: C = A B; A has m x k, B has k x n values ----

template <class T>
__global__ void gemm_naive_kernel(const T *a, const T *b, T *c, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    T sum = 0;
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
}

__global__ void gemm_tile16_kernel(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int first = 0; first < k; first += 16) {
        as[ty][tx] = row < m && first + tx < k ? a[row * k + first + tx] : 0.0f;
        bs[ty][tx] = first + ty < k && col < n ? b[(first + ty) * n + col] : 0.0f;
        __syncthreads(); // the tiles are complete
        for (int i = 0; i < 16; i++)
            sum += as[ty][i] * bs[i][tx];
        __syncthreads(); // the tiles have been read
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}

// Each thread computes 4 x 4 values of a tile of 64 x 64.
__global__ void gemm_registers_kernel(const float *a, const float *b, float *c, int n, int k)
{
    __shared__ float as[64][17], bs[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    float sum[4][4] = {};
    a += blockIdx.y * 64 * k;
    b += blockIdx.x * 64;
    for (int first = 0; first < k; first += 16) {
        for (int i = t; i < 64 * 16; i += 256) {
            as[i / 16][i % 16] = a[i / 16 * k + first + i % 16];
            bs[i / 64][i % 64] = b[(first + i / 64) * n + i % 64];
        }
        __syncthreads(); // the tiles are complete
#pragma unroll
        for (int i = 0; i < 16; i++) {
            float x[4], y[4];
            for (int j = 0; j < 4; j++) {
                x[j] = as[ty * 4 + j][i];
                y[j] = bs[i][tx + 16 * j];
            }
            for (int r = 0; r < 4; r++)
                for (int j = 0; j < 4; j++)
                    sum[r][j] += x[r] * y[j];
        }
        __syncthreads(); // the tiles have been read
    }
    for (int r = 0; r < 4; r++)
        for (int j = 0; j < 4; j++)
            c[(blockIdx.y * 64 + ty * 4 + r) * n + blockIdx.x * 64 + tx + 16 * j] = sum[r][j];
}

// Each thread computes 8 x 4 values of a tile of 128 x 64, with loads of four floats.
__global__ void __launch_bounds__(256)
    gemm_vector_kernel(const float *a, const float *b, float *c, int n, int k)
{
    __shared__ float as[8][128], bs[8][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    float sum[8][4] = {};
    a += blockIdx.y * 128 * k;
    b += blockIdx.x * 64;
    for (int first = 0; first < k; first += 8) {
        float4 v = *(const float4 *) &a[t / 2 * k + first + t % 2 * 4];
        as[t % 2 * 4 + 0][t / 2] = v.x;
        as[t % 2 * 4 + 1][t / 2] = v.y;
        as[t % 2 * 4 + 2][t / 2] = v.z;
        as[t % 2 * 4 + 3][t / 2] = v.w;
        if (t < 128)
            *(float4 *) &bs[t / 16][t % 16 * 4] =
                *(const float4 *) &b[(first + t / 16) * n + t % 16 * 4];
        __syncthreads(); // the tiles are complete
#pragma unroll
        for (int i = 0; i < 8; i++) {
            float4 x0 = *(const float4 *) &as[i][ty * 8], x1 = *(const float4 *) &as[i][ty * 8 + 4];
            float4 y = *(const float4 *) &bs[i][tx * 4];
            float x[8] = { x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w };
            for (int r = 0; r < 8; r++) {
                sum[r][0] += x[r] * y.x;
                sum[r][1] += x[r] * y.y;
                sum[r][2] += x[r] * y.z;
                sum[r][3] += x[r] * y.w;
            }
        }
        __syncthreads(); // the tiles have been read
    }
    for (int r = 0; r < 8; r++)
        *(float4 *) &c[(blockIdx.y * 128 + ty * 8 + r) * n + blockIdx.x * 64 + tx * 4] =
            make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
}

template <class T, class Launch> static void gemm(Run &run, int m, int n, int k, Launch launch)
{
    const std::vector<float> ra = floats((size_t) m * k, 71), rb = floats((size_t) k * n, 72);
    const std::vector<T> a(ra.begin(), ra.end()), b(rb.begin(), rb.end());
    T *da = run.upload(a), *db = run.upload(b), *dc = run.zeros<T>((size_t) m * n);
    run.measure([=] { launch(da, db, dc); });
    run.expect_all(
        run.output(dc, (size_t) m * n),
        [&](size_t i) {
            double sum = 0;
            for (int j = 0; j < k; j++)
                sum += (double) a[i / n * k + j] * b[(size_t) j * n + i % n];
            return sum;
        },
        1e-4, 1009);
}

static void sgemm_naive(Run &run)
{
    const int m = 300, n = 500, k = 250;
    gemm<float>(run, m, n, k, [=](float *a, float *b, float *c) {
        gemm_naive_kernel<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
    });
}

static void sgemm_tile16(Run &run)
{
    const int m = 300, n = 500, k = 250;
    gemm<float>(run, m, n, k, [=](float *a, float *b, float *c) {
        gemm_tile16_kernel<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
    });
}

static void sgemm_registers(Run &run)
{
    const int m = 768, n = 1024, k = 320;
    gemm<float>(run, m, n, k, [=](float *a, float *b, float *c) {
        gemm_registers_kernel<<<dim3(n / 64, m / 64), 256>>>(a, b, c, n, k);
    });
}

static void sgemm_vector(Run &run)
{
    const int m = 768, n = 1024, k = 320;
    gemm<float>(run, m, n, k, [=](float *a, float *b, float *c) {
        gemm_vector_kernel<<<dim3(n / 64, m / 128), 256>>>(a, b, c, n, k);
    });
}

static void dgemm_naive(Run &run)
{
    const int m = 384, n = 512, k = 256;
    gemm<double>(run, m, n, k, [=](double *a, double *b, double *c) {
        gemm_naive_kernel<<<dim3(n / 32, m / 8), dim3(32, 8)>>>(a, b, c, m, n, k);
    });
}

// ---- Softmax of rows ----

__global__ void softmax_thread_kernel(const float *in, float *out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float *x = in + (size_t) row * cols;
    float most = -INFINITY, sum = 0;
    for (int c = 0; c < cols; c++)
        most = fmaxf(most, x[c]);
    for (int c = 0; c < cols; c++)
        sum += expf(x[c] - most);
    for (int c = 0; c < cols; c++)
        out[(size_t) row * cols + c] = expf(x[c] - most) / sum;
}

__global__ void softmax_block_kernel(const float *in, float *out, int cols)
{
    __shared__ float part[256];
    const float *x = in + (size_t) blockIdx.x * cols;
    float *y = out + (size_t) blockIdx.x * cols, most = -INFINITY, sum = 0;
    int t = threadIdx.x;

    for (int c = t; c < cols; c += 256)
        most = fmaxf(most, x[c]);
    part[t] = most;
    __syncthreads(); // the maxima are written
    for (int d = 128; d > 0; d /= 2) {
        if (t < d)
            part[t] = fmaxf(part[t], part[t + d]);
        __syncthreads(); // this round's maxima are written
    }
    most = part[0];
    __syncthreads(); // the maximum has been read
    for (int c = t; c < cols; c += 256) {
        float e = expf(x[c] - most);
        y[c] = e;
        sum += e;
    }
    part[t] = sum;
    __syncthreads(); // the sums are written
    for (int d = 128; d > 0; d /= 2) {
        if (t < d)
            part[t] += part[t + d];
        __syncthreads(); // this round's sums are written
    }
    for (int c = t; c < cols; c += 256)
        y[c] /= part[0];
}

__global__ void softmax_warp_kernel(const float *in, float *out, int rows, int cols)
{
    int row = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    if (row >= rows)
        return;
    const float *x = in + (size_t) row * cols;
    float most = -INFINITY, sum = 0;
    for (int c = lane; c < cols; c += 32)
        most = fmaxf(most, x[c]);
    for (int d = 16; d > 0; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    for (int c = lane; c < cols; c += 32)
        sum += __expf(x[c] - most);
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    for (int c = lane; c < cols; c += 32)
        out[(size_t) row * cols + c] = __expf(x[c] - most) / sum;
}

template <class Launch> static void softmax(Run &run, Launch launch)
{
    const int rows = 2048, cols = 1000;
    const std::vector<float> in = floats((size_t) rows * cols, 73, -4, 4);
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] { launch(from, to, rows, cols); });
    const std::vector<float> got = run.output(to, in.size());
    for (int r = 0; r < rows; r += 5) {
        double sum = 0;
        for (int c = 0; c < cols; c++)
            sum += exp((double) in[(size_t) r * cols + c]);
        for (int c = 0; c < cols; c++)
            run.expect(1000 * got[(size_t) r * cols + c],
                       1000 * exp((double) in[(size_t) r * cols + c]) / sum, 1e-4);
    }
}

static void softmax_thread(Run &run)
{
    softmax(run, [](float *in, float *out, int rows, int cols) {
        softmax_thread_kernel<<<blocks_for(rows, 64), 64>>>(in, out, rows, cols);
    });
}

static void softmax_block(Run &run)
{
    softmax(run, [](float *in, float *out, int rows, int cols) {
        softmax_block_kernel<<<rows, 256>>>(in, out, cols);
    });
}

static void softmax_warp(Run &run)
{
    softmax(run, [](float *in, float *out, int rows, int cols) {
        softmax_warp_kernel<<<blocks_for(rows, 4), dim3(32, 4)>>>(in, out, rows, cols);
    });
}

// ---- Layer norm of rows, with weights and biases ----

__global__ void layernorm_block_kernel(const float *in, const float *weight, const float *bias,
                                       float *out, int cols)
{
    __shared__ float sums[2][8];
    const float *x = in + (size_t) blockIdx.x * cols;
    float sum = 0, squares = 0;
    int t = threadIdx.x;
    for (int c = t; c < cols; c += 256) {
        sum += x[c];
        squares += x[c] * x[c];
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_down_sync(~0u, sum, d);
        squares += __shfl_down_sync(~0u, squares, d);
    }
    if (t % 32 == 0) {
        sums[0][t / 32] = sum;
        sums[1][t / 32] = squares;
    }
    __syncthreads(); // the sums of the warps are written
    sum = squares = 0;
    for (int w = 0; w < 8; w++) {
        sum += sums[0][w];
        squares += sums[1][w];
    }
    float mean = sum / cols, scale = rsqrtf(squares / cols - mean * mean + 1e-5f);
    for (int c = t; c < cols; c += 256)
        out[(size_t) blockIdx.x * cols + c] = (x[c] - mean) * scale * weight[c] + bias[c];
}

__global__ void layernorm_thread_kernel(const float *in, const float *weight, const float *bias,
                                        float *out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float *x = in + (size_t) row * cols;
    float mean = 0, variance = 0;
    for (int c = 0; c < cols; c++)
        mean += x[c];
    mean /= cols;
    for (int c = 0; c < cols; c++)
        variance += (x[c] - mean) * (x[c] - mean);
    float scale = 1.0f / sqrtf(variance / cols + 1e-5f);
    for (int c = 0; c < cols; c++)
        out[(size_t) row * cols + c] = scale * (x[c] - mean) * weight[c] + bias[c];
}

template <class Launch> static void layernorm(Run &run, Launch launch)
{
    const int rows = 2048, cols = 768;
    const std::vector<float> in = floats((size_t) rows * cols, 74), weight = floats(cols, 75),
                             bias = floats(cols, 76);
    float *from = run.upload(in), *w = run.upload(weight), *b = run.upload(bias),
          *to = run.zeros<float>(in.size());
    run.measure([=] { launch(from, w, b, to, rows, cols); });
    const std::vector<float> got = run.output(to, in.size());
    for (int r = 0; r < rows; r += 5) {
        const float *x = &in[(size_t) r * cols];
        double mean = 0, variance = 0;
        for (int c = 0; c < cols; c++)
            mean += x[c] / cols;
        for (int c = 0; c < cols; c++)
            variance += (x[c] - mean) * (x[c] - mean) / cols;
        for (int c = 0; c < cols; c++)
            run.expect(got[(size_t) r * cols + c],
                       (x[c] - mean) / sqrt(variance + 1e-5) * weight[c] + bias[c], 1e-4);
    }
}

static void layernorm_block(Run &run)
{
    layernorm(run, [](float *in, float *w, float *b, float *out, int rows, int cols) {
        layernorm_block_kernel<<<rows, 256>>>(in, w, b, out, cols);
    });
}

static void layernorm_thread(Run &run)
{
    layernorm(run, [](float *in, float *w, float *b, float *out, int rows, int cols) {
        layernorm_thread_kernel<<<blocks_for(rows, 64), 64>>>(in, w, b, out, rows, cols);
    });
}

// ---- Attention: heads of 32 values, the softmax computed on the way ----

enum { HEAD = 32 };

// One thread per query.
__global__ void attention_naive_kernel(const float *q, const float *k, const float *v, float *out,
                                       int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    size_t head = (size_t) blockIdx.y * length * HEAD;
    float query[HEAD], sum[HEAD] = {}, most = -INFINITY, total = 0;
    for (int c = 0; c < HEAD; c++)
        query[c] = q[head + (size_t) i * HEAD + c] * 0.17677670f;
    for (int j = 0; j < length; j++) {
        float score = 0;
        for (int c = 0; c < HEAD; c++)
            score += query[c] * k[head + (size_t) j * HEAD + c];
        float now = fmaxf(most, score), keep = __expf(most - now), p = __expf(score - now);
        total = total * keep + p;
        for (int c = 0; c < HEAD; c++)
            sum[c] = sum[c] * keep + p * v[head + (size_t) j * HEAD + c];
        most = now;
    }
    for (int c = 0; c < HEAD; c++)
        out[head + (size_t) i * HEAD + c] = sum[c] / total;
}

// Keys and values of 32 positions at a time are in shared memory.
__global__ void attention_tiled_kernel(const float *q, const float *k, const float *v, float *out,
                                       int length)
{
    __shared__ float ks[32][HEAD], vs[32][HEAD];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    size_t head = (size_t) blockIdx.y * length * HEAD;
    float query[HEAD], sum[HEAD] = {}, score[32], most = -INFINITY, total = 0;
    for (int c = 0; c < HEAD; c++)
        query[c] = q[head + (size_t) i * HEAD + c] * 0.17677670f;
    for (int first = 0; first < length; first += 32) {
        for (int e = threadIdx.x; e < 32 * HEAD; e += blockDim.x) {
            ks[e / HEAD][e % HEAD] = k[head + (size_t) first * HEAD + e];
            vs[e / HEAD][e % HEAD] = v[head + (size_t) first * HEAD + e];
        }
        __syncthreads(); // keys and values are complete
        float now = most;
#pragma unroll
        for (int j = 0; j < 32; j++) {
            score[j] = 0;
            for (int c = 0; c < HEAD; c++)
                score[j] += query[c] * ks[j][c];
            now = fmaxf(now, score[j]);
        }
        float keep = __expf(most - now);
        total *= keep;
        for (int c = 0; c < HEAD; c++)
            sum[c] *= keep;
#pragma unroll
        for (int j = 0; j < 32; j++) {
            float p = __expf(score[j] - now);
            total += p;
            for (int c = 0; c < HEAD; c++)
                sum[c] += p * vs[j][c];
        }
        most = now;
        __syncthreads(); // keys and values have been read
    }
    for (int c = 0; c < HEAD; c++)
        out[head + (size_t) i * HEAD + c] = sum[c] / total;
}

template <class Launch> static void attention(Run &run, Launch launch)
{
    const int length = 256, heads = 64;
    const size_t size = (size_t) heads * length * HEAD;
    const std::vector<float> q = floats(size, 77), k = floats(size, 78), v = floats(size, 79);
    float *dq = run.upload(q), *dk = run.upload(k), *dv = run.upload(v),
          *out = run.zeros<float>(size);
    run.measure([=] { launch(dq, dk, dv, out, length, heads); });
    const std::vector<float> got = run.output(out, size);
    for (int i = 0; i < heads * length; i += 97) {
        const size_t head = (size_t) (i / length) * length * HEAD;
        double total = 0, sum[HEAD] = {};
        for (int j = 0; j < length; j++) {
            double score = 0;
            for (int c = 0; c < HEAD; c++)
                score += (double) q[(size_t) i * HEAD + c] * k[head + j * HEAD + c];
            const double p = exp(score / sqrt((double) HEAD));
            total += p;
            for (int c = 0; c < HEAD; c++)
                sum[c] += p * v[head + j * HEAD + c];
        }
        for (int c = 0; c < HEAD; c++)
            run.expect(got[(size_t) i * HEAD + c], sum[c] / total, 1e-4);
    }
}

static void attention_naive(Run &run)
{
    attention(run, [](float *q, float *k, float *v, float *out, int length, int heads) {
        attention_naive_kernel<<<dim3(length / 64, heads), 64>>>(q, k, v, out, length);
    });
}

static void attention_tiled(Run &run)
{
    attention(run, [](float *q, float *k, float *v, float *out, int length, int heads) {
        attention_tiled_kernel<<<dim3(length / 64, heads), 64>>>(q, k, v, out, length);
    });
}

#endif
