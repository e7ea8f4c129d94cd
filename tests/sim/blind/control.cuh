// control.cuh - kernels with private arrays, spills, calls, recursion and divergent branches; also
// transforms.
#ifndef BLIND_CONTROL_CUH
#define BLIND_CONTROL_CUH

#include "blind.cuh"

// ---- Private arrays, indexed by data ----

__global__ void digits_private_kernel(const unsigned *in, unsigned *out, int n, int per_thread)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    unsigned count[16];
    for (int k = 0; k < 16; k++)
        count[k] = 0;
    for (int k = 0; k < per_thread; k++) {
        unsigned x = in[k * all + i];
        for (int d = 0; d < 32; d += 4)
            count[x >> d & 15]++;
    }
    unsigned best = 0;
    for (int k = 1; k < 16; k++)
        if (count[k] > count[best])
            best = k;
    out[i] = best * 1000 + count[best];
}

static void private_histogram(Run &run)
{
    const int threads = 264 * 128, per_thread = 8;
    const std::vector<uint32_t> in = words((size_t) threads * per_thread, 81);
    unsigned *from = run.upload(in), *out = run.zeros<unsigned>(threads);
    run.measure([=] { digits_private_kernel<<<264, 128>>>(from, out, threads, per_thread); });
    run.expect_all(
        run.output(out, threads),
        [&](size_t i) {
            unsigned count[16] = {}, best = 0;
            for (int k = 0; k < per_thread; k++)
                for (int d = 0; d < 32; d += 4)
                    count[in[(size_t) k * threads + i] >> d & 15]++;
            for (int k = 1; k < 16; k++)
                best = count[k] > count[best] ? k : best;
            return best * 1000 + count[best];
        },
        0);
}

// Each thread sorts its own 24 values and keeps the one in the middle.
__global__ void insertion_sort_kernel(const int *in, int *median, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v[24];
    if (i >= n)
        return;
    for (int k = 0; k < 24; k++)
        v[k] = in[k * n + i];
    for (int k = 1; k < 24; k++) {
        int x = v[k], j = k - 1;
        while (j >= 0 && v[j] > x) {
            v[j + 1] = v[j];
            j--;
        }
        v[j + 1] = x;
    }
    median[i] = v[12];
}

static void private_sort(Run &run)
{
    const int n = 16384;
    const std::vector<int> in = integers((size_t) n * 24, 1 << 20, 82);
    int *from = run.upload(in), *out = run.zeros<int>(n);
    run.measure([=] { insertion_sort_kernel<<<blocks_for(n, 64), 64>>>(from, out, n); });
    run.expect_all(
        run.output(out, n),
        [&](size_t i) {
            int v[24];
            for (int k = 0; k < 24; k++)
                v[k] = in[(size_t) k * n + i];
            std::nth_element(v, v + 12, v + 24);
            return v[12];
        },
        0);
}

// ---- Many live values: with few registers per thread they are spilled ----

template <int VALUES> __device__ void mix_values(const float *in, float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float v[VALUES], sum = 0;
#pragma unroll
    for (int k = 0; k < VALUES; k++)
        v[k] = in[k * all + i];
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < VALUES; k++)
            v[k] = 0.5f * v[(k + 7) % VALUES] + 0.25f * v[k] + 0.1f;
    }
#pragma unroll
    for (int k = 0; k < VALUES; k++)
        sum += v[k];
    out[i] = sum;
}

__global__ void __launch_bounds__(256, 8) spilled_kernel(const float *in, float *out, int rounds)
{
    mix_values<48>(in, out, rounds);
}

__global__ void __launch_bounds__(256) unspilled_kernel(const float *in, float *out, int rounds)
{
    mix_values<48>(in, out, rounds);
}

template <class Launch> static void many_values(Run &run, Launch launch)
{
    const int threads = 264 * 256, rounds = 16;
    const std::vector<float> in = floats((size_t) threads * 48, 83);
    float *from = run.upload(in), *out = run.zeros<float>(threads);
    run.measure([=] { launch(from, out, rounds); });
    run.expect_all(
        run.output(out, threads),
        [&](size_t i) {
            double v[48], sum = 0;
            for (int k = 0; k < 48; k++)
                v[k] = in[(size_t) k * threads + i];
            for (int r = 0; r < rounds; r++)
                for (int k = 0; k < 48; k++)
                    v[k] = 0.5 * v[(k + 7) % 48] + 0.25 * v[k] + 0.1;
            for (double x : v)
                sum += x;
            return sum;
        },
        1e-4, 101);
}

static void spilled(Run &run)
{
    many_values(run, [](float *in, float *out, int rounds) {
        spilled_kernel<<<264, 256>>>(in, out, rounds);
    });
}

static void unspilled(Run &run)
{
    many_values(run, [](float *in, float *out, int rounds) {
        unspilled_kernel<<<264, 256>>>(in, out, rounds);
    });
}

// ---- Recursion and calls ----

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__global__ void fibonacci_kernel(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = fibonacci(4 + i % 8);
}

static void recursion(Run &run)
{
    const int n = 32768, wanted[8] = { 3, 5, 8, 13, 21, 34, 55, 89 };
    int *out = run.zeros<int>(n);
    run.measure([=] { fibonacci_kernel<<<blocks_for(n, 128), 128>>>(out, n); });
    run.expect_all(
        run.output(out, n), [&](size_t i) { return wanted[i % 8]; }, 0);
}

__device__ __noinline__ float horner(float x, const float *c, int n)
{
    float sum = c[0];
    for (int i = 1; i < n; i++)
        sum = sum * x + c[i];
    return sum;
}

__global__ void newton_calls_kernel(const float *in, const float *c, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i];
    for (int k = 0; k < 6; k++)
        x -= (horner(x, c, 4)) / horner(x, c + 4, 3);
    out[i] = x;
}

// The root of x^3 + x - 1, by Newton's method.
static void device_calls(Run &run)
{
    const int n = 1 << 18;
    const std::vector<float> in = floats(n, 84, 0.5f, 1.5f), c = { 1, 0, 1, -1, 3, 0, 1 };
    float *from = run.upload(in), *dc = run.upload(c), *out = run.zeros<float>(n);
    run.measure([=] { newton_calls_kernel<<<blocks_for(n, 256), 256>>>(from, dc, out, n); });
    run.expect_all(
        run.output(out, n), [](size_t) { return 0.6823278038; }, 1e-5);
}

// ---- A switch on data: an interpreter of eight instructions ----

__global__ void interpreter_kernel(const unsigned char *code, unsigned *out, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = i, b = 1;
    for (int s = 0; s < steps; s++) {
        switch (code[(i * 7 + s * 31) & 4095]) {
        case 0:
            a += b;
            break;
        case 1:
            a ^= b << 3;
            break;
        case 2:
            b = b * 5 + 1;
            break;
        case 3:
            a = a * b + s;
            break;
        case 4:
            b ^= a >> 7;
            break;
        case 5:
            a -= 3 * b;
            break;
        case 6:
            b += __popc(a);
            break;
        default:
            a = a << 5 | a >> 27;
        }
    }
    out[i] = a ^ b;
}

static void divergent_switch(Run &run)
{
    const int n = 1 << 16, steps = 32;
    const std::vector<int> random = integers(4096, 8, 85);
    const std::vector<unsigned char> code(random.begin(), random.end());
    unsigned char *dc = run.upload(code);
    unsigned *out = run.zeros<unsigned>(n);
    run.measure([=] { interpreter_kernel<<<blocks_for(n, 256), 256>>>(dc, out, n, steps); });
    run.expect_all(
        run.output(out, n),
        [&](size_t i) {
            unsigned a = (unsigned) i, b = 1;
            for (unsigned s = 0; s < steps; s++)
                switch (code[(i * 7 + s * 31) & 4095]) {
                case 0:
                    a += b;
                    break;
                case 1:
                    a ^= b << 3;
                    break;
                case 2:
                    b = b * 5 + 1;
                    break;
                case 3:
                    a = a * b + s;
                    break;
                case 4:
                    b ^= a >> 7;
                    break;
                case 5:
                    a -= 3 * b;
                    break;
                case 6:
                    b += __builtin_popcount(a);
                    break;
                default:
                    a = a << 5 | a >> 27;
                }
            return a ^ b;
        },
        0, 7);
}

// ---- Monte Carlo: pi by random points ----

__global__ void monte_carlo_kernel(unsigned *inside, int points)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = i * 747796405u + 2891336453u, hits = 0;
    for (int k = 0; k < points; k++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        float x = (state & 0xffff) / 65536.0f, y = (state >> 16) / 65536.0f;
        if (x * x + y * y < 1.0f)
            hits++;
    }
    inside[i] = hits;
}

static void monte_carlo_pi(Run &run)
{
    const int threads = 264 * 256, points = 128;
    unsigned *inside = run.zeros<unsigned>(threads);
    double sum = 0;
    run.measure([=] { monte_carlo_kernel<<<264, 256>>>(inside, points); });
    for (unsigned hits : run.output(inside, threads))
        sum += hits;
    run.expect(4 * sum / ((double) threads * points), 3.14159, 1e-3);
}

// ---- Fourier transforms: 1024 complex values per block in shared memory, radix 2 ----

__global__ void fft_shared_kernel(const float2 *in, float2 *out)
{
    __shared__ float2 v[1024];
    int t = threadIdx.x;
    in += blockIdx.x * 1024;
    out += blockIdx.x * 1024;
    for (int i = t; i < 1024; i += 512)
        v[__brev(i) >> 22] = in[i];
    for (int half = 1; half < 1024; half *= 2) {
        __syncthreads(); // the previous stage is complete
        int k = t & (half - 1), low = 2 * t - k, high = low + half;
        float sine, cosine;
        sincospif(-(float) k / half, &sine, &cosine);
        float2 a = v[low], b = v[high];
        float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
        v[low] = make_float2(a.x + turned.x, a.y + turned.y);
        v[high] = make_float2(a.x - turned.x, a.y - turned.y);
    }
    __syncthreads(); // the last stage is complete
    for (int i = t; i < 1024; i += 512)
        out[i] = v[i];
}

// One stage of a large transform in global memory, with a table of factors.
__global__ void fft_stage_kernel(const float2 *in, float2 *out, const float2 *factor, int n,
                                 int half)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n / 2)
        return;
    int k = t % half, low = t / half * 2 * half + k, high = low + half;
    float2 a = in[low], b = in[high], f = factor[k * (n / 2 / half)];
    float2 turned = make_float2(b.x * f.x - b.y * f.y, b.x * f.y + b.y * f.x);
    out[low] = make_float2(a.x + turned.x, a.y + turned.y);
    out[high] = make_float2(a.x - turned.x, a.y - turned.y);
}

static void fft_shared(Run &run)
{
    const int blocks = 528;
    const size_t n = (size_t) blocks * 2048; // floats
    const std::vector<float> in = floats(n, 86);
    float *from = run.upload(in), *to = run.zeros<float>(n);
    run.measure([=] { fft_shared_kernel<<<blocks, 512>>>((const float2 *) from, (float2 *) to); });
    const std::vector<float> got = run.output(to, n);
    for (int b = 0; b < blocks; b += 100)
        for (int f = 0; f < 1024; f += 51) {
            double real = 0, imaginary = 0;
            for (int i = 0; i < 1024; i++) {
                const double angle = -2 * M_PI * f * i / 1024, x = in[b * 2048 + 2 * i],
                             y = in[b * 2048 + 2 * i + 1];
                real += x * cos(angle) - y * sin(angle);
                imaginary += x * sin(angle) + y * cos(angle);
            }
            run.expect(got[b * 2048 + 2 * f], real, 1e-4);
            run.expect(got[b * 2048 + 2 * f + 1], imaginary, 1e-4);
        }
}

static void fft_stage(Run &run)
{
    const int n = 1 << 20, half = 256;
    const std::vector<float> in = floats(2 * n, 87);
    std::vector<float> factor(n);
    for (int k = 0; k < n / 2; k++) {
        factor[2 * k] = (float) cos(-2 * M_PI * k / n);
        factor[2 * k + 1] = (float) sin(-2 * M_PI * k / n);
    }
    float *from = run.upload(in), *f = run.upload(factor), *to = run.zeros<float>(2 * n);
    run.measure([=] {
        fft_stage_kernel<<<blocks_for(n / 2, 256), 256>>>((float2 *) from, (float2 *) to,
                                                          (float2 *) f, n, half);
    });
    const std::vector<float> got = run.output(to, 2 * n);
    for (int i = 0; i < n; i += 97) { // the sum of both outputs is twice the first input
        const int low = i / half % 2 ? i - half : i;
        run.expect(got[2 * low] + got[2 * (low + half)], 2 * in[2 * low], 1e-5);
    }
}

#endif
