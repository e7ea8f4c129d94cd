// serving.cuh - language models answer: shared keys of heads, small number formats, sampled tokens.
#ifndef BLIND_SERVING_CUH
#define BLIND_SERVING_CUH

#include "blind.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// ---- Attention of one token, four heads share keys: a warp per head, or per four heads ----

enum { GQA_BATCH = 3, GQA_GROUPS = 8, GQA_SHARE = 4, GQA_KEYS = 1536, GQA_DIM = 64 };
enum { GQA_HEADS = GQA_GROUPS * GQA_SHARE };

struct GqaState {
    float largest, sum;
    float2 mixed;
};

// A lane holds two of a head's 64 dimensions. The softmax is computed on the way.
__device__ inline void gqa_key(GqaState *s, float2 query, float2 key, float2 value)
{
    float score = query.x * key.x + query.y * key.y;
    for (int by = 16; by; by /= 2)
        score += __shfl_xor_sync(~0u, score, by);
    const float largest = fmaxf(s->largest, score);
    const float keep = __expf(s->largest - largest), weight = __expf(score - largest);
    s->sum = s->sum * keep + weight;
    s->mixed.x = s->mixed.x * keep + weight * value.x;
    s->mixed.y = s->mixed.y * keep + weight * value.y;
    s->largest = largest;
}

// Keys and values: [batch][group][position][dimension]. Heads of a group follow each other.
__global__ void gqa_each_kernel(const float2 *queries, const half2 *keys, const half2 *values,
                                float2 *out)
{
    const int head = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int first = head / GQA_SHARE * GQA_KEYS;
    const float2 query = queries[head * 32 + lane];
    GqaState s = { -1e30f, 0, { 0, 0 } };
    for (int k = first; k < first + GQA_KEYS; k++)
        gqa_key(&s, query, __half22float2(keys[k * 32 + lane]),
                __half22float2(values[k * 32 + lane]));
    out[head * 32 + lane] = make_float2(s.mixed.x / s.sum, s.mixed.y / s.sum);
}

__global__ void gqa_group_kernel(const float2 *queries, const half2 *keys, const half2 *values,
                                 float2 *out)
{
    const int group = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float2 query[GQA_SHARE];
    GqaState s[GQA_SHARE];
    for (int h = 0; h < GQA_SHARE; h++) {
        query[h] = queries[(group * GQA_SHARE + h) * 32 + lane];
        s[h] = { -1e30f, 0, { 0, 0 } };
    }
    for (int k = group * GQA_KEYS; k < (group + 1) * GQA_KEYS; k++) {
        const float2 key = __half22float2(keys[k * 32 + lane]);
        const float2 value = __half22float2(values[k * 32 + lane]);
#pragma unroll
        for (int h = 0; h < GQA_SHARE; h++)
            gqa_key(&s[h], query[h], key, value);
    }
    for (int h = 0; h < GQA_SHARE; h++)
        out[(group * GQA_SHARE + h) * 32 + lane] =
            make_float2(s[h].mixed.x / s[h].sum, s[h].mixed.y / s[h].sum);
}

static std::vector<half> gqa_halves(uint32_t seed)
{
    const std::vector<float> v = floats((size_t) GQA_BATCH * GQA_GROUPS * GQA_KEYS * GQA_DIM, seed);
    std::vector<half> halves(v.size());
    for (size_t i = 0; i < v.size(); i++)
        halves[i] = __float2half(v[i]);
    return halves;
}

static double gqa_host(const std::vector<float> &queries, const std::vector<half> &keys,
                       const std::vector<half> &values, size_t i)
{
    const size_t head = i / GQA_DIM, first = head / GQA_SHARE * GQA_KEYS;
    double sum = 0, mixed = 0;
    for (size_t k = first; k < first + GQA_KEYS; k++) {
        double score = 0;
        for (size_t d = 0; d < GQA_DIM; d++)
            score += queries[head * GQA_DIM + d] * __half2float(keys[k * GQA_DIM + d]);
        sum += exp(score);
        mixed += exp(score) * __half2float(values[k * GQA_DIM + i % GQA_DIM]);
    }
    return mixed / sum;
}

static void gqa(Run &run, bool group)
{
    const int heads = GQA_BATCH * GQA_HEADS;
    const std::vector<float> queries = floats(heads * GQA_DIM, 12050, -0.5f, 0.5f);
    const std::vector<half> keys = gqa_halves(12051), values = gqa_halves(12052);
    const float2 *dq = (const float2 *) run.upload(queries);
    const half2 *dk = (const half2 *) run.upload(keys), *dv = (const half2 *) run.upload(values);
    float *to = run.zeros<float>(queries.size());
    run.measure([=] {
        if (group)
            gqa_group_kernel<<<heads / GQA_SHARE, 32>>>(dq, dk, dv, (float2 *) to);
        else
            gqa_each_kernel<<<heads / 4, 128>>>(dq, dk, dv, (float2 *) to);
    });
    run.expect_all(
        run.output(to, queries.size()),
        [&](size_t i) { return gqa_host(queries, keys, values, i); }, 1e-3, 307);
}

static void gqa_each(Run &run)
{
    gqa(run, false);
}

static void gqa_group(Run &run)
{
    gqa(run, true);
}

// ---- Numbers of 8 bits (4 of exponent) to floats, a scale per 128: a table, or arithmetic ----

enum { E4M3_COUNT = 22 << 20, E4M3_GROUP = 128 };

// The bits of a float whose exponent is too small by 120. The codes of "not a number" do not occur.
__host__ __device__ inline float e4m3_value(uint32_t code)
{
    union {
        uint32_t bits;
        float value;
    } u;
    u.bits = (code & 128) << 24 | (code & 127) << 20;
    return u.value * 0x1p120f;
}

__global__ void e4m3_arithmetic_kernel(const uint32_t *in, const float *scales, const float *,
                                       float4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t codes = in[i];
    const float scale = scales[i / (E4M3_GROUP / 4)];
    out[i] = make_float4(scale * e4m3_value(codes & 255), scale * e4m3_value(codes >> 8 & 255),
                         scale * e4m3_value(codes >> 16 & 255), scale * e4m3_value(codes >> 24));
}

__global__ void e4m3_table_kernel(const uint32_t *in, const float *scales, const float *table,
                                  float4 *out)
{
    __shared__ float values[256];
    values[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t codes = in[i];
    const float scale = scales[i / (E4M3_GROUP / 4)];
    out[i] = make_float4(scale * values[codes & 255], scale * values[codes >> 8 & 255],
                         scale * values[codes >> 16 & 255], scale * values[codes >> 24]);
}

static void e4m3(Run &run, void (*kernel)(const uint32_t *, const float *, const float *, float4 *))
{
    const std::vector<int> v = integers(E4M3_COUNT, 254, 12053);
    std::vector<unsigned char> codes(E4M3_COUNT);
    for (size_t i = 0; i < E4M3_COUNT; i++)
        codes[i] = (unsigned char) (v[i] < 127 ? v[i] : v[i] + 1);
    const std::vector<float> scales = floats(E4M3_COUNT / E4M3_GROUP, 12054, 0.01f, 0.1f);
    std::vector<float> table(256);
    for (uint32_t c = 0; c < 256; c++)
        table[c] = e4m3_value(c);
    const uint32_t *from = (const uint32_t *) run.upload(codes);
    const float *ds = run.upload(scales), *dt = run.upload(table);
    float *to = run.zeros<float>(E4M3_COUNT);
    run.measure([=] { kernel<<<E4M3_COUNT / 4 / 256, 256>>>(from, ds, dt, (float4 *) to); });
    run.expect_all(
        run.output(to, E4M3_COUNT),
        [&](size_t i) { return scales[i / E4M3_GROUP] * table[codes[i]]; }, 1e-6, 1009);
}

static void e4m3_arithmetic(Run &run)
{
    e4m3(run, e4m3_arithmetic_kernel);
}

static void e4m3_table(Run &run)
{
    e4m3(run, e4m3_table_kernel);
}

// ---- Weights -1, 0, 1 in two bits times bytes, a warp per row: one by one, or four by dp4a ----

enum { TERNARY_ROWS = 6144, TERNARY_WORDS = 384, TERNARY_COLUMNS = 16 * TERNARY_WORDS };

__device__ inline void ternary_write(int sum, int *out)
{
    for (int by = 16; by; by /= 2)
        sum += __shfl_down_sync(~0u, sum, by);
    if (threadIdx.x % 32 == 0)
        *out = sum;
}

// A word holds 16 weights plus one. Warps take rows that lie as many apart as there are warps.
__global__ void ternary_each_kernel(const uint32_t *weights, const char4 *x, int *out)
{
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (int row = warp; row < TERNARY_ROWS; row += gridDim.x * blockDim.x / 32) {
        int sum = 0;
        for (int k = threadIdx.x % 32; k < TERNARY_WORDS; k += 32) {
            const uint32_t w = weights[row * TERNARY_WORDS + k];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const char4 v = x[4 * k + j];
                sum += ((int) (w >> 8 * j & 3) - 1) * v.x;
                sum += ((int) (w >> (8 * j + 2) & 3) - 1) * v.y;
                sum += ((int) (w >> (8 * j + 4) & 3) - 1) * v.z;
                sum += ((int) (w >> (8 * j + 6) & 3) - 1) * v.w;
            }
        }
        ternary_write(sum, &out[row]);
    }
}

// Eight bits become the low ends of four bytes. The second product subtracts the ones that the
// weights have too much.
__device__ inline int ternary_word(uint32_t w, int4 v, int sum)
{
    const int parts[4] = { v.x, v.y, v.z, v.w };
#pragma unroll
    for (int j = 0; j < 4; j++) {
        uint32_t t = w >> 8 * j & 255;
        t = (t | t << 12) & 0x000f000f;
        t = (t | t << 6) & 0x03030303;
        sum = __dp4a((int) t, parts[j], sum);
        sum = __dp4a(-1, parts[j], sum);
    }
    return sum;
}

__global__ void ternary_dp4a_kernel(const uint32_t *weights, const char4 *x, int *out)
{
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (int row = warp; row < TERNARY_ROWS; row += gridDim.x * blockDim.x / 32) {
        int sum = 0;
        for (int k = threadIdx.x % 32; k < TERNARY_WORDS; k += 32)
            sum = ternary_word(weights[row * TERNARY_WORDS + k], ((const int4 *) x)[k], sum);
        ternary_write(sum, &out[row]);
    }
}

static void ternary(Run &run, void (*kernel)(const uint32_t *, const char4 *, int *))
{
    std::vector<uint32_t> weights = words((size_t) TERNARY_ROWS * TERNARY_WORDS, 12055);
    for (uint32_t &w : weights)
        w &= ~((w & w >> 1 & 0x55555555u) << 1);
    const std::vector<int> v = integers(TERNARY_COLUMNS, 255, 12056);
    std::vector<signed char> x(TERNARY_COLUMNS);
    for (size_t i = 0; i < TERNARY_COLUMNS; i++)
        x[i] = (signed char) (v[i] - 127);
    const uint32_t *dw = run.upload(weights);
    const char4 *dx = (const char4 *) run.upload(x);
    int *to = run.zeros<int>(TERNARY_ROWS);
    run.measure([=] { kernel<<<132, 128>>>(dw, dx, to); });
    run.expect_all(
        run.output(to, TERNARY_ROWS),
        [&](size_t row) {
            int sum = 0;
            for (size_t k = 0; k < TERNARY_COLUMNS; k++)
                sum += ((int) (weights[row * TERNARY_WORDS + k / 16] >> k % 16 * 2 & 3) - 1) * x[k];
            return sum;
        },
        0, 43);
}

static void ternary_each(Run &run)
{
    ternary(run, ternary_each_kernel);
}

static void ternary_dp4a(Run &run)
{
    ternary(run, ternary_dp4a_kernel);
}

// ---- A token drawn by adding Gumbel noise to its logits: a block per row, or sixteen blocks ----

enum { GUMBEL_ROWS = 48, GUMBEL_TOKENS = 64000, GUMBEL_PARTS = 16 };

__host__ __device__ inline float gumbel_score(float logit, uint32_t i)
{
    uint32_t x = i * 2654435769u + 12057;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    const float u = ((x >> 9) + 0.5f) * 0x1p-23f;
    return logit * 1.25f - logf(-logf(u));
}

// Scores in the order of whole numbers, with the token in the low half.
__device__ inline unsigned long long gumbel_key(float score, int token)
{
    const uint32_t bits = __float_as_uint(score);
    const uint32_t ordered = bits >> 31 ? ~bits : bits | 0x80000000u;
    return (unsigned long long) ordered << 32 | (uint32_t) token;
}

__device__ inline unsigned long long gumbel_warp(unsigned long long key)
{
    for (int by = 16; by; by /= 2)
        key = max(key, __shfl_xor_sync(~0u, key, by));
    return key;
}

// Block (part, row): the best of its part of the tokens.
__global__ void gumbel_part_kernel(const __nv_bfloat162 *logits, int count,
                                   unsigned long long *best)
{
    __shared__ unsigned long long warps[8];
    const int row = blockIdx.y, first = blockIdx.x * count;
    unsigned long long key = 0;
    for (int k = first + threadIdx.x; k < first + count; k += blockDim.x) {
        const int at = row * (GUMBEL_TOKENS / 2) + k;
        const float2 v = __bfloat1622float2(logits[at]);
        key = max(key, gumbel_key(gumbel_score(v.x, 2 * at), 2 * k));
        key = max(key, gumbel_key(gumbel_score(v.y, 2 * at + 1), 2 * k + 1));
    }
    key = gumbel_warp(key);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = key;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            key = max(key, warps[w]);
        best[row * gridDim.x + blockIdx.x] = key;
    }
}

__global__ void gumbel_join_kernel(const unsigned long long *parts, unsigned long long *best)
{
    const int row = blockIdx.x, lane = threadIdx.x;
    const unsigned long long key =
        gumbel_warp(lane < GUMBEL_PARTS ? parts[row * GUMBEL_PARTS + lane] : 0);
    if (lane == 0)
        best[row] = key;
}

// The score of the token that was chosen is compared with the best: rounding may decide a tie.
static void gumbel_check(Run &run, const unsigned long long *to,
                         const std::vector<__nv_bfloat16> &logits)
{
    const std::vector<unsigned long long> got = run.output(to, GUMBEL_ROWS);
    for (size_t row = 0; row < GUMBEL_ROWS; row += 5) {
        const size_t first = row * GUMBEL_TOKENS;
        float best = -1e30f;
        for (size_t i = first; i < first + GUMBEL_TOKENS; i++)
            best = std::max(best, gumbel_score(__bfloat162float(logits[i]), (uint32_t) i));
        const size_t chosen = first + (got[row] & 0xffffffffu);
        run.expect(gumbel_score(__bfloat162float(logits[chosen]), (uint32_t) chosen), best, 1e-4);
    }
}

static void gumbel(Run &run, bool split)
{
    const std::vector<float> v = floats(GUMBEL_ROWS * GUMBEL_TOKENS, 12058, -4, 4);
    std::vector<__nv_bfloat16> logits(v.size());
    for (size_t i = 0; i < v.size(); i++)
        logits[i] = __float2bfloat16(v[i]);
    const __nv_bfloat162 *from = (const __nv_bfloat162 *) run.upload(logits);
    unsigned long long *parts = run.zeros<unsigned long long>(GUMBEL_ROWS * GUMBEL_PARTS);
    unsigned long long *to = run.zeros<unsigned long long>(GUMBEL_ROWS);
    const int pairs = GUMBEL_TOKENS / 2;
    run.measure([=] {
        if (split) {
            const dim3 grid(GUMBEL_PARTS, GUMBEL_ROWS);
            gumbel_part_kernel<<<grid, 256>>>(from, pairs / GUMBEL_PARTS, parts);
            gumbel_join_kernel<<<GUMBEL_ROWS, 32>>>(parts, to);
        } else {
            gumbel_part_kernel<<<dim3(1, GUMBEL_ROWS), 256>>>(from, pairs, to);
        }
    });
    gumbel_check(run, to, logits);
}

static void gumbel_block(Run &run)
{
    gumbel(run, false);
}

static void gumbel_split(Run &run)
{
    gumbel(run, true);
}

#endif
