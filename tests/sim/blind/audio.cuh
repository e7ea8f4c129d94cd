// audio.cuh - sound: wavelets by lifting, resampling by 3/2, mu-law samples, envelopes.
#ifndef BLIND_AUDIO_CUH
#define BLIND_AUDIO_CUH

#include "blind.cuh"

// ---- Three levels of the 5/3 wavelet on signals of 512: a kernel per level, or all in shared
// memory ----

enum { LIFT_SIZE = 512, LIFT_LEVELS = 3 };

__host__ __device__ inline int lift_detail(const int *x, int k, int half)
{
    int right = k + 1 < half ? x[2 * k + 2] : x[2 * k];
    return x[2 * k + 1] - ((x[2 * k] + right) >> 1);
}

__host__ __device__ inline int lift_smooth(const int *x, int k, int half, int detail)
{
    int left = k ? lift_detail(x, k - 1, half) : detail;
    return x[2 * k] + ((left + detail + 2) >> 2);
}

__global__ void lifting_level_kernel(const int *in, int *smooth, int *out, int half, int total)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, signal = i / half, k = i % half;
    if (i >= total)
        return;
    const int *x = in + signal * LIFT_SIZE;
    int d = lift_detail(x, k, half);
    out[signal * LIFT_SIZE + half + k] = d;
    smooth[signal * LIFT_SIZE + k] = lift_smooth(x, k, half, d);
}

__global__ void lifting_shared_kernel(const int *in, int *out)
{
    __shared__ int x[LIFT_SIZE];
    const int t = threadIdx.x, base = blockIdx.x * LIFT_SIZE;
    x[t] = in[base + t];
    x[t + 256] = in[base + t + 256];
    for (int level = 0, half = 256; level < LIFT_LEVELS; level++, half /= 2) {
        int d = 0, s = 0;
        __syncthreads(); // the level's input is complete
        if (t < half) {
            d = lift_detail(x, t, half);
            s = lift_smooth(x, t, half, d);
            out[base + half + t] = d;
        }
        __syncthreads(); // everybody has read the input
        if (t < half)
            x[t] = s;
    }
    if (t < LIFT_SIZE >> LIFT_LEVELS)
        out[base + t] = x[t];
}

static std::vector<int> lifted(const int *in)
{
    std::vector<int> x(in, in + LIFT_SIZE), out(LIFT_SIZE);
    for (int level = 0, half = LIFT_SIZE / 2; level < LIFT_LEVELS; level++, half /= 2) {
        std::vector<int> s(half);
        for (int k = 0; k < half; k++) {
            out[half + k] = lift_detail(x.data(), k, half);
            s[k] = lift_smooth(x.data(), k, half, out[half + k]);
        }
        std::copy(s.begin(), s.end(), x.begin());
    }
    std::copy(x.begin(), x.begin() + (LIFT_SIZE >> LIFT_LEVELS), out.begin());
    return out;
}

template <class Launch> static void lifting(Run &run, Launch launch)
{
    const int signals = 4000;
    const std::vector<int> in = integers(signals * LIFT_SIZE, 65536, 2021);
    int *di = run.upload(in), *a = run.zeros<int>(in.size()), *b = run.zeros<int>(in.size());
    int *to = run.zeros<int>(in.size());
    run.measure([=] { launch(di, a, b, to, signals); });
    const std::vector<int> got = run.output(to, in.size());
    for (int signal = 0; signal < signals; signal += 97) {
        const std::vector<int> wanted = lifted(&in[signal * LIFT_SIZE]);
        for (int k = 0; k < LIFT_SIZE; k++)
            run.expect(got[signal * LIFT_SIZE + k], wanted[k], 0);
    }
}

static void lifting_global(Run &run)
{
    lifting(run, [](int *in, int *a, int *b, int *to, int signals) {
        const int n = signals * LIFT_SIZE;
        lifting_level_kernel<<<blocks_for(n / 2, 256), 256>>>(in, a, to, 256, n / 2);
        lifting_level_kernel<<<blocks_for(n / 4, 256), 256>>>(a, b, to, 128, n / 4);
        lifting_level_kernel<<<blocks_for(n / 8, 256), 256>>>(b, to, to, 64, n / 8);
    });
}

static void lifting_shared(Run &run)
{
    lifting(run, [](int *in, int *, int *, int *to, int signals) {
        lifting_shared_kernel<<<signals, 256>>>(in, to);
    });
}

// ---- Three samples for two, by 16 taps of three phases: taps in constant or shared memory ----

enum { PHASES = 3, PHASE_TAPS = 16 };

__constant__ float phase_taps[PHASES * PHASE_TAPS];

__global__ void resample_constant_kernel(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i >= n)
        return;
    for (int k = 0; k < PHASE_TAPS; k++)
        sum += phase_taps[i * 2 % PHASES * PHASE_TAPS + k] * in[i * 2 / PHASES + k];
    out[i] = sum;
}

__global__ void resample_shared_kernel(const float *in, float *out, int n)
{
    __shared__ float taps[PHASES * PHASE_TAPS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (threadIdx.x < PHASES * PHASE_TAPS)
        taps[threadIdx.x] = phase_taps[threadIdx.x];
    __syncthreads(); // the taps are here
    if (i >= n)
        return;
    for (int k = 0; k < PHASE_TAPS; k++)
        sum += taps[i * 2 % PHASES * PHASE_TAPS + k] * in[i * 2 / PHASES + k];
    out[i] = sum;
}

static void resample(Run &run, void (*kernel)(const float *, float *, int))
{
    const int n = 1200000;
    const std::vector<float> in = floats(n / 3 * 2 + PHASE_TAPS, 2022);
    const std::vector<float> taps = floats(PHASES * PHASE_TAPS, 2023);
    float *di = run.upload(in), *to = run.zeros<float>(n);
    CHECK(cudaMemcpyToSymbol(phase_taps, taps.data(), sizeof(phase_taps)));
    run.measure([=] { kernel<<<blocks_for(n, 256), 256>>>(di, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double sum = 0;
            for (int k = 0; k < PHASE_TAPS; k++)
                sum += taps[i * 2 % PHASES * PHASE_TAPS + k] * in[i * 2 / PHASES + k];
            return sum;
        },
        1e-5, 47);
}

static void resample_constant(Run &run)
{
    resample(run, resample_constant_kernel);
}

static void resample_shared(Run &run)
{
    resample(run, resample_shared_kernel);
}

// ---- Samples of 16 bits to mu-law: the segment found by a loop, or by counting zeros ----

__host__ __device__ inline unsigned char mulaw_by_loop(int sample)
{
    const int sign = sample < 0 ? 0x80 : 0;
    int size = sample < 0 ? -sample : sample, segment = 7;
    size = (size > 32635 ? 32635 : size) + 132;
    for (int mask = 0x4000; segment > 0 && !(size & mask); mask >>= 1)
        segment--;
    return ~(sign | segment << 4 | (size >> (segment + 3) & 15));
}

__global__ void mulaw_loop_kernel(const short *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = mulaw_by_loop(in[i]);
}

__global__ void mulaw_zeros_kernel(const short *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int sample = in[i], size = min(abs(sample), 32635) + 132, segment = 24 - __clz(size);
    out[i] = ~((sample < 0 ? 0x80 : 0) | segment << 4 | (size >> (segment + 3) & 15));
}

static void mulaw(Run &run, void (*kernel)(const short *, unsigned char *, int))
{
    const int n = 2500000;
    const std::vector<uint32_t> drawn = words(n, 2024);
    std::vector<short> in(n);
    for (int i = 0; i < n; i++)
        in[i] = (short) ((int) (drawn[i] & 0xffff0000) >> (16 + drawn[i] % 9)); // loud and quiet
    short *di = run.upload(in);
    unsigned char *to = run.zeros<unsigned char>(n);
    run.measure([=] { kernel<<<blocks_for(n, 256), 256>>>(di, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return mulaw_by_loop(in[i]); }, 0, 17);
}

static void mulaw_loop(Run &run)
{
    mulaw(run, mulaw_loop_kernel);
}

static void mulaw_zeros(Run &run)
{
    mulaw(run, mulaw_zeros_kernel);
}

// ---- Envelopes with attack and release, a channel per thread: samples interleaved or by channel
// ----

enum { ENVELOPE_CHANNELS = 4800, ENVELOPE_SAMPLES = 400 };

__host__ __device__ inline float envelope_step(float level, float sample)
{
    const float size = fabsf(sample), rate = size > level ? 0.3f : 0.02f;
    return level + rate * (size - level);
}

__global__ void envelope_kernel(const float *in, float *out, int channel_stride, int sample_stride)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    float level = 0;
    if (c >= ENVELOPE_CHANNELS)
        return;
    for (int s = 0; s < ENVELOPE_SAMPLES; s++) {
        int at = c * channel_stride + s * sample_stride;
        level = envelope_step(level, in[at]);
        out[at] = level;
    }
}

static void envelope(Run &run, int channel_stride, int sample_stride)
{
    const int n = ENVELOPE_CHANNELS * ENVELOPE_SAMPLES;
    const std::vector<float> in = floats(n, 2025);
    float *di = run.upload(in), *to = run.zeros<float>(n);
    run.measure([=] {
        envelope_kernel<<<blocks_for(ENVELOPE_CHANNELS, 64), 64>>>(di, to, channel_stride,
                                                                   sample_stride);
    });
    const std::vector<float> got = run.output(to, n);
    for (int c = 0; c < ENVELOPE_CHANNELS; c += 61) {
        float level = 0;
        for (int s = 0; s < ENVELOPE_SAMPLES; s++) {
            level = envelope_step(level, in[c * channel_stride + s * sample_stride]);
            run.expect(got[c * channel_stride + s * sample_stride], level, 1e-4);
        }
    }
}

static void envelope_interleaved(Run &run)
{
    envelope(run, 1, ENVELOPE_CHANNELS);
}

static void envelope_planar(Run &run)
{
    envelope(run, ENVELOPE_SAMPLES, 1);
}

#endif
