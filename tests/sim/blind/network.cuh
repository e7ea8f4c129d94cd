// network.cuh - layers of neural networks: fused elements, convolutions, decoding, optimisers.
#ifndef BLIND_NETWORK_CUH
#define BLIND_NETWORK_CUH

#include "blind.cuh"

// ---- Bias, GELU, dropout and residual: one kernel, or three ----

__host__ __device__ inline float gelu(float x)
{
    return x / (1 + expf(-1.702f * x));
}

__host__ __device__ inline float dropped(float x, unsigned i)
{
    i = (i ^ i >> 15) * 0x2c1b3c6du;
    i = (i ^ i >> 12) * 0x297a2d39u;
    return i >> 28 == 0 ? 0 : x * (16.0f / 15);
}

__global__ void bias_kernel(const float *in, const float *bias, float *out, int n, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + bias[i % cols];
}

__global__ void gelu_kernel(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = gelu(in[i]);
}

__global__ void dropout_kernel(const float *in, const float *residual, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = dropped(in[i], i) + residual[i];
}

__global__ void fused_kernel(const float *in, const float *bias, const float *residual, float *out,
                             int n, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = dropped(gelu(in[i] + bias[i % cols]), i) + residual[i];
}

template <class Launch> static void bias_gelu(Run &run, Launch launch)
{
    const int cols = 1000, n = 3300 * cols;
    const std::vector<float> in = floats(n, 141), bias = floats(cols, 142),
                             residual = floats(n, 143);
    float *from = run.upload(in), *db = run.upload(bias), *dr = run.upload(residual),
          *to = run.zeros<float>(n);
    run.measure([=] { launch(from, db, dr, to, n, cols); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) { return dropped(gelu(in[i] + bias[i % cols]), (unsigned) i) + residual[i]; },
        1e-5, 13);
}

static void gelu_fused(Run &run)
{
    bias_gelu(run, [](float *in, float *bias, float *residual, float *out, int n, int cols) {
        fused_kernel<<<blocks_for(n, 256), 256>>>(in, bias, residual, out, n, cols);
    });
}

static void gelu_in_steps(Run &run)
{
    bias_gelu(run, [](float *in, float *bias, float *residual, float *out, int n, int cols) {
        bias_kernel<<<blocks_for(n, 256), 256>>>(in, bias, out, n, cols);
        gelu_kernel<<<blocks_for(n, 256), 256>>>(out, out, n);
        dropout_kernel<<<blocks_for(n, 256), 256>>>(out, residual, out, n);
    });
}

// ---- Depthwise convolution of 3 x 3: channels outermost (NCHW) or innermost (NHWC) ----

enum { CHANNELS = 96, SIDE = 56, IMAGES = 6 };

template <bool INNERMOST> __host__ __device__ inline size_t place(int n, int c, int y, int x)
{
    return INNERMOST ? (((size_t) n * SIDE + y) * SIDE + x) * CHANNELS + c
                     : (((size_t) n * CHANNELS + c) * SIDE + y) * SIDE + x;
}

template <bool INNERMOST>
__host__ __device__ inline float depthwise_at(const float *in, const float *weight, int n, int c,
                                              int y, int x)
{
    float sum = 0;
    for (int k = 0; k < 9; k++) {
        int sy = y + k / 3 - 1, sx = x + k % 3 - 1;
        if (sy >= 0 && sx >= 0 && sy < SIDE && sx < SIDE)
            sum += weight[INNERMOST ? k * CHANNELS + c : c * 9 + k] *
                   in[place<INNERMOST>(n, c, sy, sx)];
    }
    return sum;
}

__global__ void depthwise_outermost_kernel(const float *in, const float *weight, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, y = i / SIDE, x = i % SIDE;
    if (y < SIDE)
        out[place<false>(blockIdx.z, blockIdx.y, y, x)] =
            depthwise_at<false>(in, weight, blockIdx.z, blockIdx.y, y, x);
}

__global__ void depthwise_innermost_kernel(const float *in, const float *weight, float *out)
{
    int c = threadIdx.x, x = blockIdx.x * blockDim.y + threadIdx.y, y = blockIdx.y;
    out[place<true>(blockIdx.z, c, y, x)] = depthwise_at<true>(in, weight, blockIdx.z, c, y, x);
}

template <bool INNERMOST, class Launch> static void depthwise(Run &run, Launch launch)
{
    const size_t size = (size_t) IMAGES * CHANNELS * SIDE * SIDE;
    const std::vector<float> in = floats(size, 144), weight = floats(CHANNELS * 9, 145);
    float *from = run.upload(in), *dw = run.upload(weight), *to = run.zeros<float>(size);
    run.measure([=] { launch(from, dw, to); });
    const std::vector<float> got = run.output(to, size);
    for (int n = 0; n < IMAGES; n++)
        for (int c = 0; c < CHANNELS; c += 5)
            for (int i = 0; i < SIDE * SIDE; i += 19)
                run.expect(
                    got[place<INNERMOST>(n, c, i / SIDE, i % SIDE)],
                    depthwise_at<INNERMOST>(in.data(), weight.data(), n, c, i / SIDE, i % SIDE),
                    1e-5);
}

static void depthwise_nchw(Run &run)
{
    depthwise<false>(run, [](float *in, float *weight, float *out) {
        dim3 grid(blocks_for(SIDE * SIDE, 128), CHANNELS, IMAGES);
        depthwise_outermost_kernel<<<grid, 128>>>(in, weight, out);
    });
}

static void depthwise_nhwc(Run &run)
{
    depthwise<true>(run, [](float *in, float *weight, float *out) {
        dim3 grid(SIDE / 2, SIDE, IMAGES), block(CHANNELS, 2);
        depthwise_innermost_kernel<<<grid, block>>>(in, weight, out);
    });
}

// ---- Decoding: attention of one query per head over a cache; a block per head, or 12 ----

enum { HEADS = 32, CONTEXT = 1536, DIM = 64, RECORD = DIM + 2 };

// Softmax over the scores in shared memory: returns the sum, and the maximum by reference.
__device__ inline float softmax_of(float *score, int n, float *most, float *scratch)
{
    float high = -1e30f, sum = 0;
    for (int i = 0; i < n; i++) // each thread for itself: reads are broadcasts
        high = fmaxf(high, score[i]);
    __syncthreads(); // all have read
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += score[i] = expf(score[i] - high);
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0)
        scratch[threadIdx.x / 32] = sum;
    __syncthreads(); // weights and sums are complete
    sum = 0;
    for (int i = 0; i < (int) blockDim.x / 32; i++)
        sum += scratch[i];
    *most = high;
    return sum;
}

// One part of a head's context: the weighted values, the sum of the weights, the maximum.
__global__ void decode_kernel(const float *q, const float *k, const float *v, float *part,
                              int length)
{
    extern __shared__ float score[];
    __shared__ float scratch[8], partial[4][DIM];
    int head = blockIdx.x, first = blockIdx.y * length, warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32, dim = threadIdx.x % DIM, group = threadIdx.x / DIM;
    k += ((size_t) head * CONTEXT + first) * DIM;
    v += ((size_t) head * CONTEXT + first) * DIM;
    float2 query = ((const float2 *) (q + head * DIM))[lane];
    for (int i = warp; i < length; i += 8) {
        float2 key = ((const float2 *) (k + i * DIM))[lane];
        float sum = query.x * key.x + query.y * key.y;
        for (int step = 16; step; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        if (lane == 0)
            score[i] = sum * 0.125f;
    }
    __syncthreads(); // scores are complete
    float most, weights = softmax_of(score, length, &most, scratch), sum = 0;
    for (int i = group; i < length; i += 4)
        sum += score[i] * v[i * DIM + dim];
    partial[group][dim] = sum;
    __syncthreads(); // the four sums are complete
    part += ((size_t) head * gridDim.y + blockIdx.y) * RECORD;
    if (group == 0)
        part[dim] = partial[0][dim] + partial[1][dim] + partial[2][dim] + partial[3][dim];
    if (threadIdx.x == 0)
        part[DIM] = weights, part[DIM + 1] = most;
}

__global__ void decode_merge_kernel(const float *part, float *out, int parts)
{
    float most = -1e30f, weights = 0, sum = 0;
    part += (size_t) blockIdx.x * parts * RECORD;
    for (int p = 0; p < parts; p++)
        most = fmaxf(most, part[p * RECORD + DIM + 1]);
    for (int p = 0; p < parts; p++) {
        float scale = expf(part[p * RECORD + DIM + 1] - most);
        weights += scale * part[p * RECORD + DIM];
        sum += scale * part[p * RECORD + threadIdx.x];
    }
    out[blockIdx.x * DIM + threadIdx.x] = sum / weights;
}

static double decoded(const float *q, const float *k, const float *v, int dim)
{
    double weights = 0, sum = 0;
    for (int i = 0; i < CONTEXT; i++) {
        double score = 0;
        for (int d = 0; d < DIM; d++)
            score += (double) q[d] * k[i * DIM + d];
        weights += exp(score / 8);
        sum += exp(score / 8) * v[i * DIM + dim];
    }
    return sum / weights;
}

static void decode(Run &run, int parts)
{
    const size_t size = (size_t) HEADS * CONTEXT * DIM;
    const std::vector<float> q = floats(HEADS * DIM, 146), k = floats(size, 147),
                             v = floats(size, 148);
    float *dq = run.upload(q), *dk = run.upload(k), *dv = run.upload(v);
    float *part = run.zeros<float>((size_t) HEADS * parts * RECORD),
          *out = run.zeros<float>(HEADS * DIM);
    const int length = CONTEXT / parts;
    run.measure([=] {
        decode_kernel<<<dim3(HEADS, parts), 256, length * sizeof(float)>>>(dq, dk, dv, part,
                                                                           length);
        decode_merge_kernel<<<HEADS, DIM>>>(part, out, parts);
    });
    const std::vector<float> got = run.output(out, HEADS * DIM);
    for (int head = 0; head < HEADS; head += 5)
        for (int dim = 0; dim < DIM; dim += 21)
            run.expect(got[head * DIM + dim],
                       decoded(&q[head * DIM], &k[(size_t) head * CONTEXT * DIM],
                               &v[(size_t) head * CONTEXT * DIM], dim),
                       1e-4);
}

static void decode_heads(Run &run)
{
    decode(run, 1);
}

static void decode_parts(Run &run)
{
    decode(run, 12);
}

// ---- Rows to signed bytes, with a scale per row: a warp per row ----

__global__ void quantise_kernel(const float4 *in, char4 *out, float *scale, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float4 v[6];
    float most = 0;
#pragma unroll
    for (int k = 0; k < 6; k++) {
        v[k] = in[(size_t) row * 192 + k * 32 + lane];
        most = fmaxf(
            most, fmaxf(fmaxf(fabsf(v[k].x), fabsf(v[k].y)), fmaxf(fabsf(v[k].z), fabsf(v[k].w))));
    }
    for (int step = 16; step; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
    float by = 127 / most;
#pragma unroll
    for (int k = 0; k < 6; k++)
        out[(size_t) row * 192 + k * 32 + lane] =
            make_char4((signed char) rintf(v[k].x * by), (signed char) rintf(v[k].y * by),
                       (signed char) rintf(v[k].z * by), (signed char) rintf(v[k].w * by));
    if (lane == 0)
        scale[row] = most / 127;
}

static void quantise_rows(Run &run)
{
    const int rows = 12000, cols = 768;
    const std::vector<float> in = floats((size_t) rows * cols, 149);
    float *from = run.upload(in), *scale = run.zeros<float>(rows);
    signed char *to = run.zeros<signed char>(in.size());
    run.measure([=] {
        quantise_kernel<<<blocks_for(rows * 32, 256), 256>>>((float4 *) from, (char4 *) to, scale,
                                                             rows);
    });
    const std::vector<signed char> got = run.output(to, in.size());
    for (int row = 0; row < rows; row += 113) {
        const float *v = &in[(size_t) row * cols];
        float most = 0;
        for (int c = 0; c < cols; c++)
            most = std::max(most, fabsf(v[c]));
        for (int c = 0; c < cols; c++)
            run.expect(got[(size_t) row * cols + c], rintf(v[c] * (127 / most)), 0);
    }
}

// ---- A step of Adam ----

__global__ void adam_kernel(float *p, float *m, float *v, const float *g, int n, float rate)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float mean = m[i] = 0.9f * m[i] + 0.1f * g[i];
    float square = v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
    p[i] -= rate * (mean / 0.1f) / (sqrtf(square / 0.001f) + 1e-8f);
}

static void adam_step(Run &run)
{
    const int n = 2200000;
    const std::vector<float> p = floats(n, 150), g = floats(n, 151);
    float *start = run.upload(p), *dg = run.upload(g), *state = run.zeros<float>(3 * (size_t) n);
    run.measure(
        [=] {
            adam_kernel<<<blocks_for(n, 256), 256>>>(state, state + n, state + 2 * (size_t) n, dg,
                                                     n, 0.01f);
        },
        [=] {
            CHECK(cudaMemset(state, 0, 12 * (size_t) n));
            CHECK(cudaMemcpy(state, start, 4 * (size_t) n, cudaMemcpyDeviceToDevice));
        });
    run.expect_all( // the first step goes against the gradient's sign
        run.output(state, n), [&](size_t i) { return p[i] - (g[i] > 0 ? 0.01 : -0.01); }, 1e-4, 7);
}

// ---- Sums of eight rows of a table of embeddings per bag ----

__global__ void __launch_bounds__(64) bag_kernel(const float4 *table, const int *index, float4 *out)
{
    float4 sum = { 0, 0, 0, 0 };
    for (int k = 0; k < 8; k++) {
        float4 v = table[(size_t) index[blockIdx.x * 8 + k] * 64 + threadIdx.x];
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

static void embedding_bags(Run &run)
{
    const int rows = 40000, bags = 12000;
    const std::vector<float> table = floats((size_t) rows * 256, 152);
    const std::vector<int> index = integers(bags * 8, rows, 153);
    float *dt = run.upload(table), *out = run.zeros<float>((size_t) bags * 256);
    int *di = run.upload(index);
    run.measure([=] { bag_kernel<<<bags, 64>>>((float4 *) dt, di, (float4 *) out); });
    run.expect_all(
        run.output(out, (size_t) bags * 256),
        [&](size_t i) {
            double sum = 0;
            for (size_t k = 0; k < 8; k++)
                sum += table[(size_t) index[i / 256 * 8 + k] * 256 + i % 256];
            return sum;
        },
        1e-5, 37);
}

#endif
