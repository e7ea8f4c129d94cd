// layers.cuh - machine learning: 1 x 1 convolution, group norm, GRU, k-means, 4-bit weights, top
// two.
#ifndef BLIND_LAYERS_CUH
#define BLIND_LAYERS_CUH

#include "blind.cuh"

// ---- Convolution of 1 x 1, NCHW: an output per thread, or eight channels per thread ----

enum { MAP = 28 * 28, MAP_IN = 64, MAP_OUT = 64, MAPS = 14 };

__global__ void conv1_each_kernel(const float *in, const float *weight, float *out)
{
    int pixel = blockIdx.x * blockDim.x + threadIdx.x, channel = blockIdx.y, image = blockIdx.z;
    float sum = 0;
    if (pixel >= MAP)
        return;
    for (int c = 0; c < MAP_IN; c++)
        sum += in[(image * MAP_IN + c) * MAP + pixel] * weight[channel * MAP_IN + c];
    out[(image * MAP_OUT + channel) * MAP + pixel] = sum;
}

__global__ void conv1_eight_kernel(const float *in, const float *weight, float *out)
{
    __shared__ float w[8][MAP_IN];
    int pixel = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 8, image = blockIdx.z;
    float sum[8] = {};
    for (int k = threadIdx.x; k < 8 * MAP_IN; k += blockDim.x)
        w[k / MAP_IN][k % MAP_IN] = weight[first * MAP_IN + k];
    __syncthreads(); // the weights are complete
    if (pixel >= MAP)
        return;
    for (int c = 0; c < MAP_IN; c++) {
        float v = in[(image * MAP_IN + c) * MAP + pixel];
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum[k] += v * w[k][c];
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        out[(image * MAP_OUT + first + k) * MAP + pixel] = sum[k];
}

template <class Launch> static void conv1(Run &run, Launch launch)
{
    const std::vector<float> in = floats(MAPS * MAP_IN * MAP, 341),
                             weight = floats(MAP_OUT * MAP_IN, 342);
    float *from = run.upload(in), *dw = run.upload(weight),
          *to = run.zeros<float>(MAPS * MAP_OUT * MAP);
    run.measure([=] { launch(from, dw, to); });
    run.expect_all(
        run.output(to, MAPS * MAP_OUT * MAP),
        [&](size_t i) {
            const size_t pixel = i % MAP, channel = i / MAP % MAP_OUT, image = i / MAP / MAP_OUT;
            double sum = 0;
            for (int c = 0; c < MAP_IN; c++)
                sum +=
                    (double) in[(image * MAP_IN + c) * MAP + pixel] * weight[channel * MAP_IN + c];
            return sum;
        },
        1e-4, 101);
}

static void conv1_each(Run &run)
{
    conv1(run, [](float *in, float *weight, float *out) {
        conv1_each_kernel<<<dim3(blocks_for(MAP, 128), MAP_OUT, MAPS), 128>>>(in, weight, out);
    });
}

static void conv1_eight(Run &run)
{
    conv1(run, [](float *in, float *weight, float *out) {
        dim3 grid(blocks_for(MAP, 128), MAP_OUT / 8, MAPS);
        conv1_eight_kernel<<<grid, 128>>>(in, weight, out);
    });
}

// ---- Group norm: mean, then variance, in two passes; or both sums in one ----

enum { NORM_GROUP = 8 * 900, NORM_GROUPS = 1200 };

// The sum of a block of 256; all threads get it.
__device__ inline float group_sum(float v)
{
    __shared__ float part[8];
    for (int step = 16; step; step /= 2)
        v += __shfl_xor_sync(~0u, v, step);
    __syncthreads(); // the previous sum has been read
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads(); // the warps' sums are complete
    v = 0;
    for (int k = 0; k < 8; k++)
        v += part[k];
    return v;
}

__global__ void group_norm_two_kernel(const float *in, float *out)
{
    float sum = 0, squares = 0;
    in += (size_t) blockIdx.x * NORM_GROUP;
    out += (size_t) blockIdx.x * NORM_GROUP;
    for (int k = threadIdx.x; k < NORM_GROUP; k += 256)
        sum += in[k];
    float mean = group_sum(sum) / NORM_GROUP;
    for (int k = threadIdx.x; k < NORM_GROUP; k += 256)
        squares += (in[k] - mean) * (in[k] - mean);
    float by = rsqrtf(group_sum(squares) / NORM_GROUP + 1e-5f);
    for (int k = threadIdx.x; k < NORM_GROUP; k += 256)
        out[k] = (in[k] - mean) * by;
}

__global__ void group_norm_one_kernel(const float *in, float *out)
{
    float sum = 0, squares = 0;
    in += (size_t) blockIdx.x * NORM_GROUP;
    out += (size_t) blockIdx.x * NORM_GROUP;
    for (int k = threadIdx.x; k < NORM_GROUP; k += 256) {
        float v = in[k];
        sum += v;
        squares += v * v;
    }
    float mean = group_sum(sum) / NORM_GROUP;
    float by = rsqrtf(group_sum(squares) / NORM_GROUP - mean * mean + 1e-5f);
    for (int k = threadIdx.x; k < NORM_GROUP; k += 256)
        out[k] = (in[k] - mean) * by;
}

template <class Launch> static void group_norm(Run &run, Launch launch)
{
    const std::vector<float> in = floats((size_t) NORM_GROUP * NORM_GROUPS, 343, -1, 2);
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] { launch(from, to); });
    const std::vector<float> got = run.output(to, in.size());
    for (int group = 0; group < NORM_GROUPS; group += 19) {
        const float *v = &in[(size_t) group * NORM_GROUP];
        double sum = 0, squares = 0;
        for (int k = 0; k < NORM_GROUP; k++) {
            sum += v[k];
            squares += (double) v[k] * v[k];
        }
        const double mean = sum / NORM_GROUP, variance = squares / NORM_GROUP - mean * mean;
        for (int k = 0; k < NORM_GROUP; k += 41)
            run.expect(got[(size_t) group * NORM_GROUP + k], (v[k] - mean) / sqrt(variance + 1e-5),
                       1e-4);
    }
}

static void group_norm_two(Run &run)
{
    group_norm(run,
               [](float *in, float *out) { group_norm_two_kernel<<<NORM_GROUPS, 256>>>(in, out); });
}

static void group_norm_one(Run &run)
{
    group_norm(run,
               [](float *in, float *out) { group_norm_one_kernel<<<NORM_GROUPS, 256>>>(in, out); });
}

// ---- The elementwise part of a GRU cell ----

__host__ __device__ inline float sigmoid_of(float x)
{
    return 1 / (1 + expf(-x));
}

// The gates lie side by side in a row of 3 * hidden: reset, update, new.
__host__ __device__ inline float gru_of(const float *x, const float *h, float before, int hidden)
{
    float reset = sigmoid_of(x[0] + h[0]), update = sigmoid_of(x[hidden] + h[hidden]);
    float fresh = tanhf(x[2 * hidden] + reset * h[2 * hidden]);
    return (1 - update) * fresh + update * before;
}

__global__ void gru_kernel(const float *x, const float *h, const float *before, float *out,
                           int hidden, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= hidden * rows)
        return;
    int at = i / hidden * 3 * hidden + i % hidden;
    out[i] = gru_of(x + at, h + at, before[i], hidden);
}

static void gru_cell(Run &run)
{
    const int hidden = 600, rows = 3000, n = hidden * rows;
    const std::vector<float> x = floats((size_t) n * 3, 344, -3, 3),
                             h = floats((size_t) n * 3, 345, -3, 3), before = floats(n, 346);
    float *dx = run.upload(x), *dh = run.upload(h), *db = run.upload(before),
          *to = run.zeros<float>(n);
    run.measure([=] { gru_kernel<<<blocks_for(n, 256), 256>>>(dx, dh, db, to, hidden, rows); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            const size_t at = i / hidden * 3 * hidden + i % hidden;
            return gru_of(&x[at], &h[at], before[i], hidden);
        },
        1e-5, 31);
}

// ---- The nearest of 32 centres in 8 dimensions: centres in global, or in shared memory ----

enum { CENTRES = 32, FEATURES = 8 };

__host__ __device__ inline int nearest_centre(const float *point, const float *centre)
{
    float least = 1e30f;
    int best = 0;
    for (int k = 0; k < CENTRES; k++) {
        float sum = 0;
        for (int d = 0; d < FEATURES; d++) {
            float difference = point[d] - centre[k * FEATURES + d];
            sum += difference * difference;
        }
        if (sum < least) {
            least = sum;
            best = k;
        }
    }
    return best;
}

__global__ void assign_global_kernel(const float *point, const float *centre, int *label, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        label[i] = nearest_centre(point + i * FEATURES, centre);
}

__global__ void assign_shared_kernel(const float *point, const float *centre, int *label, int n)
{
    __shared__ float near[CENTRES * FEATURES];
    float mine[FEATURES];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < CENTRES * FEATURES; k += blockDim.x)
        near[k] = centre[k];
    __syncthreads(); // the centres are complete
    if (i >= n)
        return;
    for (int d = 0; d < FEATURES; d++)
        mine[d] = point[i * FEATURES + d];
    label[i] = nearest_centre(mine, near);
}

// Coordinates are small integers: distances are exact.
template <class Launch> static void assign(Run &run, Launch launch)
{
    const int n = 110000;
    const std::vector<int> p = integers(n * FEATURES, 40, 347),
                           c = integers(CENTRES * FEATURES, 40, 348);
    const std::vector<float> point(p.begin(), p.end()), centre(c.begin(), c.end());
    float *dp = run.upload(point), *dc = run.upload(centre);
    int *label = run.zeros<int>(n);
    run.measure([=] { launch(dp, dc, label, n); });
    run.expect_all(
        run.output(label, n),
        [&](size_t i) { return nearest_centre(&point[i * FEATURES], centre.data()); }, 0, 29);
}

static void assign_global(Run &run)
{
    assign(run, [](float *point, float *centre, int *label, int n) {
        assign_global_kernel<<<blocks_for(n, 128), 128>>>(point, centre, label, n);
    });
}

static void assign_shared(Run &run)
{
    assign(run, [](float *point, float *centre, int *label, int n) {
        assign_shared_kernel<<<blocks_for(n, 128), 128>>>(point, centre, label, n);
    });
}

// ---- Weights of 4 bits, with a scale per 64, to floats: a thread per weight, or per word ----

__global__ void nibble_each_kernel(const unsigned char *packed, const float *scale, float *out,
                                   int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = ((packed[i / 2] >> i % 2 * 4 & 15) - 8) * scale[i / 64];
}

__global__ void nibble_word_kernel(const unsigned *packed, const float *scale, float4 *out,
                                   int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    unsigned word = packed[i];
    float by = scale[i / 8], v[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = ((int) (word >> 4 * k & 15) - 8) * by;
    out[2 * i] = make_float4(v[0], v[1], v[2], v[3]);
    out[2 * i + 1] = make_float4(v[4], v[5], v[6], v[7]);
}

template <class Launch> static void nibbles(Run &run, Launch launch)
{
    const int n = 7000000 / 64 * 64;
    const std::vector<uint32_t> packed = words(n / 8, 349);
    const std::vector<float> scale = floats(n / 64, 350, 0.01f, 0.2f);
    unsigned *dp = run.upload(packed);
    float *ds = run.upload(scale), *to = run.zeros<float>(n);
    run.measure([=] { launch(dp, ds, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) { return ((int) (packed[i / 8] >> i % 8 * 4 & 15) - 8) * scale[i / 64]; },
        1e-6, 61);
}

static void nibble_each(Run &run)
{
    nibbles(run, [](unsigned *packed, float *scale, float *out, int n) {
        nibble_each_kernel<<<blocks_for(n, 256), 256>>>((unsigned char *) packed, scale, out, n);
    });
}

static void nibble_word(Run &run)
{
    nibbles(run, [](unsigned *packed, float *scale, float *out, int n) {
        nibble_word_kernel<<<blocks_for(n / 8, 128), 128>>>(packed, scale, (float4 *) out, n / 8);
    });
}

// ---- The two largest scores of each row of 2500: a thread per row, or a warp per row ----

struct TopTwo {
    float first, second;
};

__host__ __device__ inline void take(TopTwo &top, float v)
{
    if (v > top.first) {
        top.second = top.first;
        top.first = v;
    } else if (v > top.second)
        top.second = v;
}

__global__ void top_thread_kernel(const float *in, TopTwo *out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    TopTwo top = { -1e30f, -1e30f };
    if (row >= rows)
        return;
    for (int c = 0; c < cols; c++)
        take(top, in[(size_t) row * cols + c]);
    out[row] = top;
}

__global__ void top_warp_kernel(const float *in, TopTwo *out, int rows, int cols)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    TopTwo top = { -1e30f, -1e30f };
    if (row >= rows)
        return;
    for (int c = lane; c < cols; c += 32)
        take(top, in[(size_t) row * cols + c]);
    for (int step = 16; step; step /= 2) {
        float first = __shfl_xor_sync(~0u, top.first, step);
        float second = __shfl_xor_sync(~0u, top.second, step);
        take(top, first);
        take(top, second);
    }
    if (lane == 0)
        out[row] = top;
}

template <class Launch> static void top_two(Run &run, Launch launch)
{
    const int rows = 3000, cols = 2500;
    const std::vector<float> in = floats((size_t) rows * cols, 351);
    float *from = run.upload(in);
    TopTwo *to = run.zeros<TopTwo>(rows);
    run.measure([=] { launch(from, to, rows, cols); });
    const std::vector<TopTwo> got = run.output(to, rows);
    for (int row = 0; row < rows; row += 17) {
        TopTwo top = { -1e30f, -1e30f };
        for (int c = 0; c < cols; c++)
            take(top, in[(size_t) row * cols + c]);
        run.expect(got[row].first, top.first, 0);
        run.expect(got[row].second, top.second, 0);
    }
}

static void top_thread(Run &run)
{
    top_two(run, [](float *in, TopTwo *out, int rows, int cols) {
        top_thread_kernel<<<blocks_for(rows, 32), 32>>>(in, out, rows, cols);
    });
}

static void top_warp(Run &run)
{
    top_two(run, [](float *in, TopTwo *out, int rows, int cols) {
        top_warp_kernel<<<blocks_for((size_t) rows * 32, 128), 128>>>(in, out, rows, cols);
    });
}

#endif
