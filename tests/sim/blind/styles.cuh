// styles.cuh - one task in several styles: loads in flight, copies in the background, independent
// chains, atomics after a reduction.
#ifndef BLIND_STYLES_CUH
#define BLIND_STYLES_CUH

#include "blind.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>

// ---- Sums of squares by few threads: one load in flight, or four ----

__global__ void flight_one_kernel(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x, sum = 0;
#pragma unroll 1
    for (int k = i; k < n; k += threads) {
        int v = in[k];
        sum += v * v;
    }
    out[i] = sum;
}

__global__ void flight_four_kernel(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x, sum = 0;
    int k = i;
    for (; k + 3 * threads < n; k += 4 * threads) {
        int a = in[k], b = in[k + threads], c = in[k + 2 * threads], d = in[k + 3 * threads];
        sum += a * a + b * b + c * c + d * d;
    }
    for (; k < n; k += threads)
        sum += in[k] * in[k];
    out[i] = sum;
}

template <class Launch> static void flight(Run &run, Launch launch)
{
    const int n = 5000000, threads = 132 * 128;
    const std::vector<int> in = integers(n, 100, 181);
    std::vector<int> wanted(threads);
    for (int i = 0; i < n; i++)
        wanted[i % threads] += in[i] * in[i];
    int *from = run.upload(in), *out = run.zeros<int>(threads);
    run.measure([=] { launch(from, out, n); });
    run.expect_all(
        run.output(out, threads), [&](size_t i) { return wanted[i]; }, 0);
}

static void flight_one(Run &run)
{
    flight(run, [](int *in, int *out, int n) { flight_one_kernel<<<132, 128>>>(in, out, n); });
}

static void flight_four(Run &run)
{
    flight(run, [](int *in, int *out, int n) { flight_four_kernel<<<132, 128>>>(in, out, n); });
}

// ---- Tiles in shared memory: copied by threads, or in the background while the last is used ----

enum { TILE = 512, TILES = 40, TILE_BLOCKS = 198 };

__device__ inline float4 use_tile(const float *tile, float4 sum)
{
    int t = threadIdx.x;
    for (int k = 0; k < 8; k++) {
        float w = tile[(t * 3 + k) % TILE];
        sum.x += tile[t] * w;
        sum.y += tile[t + 128] * w;
        sum.z += tile[t + 256] * w;
        sum.w += tile[t + 384] * w;
    }
    return sum;
}

__global__ void __launch_bounds__(128) staged_plain_kernel(const float4 *in, float4 *out)
{
    __shared__ float4 tile[TILE / 4];
    float4 sum = { 0, 0, 0, 0 };
    in += (size_t) blockIdx.x * TILES * 128;
    for (int i = 0; i < TILES; i++) {
        tile[threadIdx.x] = in[i * 128 + threadIdx.x];
        __syncthreads(); // the tile is complete
        sum = use_tile((const float *) tile, sum);
        __syncthreads(); // the tile is free again
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}

__global__ void __launch_bounds__(128) staged_async_kernel(const float4 *in, float4 *out)
{
    __shared__ float4 tile[2][TILE / 4];
    float4 sum = { 0, 0, 0, 0 };
    int t = threadIdx.x;
    in += (size_t) blockIdx.x * TILES * 128;
    __pipeline_memcpy_async(&tile[0][t], &in[t], 16);
    __pipeline_commit();
    for (int i = 0; i < TILES; i++) {
        if (i + 1 < TILES)
            __pipeline_memcpy_async(&tile[(i + 1) % 2][t], &in[(i + 1) * 128 + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads(); // the tile is complete
        sum = use_tile((const float *) tile[i % 2], sum);
        __syncthreads(); // the tile is free again
    }
    out[blockIdx.x * 128 + t] = sum;
}

// The values are small integers: sums are exact.
template <class Launch> static void staged(Run &run, Launch launch)
{
    const size_t n = (size_t) TILE_BLOCKS * TILES * TILE;
    const std::vector<int> raw = integers(n, 8, 182);
    const std::vector<float> in(raw.begin(), raw.end());
    float *from = run.upload(in), *out = run.zeros<float>(TILE_BLOCKS * TILE);
    run.measure([=] { launch((float4 *) from, (float4 *) out); });
    run.expect_all(
        run.output(out, TILE_BLOCKS * TILE),
        [&](size_t i) {
            const size_t block = i / TILE, t = i % TILE / 4;
            int sum = 0;
            for (int k = 0; k < 8 * TILES; k++) {
                const float *tile = &in[(block * TILES + k / 8) * TILE];
                sum += (int) (tile[t + i % 4 * 128] * tile[(t * 3 + k % 8) % TILE]);
            }
            return sum;
        },
        0, 29);
}

static void staged_plain(Run &run)
{
    staged(run,
           [](float4 *in, float4 *out) { staged_plain_kernel<<<TILE_BLOCKS, 128>>>(in, out); });
}

static void staged_async(Run &run)
{
    staged(run,
           [](float4 *in, float4 *out) { staged_async_kernel<<<TILE_BLOCKS, 128>>>(in, out); });
}

// ---- Polynomials of degree 47 by few warps: one chain per thread, or four side by side ----

enum { DEGREE = 47, POLY_THREADS = 132 * 64, POLY_EACH = 120 };
__constant__ float poly_taps[DEGREE + 1];

template <int WIDTH> __global__ void __launch_bounds__(64) poly_kernel(const float *in, float *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
#pragma unroll 1
    for (int first = 0; first < POLY_EACH; first += WIDTH) {
        float x[WIDTH], sum[WIDTH];
#pragma unroll
        for (int j = 0; j < WIDTH; j++) {
            x[j] = in[(first + j) * POLY_THREADS + i];
            sum[j] = poly_taps[DEGREE];
        }
#pragma unroll
        for (int k = DEGREE - 1; k >= 0; k--)
#pragma unroll
            for (int j = 0; j < WIDTH; j++)
                sum[j] = sum[j] * x[j] + poly_taps[k];
#pragma unroll
        for (int j = 0; j < WIDTH; j++)
            out[(first + j) * POLY_THREADS + i] = sum[j];
    }
}

template <int WIDTH> static void poly(Run &run)
{
    const size_t n = (size_t) POLY_THREADS * POLY_EACH;
    const std::vector<float> in = floats(n, 183), taps = floats(DEGREE + 1, 184);
    CHECK(cudaMemcpyToSymbol(poly_taps, taps.data(), sizeof(float) * (DEGREE + 1)));
    float *from = run.upload(in), *to = run.zeros<float>(n);
    run.measure([=] { poly_kernel<WIDTH><<<POLY_THREADS / 64, 64>>>(from, to); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double sum = taps[DEGREE];
            for (int k = DEGREE - 1; k >= 0; k--)
                sum = sum * in[i] + taps[k];
            return sum;
        },
        1e-4, 41);
}

static void poly_one(Run &run)
{
    poly<1>(run);
}

static void poly_four(Run &run)
{
    poly<4>(run);
}

// ---- Minima of positive floats by their bits: an atomic per value, or per warp ----

__global__ void minimum_each_kernel(const float *in, int *least, int n, int per_group)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicMin(&least[i / per_group], __float_as_int(in[i]));
}

__global__ void minimum_warp_kernel(const float *in, int *least, int n, int per_group)
{
    namespace cg = cooperative_groups;
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i / 32 * 32 >= n)
        return;
    int bits = cg::reduce(warp, __float_as_int(in[i]), cg::less<int>());
    if (warp.thread_rank() == 0)
        atomicMin(&least[i / per_group], bits);
}

template <class Launch> static void minimum(Run &run, Launch launch)
{
    const int per_group = 2048, groups = 1500, n = per_group * groups;
    const std::vector<float> in = floats(n, 185, 0.001f, 10);
    int *least = run.zeros<int>(groups);
    float *from = run.upload(in);
    run.measure([=] { launch(from, least, n, per_group); },
                [=] { CHECK(cudaMemset(least, 0x7f, groups * sizeof(int))); });
    run.expect_all(
        run.output((float *) least, groups),
        [&](size_t i) {
            return *std::min_element(&in[i * per_group], &in[i * per_group] + per_group);
        },
        0);
}

static void minimum_each(Run &run)
{
    minimum(run, [](float *in, int *least, int n, int per_group) {
        minimum_each_kernel<<<blocks_for(n, 256), 256>>>(in, least, n, per_group);
    });
}

static void minimum_warp(Run &run)
{
    minimum(run, [](float *in, int *least, int n, int per_group) {
        minimum_warp_kernel<<<blocks_for(n, 256), 256>>>(in, least, n, per_group);
    });
}

// ---- Counts of labels that often repeat in a warp: an atomic per lane, or per equal labels ----

__global__ void labels_each_kernel(const int *label, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&count[label[i]], 1);
}

__global__ void labels_match_kernel(const int *label, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned here = __ballot_sync(~0u, i < n);
    if (i >= n)
        return;
    unsigned same = __match_any_sync(here, label[i]);
    if (__ffs(same) - 1 == (int) threadIdx.x % 32)
        atomicAdd(&count[label[i]], __popc(same));
}

template <class Launch> static void labels(Run &run, Launch launch)
{
    const int n = 1500000, kinds = 3000;
    std::vector<int> label = integers(n, kinds, 186), wanted(kinds);
    for (int i = 0; i < n; i++) {
        if (mix(i) % 8)
            label[i] = label[i / 128 * 128 + mix(i) % 4]; // runs of four kinds
        wanted[label[i]]++;
    }
    int *dl = run.upload(label), *count = run.zeros<int>(kinds);
    run.measure([=] { launch(dl, count, n); },
                [=] { CHECK(cudaMemset(count, 0, kinds * sizeof(int))); });
    run.expect_all(
        run.output(count, kinds), [&](size_t i) { return wanted[i]; }, 0);
}

static void labels_each(Run &run)
{
    labels(run, [](int *label, int *count, int n) {
        labels_each_kernel<<<blocks_for(n, 512), 512>>>(label, count, n);
    });
}

static void labels_match(Run &run)
{
    labels(run, [](int *label, int *count, int n) {
        labels_match_kernel<<<blocks_for(n, 512), 512>>>(label, count, n);
    });
}

#endif
