// signals.cuh - signals: FIR and IIR filters, tones, Fourier transforms in registers,
// autocorrelation.
#ifndef BLIND_SIGNALS_CUH
#define BLIND_SIGNALS_CUH

#include "blind.cuh"

// ---- FIR filter of 64 taps: a sample per thread, or four with a sliding window ----

enum { FIR_TAPS = 64 };

__constant__ float fir_tap[FIR_TAPS];

__global__ void fir_one_kernel(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i >= n)
        return;
    for (int k = 0; k < FIR_TAPS; k++)
        sum += fir_tap[k] * in[i + k];
    out[i] = sum;
}

__global__ void fir_four_kernel(const float4 *in, float4 *out, int quads)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum[4] = {};
    if (i >= quads)
        return;
    float4 a = in[i];
    for (int k = 0; k < FIR_TAPS; k += 4) {
        float4 b = in[i + k / 4 + 1];
        const float v[8] = { a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w };
#pragma unroll
        for (int tap = 0; tap < 4; tap++)
#pragma unroll
            for (int o = 0; o < 4; o++)
                sum[o] += fir_tap[k + tap] * v[o + tap];
        a = b;
    }
    out[i] = make_float4(sum[0], sum[1], sum[2], sum[3]);
}

template <class Launch> static void fir(Run &run, Launch launch)
{
    const int n = 1100000;
    const std::vector<float> in = floats(n + FIR_TAPS, 501), tap = floats(FIR_TAPS, 502);
    float *from = run.upload(in), *to = run.zeros<float>(n);
    CHECK(cudaMemcpyToSymbol(fir_tap, tap.data(), sizeof(fir_tap)));
    run.measure([=] { launch(from, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double sum = 0;
            for (int k = 0; k < FIR_TAPS; k++)
                sum += (double) tap[k] * in[i + k];
            return sum;
        },
        1e-5, 97);
}

static void fir_one(Run &run)
{
    fir(run, [](float *in, float *out, int n) {
        fir_one_kernel<<<blocks_for(n, 256), 256>>>(in, out, n);
    });
}

static void fir_four(Run &run)
{
    fir(run, [](float *in, float *out, int n) {
        fir_four_kernel<<<blocks_for(n / 4, 128), 128>>>((float4 *) in, (float4 *) out, n / 4);
    });
}

// ---- Two biquads in series per channel: directly, or by tiles in shared memory ----

template <class T> struct Biquads {
    T z[4];

    __host__ __device__ T next(T x)
    {
        for (int k = 0; k < 4; k += 2) {
            T y = T(0.2) * x + z[k];
            z[k] = T(0.4) * x + T(0.5) * y + z[k + 1];
            z[k + 1] = T(0.2) * x - T(0.3) * y;
            x = y;
        }
        return x;
    }
};

__global__ void biquad_direct_kernel(const float *in, float *out, int channels, int samples)
{
    int channel = blockIdx.x * blockDim.x + threadIdx.x;
    Biquads<float> filter = {};
    if (channel >= channels)
        return;
    for (int s = 0; s < samples; s++)
        out[channel * samples + s] = filter.next(in[channel * samples + s]);
}

__global__ void biquad_staged_kernel(const float *in, float *out, int samples)
{
    __shared__ float tile[32][33];
    const int lane = threadIdx.x, first = blockIdx.x * 32 * samples;
    Biquads<float> filter = {};
    for (int s = 0; s < samples; s += 32) {
        for (int k = 0; k < 32; k++)
            tile[k][lane] = in[first + k * samples + s + lane];
        __syncwarp(); // the tile is complete
        for (int k = 0; k < 32; k++)
            tile[lane][k] = filter.next(tile[lane][k]);
        __syncwarp(); // the results are complete
        for (int k = 0; k < 32; k++)
            out[first + k * samples + s + lane] = tile[k][lane];
        __syncwarp(); // the tile is free again
    }
}

template <class Launch> static void biquad(Run &run, Launch launch)
{
    const int channels = 8000, samples = 384;
    const std::vector<float> in = floats((size_t) channels * samples, 503);
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] { launch(from, to, channels, samples); });
    const std::vector<float> got = run.output(to, in.size());
    for (int channel = 0; channel < channels; channel += 37) {
        Biquads<double> filter = {};
        for (int s = 0; s < samples; s++)
            run.expect(got[(size_t) channel * samples + s],
                       filter.next(in[(size_t) channel * samples + s]), 1e-4);
    }
}

static void biquad_direct(Run &run)
{
    biquad(run, [](float *in, float *out, int channels, int samples) {
        biquad_direct_kernel<<<blocks_for(channels, 128), 128>>>(in, out, channels, samples);
    });
}

static void biquad_staged(Run &run)
{
    biquad(run, [](float *in, float *out, int channels, int samples) {
        biquad_staged_kernel<<<channels / 32, 32>>>(in, out, samples);
    });
}

// ---- The power of eight tones in frames of 205 samples (Goertzel) ----

enum { TONES = 8, FRAME = 205 };

template <class T> __host__ __device__ inline T goertzel(const float *frame, T twice)
{
    T before = 0, last = 0;
    for (int k = 0; k < FRAME; k++) {
        T next = frame[k] + twice * last - before;
        before = last;
        last = next;
    }
    return last * last + before * before - twice * last * before;
}

__global__ void goertzel_kernel(const float *in, const float *twice, float *power, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        power[i] = goertzel(in + i / TONES * FRAME, twice[i % TONES]);
}

static void goertzel_tones(Run &run)
{
    const int frames = 30000, n = frames * TONES;
    const std::vector<float> in = floats((size_t) frames * FRAME, 504);
    std::vector<float> twice(TONES);
    for (int k = 0; k < TONES; k++)
        twice[k] = 2 * cosf(6.2831853f * (18 + 4 * k) / FRAME);
    float *from = run.upload(in), *dt = run.upload(twice), *to = run.zeros<float>(n);
    run.measure([=] { goertzel_kernel<<<blocks_for(n, 192), 192>>>(from, dt, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) { return goertzel(&in[i / TONES * FRAME], (double) twice[i % TONES]); }, 1e-3,
        41);
}

// ---- Fourier transforms of 256: 4 values per thread and 4 stages, or 16 values and 2 stages ----

__device__ inline float2 times(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__device__ inline void fourier_of(float2 &a, float2 &b, float2 &c, float2 &d)
{
    float2 e = { a.x + c.x, a.y + c.y }, f = { a.x - c.x, a.y - c.y };
    float2 g = { b.x + d.x, b.y + d.y }, h = { b.x - d.x, b.y - d.y };
    a = make_float2(e.x + g.x, e.y + g.y);
    b = make_float2(f.x + h.y, f.y - h.x);
    c = make_float2(e.x - g.x, e.y - g.y);
    d = make_float2(f.x - h.y, f.y + h.x);
}

__device__ inline void fourier_in_registers(float2 (&v)[4])
{
    fourier_of(v[0], v[1], v[2], v[3]);
}

// Four by four: the result's order is transposed.
__device__ inline void fourier_in_registers(float2 (&v)[16])
{
    const float c[10] = { 1,  0.92387953f,  0.70710678f,  0.38268343f,
                          0,  -0.38268343f, -0.70710678f, -0.92387953f,
                          -1, -0.92387953f };
    const float s[10] = { 0,  -0.38268343f, -0.70710678f, -0.92387953f,
                          -1, -0.92387953f, -0.70710678f, -0.38268343f,
                          0,  0.38268343f };
#pragma unroll
    for (int k = 0; k < 4; k++)
        fourier_of(v[k], v[k + 4], v[k + 8], v[k + 12]);
#pragma unroll
    for (int k = 1; k < 4; k++)
#pragma unroll
        for (int r = 1; r < 4; r++)
            v[k + 4 * r] = times(v[k + 4 * r], make_float2(c[k * r], s[k * r]));
#pragma unroll
    for (int r = 0; r < 4; r++)
        fourier_of(v[4 * r], v[4 * r + 1], v[4 * r + 2], v[4 * r + 3]);
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int k = 0; k < r; k++) {
            float2 swapped = v[4 * r + k];
            v[4 * r + k] = v[4 * k + r];
            v[4 * k + r] = swapped;
        }
}

// Stockham's order: a stage reads values 256 / R apart, and writes them `done` apart.
template <int R> __global__ void __launch_bounds__(64) fft256_kernel(const float2 *in, float2 *out)
{
    __shared__ float2 work[64 / (256 / R)][256];
    const int each = 256 / R, j = threadIdx.x % each;
    const size_t first = ((size_t) blockIdx.x * (64 / each) + threadIdx.x / each) * 256;
    float2 *mine = work[threadIdx.x / each], v[R];
#pragma unroll
    for (int r = 0; r < R; r++)
        v[r] = in[first + j + r * each];
    for (int done = 1; done < 256; done *= R) {
        float2 by, power;
        sincospif(-2.0f * (j % done) / (done * R), &by.y, &by.x);
        power = by;
#pragma unroll
        for (int r = 1; r < R; r++) {
            v[r] = times(v[r], power);
            power = times(power, by);
        }
        fourier_in_registers(v);
        const int to = j / done * done * R + j % done;
        if (done * R == 256) {
#pragma unroll
            for (int r = 0; r < R; r++)
                out[first + to + r * done] = v[r];
            return;
        }
#pragma unroll
        for (int r = 0; r < R; r++)
            mine[to + r * done] = v[r];
        __syncthreads(); // the stage is complete
#pragma unroll
        for (int r = 0; r < R; r++)
            v[r] = mine[j + r * each];
        __syncthreads(); // the work area is free again
    }
}

template <int R> static void fft256(Run &run)
{
    const int n = 5000;
    const std::vector<float> in = floats((size_t) n * 512, 505);
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] { fft256_kernel<R><<<n * 4 / R, 64>>>((float2 *) from, (float2 *) to); });
    const std::vector<float> got = run.output(to, in.size());
    for (int i = 0; i < n; i += 61)
        for (int k = i % 7; k < 256; k += 29) {
            const float *v = &in[(size_t) i * 512];
            double re = 0, im = 0;
            for (int t = 0; t < 256; t++) {
                const double a = -2 * M_PI * (t * k % 256) / 256;
                re += v[2 * t] * cos(a) - v[2 * t + 1] * sin(a);
                im += v[2 * t] * sin(a) + v[2 * t + 1] * cos(a);
            }
            run.expect(got[(size_t) i * 512 + 2 * k], re, 1e-4);
            run.expect(got[(size_t) i * 512 + 2 * k + 1], im, 1e-4);
        }
}

static void fft256_radix4(Run &run)
{
    fft256<4>(run);
}

static void fft256_radix16(Run &run)
{
    fft256<16>(run);
}

// ---- Autocorrelation at 128 lags: a block per lag, or a thread per lag and a block per chunk ----

enum { LAGS = 128, LAG_CHUNK = 1536 };

__global__ void lags_each_kernel(const float *in, float *out, int n)
{
    __shared__ float part[8];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 256)
        sum += in[i] * in[i + blockIdx.x];
    for (int step = 16; step; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads(); // the warps' sums are complete
    if (threadIdx.x > 0)
        return;
    for (int k = 1; k < 8; k++)
        sum += part[k];
    out[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(LAGS) lags_chunk_kernel(const float *in, float *out)
{
    __shared__ float v[LAG_CHUNK + LAGS];
    const int lag = threadIdx.x;
    float sum = 0;
    for (int k = lag; k < LAG_CHUNK + LAGS; k += LAGS)
        v[k] = in[blockIdx.x * LAG_CHUNK + k];
    __syncthreads(); // the chunk is complete
#pragma unroll 8
    for (int k = 0; k < LAG_CHUNK; k++)
        sum += v[k] * v[k + lag];
    atomicAdd(&out[lag], sum);
}

// Small whole numbers: the sums are exact in any order.
template <class Launch> static void lags(Run &run, Launch launch)
{
    const int n = 140 * LAG_CHUNK;
    const std::vector<int> whole = integers(n + LAGS, 15, 506);
    std::vector<float> in(whole.begin(), whole.end());
    for (float &v : in)
        v -= 7;
    float *from = run.upload(in), *to = run.zeros<float>(LAGS);
    run.measure([=] { launch(from, to, n); },
                [=] { CHECK(cudaMemset(to, 0, LAGS * sizeof(float))); });
    run.expect_all(
        run.output(to, LAGS),
        [&](size_t lag) {
            double sum = 0;
            for (int i = 0; i < n; i++)
                sum += in[i] * in[i + lag];
            return sum;
        },
        0, 5);
}

static void lags_each(Run &run)
{
    lags(run, [](float *in, float *out, int n) { lags_each_kernel<<<LAGS, 256>>>(in, out, n); });
}

static void lags_chunk(Run &run)
{
    lags(run,
         [](float *in, float *out, int n) { lags_chunk_kernel<<<n / LAG_CHUNK, LAGS>>>(in, out); });
}

#endif
