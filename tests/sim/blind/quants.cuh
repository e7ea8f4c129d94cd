// quants.cuh - language models with small numbers: 4-bit weights, 8-bit caches, experts, beams.
#ifndef BLIND_QUANTS_CUH
#define BLIND_QUANTS_CUH

#include "blind.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// ---- A vector times weights of 4 bits, a scale per 128: a row per thread, or per warp ----

enum { W4_ROWS = 8192, W4_COLUMNS = 4096, W4_GROUP = 128 };

// Eight weights of a word.
__device__ inline float w4_word(uint32_t word, const float *x)
{
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        sum += (float) ((int) (word >> 4 * k & 15) - 8) * x[k];
    return sum;
}

__global__ void w4_thread_kernel(const uint32_t *weights, const __half *scales, const float *x,
                                 float *y)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t *from = weights + row * (W4_COLUMNS / 8);
    const __half *scale = scales + row * (W4_COLUMNS / W4_GROUP);
    float sum = 0;
    for (int group = 0; group < W4_COLUMNS / W4_GROUP; group++) {
        float part = 0;
        for (int k = 0; k < W4_GROUP / 8; k++) {
            const int word = group * (W4_GROUP / 8) + k;
            part += w4_word(from[word], x + word * 8);
        }
        sum += part * __half2float(scale[group]);
    }
    y[row] = sum;
}

__global__ void w4_warp_kernel(const uint32_t *weights, const __half *scales, const float *x,
                               float *y)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    const uint32_t *from = weights + row * (W4_COLUMNS / 8);
    const __half *scale = scales + row * (W4_COLUMNS / W4_GROUP);
    float sum = 0;
    for (int word = lane; word < W4_COLUMNS / 8; word += 32) {
        float part[8];
        *(float4 *) part = ((const float4 *) x)[word * 2];
        *(float4 *) (part + 4) = ((const float4 *) x)[word * 2 + 1];
        sum += w4_word(from[word], part) * __half2float(scale[word / (W4_GROUP / 8)]);
    }
    for (int by = 16; by; by /= 2)
        sum += __shfl_xor_sync(~0u, sum, by);
    if (lane == 0)
        y[row] = sum;
}

static void w4(Run &run, bool warps)
{
    const std::vector<uint32_t> weights = words((size_t) W4_ROWS * W4_COLUMNS / 8, 9301);
    const std::vector<float> x = floats(W4_COLUMNS, 9302);
    const std::vector<float> s = floats(W4_ROWS * W4_COLUMNS / W4_GROUP, 9303, 0.01f, 0.1f);
    std::vector<__half> scales(s.begin(), s.end());
    const uint32_t *dw = run.upload(weights);
    const __half *ds = run.upload(scales);
    const float *dx = run.upload(x);
    float *to = run.zeros<float>(W4_ROWS);
    run.measure([=] {
        if (warps)
            w4_warp_kernel<<<W4_ROWS / 8, dim3(32, 8)>>>(dw, ds, dx, to);
        else
            w4_thread_kernel<<<W4_ROWS / 64, 64>>>(dw, ds, dx, to);
    });
    run.expect_all(
        run.output(to, W4_ROWS),
        [&](size_t row) {
            double sum = 0;
            for (size_t c = 0; c < W4_COLUMNS; c++) {
                const size_t i = row * W4_COLUMNS + c;
                sum += ((int) (weights[i / 8] >> i % 8 * 4 & 15) - 8) *
                       (double) __half2float(scales[i / W4_GROUP]) * x[c];
            }
            return sum;
        },
        1e-3, 67);
}

static void w4_thread(Run &run)
{
    w4(run, false);
}

static void w4_warp(Run &run)
{
    w4(run, true);
}

// ---- Rows of bfloat16 are normalised and become bytes: in one kernel, or by three ----

enum { RQ_ROWS = 4096, RQ_PAIRS = 1024 };

// The sum or the maximum of a block of 256 threads.
template <bool MAXIMUM> __device__ inline float rq_reduce(float v)
{
    __shared__ float part[8];
    for (int by = 16; by; by /= 2) {
        const float other = __shfl_xor_sync(~0u, v, by);
        v = MAXIMUM ? fmaxf(v, other) : v + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[0];
    for (int w = 1; w < 8; w++)
        v = MAXIMUM ? fmaxf(v, part[w]) : v + part[w];
    return v;
}

__device__ inline char2 rq_bytes(float2 v, float by)
{
    return make_char2((char) __float2int_rn(v.x * by), (char) __float2int_rn(v.y * by));
}

__global__ void rmsq_fused_kernel(const __nv_bfloat162 *in, const float2 *gain, char2 *out,
                                  float *scales)
{
    const __nv_bfloat162 *row = in + blockIdx.x * RQ_PAIRS;
    float2 v[RQ_PAIRS / 256];
    float sum = 0, most = 0;
#pragma unroll
    for (int k = 0; k < RQ_PAIRS / 256; k++) {
        v[k] = __bfloat1622float2(row[k * 256 + threadIdx.x]);
        sum += v[k].x * v[k].x + v[k].y * v[k].y;
    }
    const float by = rsqrtf(rq_reduce<false>(sum) / (2 * RQ_PAIRS) + 1e-5f);
#pragma unroll
    for (int k = 0; k < RQ_PAIRS / 256; k++) {
        const float2 g = gain[k * 256 + threadIdx.x];
        v[k] = make_float2(v[k].x * by * g.x, v[k].y * by * g.y);
        most = fmaxf(most, fmaxf(fabsf(v[k].x), fabsf(v[k].y)));
    }
    most = rq_reduce<true>(most);
#pragma unroll
    for (int k = 0; k < RQ_PAIRS / 256; k++)
        out[blockIdx.x * RQ_PAIRS + k * 256 + threadIdx.x] = rq_bytes(v[k], 127 / most);
    if (threadIdx.x == 0)
        scales[blockIdx.x] = most / 127;
}

__global__ void rmsq_norm_kernel(const __nv_bfloat162 *in, const float2 *gain, float2 *normal)
{
    const __nv_bfloat162 *row = in + blockIdx.x * RQ_PAIRS;
    float sum = 0;
    for (int k = threadIdx.x; k < RQ_PAIRS; k += 256) {
        const float2 v = __bfloat1622float2(row[k]);
        sum += v.x * v.x + v.y * v.y;
    }
    const float by = rsqrtf(rq_reduce<false>(sum) / (2 * RQ_PAIRS) + 1e-5f);
    for (int k = threadIdx.x; k < RQ_PAIRS; k += 256) {
        const float2 v = __bfloat1622float2(row[k]), g = gain[k];
        normal[blockIdx.x * RQ_PAIRS + k] = make_float2(v.x * by * g.x, v.y * by * g.y);
    }
}

__global__ void rmsq_most_kernel(const float2 *normal, float *scales)
{
    float most = 0;
    for (int k = threadIdx.x; k < RQ_PAIRS; k += 256) {
        const float2 v = normal[blockIdx.x * RQ_PAIRS + k];
        most = fmaxf(most, fmaxf(fabsf(v.x), fabsf(v.y)));
    }
    most = rq_reduce<true>(most);
    if (threadIdx.x == 0)
        scales[blockIdx.x] = most / 127;
}

__global__ void rmsq_bytes_kernel(const float2 *normal, const float *scales, char2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = rq_bytes(normal[i], 1 / scales[i / RQ_PAIRS]);
}

static void rmsq(Run &run, bool fused)
{
    const size_t count = (size_t) RQ_ROWS * RQ_PAIRS;
    const std::vector<float> v = floats(2 * count, 9304), g = floats(2 * RQ_PAIRS, 9305, 0.5f, 2);
    const std::vector<__nv_bfloat16> in(v.begin(), v.end());
    const __nv_bfloat162 *from = (const __nv_bfloat162 *) run.upload(in);
    const float2 *gain = (const float2 *) run.upload(g);
    signed char *to = run.zeros<signed char>(2 * count);
    float2 *normal = run.zeros<float2>(count);
    float *scales = run.zeros<float>(RQ_ROWS);
    run.measure([=] {
        if (fused) {
            rmsq_fused_kernel<<<RQ_ROWS, 256>>>(from, gain, (char2 *) to, scales);
            return;
        }
        rmsq_norm_kernel<<<RQ_ROWS, 256>>>(from, gain, normal);
        rmsq_most_kernel<<<RQ_ROWS, 256>>>(normal, scales);
        rmsq_bytes_kernel<<<count / 256, 256>>>(normal, scales, (char2 *) to);
    });
    const std::vector<signed char> got = run.output(to, 2 * count);
    for (size_t row = 0; row < RQ_ROWS; row += 101) {
        double sum = 0, most = 0;
        for (int k = 0; k < 2 * RQ_PAIRS; k++)
            sum += pow(__bfloat162float(in[row * 2 * RQ_PAIRS + k]), 2);
        const double by = 1 / sqrt(sum / (2 * RQ_PAIRS) + 1e-5);
        for (int k = 0; k < 2 * RQ_PAIRS; k++)
            most = std::max(most, fabs(__bfloat162float(in[row * 2 * RQ_PAIRS + k]) * by * g[k]));
        for (int k = 0; k < 2 * RQ_PAIRS; k += 17) { // may be rounded up or down
            const size_t i = row * 2 * RQ_PAIRS + k;
            run.expect(fabs(got[i] - __bfloat162float(in[i]) * by * g[k] * 127 / most) < 0.51, 1,
                       0);
        }
    }
}

static void rmsq_fused(Run &run)
{
    rmsq(run, true);
}

static void rmsq_steps(Run &run)
{
    rmsq(run, false);
}

// ---- A query against a cache of keys and values: halves, or bytes with a scale per token ----

enum { KV_HEADS = 128, KV_TOKENS = 640, KV_DIMS = 128 };

struct CacheHalf {
    const __half *keys, *values;

    __device__ float4 key(int token, int lane) const
    {
        const uint2 v = ((const uint2 *) (keys + (size_t) token * KV_DIMS))[lane];
        const float2 a = __half22float2(*(const __half2 *) &v.x);
        const float2 b = __half22float2(*(const __half2 *) &v.y);
        return make_float4(a.x, a.y, b.x, b.y);
    }

    __device__ float value(int token, int dim) const
    {
        return __half2float(values[(size_t) token * KV_DIMS + dim]);
    }
};

struct CacheByte {
    const signed char *keys, *values;
    const float *key_scales, *value_scales;

    __device__ float4 key(int token, int lane) const
    {
        const char4 v = ((const char4 *) (keys + (size_t) token * KV_DIMS))[lane];
        const float s = key_scales[token];
        return make_float4(v.x * s, v.y * s, v.z * s, v.w * s);
    }

    __device__ float value(int token, int dim) const
    {
        return values[(size_t) token * KV_DIMS + dim] * value_scales[token];
    }
};

// A block of 256 threads per head. Scores by a warp per token, then exponentials, then the values.
template <class Cache> __global__ void cache_kernel(const float *queries, Cache cache, float *out)
{
    __shared__ float score[KV_TOKENS], half_sum[KV_DIMS], total;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = blockIdx.x * KV_TOKENS;
    const float4 q = ((const float4 *) (queries + blockIdx.x * KV_DIMS))[lane];
    for (int t = warp; t < KV_TOKENS; t += 8) {
        const float4 k = cache.key(first + t, lane);
        float dot = q.x * k.x + q.y * k.y + q.z * k.z + q.w * k.w;
        for (int by = 16; by; by /= 2)
            dot += __shfl_xor_sync(~0u, dot, by);
        if (lane == 0)
            score[t] = __expf(dot * 0.0883883f);
    }
    __syncthreads();
    if (warp == 0) {
        float sum = 0;
        for (int t = lane; t < KV_TOKENS; t += 32)
            sum += score[t];
        for (int by = 16; by; by /= 2)
            sum += __shfl_xor_sync(~0u, sum, by);
        if (lane == 0)
            total = sum;
    }
    const int dim = threadIdx.x % KV_DIMS, part = threadIdx.x / KV_DIMS;
    float sum = 0;
    for (int t = part; t < KV_TOKENS; t += 2)
        sum += score[t] * cache.value(first + t, dim);
    if (part)
        half_sum[dim] = sum;
    __syncthreads();
    if (!part)
        out[blockIdx.x * KV_DIMS + dim] = (sum + half_sum[dim]) / total;
}

// The caches hold the same numbers: eighths, so that bytes and halves are exact.
static void cache(Run &run, bool bytes)
{
    const int count = KV_HEADS * KV_TOKENS * KV_DIMS;
    const std::vector<float> q = floats(KV_HEADS * KV_DIMS, 9306);
    const std::vector<int> a = integers(count, 17, 9307), b = integers(count, 17, 9308);
    std::vector<signed char> keys(count), values(count);
    std::vector<__half> half_keys(count), half_values(count);
    for (int i = 0; i < count; i++) {
        half_keys[i] = __float2half((keys[i] = (signed char) (a[i] - 8)) / 8.0f);
        half_values[i] = __float2half((values[i] = (signed char) (b[i] - 8)) / 8.0f);
    }
    const std::vector<float> eighths(KV_HEADS * KV_TOKENS, 0.125f);
    const CacheByte cb = { run.upload(keys), run.upload(values), run.upload(eighths),
                           run.upload(eighths) };
    const CacheHalf ch = { run.upload(half_keys), run.upload(half_values) };
    const float *dq = run.upload(q);
    float *to = run.zeros<float>(KV_HEADS * KV_DIMS);
    run.measure([=] {
        if (bytes)
            cache_kernel<<<KV_HEADS, 256>>>(dq, cb, to);
        else
            cache_kernel<<<KV_HEADS, 256>>>(dq, ch, to);
    });
    const std::vector<float> got = run.output(to, KV_HEADS * KV_DIMS);
    for (int head = 0; head < KV_HEADS; head += 13) {
        std::vector<double> sums(KV_DIMS);
        double total = 0;
        for (int t = head * KV_TOKENS; t < (head + 1) * KV_TOKENS; t++) {
            double dot = 0;
            for (int k = 0; k < KV_DIMS; k++)
                dot += q[head * KV_DIMS + k] * keys[t * KV_DIMS + k] / 8.0;
            const double score = exp(dot / sqrt(128.0));
            total += score;
            for (int k = 0; k < KV_DIMS; k++)
                sums[k] += score * values[t * KV_DIMS + k] / 8.0;
        }
        for (int k = 0; k < KV_DIMS; k++)
            run.expect(got[head * KV_DIMS + k], sums[k] / total, 1e-3);
    }
}

static void cache_halves(Run &run)
{
    cache(run, false);
}

static void cache_bytes(Run &run)
{
    cache(run, true);
}

// ---- The four best of four beams: four searches, or one with a short list per thread ----

enum { BEAM_REQUESTS = 64, BEAM_SCORES = 4 * 8192, BEAM_BEST = 4, BEAM_THREADS = 256 };

// Keys sort like scores, and are all different: the score's bits, then the place.
__host__ __device__ inline unsigned long long beam_key(uint32_t score, int i)
{
    return (unsigned long long) score << 32 | (uint32_t) i;
}

// The greatest of a block's keys, for all threads.
__device__ inline unsigned long long beam_most(unsigned long long key)
{
    __shared__ unsigned long long part[BEAM_THREADS / 32];
    for (int by = 16; by; by /= 2)
        key = max(key, __shfl_xor_sync(~0u, key, by));
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = key;
    __syncthreads();
    for (int w = 0; w < BEAM_THREADS / 32; w++)
        key = max(key, part[w]);
    return key;
}

__global__ void beams_searches_kernel(const uint32_t *scores, unsigned long long *best)
{
    const uint32_t *from = scores + blockIdx.x * BEAM_SCORES;
    unsigned long long last = ~0ull;
    for (int rank = 0; rank < BEAM_BEST; rank++) {
        unsigned long long mine = 0;
        for (int i = threadIdx.x; i < BEAM_SCORES; i += BEAM_THREADS) {
            const unsigned long long key = beam_key(from[i], i);
            if (key < last && key > mine)
                mine = key;
        }
        last = beam_most(mine);
        if (threadIdx.x == 0)
            best[blockIdx.x * BEAM_BEST + rank] = last;
    }
}

__global__ void beams_lists_kernel(const uint32_t *scores, unsigned long long *best)
{
    const uint32_t *from = scores + blockIdx.x * BEAM_SCORES;
    unsigned long long list[BEAM_BEST] = {};
    for (int i = threadIdx.x; i < BEAM_SCORES; i += BEAM_THREADS) {
        unsigned long long key = beam_key(from[i], i);
        if (key < list[BEAM_BEST - 1])
            continue;
#pragma unroll
        for (int k = 0; k < BEAM_BEST; k++)
            if (key > list[k]) {
                const unsigned long long other = list[k];
                list[k] = key;
                key = other;
            }
    }
    for (int rank = 0; rank < BEAM_BEST; rank++) {
        const unsigned long long most = beam_most(list[0]);
        if (list[0] == most) {
            best[blockIdx.x * BEAM_BEST + rank] = most;
#pragma unroll
            for (int k = 0; k + 1 < BEAM_BEST; k++)
                list[k] = list[k + 1];
            list[BEAM_BEST - 1] = 0;
        }
    }
}

static void beams(Run &run, void (*kernel)(const uint32_t *, unsigned long long *))
{
    const std::vector<uint32_t> scores = words((size_t) BEAM_REQUESTS * BEAM_SCORES, 9309);
    const uint32_t *from = run.upload(scores);
    unsigned long long *to = run.zeros<unsigned long long>(BEAM_REQUESTS * BEAM_BEST);
    run.measure([=] { kernel<<<BEAM_REQUESTS, BEAM_THREADS>>>(from, to); });
    const std::vector<unsigned long long> got = run.output(to, BEAM_REQUESTS * BEAM_BEST);
    for (int r = 0; r < BEAM_REQUESTS; r += 3) {
        std::vector<unsigned long long> keys(BEAM_SCORES);
        for (int i = 0; i < BEAM_SCORES; i++)
            keys[i] = beam_key(scores[(size_t) r * BEAM_SCORES + i], i);
        std::partial_sort(keys.begin(), keys.begin() + BEAM_BEST, keys.end(),
                          std::greater<unsigned long long>());
        for (int k = 0; k < BEAM_BEST; k++)
            run.expect(got[r * BEAM_BEST + k] == keys[k], 1, 0);
    }
}

static void beam_searches(Run &run)
{
    beams(run, beams_searches_kernel);
}

static void beam_lists(Run &run)
{
    beams(run, beams_lists_kernel);
}

#endif
