// painters.cuh - networks that denoise images: patches, guided steps, modulated rows, text.
#ifndef BLIND_PAINTERS_CUH
#define BLIND_PAINTERS_CUH

#include "blind.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// ---- Patches of 2 x 2 pixels and all channels: neighbours in a warp write, or read, in order ----

enum {
    PATCH_CHANNELS = 8,
    PATCH_SIDE = 800,
    PATCH_COUNT = PATCH_CHANNELS * PATCH_SIDE * PATCH_SIDE
};

// Where pixel i of an image [channel][y][x] is among patches [y / 2][x / 2][channel][y % 2][x % 2].
__host__ __device__ inline int patch_place(int i)
{
    const int x = i % PATCH_SIDE, y = i / PATCH_SIDE % PATCH_SIDE;
    const int c = i / (PATCH_SIDE * PATCH_SIDE);
    const int patch = y / 2 * (PATCH_SIDE / 2) + x / 2;
    return (patch * PATCH_CHANNELS + c) * 4 + y % 2 * 2 + x % 2;
}

__host__ __device__ inline int patch_source(int o)
{
    const int c = o / 4 % PATCH_CHANNELS, patch = o / (4 * PATCH_CHANNELS);
    const int x = patch % (PATCH_SIDE / 2) * 2 + o % 2;
    const int y = patch / (PATCH_SIDE / 2) * 2 + o / 2 % 2;
    return (c * PATCH_SIDE + y) * PATCH_SIDE + x;
}

__global__ void patches_read_kernel(const float *image, float *patches)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    patches[patch_place(i)] = image[i];
}

__global__ void patches_write_kernel(const float *image, float *patches)
{
    const int o = blockIdx.x * blockDim.x + threadIdx.x;
    patches[o] = image[patch_source(o)];
}

static void patches(Run &run, void (*kernel)(const float *, float *))
{
    const std::vector<float> image = floats(PATCH_COUNT, 13070);
    const float *from = run.upload(image);
    float *to = run.zeros<float>(PATCH_COUNT);
    run.measure([=] { kernel<<<PATCH_COUNT / 256, 256>>>(from, to); });
    run.expect_all(
        run.output(to, PATCH_COUNT), [&](size_t o) { return image[patch_source((int) o)]; }, 0, 73);
}

static void patches_read(Run &run)
{
    patches(run, patches_read_kernel);
}

static void patches_write(Run &run)
{
    patches(run, patches_write_kernel);
}

// ---- A guided step from noise to image: a kernel per operation, or one ----

enum { GUIDED_PAIRS = 2600000 };

// out = a x + b y, in half precision.
__global__ void guidance_add_kernel(const half2 *x, float a, const half2 *y, float b, half2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= GUIDED_PAIRS)
        return;
    const float2 u = __half22float2(x[i]), v = __half22float2(y[i]);
    out[i] = __floats2half2_rn(a * u.x + b * v.x, a * u.y + b * v.y);
}

__global__ void guidance_clip_kernel(half2 *x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= GUIDED_PAIRS)
        return;
    const half2 most = __float2half2_rn(1), least = __float2half2_rn(-1);
    x[i] = __hmax2(__hmin2(x[i], most), least);
}

struct GuidedStep {
    float scale, noise_now, signal_now, noise_next, signal_next;
};

__host__ __device__ inline float guidance_value(float now, float with, float without,
                                                const GuidedStep &s)
{
    const float noise = without + s.scale * (with - without);
    float image = (now - s.noise_now * noise) / s.signal_now;
    image = fminf(fmaxf(image, -1), 1);
    return s.signal_next * image + s.noise_next * noise;
}

__global__ void guidance_fused_kernel(const half2 *now, const half2 *with, const half2 *without,
                                      GuidedStep s, half2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= GUIDED_PAIRS)
        return;
    const float2 x = __half22float2(now[i]), a = __half22float2(with[i]);
    const float2 b = __half22float2(without[i]);
    out[i] = __floats2half2_rn(guidance_value(x.x, a.x, b.x, s), guidance_value(x.y, a.y, b.y, s));
}

static std::vector<half2> guidance_input(uint32_t seed)
{
    const std::vector<float> r = floats(2 * GUIDED_PAIRS, seed);
    std::vector<half2> v(GUIDED_PAIRS);
    for (int i = 0; i < GUIDED_PAIRS; i++)
        v[i] = __floats2half2_rn(r[2 * i], r[2 * i + 1]);
    return v;
}

static void guidance(Run &run, bool fused)
{
    const std::vector<half2> x = guidance_input(13071), a = guidance_input(13072);
    const std::vector<half2> b = guidance_input(13073);
    const GuidedStep s = { 2.5f, 0.6f, 0.8f, 0.5f, 0.8660254f };
    const half2 *dx = run.upload(x), *da = run.upload(a), *db = run.upload(b);
    half2 *noise = run.zeros<half2>(GUIDED_PAIRS), *image = run.zeros<half2>(GUIDED_PAIRS);
    half2 *to = run.zeros<half2>(GUIDED_PAIRS);
    run.measure([=] {
        const int grid = blocks_for(GUIDED_PAIRS, 256);
        if (fused) {
            guidance_fused_kernel<<<grid, 256>>>(dx, da, db, s, to);
            return;
        }
        guidance_add_kernel<<<grid, 256>>>(da, s.scale, db, 1 - s.scale, noise);
        guidance_add_kernel<<<grid, 256>>>(dx, 1 / s.signal_now, noise, -s.noise_now / s.signal_now,
                                           image);
        guidance_clip_kernel<<<grid, 256>>>(image);
        guidance_add_kernel<<<grid, 256>>>(image, s.signal_next, noise, s.noise_next, to);
    });
    const std::vector<half2> got = run.output(to, GUIDED_PAIRS);
    for (int i = 0; i < GUIDED_PAIRS; i += 127) {
        const float2 u = __half22float2(x[i]), v = __half22float2(a[i]), w = __half22float2(b[i]);
        const float2 value = __half22float2(got[i]);
        run.expect(value.x, guidance_value(u.x, v.x, w.x, s), 1e-2);
        run.expect(value.y, guidance_value(u.y, v.y, w.y, s), 1e-2);
    }
}

static void guidance_steps(Run &run)
{
    guidance(run, false);
}

static void guidance_fused(Run &run)
{
    guidance(run, true);
}

// ---- Rows normalised, then scaled and shifted per image: a block per row, or a warp ----

enum { MODULATED_IMAGES = 28, MODULATED_TOKENS = 256, MODULATED_WIDTH = 1152 };

template <int THREADS> __device__ inline float2 modulate_sums(float sum, float squares)
{
    __shared__ float2 parts[32];
    for (int d = 16; d; d /= 2) {
        sum += __shfl_xor_sync(~0u, sum, d);
        squares += __shfl_xor_sync(~0u, squares, d);
    }
    if (THREADS == 32)
        return make_float2(sum, squares);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = make_float2(sum, squares);
    __syncthreads();
    sum = squares = 0;
    for (int w = 0; w < THREADS / 32; w++) {
        sum += parts[w].x;
        squares += parts[w].y;
    }
    return make_float2(sum, squares);
}

// `changes`: per image, the scales and then the shifts of all columns. THREADS share a row.
template <int THREADS>
__global__ void modulate_kernel(const __nv_bfloat162 *x, const __nv_bfloat162 *changes,
                                __nv_bfloat162 *out)
{
    const int pairs = MODULATED_WIDTH / 2,
              row = blockIdx.x * (blockDim.x / THREADS) + threadIdx.x / THREADS;
    const int first = threadIdx.x % THREADS;
    const __nv_bfloat162 *scales = changes + (size_t) row / MODULATED_TOKENS * 2 * pairs;
    float sum = 0, squares = 0;
    x += (size_t) row * pairs;
    out += (size_t) row * pairs;
    for (int i = first; i < pairs; i += THREADS) {
        const float2 v = __bfloat1622float2(x[i]);
        sum += v.x + v.y;
        squares += v.x * v.x + v.y * v.y;
    }
    const float2 sums = modulate_sums<THREADS>(sum, squares);
    const float mean = sums.x / MODULATED_WIDTH;
    const float inverse = rsqrtf(sums.y / MODULATED_WIDTH - mean * mean + 1e-6f);
    for (int i = first; i < pairs; i += THREADS) {
        const float2 v = __bfloat1622float2(x[i]), a = __bfloat1622float2(scales[i]);
        const float2 b = __bfloat1622float2(scales[pairs + i]);
        out[i] = __floats2bfloat162_rn((v.x - mean) * inverse * (1 + a.x) + b.x,
                                       (v.y - mean) * inverse * (1 + a.y) + b.y);
    }
}

static std::vector<__nv_bfloat162> modulate_input(size_t pairs, uint32_t seed)
{
    const std::vector<float> r = floats(2 * pairs, seed);
    std::vector<__nv_bfloat162> v(pairs);
    for (size_t i = 0; i < pairs; i++)
        v[i] = __floats2bfloat162_rn(r[2 * i], r[2 * i + 1]);
    return v;
}

template <int THREADS> static void modulate(Run &run)
{
    const int rows = MODULATED_IMAGES * MODULATED_TOKENS, pairs = MODULATED_WIDTH / 2;
    const std::vector<__nv_bfloat162> x = modulate_input((size_t) rows * pairs, 13074);
    const std::vector<__nv_bfloat162> changes =
        modulate_input((size_t) MODULATED_IMAGES * 2 * pairs, 13075);
    const __nv_bfloat162 *from = run.upload(x), *dc = run.upload(changes);
    __nv_bfloat162 *to = run.zeros<__nv_bfloat162>(x.size());
    run.measure([=] {
        const int block = THREADS == 32 ? 128 : THREADS;
        modulate_kernel<THREADS><<<rows * THREADS / block, block>>>(from, dc, to);
    });
    const std::vector<__nv_bfloat162> got = run.output(to, x.size());
    for (int row = 0; row < rows; row += 101) {
        double sum = 0, squares = 0;
        for (int i = 0; i < pairs; i++) {
            const float2 v = __bfloat1622float2(x[(size_t) row * pairs + i]);
            sum += v.x + v.y;
            squares += (double) v.x * v.x + (double) v.y * v.y;
        }
        const double mean = sum / MODULATED_WIDTH;
        const double deviation = sqrt(squares / MODULATED_WIDTH - mean * mean + 1e-6);
        for (int i = 0; i < pairs; i += 7) {
            const size_t image = (size_t) row / MODULATED_TOKENS * 2 * pairs;
            const float2 v = __bfloat1622float2(x[(size_t) row * pairs + i]);
            const float2 a = __bfloat1622float2(changes[image + i]);
            const float2 b = __bfloat1622float2(changes[image + pairs + i]);
            const float2 value = __bfloat1622float2(got[(size_t) row * pairs + i]);
            run.expect(value.x, (v.x - mean) / deviation * (1 + a.x) + b.x, 1e-2);
        }
    }
}

static void modulate_block(Run &run)
{
    modulate<192>(run);
}

static void modulate_warp(Run &run)
{
    modulate<32>(run);
}

// ---- Pixels attend to 154 words of a text: keys and values from global, or from shared memory
// ----

enum { CROSS_WORDS = 154, CROSS_HEADS = 8, CROSS_WIDTH = 32, CROSS_PIXELS = 1408 };

// Softmax of the scores while they are computed. Keys and values: [word][width / 4].
__device__ inline void cross_attend(const float4 *query, const float4 *keys, const float4 *values,
                                    float4 *out)
{
    float4 q[CROSS_WIDTH / 4], sums[CROSS_WIDTH / 4];
    float most = -1e30f, total = 0;
    for (int k = 0; k < CROSS_WIDTH / 4; k++) {
        q[k] = query[k];
        sums[k] = make_float4(0, 0, 0, 0);
    }
    for (int w = 0; w < CROSS_WORDS; w++) {
        float score = 0;
        for (int k = 0; k < CROSS_WIDTH / 4; k++) {
            const float4 key = keys[w * CROSS_WIDTH / 4 + k];
            score += q[k].x * key.x + q[k].y * key.y + q[k].z * key.z + q[k].w * key.w;
        }
        const float next = fmaxf(most, score), keep = __expf(most - next);
        const float weight = __expf(score - next);
        most = next;
        total = total * keep + weight;
        for (int k = 0; k < CROSS_WIDTH / 4; k++) {
            const float4 v = values[w * CROSS_WIDTH / 4 + k];
            sums[k] = make_float4(sums[k].x * keep + weight * v.x, sums[k].y * keep + weight * v.y,
                                  sums[k].z * keep + weight * v.z, sums[k].w * keep + weight * v.w);
        }
    }
    for (int k = 0; k < CROSS_WIDTH / 4; k++)
        out[k] =
            make_float4(sums[k].x / total, sums[k].y / total, sums[k].z / total, sums[k].w / total);
}

template <bool SHARED>
__global__ void cross_kernel(const float4 *queries, const float4 *keys, const float4 *values,
                             float4 *out)
{
    enum { COUNT = CROSS_WORDS * CROSS_WIDTH / 4 };
    __shared__ float4 staged[SHARED ? 2 * COUNT : 1];
    const size_t row = (size_t) blockIdx.y * CROSS_PIXELS + blockIdx.x * blockDim.x + threadIdx.x;
    keys += blockIdx.y * COUNT;
    values += blockIdx.y * COUNT;
    if (SHARED) {
        for (int i = threadIdx.x; i < COUNT; i += blockDim.x) {
            staged[i] = keys[i];
            staged[COUNT + i] = values[i];
        }
        __syncthreads();
        cross_attend(queries + row * CROSS_WIDTH / 4, staged, staged + COUNT,
                     out + row * CROSS_WIDTH / 4);
    } else
        cross_attend(queries + row * CROSS_WIDTH / 4, keys, values, out + row * CROSS_WIDTH / 4);
}

static double cross_host(const float *query, const float *keys, const float *values, int column)
{
    double total = 0, sum = 0;
    for (int w = 0; w < CROSS_WORDS; w++) {
        double score = 0;
        for (int k = 0; k < CROSS_WIDTH; k++)
            score += (double) query[k] * keys[w * CROSS_WIDTH + k];
        total += exp(score);
        sum += exp(score) * values[w * CROSS_WIDTH + column];
    }
    return sum / total;
}

template <bool SHARED> static void cross(Run &run)
{
    const int rows = CROSS_HEADS * CROSS_PIXELS, words = CROSS_HEADS * CROSS_WORDS;
    const std::vector<float> queries = floats((size_t) rows * CROSS_WIDTH, 13076);
    const std::vector<float> keys = floats(words * CROSS_WIDTH, 13077);
    const std::vector<float> values = floats(words * CROSS_WIDTH, 13078);
    const float4 *dq = (const float4 *) run.upload(queries);
    const float4 *dk = (const float4 *) run.upload(keys), *dv = (const float4 *) run.upload(values);
    float *to = run.zeros<float>((size_t) rows * CROSS_WIDTH);
    run.measure([=] {
        const dim3 grid(CROSS_PIXELS / 128, CROSS_HEADS);
        cross_kernel<SHARED><<<grid, 128>>>(dq, dk, dv, (float4 *) to);
    });
    run.expect_all(
        run.output(to, (size_t) rows * CROSS_WIDTH),
        [&](size_t i) {
            const size_t row = i / CROSS_WIDTH;
            const int head = (int) (row / CROSS_PIXELS) * CROSS_WORDS * CROSS_WIDTH;
            return cross_host(&queries[row * CROSS_WIDTH], &keys[head], &values[head],
                              (int) (i % CROSS_WIDTH));
        },
        1e-3, 977);
}

static void cross_global(Run &run)
{
    cross<false>(run);
}

static void cross_shared(Run &run)
{
    cross<true>(run);
}

#endif
