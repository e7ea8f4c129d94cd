// experts.cuh - mixtures of experts: gates, places of tokens, rows sent to experts and combined.
#ifndef BLIND_EXPERTS_CUH
#define BLIND_EXPERTS_CUH

#include "blind.cuh"

#include <cuda_fp16.h>

// ---- The best two of 64 experts and their weights: a thread per token, or a warp ----

enum { GATE_TOKENS = 36864, GATE_EXPERTS = 64 };

struct GateBest {
    float first, second;
    int one, two;
};

__host__ __device__ inline void gate_insert(GateBest &best, float v, int k)
{
    if (v > best.first || (v == best.first && k < best.one)) {
        best.second = best.first;
        best.two = best.one;
        best.first = v;
        best.one = k;
    } else if (v > best.second || (v == best.second && k < best.two)) {
        best.second = v;
        best.two = k;
    }
}

__device__ inline float4 gate_result(const GateBest &best)
{
    const float e = __expf(best.second - best.first);
    return make_float4(best.one, best.two, 1 / (1 + e), e / (1 + e));
}

__global__ void gate_thread_kernel(const float *logits, float4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    GateBest best = { -1e30f, -1e30f, 0, 0 };
    for (int k = 0; k < GATE_EXPERTS; k++)
        gate_insert(best, logits[i * GATE_EXPERTS + k], k);
    out[i] = gate_result(best);
}

__global__ void gate_warp_kernel(const float *logits, float4 *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    GateBest best = { -1e30f, -1e30f, 0, 0 };
    gate_insert(best, logits[i * GATE_EXPERTS + lane], lane);
    gate_insert(best, logits[i * GATE_EXPERTS + 32 + lane], 32 + lane);
    for (int by = 16; by; by /= 2) {
        const float first = __shfl_down_sync(~0u, best.first, by);
        const float second = __shfl_down_sync(~0u, best.second, by);
        const int one = __shfl_down_sync(~0u, best.one, by);
        const int two = __shfl_down_sync(~0u, best.two, by);
        gate_insert(best, first, one);
        gate_insert(best, second, two);
    }
    if (lane == 0)
        out[i] = gate_result(best);
}

static void gate(Run &run, bool warps)
{
    const size_t count = (size_t) GATE_TOKENS * GATE_EXPERTS;
    const std::vector<float> logits = floats(count, 10101, -4, 4);
    const float *from = run.upload(logits);
    float *to = run.zeros<float>(4 * GATE_TOKENS);
    run.measure([=] {
        if (warps)
            gate_warp_kernel<<<GATE_TOKENS / 8, 256>>>(from, (float4 *) to);
        else
            gate_thread_kernel<<<GATE_TOKENS / 128, 128>>>(from, (float4 *) to);
    });
    const std::vector<float> got = run.output(to, 4 * GATE_TOKENS);
    for (int i = 0; i < GATE_TOKENS; i += 37) {
        GateBest best = { -1e30f, -1e30f, 0, 0 };
        for (int k = 0; k < GATE_EXPERTS; k++)
            gate_insert(best, logits[i * GATE_EXPERTS + k], k);
        run.expect(got[4 * i], best.one, 0);
        run.expect(got[4 * i + 1], best.two, 0);
        run.expect(got[4 * i + 2], 1 / (1 + exp((double) best.second - best.first)), 1e-5);
    }
}

static void gate_thread(Run &run)
{
    gate(run, false);
}

static void gate_warp(Run &run)
{
    gate(run, true);
}

// ---- Each assignment takes the next place of its expert: global counters, or first a block's ----

enum { SEAT_COUNT = 3 << 20, SEAT_EXPERTS = 256, SEAT_BLOCK = 512 };

__global__ void seats_global_kernel(const int *expert, int *counts, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = atomicAdd(&counts[expert[i]], 1);
}

// Four assignments per thread.
__global__ void seats_block_kernel(const int *expert, int *counts, int *out)
{
    __shared__ int mine[SEAT_EXPERTS];
    if (threadIdx.x < SEAT_EXPERTS)
        mine[threadIdx.x] = 0;
    __syncthreads();
    int e[4], at[4];
    const int i = blockIdx.x * SEAT_BLOCK * 4 + threadIdx.x;
    for (int k = 0; k < 4; k++) {
        e[k] = expert[i + k * SEAT_BLOCK];
        at[k] = atomicAdd(&mine[e[k]], 1);
    }
    __syncthreads();
    if (threadIdx.x < SEAT_EXPERTS)
        mine[threadIdx.x] = atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
    __syncthreads();
    for (int k = 0; k < 4; k++)
        out[i + k * SEAT_BLOCK] = mine[e[k]] + at[k];
}

// The places of an expert must be 0, 1, 2 and so on, in any order: their sum tells.
static void seats(Run &run, bool blocks)
{
    const std::vector<int> expert = integers(SEAT_COUNT, SEAT_EXPERTS, 10102);
    const int *from = run.upload(expert);
    int *counts = run.zeros<int>(SEAT_EXPERTS), *to = run.zeros<int>(SEAT_COUNT);
    run.measure(
        [=] {
            if (blocks)
                seats_block_kernel<<<SEAT_COUNT / SEAT_BLOCK / 4, SEAT_BLOCK>>>(from, counts, to);
            else
                seats_global_kernel<<<SEAT_COUNT / 256, 256>>>(from, counts, to);
        },
        [=] { CHECK(cudaMemset(counts, 0, SEAT_EXPERTS * sizeof(int))); });
    std::vector<int> got(SEAT_COUNT);
    CHECK(cudaMemcpy(got.data(), to, SEAT_COUNT * sizeof(int), cudaMemcpyDeviceToHost));
    std::vector<double> sum(SEAT_EXPERTS), wanted(SEAT_EXPERTS), many(SEAT_EXPERTS);
    for (int i = 0; i < SEAT_COUNT; i++) {
        wanted[expert[i]] += many[expert[i]]++;
        sum[expert[i]] += got[i];
    }
    const std::vector<int> total = run.output(counts, SEAT_EXPERTS);
    for (int k = 0; k < SEAT_EXPERTS; k++) {
        run.expect(sum[k], wanted[k], 0);
        run.expect(total[k], many[k], 0);
    }
}

static void seats_global(Run &run)
{
    seats(run, false);
}

static void seats_block(Run &run)
{
    seats(run, true);
}

// ---- Rows of 1024 half numbers are sent to places: two numbers per thread, or eight ----

enum { SEND_ROWS = 14336, SEND_WIDTH = 1024 };

template <class T> __global__ void send_kernel(const T *in, const int *source, T *out)
{
    const int width = SEND_WIDTH * sizeof(__half) / sizeof(T), row = blockIdx.x;
    const T *from = in + (size_t) source[row] * width;
    for (int k = threadIdx.x; k < width; k += blockDim.x)
        out[(size_t) row * width + k] = from[k];
}

template <class T> static void send(Run &run)
{
    const int each = SEND_WIDTH / 2;
    const std::vector<uint32_t> in = words((size_t) SEND_ROWS * each, 10103);
    const std::vector<int> source = integers(SEND_ROWS, SEND_ROWS, 10104);
    const T *from = (const T *) run.upload(in);
    const int *ds = run.upload(source);
    uint32_t *to = run.zeros<uint32_t>(in.size());
    run.measure([=] { send_kernel<<<SEND_ROWS, 128>>>(from, ds, (T *) to); });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) { return in[(size_t) source[i / each] * each + i % each]; }, 0, 1013);
}

static void send_pairs(Run &run)
{
    send<__half2>(run);
}

static void send_eights(Run &run)
{
    send<uint4>(run);
}

// ---- A token's two weighted rows are summed: experts add to it, or the token gathers ----

enum { MERGE_TOKENS = 8192, MERGE_WIDTH = 384 };

// Row k belongs to token owner[k].
__global__ void combined_adds_kernel(const float *rows, const int *owner, const int *,
                                     const float *weight, float *out)
{
    const int row = blockIdx.x, k = threadIdx.x;
    atomicAdd(&out[owner[row] * MERGE_WIDTH + k], weight[row] * rows[row * MERGE_WIDTH + k]);
}

__global__ void combined_gathers_kernel(const float *rows, const int *, const int *place,
                                        const float *weight, float *out)
{
    const int token = blockIdx.x, k = threadIdx.x;
    const int a = place[2 * token], b = place[2 * token + 1];
    out[token * MERGE_WIDTH + k] =
        weight[a] * rows[a * MERGE_WIDTH + k] + weight[b] * rows[b * MERGE_WIDTH + k];
}

static void combined(Run &run, bool gathers)
{
    const int count = 2 * MERGE_TOKENS;
    const std::vector<float> rows = floats((size_t) count * MERGE_WIDTH, 10105);
    const std::vector<float> weight = floats(count, 10106, 0, 1);
    const std::vector<uint32_t> keys = words(count, 10107);
    std::vector<int> place(count), owner(count);
    for (int i = 0; i < count; i++)
        place[i] = i;
    std::sort(place.begin(), place.end(), [&](int a, int b) { return keys[a] < keys[b]; });
    for (int i = 0; i < count; i++)
        owner[place[i]] = i / 2;
    const float *from = run.upload(rows), *dw = run.upload(weight);
    const int *dp = run.upload(place), *owners = run.upload(owner);
    const size_t size = MERGE_TOKENS * MERGE_WIDTH;
    float *to = run.zeros<float>(size);
    run.measure(
        [=] {
            if (gathers)
                combined_gathers_kernel<<<MERGE_TOKENS, MERGE_WIDTH>>>(from, owners, dp, dw, to);
            else
                combined_adds_kernel<<<count, MERGE_WIDTH>>>(from, owners, dp, dw, to);
        },
        [=] { CHECK(cudaMemset(to, 0, size * sizeof(float))); });
    run.expect_all(
        run.output(to, size),
        [&](size_t i) {
            const size_t t = i / MERGE_WIDTH, k = i % MERGE_WIDTH;
            const size_t a = place[2 * t], b = place[2 * t + 1];
            return (double) weight[a] * rows[a * MERGE_WIDTH + k] +
                   (double) weight[b] * rows[b * MERGE_WIDTH + k];
        },
        1e-5, 997);
}

static void combined_adds(Run &run)
{
    combined(run, false);
}

static void combined_gathers(Run &run)
{
    combined(run, true);
}

#endif
