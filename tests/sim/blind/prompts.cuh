// prompts.cuh - serving of language models: rotations, paged caches, penalties, drafts.
#ifndef BLIND_PROMPTS_CUH
#define BLIND_PROMPTS_CUH

#include <cuda_bf16.h>

#include "blind.cuh"

// ---- Rotary positions of bfloat16 heads: partners next to each other, or half a head apart ----

enum { ROPE_TOKENS = 3072, ROPE_HEADS = 32, ROPE_DIM = 128 };

template <bool HALVES>
__global__ void rope_kernel(const __nv_bfloat16 *in, const float *angles, __nv_bfloat16 *out)
{
    const int token = blockIdx.x, pair = threadIdx.x % (ROPE_DIM / 2);
    const float2 turn = ((const float2 *) angles)[token * (ROPE_DIM / 2) + pair];
    for (int head = threadIdx.x / (ROPE_DIM / 2); head < ROPE_HEADS;
         head += blockDim.x / (ROPE_DIM / 2)) {
        const size_t base = ((size_t) token * ROPE_HEADS + head) * ROPE_DIM;
        const size_t a = base + (HALVES ? pair : 2 * pair);
        const size_t b = HALVES ? a + ROPE_DIM / 2 : a + 1;
        const float x = __bfloat162float(in[a]), y = __bfloat162float(in[b]);
        out[a] = __float2bfloat16(x * turn.x - y * turn.y);
        out[b] = __float2bfloat16(x * turn.y + y * turn.x);
    }
}

template <bool HALVES> static void rope(Run &run)
{
    const size_t n = (size_t) ROPE_TOKENS * ROPE_HEADS * ROPE_DIM;
    const std::vector<float> v = floats(n, 11080);
    std::vector<__nv_bfloat16> in(n);
    std::vector<float> angles(ROPE_TOKENS * ROPE_DIM);
    for (size_t i = 0; i < n; i++)
        in[i] = __float2bfloat16(v[i]);
    for (size_t i = 0; i < angles.size(); i += 2) {
        const double speed = pow(10000, -(double) (i % ROPE_DIM) / ROPE_DIM);
        angles[i] = (float) cos((double) (i / ROPE_DIM) * speed);
        angles[i + 1] = (float) sin((double) (i / ROPE_DIM) * speed);
    }
    const __nv_bfloat16 *from = run.upload(in);
    const float *da = run.upload(angles);
    __nv_bfloat16 *to = run.zeros<__nv_bfloat16>(n);
    run.measure([=] { rope_kernel<HALVES><<<ROPE_TOKENS, 256>>>(from, da, to); });
    const std::vector<__nv_bfloat16> got = run.output(to, n);
    for (size_t i = 0; i < n; i += 2 * 3571) {
        const size_t base = i / ROPE_DIM * ROPE_DIM, pair = i % ROPE_DIM / 2;
        const size_t a = base + (HALVES ? pair : 2 * pair);
        const size_t b = HALVES ? a + ROPE_DIM / 2 : a + 1;
        const float *turn = &angles[i / ROPE_DIM / ROPE_HEADS * ROPE_DIM + 2 * pair];
        const float x = __bfloat162float(in[a]), y = __bfloat162float(in[b]);
        run.expect(__bfloat162float(got[a]), x * turn[0] - y * turn[1], 0.01);
        run.expect(__bfloat162float(got[b]), x * turn[1] + y * turn[0], 0.01);
    }
}

static void ropes_neighbours(Run &run)
{
    rope<false>(run);
}

static void ropes_halves(Run &run)
{
    rope<true>(run);
}

// ---- Scores of a query against a paged cache of keys: a thread or 8 lanes per token ----

enum { PAGED_SEQUENCES = 192, PAGED_TOKENS = 2048, PAGED_DIM = 64, PAGE = 16 };

// A page holds the keys of 16 tokens, in halves; `pages` lists the pages of each sequence.
__device__ inline const uint4 *paged_key(const int *pages, const uint4 *keys, int s, int t)
{
    const int page = pages[s * (PAGED_TOKENS / PAGE) + t / PAGE];
    return keys + ((size_t) page * PAGE + t % PAGE) * (PAGED_DIM / 8);
}

__device__ inline float eight_products(uint4 a, const float *q)
{
    const __nv_bfloat162 *pairs = (const __nv_bfloat162 *) &a;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const float2 v = __bfloat1622float2(pairs[k]);
        sum += v.x * q[2 * k] + v.y * q[2 * k + 1];
    }
    return sum;
}

template <int LANES>
__global__ void paged_kernel(const int *pages, const uint4 *keys, const float *queries, float *out)
{
    __shared__ float q[PAGED_DIM];
    const int s = blockIdx.y, t = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    if (threadIdx.x < PAGED_DIM)
        q[threadIdx.x] = queries[s * PAGED_DIM + threadIdx.x];
    __syncthreads();
    const uint4 *key = paged_key(pages, keys, s, t);
    float sum = 0;
    for (int k = threadIdx.x % LANES; k < PAGED_DIM / 8; k += LANES)
        sum += eight_products(key[k], q + 8 * k);
    for (int d = LANES / 2; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % LANES == 0)
        out[s * PAGED_TOKENS + t] = sum;
}

template <int LANES> static void paged(Run &run)
{
    const int count = PAGED_SEQUENCES * PAGED_TOKENS, page_count = count / PAGE;
    const std::vector<float> v = floats((size_t) count * PAGED_DIM, 11081);
    const std::vector<float> queries = floats(PAGED_SEQUENCES * PAGED_DIM, 11082);
    std::vector<__nv_bfloat16> keys(v.size());
    for (size_t i = 0; i < v.size(); i++)
        keys[i] = __float2bfloat16(v[i]);
    std::vector<int> pages(page_count);
    for (int i = 0; i < page_count; i++)
        pages[i] = (int) ((long long) i * 2477 % page_count);
    const int *dp = run.upload(pages);
    const uint4 *dk = (const uint4 *) run.upload(keys);
    const float *dq = run.upload(queries);
    float *to = run.zeros<float>(count);
    const dim3 grid(PAGED_TOKENS * LANES / 128, PAGED_SEQUENCES);
    run.measure([=] { paged_kernel<LANES><<<grid, 128>>>(dp, dk, dq, to); });
    run.expect_all(
        run.output(to, count),
        [&](size_t i) {
            const size_t at = (size_t) pages[i / PAGE] * PAGE + i % PAGE;
            double sum = 0;
            for (int k = 0; k < PAGED_DIM; k++)
                sum += (double) queries[i / PAGED_TOKENS * PAGED_DIM + k] *
                       __bfloat162float(keys[at * PAGED_DIM + k]);
            return sum;
        },
        1e-4, 97);
}

static void pagedscores_thread(Run &run)
{
    paged<1>(run);
}

static void pagedscores_lanes(Run &run)
{
    paged<8>(run);
}

// ---- Penalties for repeated words: scattered into a copy, or each word is searched
// ----

enum { REPEAT_ROWS = 80, REPEAT_WORDS = 32000, REPEAT_SEEN = 512 };

__host__ __device__ inline float repeat_penalty(float v)
{
    return v > 0 ? v / 1.3f : v * 1.3f;
}

__global__ void repeat_scatter_kernel(const int *seen, float *logits)
{
    const int row = blockIdx.x;
    for (int k = threadIdx.x; k < REPEAT_SEEN; k += blockDim.x) {
        const int word = seen[row * REPEAT_SEEN + k];
        if (k == 0 || word != seen[row * REPEAT_SEEN + k - 1])
            logits[row * REPEAT_WORDS + word] = repeat_penalty(logits[row * REPEAT_WORDS + word]);
    }
}

__global__ void repeat_copy_kernel(const float *in, float *out)
{
    const int i = blockIdx.y * REPEAT_WORDS + blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

__global__ void repeat_temperature_kernel(const float *in, float *out)
{
    const int i = blockIdx.y * REPEAT_WORDS + blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] / 0.7f;
}

__global__ void repeat_search_kernel(const int *seen, const float *in, float *out)
{
    const int word = blockIdx.x * blockDim.x + threadIdx.x;
    const int *list = seen + blockIdx.y * REPEAT_SEEN;
    int low = 0;
    for (int step = REPEAT_SEEN / 2; step; step /= 2)
        if (list[low + step - 1] < word)
            low += step;
    const float v = in[blockIdx.y * REPEAT_WORDS + word];
    out[blockIdx.y * REPEAT_WORDS + word] = (list[low] == word ? repeat_penalty(v) : v) / 0.7f;
}

static void repeats(Run &run, bool search)
{
    const std::vector<float> in = floats(REPEAT_ROWS * REPEAT_WORDS, 11083, -8, 8);
    std::vector<int> seen = integers(REPEAT_ROWS * REPEAT_SEEN, REPEAT_WORDS, 11084);
    std::vector<bool> hit(in.size());
    for (int r = 0; r < REPEAT_ROWS; r++) {
        std::sort(&seen[r * REPEAT_SEEN], &seen[r * REPEAT_SEEN] + REPEAT_SEEN);
        for (int k = 0; k < REPEAT_SEEN; k++)
            hit[r * REPEAT_WORDS + seen[r * REPEAT_SEEN + k]] = true;
    }
    const int *ds = run.upload(seen);
    const float *from = run.upload(in);
    float *copy = run.zeros<float>(in.size()), *to = run.zeros<float>(in.size());
    const dim3 grid(REPEAT_WORDS / 128, REPEAT_ROWS);
    run.measure([=] {
        if (search) {
            repeat_search_kernel<<<grid, 128>>>(ds, from, to);
        } else {
            repeat_copy_kernel<<<grid, 128>>>(from, copy);
            repeat_scatter_kernel<<<REPEAT_ROWS, 256>>>(ds, copy);
            repeat_temperature_kernel<<<grid, 128>>>(copy, to);
        }
    });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) { return (hit[i] ? repeat_penalty(in[i]) : in[i]) / 0.7f; }, 1e-5, 31);
}

static void repeated_scatter(Run &run)
{
    repeats(run, false);
}

static void repeated_search(Run &run)
{
    repeats(run, true);
}

// ---- Drafted tokens are accepted while the model agrees: by a warp and its argmax, or by a block
// ----

enum { DRAFTS = 40, DRAFT_LENGTH = 4, DRAFT_WORDS = 32768 };

__global__ void drafts_warp_kernel(const float *logits, const int *drafted, int *accepted)
{
    const int lane = threadIdx.x;
    int count = 0;
    while (count < DRAFT_LENGTH) {
        const float *row = logits + (size_t) (blockIdx.x * DRAFT_LENGTH + count) * DRAFT_WORDS;
        float best = -1e30f;
        int at = 0;
        for (int k = lane; k < DRAFT_WORDS; k += 32)
            if (row[k] > best) {
                best = row[k];
                at = k;
            }
        for (int d = 16; d; d /= 2) {
            const float other = __shfl_xor_sync(~0u, best, d);
            const int place = __shfl_xor_sync(~0u, at, d);
            if (other > best || (other == best && place < at)) {
                best = other;
                at = place;
            }
        }
        if (at != drafted[blockIdx.x * DRAFT_LENGTH + count])
            break;
        count++;
    }
    if (lane == 0)
        accepted[blockIdx.x] = count;
}

// All positions are checked at once: is a logit larger than the drafted one's?
__global__ void drafts_block_kernel(const float *logits, const int *drafted, int *accepted)
{
    __shared__ int first;
    if (threadIdx.x == 0)
        first = DRAFT_LENGTH;
    __syncthreads();
    for (int p = 0; p < DRAFT_LENGTH; p++) {
        const float *row = logits + (size_t) (blockIdx.x * DRAFT_LENGTH + p) * DRAFT_WORDS;
        const float mine = row[drafted[blockIdx.x * DRAFT_LENGTH + p]];
        bool larger = false;
        for (int k = threadIdx.x; k < DRAFT_WORDS; k += blockDim.x)
            larger |= row[k] > mine;
        if (larger)
            atomicMin(&first, p);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        accepted[blockIdx.x] = first;
}

static void drafts(Run &run, bool block)
{
    std::vector<float> logits = floats((size_t) DRAFTS * DRAFT_LENGTH * DRAFT_WORDS, 11085, -9, 9);
    const std::vector<int> agree = integers(DRAFTS * DRAFT_LENGTH, 100, 11086);
    std::vector<int> drafted = integers(DRAFTS * DRAFT_LENGTH, DRAFT_WORDS, 11087);
    for (int i = 0; i < DRAFTS * DRAFT_LENGTH; i++)
        if (agree[i] < 85)
            logits[(size_t) i * DRAFT_WORDS + drafted[i]] = 10;
    const float *from = run.upload(logits);
    const int *dd = run.upload(drafted);
    int *to = run.zeros<int>(DRAFTS);
    run.measure([=] {
        if (block)
            drafts_block_kernel<<<DRAFTS, 512>>>(from, dd, to);
        else
            drafts_warp_kernel<<<DRAFTS, 32>>>(from, dd, to);
    });
    run.expect_all(
        run.output(to, DRAFTS),
        [&](size_t i) {
            int count = 0;
            while (count < DRAFT_LENGTH && agree[i * DRAFT_LENGTH + count] < 85)
                count++;
            return count;
        },
        0);
}

static void drafts_warp(Run &run)
{
    drafts(run, false);
}

static void drafts_block(Run &run)
{
    drafts(run, true);
}

#endif
