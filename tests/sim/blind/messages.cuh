// messages.cuh - layers on graphs, maps and sequences: messages between nodes, sampled grids,
// masked softmax, attention in a window.
#ifndef BLIND_MESSAGES_CUH
#define BLIND_MESSAGES_CUH

#include "blind.cuh"

// ---- Sums of neighbours' features: atomics by edge, or a block per node over its list ----

enum { GNN_NODES = 28000, GNN_DEGREE = 8, GNN_FEATURES = 64 };

__global__ void messages_atomic_kernel(const int2 *edges, const float *weights, const float *in,
                                       float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int e = i / GNN_FEATURES, f = i % GNN_FEATURES;
    const int2 edge = edges[e];
    atomicAdd(&out[edge.y * GNN_FEATURES + f], weights[e] * in[edge.x * GNN_FEATURES + f]);
}

// The edges of a node are consecutive.
__global__ void messages_nodes_kernel(const int *first, const int2 *edges, const float *weights,
                                      const float *in, float *out)
{
    const int node = blockIdx.x, f = threadIdx.x;
    float sum = 0;
    for (int e = first[node]; e < first[node + 1]; e++)
        sum += weights[e] * in[edges[e].x * GNN_FEATURES + f];
    out[node * GNN_FEATURES + f] = sum;
}

static void messages(Run &run, bool atomic)
{
    const int n = GNN_NODES * GNN_FEATURES;
    std::vector<int> first(1, 0);
    std::vector<int2> edges;
    for (int i = 0; i < GNN_NODES; i++) {
        for (uint32_t k = 0; k < GNN_DEGREE / 2 + mix(i + 5041) % GNN_DEGREE; k++)
            edges.push_back(make_int2(mix(i * 64 + k + 5042) % GNN_NODES, i));
        first.push_back((int) edges.size());
    }
    const int count = (int) edges.size() / 4 * 4; // blocks hold four edges
    const std::vector<float> weights = floats(edges.size(), 5043), in = floats(n, 5044);
    int2 *de = run.upload(edges);
    int *df = run.upload(first);
    float *dw = run.upload(weights), *from = run.upload(in), *to = run.zeros<float>(n);
    run.measure(
        [=] {
            if (atomic)
                messages_atomic_kernel<<<count / 4, 256>>>(de, dw, from, to);
            else
                messages_nodes_kernel<<<GNN_NODES, GNN_FEATURES>>>(df, de, dw, from, to);
        },
        [=] { CHECK(cudaMemset(to, 0, n * sizeof *to)); });
    const std::vector<float> got = run.output(to, n);
    for (int i = 0; i < n - GNN_FEATURES; i += 83) {
        double sum = 0;
        for (int e = first[i / GNN_FEATURES]; e < first[i / GNN_FEATURES + 1]; e++)
            sum += weights[e] * in[edges[e].x * GNN_FEATURES + i % GNN_FEATURES];
        run.expect(got[i], sum, 1e-4);
    }
}

static void messages_atomic(Run &run)
{
    messages(run, true);
}

static void messages_nodes(Run &run)
{
    messages(run, false);
}

// ---- Samples of feature maps at given places: channels as planes, or innermost ----

enum { SAMPLE_CHANNELS = 48, SAMPLE_SIDE = 160, SAMPLE_POINTS = 40000 };

template <bool planes> __host__ __device__ inline int sample_index(int c, int x, int y)
{
    return planes ? (c * SAMPLE_SIDE + y) * SAMPLE_SIDE + x
                  : (y * SAMPLE_SIDE + x) * SAMPLE_CHANNELS + c;
}

template <bool planes>
__host__ __device__ inline float sample_at(const float *map, float2 place, int c)
{
    const int x = (int) place.x, y = (int) place.y;
    const float fx = place.x - x, fy = place.y - y;
    const float a = map[sample_index<planes>(c, x, y)], b = map[sample_index<planes>(c, x + 1, y)];
    const float d = map[sample_index<planes>(c, x, y + 1)];
    const float e = map[sample_index<planes>(c, x + 1, y + 1)];
    return (1 - fy) * ((1 - fx) * a + fx * b) + fy * ((1 - fx) * d + fx * e);
}

// Planes: consecutive threads take consecutive points. Else they take consecutive channels.
template <bool planes>
__global__ void sample_kernel(const float *map, const float2 *places, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int c = planes ? i / SAMPLE_POINTS : i % SAMPLE_CHANNELS;
    const int p = planes ? i % SAMPLE_POINTS : i / SAMPLE_CHANNELS;
    if (i < SAMPLE_POINTS * SAMPLE_CHANNELS)
        out[i] = sample_at<planes>(map, places[p], c);
}

template <bool planes> static void sample(Run &run)
{
    const int n = SAMPLE_POINTS * SAMPLE_CHANNELS;
    const std::vector<float> map = floats(SAMPLE_CHANNELS * SAMPLE_SIDE * SAMPLE_SIDE, 5045);
    const std::vector<float> v = floats(2 * SAMPLE_POINTS, 5046, 0, SAMPLE_SIDE - 1.01f);
    std::vector<float2> places(SAMPLE_POINTS);
    for (int p = 0; p < SAMPLE_POINTS; p++)
        places[p] = make_float2(v[2 * p], v[2 * p + 1]);
    float *from = run.upload(map), *to = run.zeros<float>(n);
    float2 *dp = run.upload(places);
    run.measure([=] { sample_kernel<planes><<<blocks_for(n, 256), 256>>>(from, dp, to); });
    run.expect_all(
        run.output(to, n),
        [&](int i) {
            const int c = planes ? i / SAMPLE_POINTS : i % SAMPLE_CHANNELS;
            const int p = planes ? i % SAMPLE_POINTS : i / SAMPLE_CHANNELS;
            return sample_at<planes>(map.data(), places[p], c);
        },
        1e-4, 89);
}

static void sample_planes(Run &run)
{
    sample<true>(run);
}

static void sample_channels(Run &run)
{
    sample<false>(run);
}

// ---- Softmax of rows of differing lengths, at most 256: a block per row, or a warp per row ----

enum { MASK_ROWS = 15000, MASK_WIDTH = 256, MASK_THREADS = 128 };

// A thread holds two values.
__global__ void mask_block_kernel(const float *in, const int *lengths, float *out)
{
    __shared__ float part[MASK_THREADS];
    const int t = threadIdx.x, u = t + MASK_THREADS, at = blockIdx.x * MASK_WIDTH + t;
    const int length = lengths[blockIdx.x];
    const float v = t < length ? in[at] : -1e30f, w = u < length ? in[at + MASK_THREADS] : -1e30f;
    part[t] = fmaxf(v, w);
    __syncthreads();
    for (int d = MASK_THREADS / 2; d; d /= 2) {
        if (t < d)
            part[t] = fmaxf(part[t], part[t + d]);
        __syncthreads();
    }
    const float e = __expf(v - part[0]), f = __expf(w - part[0]);
    __syncthreads();
    part[t] = e + f;
    __syncthreads();
    for (int d = MASK_THREADS / 2; d; d /= 2) {
        if (t < d)
            part[t] += part[t + d];
        __syncthreads();
    }
    out[at] = e / part[0];
    out[at + MASK_THREADS] = f / part[0];
}

__global__ void mask_warp_kernel(const float *in, const int *lengths, float *out)
{
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    const int length = lengths[row];
    float v[MASK_WIDTH / 32], most = -1e30f, sum = 0;
    for (int k = 0; k < MASK_WIDTH / 32; k++) {
        const int t = k * 32 + lane;
        v[k] = t < length ? in[row * MASK_WIDTH + t] : -1e30f;
        most = fmaxf(most, v[k]);
    }
    for (int d = 16; d; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    for (int k = 0; k < MASK_WIDTH / 32; k++)
        sum += v[k] = __expf(v[k] - most);
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    for (int k = 0; k < MASK_WIDTH / 32; k++)
        out[row * MASK_WIDTH + k * 32 + lane] = v[k] / sum;
}

static void masked(Run &run, bool block)
{
    const int n = MASK_ROWS * MASK_WIDTH;
    const std::vector<float> in = floats(n, 5047, -4, 4);
    std::vector<int> lengths = integers(MASK_ROWS, MASK_WIDTH, 5048);
    for (int &length : lengths)
        length++;
    float *from = run.upload(in), *to = run.zeros<float>(n);
    int *dl = run.upload(lengths);
    run.measure([=] {
        if (block)
            mask_block_kernel<<<MASK_ROWS, MASK_THREADS>>>(from, dl, to);
        else
            mask_warp_kernel<<<MASK_ROWS / 4, 128>>>(from, dl, to);
    });
    const std::vector<float> got = run.output(to, n);
    for (int r = 0; r < MASK_ROWS; r += 79) {
        double sum = 0;
        for (int t = 0; t < lengths[r]; t++)
            sum += exp(in[r * MASK_WIDTH + t]);
        for (int t = 0; t < MASK_WIDTH; t++)
            run.expect(got[r * MASK_WIDTH + t],
                       t < lengths[r] ? exp(in[r * MASK_WIDTH + t]) / sum : 0, 1e-4);
    }
}

static void mask_block(Run &run)
{
    masked(run, true);
}

static void mask_warp(Run &run)
{
    masked(run, false);
}

// ---- Attention to the last 96 positions: a thread per query, without any sharing ----

enum { SLIDE_HEADS = 8, SLIDE_TIME = 1024, SLIDE_SPAN = 96, SLIDE_DIMS = 32 };

__host__ __device__ inline void slide_query(const float *q, const float *k, const float *v, int t,
                                            float *out)
{
    float sum = 0, best = -1e30f;
    for (int d = 0; d < SLIDE_DIMS; d++)
        out[d] = 0;
    for (int s = t >= SLIDE_SPAN ? t - SLIDE_SPAN + 1 : 0; s <= t; s++) {
        float score = 0;
        for (int d = 0; d < SLIDE_DIMS; d++)
            score += q[t * SLIDE_DIMS + d] * k[s * SLIDE_DIMS + d];
        const float most = fmaxf(best, score), keep = expf(best - most), add = expf(score - most);
        for (int d = 0; d < SLIDE_DIMS; d++)
            out[d] = out[d] * keep + add * v[s * SLIDE_DIMS + d];
        sum = sum * keep + add;
        best = most;
    }
    for (int d = 0; d < SLIDE_DIMS; d++)
        out[d] /= sum;
}

__global__ void slide_kernel(const float *q, const float *k, const float *v, float *out)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int head = blockIdx.y * SLIDE_TIME * SLIDE_DIMS;
    float mine[SLIDE_DIMS];
    slide_query(q + head, k + head, v + head, t, mine);
    for (int d = 0; d < SLIDE_DIMS; d++)
        out[head + t * SLIDE_DIMS + d] = mine[d];
}

static void slide_attention(Run &run)
{
    const int n = SLIDE_HEADS * SLIDE_TIME * SLIDE_DIMS;
    const std::vector<float> q = floats(n, 5049), k = floats(n, 5050), v = floats(n, 5051);
    float *dq = run.upload(q), *dk = run.upload(k), *dv = run.upload(v), *to = run.zeros<float>(n);
    run.measure([=] { slide_kernel<<<dim3(SLIDE_TIME / 64, SLIDE_HEADS), 64>>>(dq, dk, dv, to); });
    const std::vector<float> got = run.output(to, n);
    for (int i = 0; i < SLIDE_HEADS * SLIDE_TIME; i += 61) {
        const int head = i / SLIDE_TIME * SLIDE_TIME * SLIDE_DIMS;
        float wanted[SLIDE_DIMS];
        slide_query(&q[head], &k[head], &v[head], i % SLIDE_TIME, wanted);
        for (int d = 0; d < SLIDE_DIMS; d++)
            run.expect(got[i * SLIDE_DIMS + d], wanted[d], 1e-4);
    }
}

#endif
