// vocabularies.cuh - the choice of a language model's next token: log-sum-exp, top-k, top-p, draws.
#ifndef BLIND_VOCABULARIES_CUH
#define BLIND_VOCABULARIES_CUH

#include <cuda_fp16.h>

#include <cstring>

#include "blind.cuh"

// ---- Log-sum-exp of rows of half precision: maximum first, then the sum, or both in one pass ----

enum { LSE_ROWS = 256, LSE_WORDS = 50257, LSE_THREADS = 512 };

// Combines pairs of a maximum and a sum that is relative to it.
__device__ inline float2 lse_join(float2 a, float2 b)
{
    const float top = fmaxf(a.x, b.x);
    return make_float2(top, a.y * __expf(a.x - top) + b.y * __expf(b.x - top));
}

// Joins the pairs of all threads.
__device__ inline float2 lse_block(float2 mine)
{
    __shared__ float2 parts[LSE_THREADS];
    parts[threadIdx.x] = mine;
    for (int half = LSE_THREADS / 2; half; half /= 2) {
        __syncthreads();
        if ((int) threadIdx.x < half)
            parts[threadIdx.x] = lse_join(parts[threadIdx.x], parts[threadIdx.x + half]);
    }
    __syncthreads();
    return parts[0];
}

__global__ void lse_twice_kernel(const __half *logits, float *out)
{
    const __half *row = logits + (size_t) blockIdx.x * LSE_WORDS;
    float top = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < LSE_WORDS; i += LSE_THREADS)
        top = fmaxf(top, __half2float(row[i]));
    for (int i = threadIdx.x; i < LSE_WORDS; i += LSE_THREADS)
        sum += __expf(__half2float(row[i]) - top);
    const float2 all = lse_block(make_float2(top, sum));
    if (threadIdx.x == 0)
        out[blockIdx.x] = all.x + logf(all.y);
}

__global__ void lse_once_kernel(const __half *logits, float *out)
{
    const __half *row = logits + (size_t) blockIdx.x * LSE_WORDS;
    float top = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < LSE_WORDS; i += LSE_THREADS) {
        const float v = __half2float(row[i]);
        if (v > top) {
            sum = sum * __expf(top - v) + 1;
            top = v;
        } else {
            sum += __expf(v - top);
        }
    }
    const float2 all = lse_block(make_float2(top, sum));
    if (threadIdx.x == 0)
        out[blockIdx.x] = all.x + logf(all.y);
}

static void lse(Run &run, void (*kernel)(const __half *, float *))
{
    const std::vector<float> v = floats((size_t) LSE_ROWS * LSE_WORDS, 16860, -12, 12);
    std::vector<__half> logits(v.size());
    for (size_t i = 0; i < v.size(); i++)
        logits[i] = __float2half(v[i]);
    const __half *from = run.upload(logits);
    float *to = run.zeros<float>(LSE_ROWS);
    run.measure([=] { kernel<<<LSE_ROWS, LSE_THREADS>>>(from, to); });
    run.expect_all(
        run.output(to, LSE_ROWS),
        [&](size_t row) {
            double sum = 0;
            for (int i = 0; i < LSE_WORDS; i++)
                sum += exp((double) __half2float(logits[row * LSE_WORDS + i]) - 12);
            return 12 + log(sum);
        },
        1e-3, 31);
}

static void vocab_lse_twice(Run &run)
{
    lse(run, lse_twice_kernel);
}

static void vocab_lse_once(Run &run)
{
    lse(run, lse_once_kernel);
}

// ---- The 8 largest of a row, in order: a maximum 8 times, or a sorted list per thread ----

enum { TOP_ROWS = 72, TOP_WORDS = 32003, TOP_K = 8, TOP_THREADS = 256 };

// Keys are ordered like the values; among equal values, the first is the largest.
__host__ __device__ inline unsigned long long top_key(float v, int i)
{
#ifdef __CUDA_ARCH__
    const uint32_t bits = __float_as_uint(v);
#else
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
#endif
    const uint32_t ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (unsigned long long) ordered << 32 | (uint32_t) (TOP_WORDS - i);
}

__device__ inline unsigned long long top_block(unsigned long long mine)
{
    __shared__ unsigned long long parts[TOP_THREADS / 32];
    for (int d = 16; d; d /= 2)
        mine = max(mine, __shfl_xor_sync(~0u, mine, d));
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = mine;
    __syncthreads();
    for (int k = 0; k < TOP_THREADS / 32; k++)
        mine = max(mine, parts[k]);
    return mine;
}

__global__ void top_rounds_kernel(const float *logits, int *out)
{
    const float *row = logits + (size_t) blockIdx.x * TOP_WORDS;
    unsigned long long last = ~0ull;
    for (int k = 0; k < TOP_K; k++) {
        unsigned long long mine = 0;
        for (int i = threadIdx.x; i < TOP_WORDS; i += TOP_THREADS) {
            const unsigned long long key = top_key(row[i], i);
            if (key < last && key > mine)
                mine = key;
        }
        last = top_block(mine);
        if (threadIdx.x == 0)
            out[blockIdx.x * TOP_K + k] = TOP_WORDS - (int) (uint32_t) last;
    }
}

__device__ inline void top_insert(unsigned long long *list, unsigned long long key)
{
    list[TOP_K - 1] = key;
#pragma unroll
    for (int k = TOP_K - 1; k > 0; k--)
        if (list[k] > list[k - 1]) {
            const unsigned long long other = list[k];
            list[k] = list[k - 1];
            list[k - 1] = other;
        }
}

__global__ void top_lists_kernel(const float *logits, int *out)
{
    __shared__ unsigned long long lists[TOP_K + 1][TOP_THREADS];
    const float *row = logits + (size_t) blockIdx.x * TOP_WORDS;
    unsigned long long list[TOP_K] = {};
    for (int i = threadIdx.x; i < TOP_WORDS; i += TOP_THREADS) {
        const unsigned long long key = top_key(row[i], i);
        if (key > list[TOP_K - 1])
            top_insert(list, key);
    }
#pragma unroll
    for (int k = 0; k < TOP_K; k++)
        lists[k][threadIdx.x] = list[k];
    lists[TOP_K][threadIdx.x] = 0;
    int head = 0;
    for (int k = 0; k < TOP_K; k++) {
        const unsigned long long best = top_block(lists[head][threadIdx.x]);
        head += lists[head][threadIdx.x] == best;
        if (threadIdx.x == 0)
            out[blockIdx.x * TOP_K + k] = TOP_WORDS - (int) (uint32_t) best;
    }
}

static void top(Run &run, void (*kernel)(const float *, int *))
{
    const std::vector<float> logits = floats((size_t) TOP_ROWS * TOP_WORDS, 16861, -20, 20);
    const float *from = run.upload(logits);
    int *to = run.zeros<int>(TOP_ROWS * TOP_K);
    run.measure([=] { kernel<<<TOP_ROWS, TOP_THREADS>>>(from, to); });
    const std::vector<int> got = run.output(to, TOP_ROWS * TOP_K);
    std::vector<unsigned long long> keys(TOP_WORDS);
    for (int row = 0; row < TOP_ROWS; row += 9) {
        for (int i = 0; i < TOP_WORDS; i++)
            keys[i] = top_key(logits[(size_t) row * TOP_WORDS + i], i);
        std::sort(keys.rbegin(), keys.rend());
        for (int k = 0; k < TOP_K; k++)
            run.expect(got[row * TOP_K + k], TOP_WORDS - (int) (uint32_t) keys[k], 0);
    }
}

static void vocab_top_rounds(Run &run)
{
    top(run, top_rounds_kernel);
}

static void vocab_top_lists(Run &run)
{
    top(run, top_lists_kernel);
}

// ---- The smallest probability among those that make 90 %: by bisection, or from a histogram ----

enum { MASS_ROWS = 40, MASS_WORDS = 50257, MASS_THREADS = 1024, MASS_STEPS = 18 };

__device__ inline float mass_sum(float mine)
{
    __shared__ float parts[32];
    for (int d = 16; d; d /= 2)
        mine += __shfl_xor_sync(~0u, mine, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = parts[threadIdx.x % 32];
    for (int d = 16; d; d /= 2)
        mine += __shfl_xor_sync(~0u, mine, d);
    return mine;
}

// Halves the interval of logarithms.
__global__ void mass_bisect_kernel(const float *chances, float *out)
{
    const float *row = chances + (size_t) blockIdx.x * MASS_WORDS;
    float low = -30, high = 0;
    for (int step = 0; step < MASS_STEPS; step++) {
        const float middle = (low + high) / 2, limit = exp2f(middle);
        float kept = 0;
        for (int i = threadIdx.x; i < MASS_WORDS; i += MASS_THREADS)
            if (row[i] >= limit)
                kept += row[i];
        if (mass_sum(kept) >= 0.9f)
            low = middle;
        else
            high = middle;
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = exp2f(low);
}

// A bin has a power of two and five bits below; its sum is in units of 2 to the power of -30.
__device__ inline int mass_bin(float v)
{
    const int bin = (int) (__float_as_uint(v) >> 18) - ((127 - 30) << 5);
    return max(0, min(MASS_THREADS - 1, bin));
}

__global__ void mass_bins_kernel(const float *chances, float *out)
{
    __shared__ unsigned bins[MASS_THREADS];
    const float *row = chances + (size_t) blockIdx.x * MASS_WORDS;
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < MASS_WORDS; i += MASS_THREADS)
        atomicAdd(&bins[mass_bin(row[i])], (unsigned) (row[i] * 0x1p30f));
    __syncthreads();
    if (threadIdx.x)
        return;
    unsigned kept = 0;
    int bin = MASS_THREADS;
    while (bin > 0 && kept < (unsigned) (0.9f * 0x1p30f))
        kept += bins[--bin];
    out[blockIdx.x] = __uint_as_float((unsigned) (bin + ((127 - 30) << 5)) << 18);
}

// Rows from almost even to very uneven.
static std::vector<float> mass_chances()
{
    std::vector<float> v = floats((size_t) MASS_ROWS * MASS_WORDS, 16862);
    for (int row = 0; row < MASS_ROWS; row++) {
        float *at = &v[(size_t) row * MASS_WORDS];
        double sum = 0;
        for (int i = 0; i < MASS_WORDS; i++) {
            at[i] = expf((0.5f + 0.1f * row) * at[i]);
            sum += at[i];
        }
        for (int i = 0; i < MASS_WORDS; i++)
            at[i] = (float) (at[i] / sum);
    }
    return v;
}

static void mass(Run &run, void (*kernel)(const float *, float *))
{
    const std::vector<float> chances = mass_chances();
    const float *from = run.upload(chances);
    float *to = run.zeros<float>(MASS_ROWS);
    run.measure([=] { kernel<<<MASS_ROWS, MASS_THREADS>>>(from, to); });
    const std::vector<float> got = run.output(to, MASS_ROWS);
    for (int row = 0; row < MASS_ROWS; row++) {
        double kept = 0;
        for (int i = 0; i < MASS_WORDS; i++) {
            const float v = chances[(size_t) row * MASS_WORDS + i];
            kept += v >= got[row] ? v : 0;
        }
        run.expect(kept, 0.915, 0.016); // bins are coarse
    }
}

static void vocab_mass_bisect(Run &run)
{
    mass(run, mass_bisect_kernel);
}

static void vocab_mass_bins(Run &run)
{
    mass(run, mass_bins_kernel);
}

// ---- A token is drawn: weights are added until a random number is reached, by thread or warp ----

enum { DRAWN_ROWS = 2000, DRAWN_WORDS = 8191 };

__global__ void drawn_thread_kernel(const float *weights, const float *limits, int *out)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= DRAWN_ROWS)
        return;
    const float *at = weights + (size_t) row * DRAWN_WORDS;
    float sum = 0;
    int i = 0;
    for (; i < DRAWN_WORDS - 1; i++) {
        sum += at[i];
        if (sum >= limits[row])
            break;
    }
    out[row] = i;
}

// Adds 32 weights at a time; only the last 32 are scanned.
__global__ void drawn_warp_kernel(const float *weights, const float *limits, int *out)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= DRAWN_ROWS)
        return;
    const float *at = weights + (size_t) row * DRAWN_WORDS;
    float before = 0, v = 0;
    int first = 0;
    for (; first < DRAWN_WORDS; first += 32) {
        v = first + lane < DRAWN_WORDS ? at[first + lane] : 0;
        float sum = v;
        for (int d = 16; d; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (before + sum >= limits[row])
            break;
        before += sum;
    }
    for (int d = 1; d < 32; d *= 2) {
        const float other = __shfl_up_sync(~0u, v, d);
        v += lane >= d ? other : 0;
    }
    const unsigned reached = __ballot_sync(~0u, before + v >= limits[row]);
    if (lane == 0)
        out[row] = min(DRAWN_WORDS - 1, first + (reached ? __ffs(reached) - 1 : 31));
}

static void drawn(Run &run, bool warps)
{
    const std::vector<float> weights = floats((size_t) DRAWN_ROWS * DRAWN_WORDS, 16863, 0.1f, 1);
    const std::vector<float> limits = floats(DRAWN_ROWS, 16864, 0, 0.53f * DRAWN_WORDS);
    const float *from = run.upload(weights), *dl = run.upload(limits);
    int *to = run.zeros<int>(DRAWN_ROWS);
    run.measure([=] {
        if (warps)
            drawn_warp_kernel<<<blocks_for(DRAWN_ROWS * 32, 128), 128>>>(from, dl, to);
        else
            drawn_thread_kernel<<<blocks_for(DRAWN_ROWS, 32), 32>>>(from, dl, to);
    });
    const std::vector<int> got = run.output(to, DRAWN_ROWS);
    for (int row = 0; row < DRAWN_ROWS; row += 7) { // rounding may choose a neighbour
        double sum = 0;
        int i = 0;
        while (i < DRAWN_WORDS - 1 &&
               (sum += weights[(size_t) row * DRAWN_WORDS + i]) < limits[row])
            i++;
        run.expect(abs(got[row] - i) <= 2, 1, 0);
    }
}

static void vocab_draw_thread(Run &run)
{
    drawn(run, false);
}

static void vocab_draw_warp(Run &run)
{
    drawn(run, true);
}

#endif
