// norms.cuh - layers of networks: RMS norm, statistics of a batch, routing to experts, gated units,
// upsampling.
#ifndef BLIND_NORMS_CUH
#define BLIND_NORMS_CUH

#include "blind.cuh"

#include <cuda_fp16.h>

// ---- RMS norm of rows of 1024: a block per row in two passes, or a warp per row in registers ----

enum { RMS_WIDTH = 1024 };

__global__ void __launch_bounds__(256)
    rms_block_kernel(const float *in, const float *gain, float *out)
{
    __shared__ float work[256];
    const int t = threadIdx.x;
    const size_t first = (size_t) blockIdx.x * RMS_WIDTH;
    float sum = 0;
    for (int k = t; k < RMS_WIDTH; k += 256)
        sum += in[first + k] * in[first + k];
    work[t] = sum;
    for (int half = 128; half; half /= 2) {
        __syncthreads(); // the step before is complete
        if (t < half)
            work[t] += work[t + half];
    }
    __syncthreads(); // the sum is complete
    const float scale = rsqrtf(work[0] / RMS_WIDTH + 1e-6f);
    for (int k = t; k < RMS_WIDTH; k += 256)
        out[first + k] = in[first + k] * scale * gain[k];
}

__global__ void rms_warp_kernel(const float4 *in, const float4 *gain, float4 *out, int rows)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const size_t first = (size_t) row * (RMS_WIDTH / 4) + lane;
    float4 v[RMS_WIDTH / 128];
    float sum = 0;
    if (row >= rows)
        return;
#pragma unroll
    for (int k = 0; k < RMS_WIDTH / 128; k++) {
        v[k] = in[first + 32 * k];
        sum += v[k].x * v[k].x + v[k].y * v[k].y + v[k].z * v[k].z + v[k].w * v[k].w;
    }
    for (int apart = 16; apart; apart /= 2)
        sum += __shfl_xor_sync(~0u, sum, apart);
    const float scale = rsqrtf(sum / RMS_WIDTH + 1e-6f);
#pragma unroll
    for (int k = 0; k < RMS_WIDTH / 128; k++) {
        float4 g = gain[lane + 32 * k];
        out[first + 32 * k] = make_float4(v[k].x * scale * g.x, v[k].y * scale * g.y,
                                          v[k].z * scale * g.z, v[k].w * scale * g.w);
    }
}

static void rms(Run &run, bool by_warp)
{
    const int rows = 4500, n = rows * RMS_WIDTH;
    const std::vector<float> in = floats(n, 601), gain = floats(RMS_WIDTH, 602, 0.5f, 1.5f);
    float *from = run.upload(in), *dg = run.upload(gain), *to = run.zeros<float>(n);
    run.measure([=] {
        if (by_warp)
            rms_warp_kernel<<<blocks_for(rows * 32, 128), 128>>>((float4 *) from, (float4 *) dg,
                                                                 (float4 *) to, rows);
        else
            rms_block_kernel<<<rows, 256>>>(from, dg, to);
    });
    const std::vector<float> got = run.output(to, n);
    for (int row = 0; row < rows; row += 71) {
        double sum = 0;
        for (int k = 0; k < RMS_WIDTH; k++)
            sum += (double) in[row * RMS_WIDTH + k] * in[row * RMS_WIDTH + k];
        for (int k = 0; k < RMS_WIDTH; k += 5)
            run.expect(got[row * RMS_WIDTH + k],
                       in[row * RMS_WIDTH + k] / sqrt(sum / RMS_WIDTH + 1e-6) * gain[k], 1e-5);
    }
}

static void rms_block(Run &run)
{
    rms(run, false);
}

static void rms_warp(Run &run)
{
    rms(run, true);
}

// ---- Mean and variance of each channel: a block per channel, or a block per image and channel
// ----

enum { BATCH = 48, BATCH_CHANNELS = 56, BATCH_AREA = 28 * 28 };

// The sum is in the first thread.
__device__ inline float batch_block_sum(float sum)
{
    __shared__ float part[8];
    for (int apart = 16; apart; apart /= 2)
        sum += __shfl_down_sync(~0u, sum, apart);
    __syncthreads(); // a sum before this one has been read
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads(); // the warps' sums are complete
    sum = 0;
    for (unsigned k = 0; k < blockDim.x / 32; k++)
        sum += part[k];
    return sum;
}

__global__ void __launch_bounds__(256) batch_channel_kernel(const float *in, float2 *out)
{
    const int channel = blockIdx.x, n = BATCH * BATCH_AREA;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < n; i += 256)
        sum += in[(i / BATCH_AREA * BATCH_CHANNELS + channel) * BATCH_AREA + i % BATCH_AREA];
    const float mean = batch_block_sum(sum) / n;
    for (int i = threadIdx.x; i < n; i += 256) {
        int at = (i / BATCH_AREA * BATCH_CHANNELS + channel) * BATCH_AREA + i % BATCH_AREA;
        squares += (in[at] - mean) * (in[at] - mean);
    }
    squares = batch_block_sum(squares);
    if (threadIdx.x == 0)
        out[channel] = make_float2(mean, squares / n);
}

__global__ void __launch_bounds__(128) batch_sums_kernel(const float *in, float2 *sums)
{
    const float *plane = in + (blockIdx.y * BATCH_CHANNELS + blockIdx.x) * BATCH_AREA;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < BATCH_AREA; i += 128) {
        sum += plane[i];
        squares += plane[i] * plane[i];
    }
    sum = batch_block_sum(sum);
    squares = batch_block_sum(squares);
    if (threadIdx.x > 0)
        return;
    atomicAdd(&sums[blockIdx.x].x, sum);
    atomicAdd(&sums[blockIdx.x].y, squares);
}

__global__ void batch_finish_kernel(const float2 *sums, float2 *out)
{
    int channel = threadIdx.x;
    const float n = BATCH * BATCH_AREA, mean = sums[channel].x / n;
    out[channel] = make_float2(mean, sums[channel].y / n - mean * mean);
}

static void batch(Run &run, bool split)
{
    const std::vector<float> in = floats(BATCH * BATCH_CHANNELS * BATCH_AREA, 603, -1, 2);
    float *from = run.upload(in);
    float2 *sums = run.zeros<float2>(BATCH_CHANNELS), *to = run.zeros<float2>(BATCH_CHANNELS);
    run.measure(
        [=] {
            if (split) {
                batch_sums_kernel<<<dim3(BATCH_CHANNELS, BATCH), 128>>>(from, sums);
                batch_finish_kernel<<<1, BATCH_CHANNELS>>>(sums, to);
            } else {
                batch_channel_kernel<<<BATCH_CHANNELS, 256>>>(from, to);
            }
        },
        [=] { CHECK(cudaMemset(sums, 0, BATCH_CHANNELS * sizeof(float2))); });
    const std::vector<float2> got = run.output(to, BATCH_CHANNELS);
    for (int channel = 0; channel < BATCH_CHANNELS; channel += 5) {
        const double n = BATCH * BATCH_AREA;
        double sum = 0, squares = 0;
        for (int i = 0; i < BATCH; i++)
            for (int k = 0; k < BATCH_AREA; k++) {
                const double v = in[(i * BATCH_CHANNELS + channel) * BATCH_AREA + k];
                sum += v;
                squares += v * v;
            }
        run.expect(got[channel].x, sum / n, 1e-4);
        run.expect(got[channel].y, squares / n - sum / n * sum / n, 1e-4);
    }
}

static void batch_channel(Run &run)
{
    batch(run, false);
}

static void batch_split(Run &run)
{
    batch(run, true);
}

// ---- Two of 16 experts per token, and a place in each one's queue: global or shared counters ----

enum { EXPERTS = 16 };

struct Routes {
    int first, second;
};

__device__ inline Routes best_experts(const float *score)
{
    Routes best = { 0, -1 };
    for (int e = 1; e < EXPERTS; e++)
        if (score[e] > score[best.first])
            best = { e, best.first };
        else if (best.second < 0 || score[e] > score[best.second])
            best.second = e;
    return best;
}

__global__ void route_each_kernel(const float *score, Routes *route, int2 *place, int *count,
                                  int tokens)
{
    int token = blockIdx.x * blockDim.x + threadIdx.x;
    if (token >= tokens)
        return;
    Routes best = best_experts(score + token * EXPERTS);
    route[token] = best;
    place[token].x = atomicAdd(&count[best.first], 1);
    place[token].y = atomicAdd(&count[best.second], 1);
}

__global__ void route_block_kernel(const float *score, Routes *route, int2 *place, int *count,
                                   int tokens)
{
    __shared__ int local[EXPERTS], base[EXPERTS];
    const int token = blockIdx.x * blockDim.x + threadIdx.x;
    Routes best = { 0, 0 };
    int2 mine = { 0, 0 };
    if (threadIdx.x < EXPERTS)
        local[threadIdx.x] = 0;
    __syncthreads(); // the counters are zero
    if (token < tokens) {
        best = best_experts(score + token * EXPERTS);
        mine = make_int2(atomicAdd(&local[best.first], 1), atomicAdd(&local[best.second], 1));
    }
    __syncthreads(); // the block's counts are complete
    if (threadIdx.x < EXPERTS)
        base[threadIdx.x] = atomicAdd(&count[threadIdx.x], local[threadIdx.x]);
    __syncthreads(); // the block's places are known
    if (token >= tokens)
        return;
    route[token] = best;
    place[token] = make_int2(mine.x + base[best.first], mine.y + base[best.second]);
}

// The order within a queue varies: the sum of an expert's places does not.
static void check_places(Run &run, const std::vector<Routes> &route, const int2 *device,
                         const std::vector<int> &count)
{
    std::vector<int2> place(route.size());
    double sum[EXPERTS] = {};
    CHECK(cudaMemcpy(place.data(), device, place.size() * sizeof(int2), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < route.size(); i++) {
        sum[route[i].first] += place[i].x;
        sum[route[i].second] += place[i].y;
    }
    for (int e = 0; e < EXPERTS; e++)
        run.expect(sum[e], count[e] * (count[e] - 1.0) / 2, 0);
}

static void route(Run &run, void (*kernel)(const float *, Routes *, int2 *, int *, int))
{
    const int tokens = 250000;
    std::vector<float> score = floats(tokens * EXPERTS, 604);
    for (size_t i = 0; i < score.size(); i++)
        score[i] += 0.02f * (i % EXPERTS); // some experts are more popular
    float *ds = run.upload(score);
    Routes *dr = run.zeros<Routes>(tokens);
    int2 *place = run.zeros<int2>(tokens);
    int *dc = run.zeros<int>(EXPERTS);
    run.measure([=] { kernel<<<blocks_for(tokens, 256), 256>>>(ds, dr, place, dc, tokens); },
                [=] { CHECK(cudaMemset(dc, 0, EXPERTS * sizeof(int))); });
    const std::vector<Routes> got = run.output(dr, tokens);
    check_places(run, got, place, run.output(dc, EXPERTS));
    for (int token = 0; token < tokens; token += 7) {
        const float *s = &score[token * EXPERTS];
        run.expect(s[got[token].first], *std::max_element(s, s + EXPERTS), 0);
        int above = 0;
        for (int e = 0; e < EXPERTS; e++)
            above += s[e] > s[got[token].second];
        run.expect(above, 1, 0);
    }
}

static void route_each(Run &run)
{
    route(run, route_each_kernel);
}

static void route_block(Run &run)
{
    route(run, route_block_kernel);
}

// ---- A gated unit (SwiGLU) on half values: one or two values per thread ----

enum { GATE_WIDTH = 1376 };

__device__ inline float gated(float gate, float up)
{
    return gate / (1 + expf(-gate)) * up;
}

__global__ void swiglu_half_kernel(const __half *in, __half *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row = i / GATE_WIDTH, k = i % GATE_WIDTH;
    const __half *from = in + row * 2 * GATE_WIDTH + k;
    out[i] = __float2half(gated(__half2float(from[0]), __half2float(from[GATE_WIDTH])));
}

__global__ void swiglu_half2_kernel(const __half2 *in, __half2 *out)
{
    const int width = GATE_WIDTH / 2;
    const __half2 *from = in + blockIdx.x * 2 * width;
    for (int k = threadIdx.x; k < width; k += blockDim.x) {
        float2 gate = __half22float2(from[k]), up = __half22float2(from[width + k]);
        out[blockIdx.x * width + k] = __floats2half2_rn(gated(gate.x, up.x), gated(gate.y, up.y));
    }
}

static void swiglu(Run &run, bool by_two)
{
    const int rows = 2600, n = rows * GATE_WIDTH;
    const std::vector<float> in = floats(n * 2, 605, -3, 3);
    std::vector<__half> halves(in.begin(), in.end());
    __half *from = run.upload(halves), *to = run.zeros<__half>(n);
    run.measure([=] {
        if (by_two)
            swiglu_half2_kernel<<<rows, 128>>>((__half2 *) from, (__half2 *) to);
        else
            swiglu_half_kernel<<<blocks_for(n, 256), 256>>>(from, to, n);
    });
    const std::vector<__half> got = run.output(to, n);
    for (int i = 0; i < n; i += 53) {
        const size_t at = (size_t) i / GATE_WIDTH * 2 * GATE_WIDTH + i % GATE_WIDTH;
        const double gate = __half2float(halves[at]), up = __half2float(halves[at + GATE_WIDTH]);
        run.expect(__half2float(got[i]), gate / (1 + exp(-gate)) * up, 1e-3);
    }
}

static void swiglu_half(Run &run)
{
    swiglu(run, false);
}

static void swiglu_half2(Run &run)
{
    swiglu(run, true);
}

// ---- Planes of twice the size, by bilinear interpolation ----

enum { UP_SIDE = 96, UP_PLANES = 80 };

struct Between {
    int low, high;
    float part;
};

__host__ __device__ inline Between source_of(int to)
{
    float at = (to + 0.5f) * 0.5f - 0.5f;
    at = at < 0 ? 0 : at;
    int low = (int) at;
    return { low, low + 1 < UP_SIDE ? low + 1 : low, at - low };
}

__host__ __device__ inline float upsampled(const float *plane, int x, int y)
{
    const Between u = source_of(x), v = source_of(y);
    const float *a = plane + v.low * UP_SIDE, *b = plane + v.high * UP_SIDE;
    float above = a[u.low] + (a[u.high] - a[u.low]) * u.part;
    float below = b[u.low] + (b[u.high] - b[u.low]) * u.part;
    return above + (below - above) * v.part;
}

__global__ void upsample_kernel(const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 * UP_SIDE && y < 2 * UP_SIDE)
        out[(blockIdx.z * 2 * UP_SIDE + y) * 2 * UP_SIDE + x] =
            upsampled(in + blockIdx.z * UP_SIDE * UP_SIDE, x, y);
}

static void upsample_bilinear(Run &run)
{
    const int side = 2 * UP_SIDE, area = side * side;
    const std::vector<float> in = floats(UP_PLANES * UP_SIDE * UP_SIDE, 606);
    float *from = run.upload(in), *to = run.zeros<float>(UP_PLANES * area);
    run.measure(
        [=] { upsample_kernel<<<dim3(side / 32, side / 8, UP_PLANES), dim3(32, 8)>>>(from, to); });
    run.expect_all(
        run.output(to, UP_PLANES * area),
        [&](size_t i) {
            return upsampled(&in[i / area * UP_SIDE * UP_SIDE], i % side, i % area / side);
        },
        1e-5, 31);
}

#endif
