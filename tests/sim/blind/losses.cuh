// losses.cuh - learning: triplets, Mish, Lion's step, pixel shuffle, windows of means.
#ifndef BLIND_LOSSES_CUH
#define BLIND_LOSSES_CUH

#include "blind.cuh"

// ---- The loss of triplets of 128 features: a triplet per thread, or per warp ----

enum { TRIPLETS = 32768, TRIPLET_SIZE = 128 };

__global__ void triplet_thread_kernel(const float *a, const float *p, const float *n, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float near = 0, far = 0;
    for (int k = 0; k < TRIPLET_SIZE; k++) {
        const int at = i * TRIPLET_SIZE + k;
        near += (a[at] - p[at]) * (a[at] - p[at]);
        far += (a[at] - n[at]) * (a[at] - n[at]);
    }
    out[i] = fmaxf(near - far + 1, 0);
}

__global__ void triplet_warp_kernel(const float *a, const float *p, const float *n, float *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = lane; k < TRIPLET_SIZE; k += 32) {
        const int at = i * TRIPLET_SIZE + k;
        sum += (a[at] - p[at]) * (a[at] - p[at]) - (a[at] - n[at]) * (a[at] - n[at]);
    }
    for (int by = 16; by; by /= 2)
        sum += __shfl_xor_sync(~0u, sum, by);
    if (lane == 0)
        out[i] = fmaxf(sum + 1, 0);
}

static void triplet(Run &run, void (*kernel)(const float *, const float *, const float *, float *),
                    int each)
{
    const int count = TRIPLETS * TRIPLET_SIZE;
    const std::vector<float> a = floats(count, 6701), p = floats(count, 6702),
                             n = floats(count, 6703);
    const float *da = run.upload(a), *dp = run.upload(p), *dn = run.upload(n);
    float *to = run.zeros<float>(TRIPLETS);
    run.measure([=] { kernel<<<TRIPLETS * each / 128, 128>>>(da, dp, dn, to); });
    run.expect_all(
        run.output(to, TRIPLETS),
        [&](size_t i) {
            double sum = 1;
            for (size_t k = i * TRIPLET_SIZE; k < (i + 1) * TRIPLET_SIZE; k++)
                sum += pow(a[k] - p[k], 2) - pow(a[k] - n[k], 2);
            return std::max(sum, 0.0);
        },
        1e-3, 97);
}

static void triplet_thread(Run &run)
{
    triplet(run, triplet_thread_kernel, 1);
}

static void triplet_warp(Run &run)
{
    triplet(run, triplet_warp_kernel, 32);
}

// ---- Mish: x tanh(log(1 + e^x)) by the library, or by one exponential ----

enum { MISH_COUNT = 1 << 22 };

template <bool SHORT> __global__ void mish_kernel(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = in[i];
    if (SHORT) {
        const float e = __expf(x), n = e * (e + 2);
        out[i] = x * __fdividef(n, n + 2);
    } else {
        out[i] = x * tanhf(log1pf(expf(x)));
    }
}

template <bool SHORT> static void mish(Run &run)
{
    const std::vector<float> in = floats(MISH_COUNT, 6704, -6, 6);
    const float *from = run.upload(in);
    float *to = run.zeros<float>(MISH_COUNT);
    run.measure([=] { mish_kernel<SHORT><<<MISH_COUNT / 256, 256>>>(from, to); });
    run.expect_all(
        run.output(to, MISH_COUNT),
        [&](size_t i) { return in[i] * tanh(log1p(exp((double) in[i]))); }, 1e-4, 4001);
}

static void mish_library(Run &run)
{
    mish<false>(run);
}

static void mish_short(Run &run)
{
    mish<true>(run);
}

// ---- Lion's step: weights and momenta in arrays of their own, or in records of eight floats ----

enum { LION_COUNT = 1 << 21, LION_RECORD = 8 };

template <int STRIDE> __global__ void lion_kernel(float *w, float *m, const float *g)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, at = i * STRIDE;
    const float gradient = g[at], momentum = m[at];
    const float c = 0.9f * momentum + 0.1f * gradient;
    w[at] -= 1e-3f * ((c > 0) - (c < 0) + 0.01f * w[at]);
    m[at] = 0.99f * momentum + 0.01f * gradient;
}

template <int STRIDE> static void lion(Run &run)
{
    const size_t count = (size_t) LION_COUNT * STRIDE;
    const std::vector<float> g = floats(count, 6705);
    float *state = run.zeros<float>(STRIDE > 1 ? count : 2 * count);
    float *dg = run.upload(g);
    float *w = state, *m = STRIDE > 1 ? state + 1 : state + count;
    run.measure([=] { lion_kernel<STRIDE><<<LION_COUNT / 256, 256>>>(w, m, dg); },
                [=] { CHECK(cudaMemset(state, 0, (STRIDE > 1 ? count : 2 * count) * 4)); });
    const std::vector<float> got = run.output(state, count);
    for (int i = 0; i < LION_COUNT; i += 5003)
        run.expect(got[(size_t) i * STRIDE], g[(size_t) i * STRIDE] > 0 ? -1e-3 : 1e-3, 1e-6);
}

static void lion_arrays(Run &run)
{
    lion<1>(run);
}

static void lion_records(Run &run)
{
    lion<LION_RECORD>(run);
}

// ---- Pixel shuffle by two: a thread per value that is read, or per value that is written ----

enum { SHUFFLE_C = 96, SHUFFLE_SIDE = 128 };

// The place in (C, 2 side, 2 side) of a value in (4 C, side, side).
__host__ __device__ inline int shuffle_target(int i)
{
    const int x = i % SHUFFLE_SIDE, y = i / SHUFFLE_SIDE % SHUFFLE_SIDE;
    const int c = i / (SHUFFLE_SIDE * SHUFFLE_SIDE);
    return (c / 4 * 2 * SHUFFLE_SIDE + 2 * y + c % 4 / 2) * 2 * SHUFFLE_SIDE + 2 * x + c % 2;
}

__global__ void pixels_read_kernel(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[shuffle_target(i)] = in[i];
}

__global__ void pixels_pair_kernel(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, plane = SHUFFLE_SIDE * SHUFFLE_SIDE;
    const int c = i / plane * 2, at = c * plane + i % plane;
    *(float2 *) &out[shuffle_target(at)] = make_float2(in[at], in[at + plane]);
}

static void pixels(Run &run, void (*kernel)(const float *, float *), int each)
{
    const int count = 4 * SHUFFLE_C * SHUFFLE_SIDE * SHUFFLE_SIDE;
    const std::vector<float> in = floats(count, 6706);
    const float *from = run.upload(in);
    float *to = run.zeros<float>(count);
    run.measure([=] { kernel<<<count / each / 256, 256>>>(from, to); });
    const std::vector<float> got = run.output(to, count);
    for (int i = 0; i < count; i += 997)
        run.expect(got[shuffle_target(i)], in[i], 0);
}

static void pixels_read(Run &run)
{
    pixels(run, pixels_read_kernel, 1);
}

static void pixels_pair(Run &run)
{
    pixels(run, pixels_pair_kernel, 2);
}

// ---- Means of windows of 64 steps: each window is summed, or a thread rolls over 64 of them ----

enum { MEANS = 1 << 19, MEANS_WINDOW = 64 };

__global__ void means_each_kernel(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int k = 0; k < MEANS_WINDOW; k++)
        sum += in[i + k];
    out[i] = sum / MEANS_WINDOW;
}

__global__ void means_roll_kernel(const int *in, int *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 64;
    int sum = 0;
    for (int k = 0; k < MEANS_WINDOW - 1; k++)
        sum += in[i + k];
    for (int k = 0; k < 64; k++) {
        sum += in[i + k + MEANS_WINDOW - 1];
        out[i + k] = sum / MEANS_WINDOW;
        sum -= in[i + k];
    }
}

static void means(Run &run, void (*kernel)(const int *, int *), int each)
{
    const std::vector<int> in = integers(MEANS + MEANS_WINDOW, 10000, 6707);
    const int *from = run.upload(in);
    int *to = run.zeros<int>(MEANS);
    run.measure([=] { kernel<<<MEANS / each / 64, 64>>>(from, to); });
    run.expect_all(
        run.output(to, MEANS),
        [&](size_t i) {
            int sum = 0;
            for (int k = 0; k < MEANS_WINDOW; k++)
                sum += in[i + k];
            return sum / MEANS_WINDOW;
        },
        0, 1003);
}

static void means_each(Run &run)
{
    means(run, means_each_kernel, 1);
}

static void means_roll(Run &run)
{
    means(run, means_roll_kernel, 64);
}

#endif
