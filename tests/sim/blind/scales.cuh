// scales.cuh - layers of bytes and of four bits whose groups have scales.
#ifndef BLIND_SCALES_CUH
#define BLIND_SCALES_CUH

#include "blind.cuh"

#include <cuda_fp16.h>

// ---- Floats to bytes, one scale per group of 64: a thread or eight lanes per group ----

enum { SCALE_GROUP = 64, SCALE_GROUPS = 160000 };

__host__ __device__ inline signed char scale_byte(float v, float most)
{
    return (signed char) rintf(v * (127 / most));
}

__global__ void scale_thread_kernel(const float *in, signed char *out, float *scales)
{
    const int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= SCALE_GROUPS)
        return;
    in += (size_t) g * SCALE_GROUP;
    out += (size_t) g * SCALE_GROUP;
    float most = 1e-6f;
    for (int k = 0; k < SCALE_GROUP; k++)
        most = fmaxf(most, fabsf(in[k]));
    for (int k = 0; k < SCALE_GROUP; k++)
        out[k] = scale_byte(in[k], most);
    scales[g] = most / 127;
}

// Each lane has two vectors of the group.
__global__ void scale_lanes_kernel(const float *in, signed char *out, float *scales)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, g = i / 8, lane = i % 8;
    const float4 *from = (const float4 *) (in + (size_t) g * SCALE_GROUP);
    char4 *to = (char4 *) (out + (size_t) g * SCALE_GROUP);
    const float4 v[2] = { from[lane], from[lane + 8] };
    float most = 1e-6f;
    for (int k = 0; k < 2; k++) {
        most = fmaxf(most, fmaxf(fabsf(v[k].x), fabsf(v[k].y)));
        most = fmaxf(most, fmaxf(fabsf(v[k].z), fabsf(v[k].w)));
    }
    for (int d = 4; d; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    for (int k = 0; k < 2; k++)
        to[lane + 8 * k] = make_char4(scale_byte(v[k].x, most), scale_byte(v[k].y, most),
                                      scale_byte(v[k].z, most), scale_byte(v[k].w, most));
    if (lane == 0)
        scales[g] = most / 127;
}

static void scale_run(Run &run, void (*kernel)(const float *, signed char *, float *), int threads)
{
    const size_t n = (size_t) SCALE_GROUPS * SCALE_GROUP;
    const std::vector<float> in = floats(n, 15910, -3, 3);
    const float *from = run.upload(in);
    signed char *to = run.zeros<signed char>(n);
    float *scales = run.zeros<float>(SCALE_GROUPS);
    const int blocks = blocks_for((size_t) SCALE_GROUPS * threads, 256);
    run.measure([=] { kernel<<<blocks, 256>>>(from, to, scales); });
    const std::vector<signed char> bytes = run.output(to, n);
    const std::vector<float> got = run.output(scales, SCALE_GROUPS);
    for (size_t g = 0; g < SCALE_GROUPS; g += 31) {
        float most = 1e-6f;
        for (int k = 0; k < SCALE_GROUP; k++)
            most = std::max(most, fabsf(in[g * SCALE_GROUP + k]));
        run.expect(got[g], most / 127, 1e-6);
        for (int k = 0; k < SCALE_GROUP; k += 5)
            run.expect(bytes[g * SCALE_GROUP + k], scale_byte(in[g * SCALE_GROUP + k], most), 0);
    }
}

static void group_scale_thread(Run &run)
{
    scale_run(run, scale_thread_kernel, 1);
}

static void group_scale_lanes(Run &run)
{
    scale_run(run, scale_lanes_kernel, 8);
}

// ---- Products of bytes with scales: each byte as a float, or four at once as integers ----

enum { SCALED_IN = 2048, SCALED_ROWS = 2048, SCALED_BATCH = 8 };
enum { SCALED_PARTS = SCALED_IN / SCALE_GROUP };

__device__ inline float scaled_part(const char4 *w, const char4 *x, bool integers)
{
    float sum = 0;
    int whole = 0;
    for (int k = 0; k < SCALE_GROUP / 4; k++) {
        if (integers)
            whole = __dp4a(w[k], x[k], whole);
        else
            sum += (float) w[k].x * x[k].x + (float) w[k].y * x[k].y + (float) w[k].z * x[k].z +
                   (float) w[k].w * x[k].w;
    }
    return integers ? whole : sum;
}

template <bool INTEGERS>
__global__ void scaled_kernel(const char4 *weights, const float *scales, const char4 *in,
                              const float *in_scales, float *out)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
    const char4 *w = weights + row * (SCALED_IN / 4), *x = in + b * (SCALED_IN / 4);
    float sum = 0;
    for (int g = 0; g < SCALED_PARTS; g++)
        sum += scaled_part(w + g * SCALE_GROUP / 4, x + g * SCALE_GROUP / 4, INTEGERS) *
               (scales[row * SCALED_PARTS + g] * in_scales[b * SCALED_PARTS + g]);
    out[b * SCALED_ROWS + row] = sum;
}

static std::vector<signed char> scaled_bytes(size_t count, uint32_t seed)
{
    std::vector<signed char> bytes(count);
    const std::vector<int> v = integers(count, 255, seed);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (signed char) (v[i] - 127);
    return bytes;
}

template <bool INTEGERS> static void scaled_run(Run &run)
{
    const std::vector<signed char> w = scaled_bytes(SCALED_ROWS * SCALED_IN, 15911);
    const std::vector<signed char> x = scaled_bytes(SCALED_BATCH * SCALED_IN, 15912);
    const std::vector<float> ws = floats(SCALED_ROWS * SCALED_PARTS, 15913, 0.005f, 0.015f);
    const std::vector<float> xs = floats(SCALED_BATCH * SCALED_PARTS, 15914, 0.005f, 0.015f);
    const char4 *dw = (const char4 *) run.upload(w), *dx = (const char4 *) run.upload(x);
    const float *dws = run.upload(ws), *dxs = run.upload(xs);
    float *to = run.zeros<float>(SCALED_BATCH * SCALED_ROWS);
    const dim3 grid(SCALED_ROWS / 64, SCALED_BATCH);
    run.measure([=] { scaled_kernel<INTEGERS><<<grid, 64>>>(dw, dws, dx, dxs, to); });
    run.expect_all(
        run.output(to, SCALED_BATCH * SCALED_ROWS),
        [&](size_t i) {
            const size_t b = i / SCALED_ROWS, row = i % SCALED_ROWS;
            double sum = 0;
            for (int k = 0; k < SCALED_IN; k++)
                sum += (double) w[row * SCALED_IN + k] * x[b * SCALED_IN + k] *
                       ws[row * SCALED_PARTS + k / SCALE_GROUP] *
                       xs[b * SCALED_PARTS + k / SCALE_GROUP];
            return sum;
        },
        1e-3, 37);
}

static void scaled_floats(Run &run)
{
    scaled_run<false>(run);
}

static void scaled_fours(Run &run)
{
    scaled_run<true>(run);
}

// ---- Four bits to halves by a code book: in constant memory, or in shared memory ----

enum { BOOK_WORDS = 1200000, BOOK_GROUP = 8 }; // words per scale

__constant__ float book_constant[16];

__device__ inline void book_word(uint32_t word, const float *book, float scale, uint4 *out)
{
    __half2 v[4];
    for (int k = 0; k < 4; k++)
        v[k] = __floats2half2_rn(scale * book[word >> 8 * k & 15],
                                 scale * book[word >> (8 * k + 4) & 15]);
    *out = *(uint4 *) v;
}

__global__ void book_constant_kernel(const uint32_t *in, const float *scales, const float *,
                                     uint4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < BOOK_WORDS)
        book_word(in[i], book_constant, scales[i / BOOK_GROUP], out + i);
}

__global__ void book_shared_kernel(const uint32_t *in, const float *scales, const float *book,
                                   uint4 *out)
{
    __shared__ float mine[16];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 16)
        mine[threadIdx.x] = book[threadIdx.x];
    __syncthreads();
    if (i < BOOK_WORDS)
        book_word(in[i], mine, scales[i / BOOK_GROUP], out + i);
}

static void book_run(Run &run,
                     void (*kernel)(const uint32_t *, const float *, const float *, uint4 *))
{
    const std::vector<uint32_t> in = words(BOOK_WORDS, 15915);
    const std::vector<float> scales = floats(BOOK_WORDS / BOOK_GROUP, 15916, 0.1f, 2);
    std::vector<float> book = floats(16, 15917);
    std::sort(book.begin(), book.end());
    CHECK(cudaMemcpyToSymbol(book_constant, book.data(), 16 * sizeof(float)));
    const uint32_t *from = run.upload(in);
    const float *ds = run.upload(scales), *db = run.upload(book);
    uint4 *to = run.zeros<uint4>(BOOK_WORDS);
    run.measure([=] { kernel<<<blocks_for(BOOK_WORDS, 256), 256>>>(from, ds, db, to); });
    const std::vector<__half> got = run.output((const __half *) to, (size_t) 8 * BOOK_WORDS);
    for (size_t i = 0; i < got.size(); i += 101)
        run.expect(__half2float(got[i]),
                   scales[i / 8 / BOOK_GROUP] * book[in[i / 8] >> i % 8 * 4 & 15], 2e-3);
}

static void codebook_constant(Run &run)
{
    book_run(run, book_constant_kernel);
}

static void codebook_shared(Run &run)
{
    book_run(run, book_shared_kernel);
}

#endif
