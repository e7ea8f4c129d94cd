// voices.cuh - sound: mel bands of spectra, additive synthesis, echoes, linear prediction.
#ifndef BLIND_VOICES_CUH
#define BLIND_VOICES_CUH

#include "blind.cuh"

// ---- Mel bands: the whole matrix of weights, or only the bins that a band covers ----

enum { MEL_FRAMES = 3000, MEL_BINS = 257, MEL_BANDS = 64 };

__global__ void mel_dense_kernel(const float *spectra, const float *weights, float *out)
{
    const int band = threadIdx.x, frame = blockIdx.x * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < MEL_BINS; k++)
        sum += spectra[frame * MEL_BINS + k] * weights[band * MEL_BINS + k];
    out[frame * MEL_BANDS + band] = logf(sum + 1e-6f);
}

__global__ void mel_bands_kernel(const float *spectra, const float *weights, const int2 *ranges,
                                 float *out)
{
    const int band = threadIdx.x, frame = blockIdx.x * blockDim.y + threadIdx.y;
    const int2 range = ranges[band];
    float sum = 0;
    for (int k = range.x; k < range.y; k++)
        sum += spectra[frame * MEL_BINS + k] * weights[band * MEL_BINS + k];
    out[frame * MEL_BANDS + band] = logf(sum + 1e-6f);
}

// The triangle of a band: zero outside of its range.
static float mel_weight(int band, float k)
{
    const auto edge = [](int b) { return 255 * powf((b + 1) / 66.0f, 1.7f); };
    const float left = edge(band - 1), top = edge(band), right = edge(band + 1);
    const float up = (k - left) / (top - left), down = (right - k) / (right - top);
    return std::max(0.0f, std::min(up, down));
}

static void mel(Run &run, bool dense)
{
    const std::vector<float> spectra = floats(MEL_FRAMES * MEL_BINS, 5011, 0, 2);
    std::vector<float> weights(MEL_BINS * MEL_BANDS);
    std::vector<int2> ranges(MEL_BANDS, make_int2(MEL_BINS, 0));
    for (int k = 0; k < MEL_BINS; k++)
        for (int b = 0; b < MEL_BANDS; b++)
            if ((weights[b * MEL_BINS + k] = mel_weight(b, k)) > 0)
                ranges[b] = make_int2(std::min(ranges[b].x, k), k + 1);
    float *from = run.upload(spectra), *dw = run.upload(weights);
    float *to = run.zeros<float>(MEL_FRAMES * MEL_BANDS);
    int2 *dr = run.upload(ranges);
    run.measure([=] {
        const dim3 block(MEL_BANDS, 4);
        if (dense)
            mel_dense_kernel<<<MEL_FRAMES / 4, block>>>(from, dw, to);
        else
            mel_bands_kernel<<<MEL_FRAMES / 4, block>>>(from, dw, dr, to);
    });
    run.expect_all(
        run.output(to, MEL_FRAMES * MEL_BANDS),
        [&](int i) {
            double sum = 0;
            for (int k = 0; k < MEL_BINS; k++)
                sum +=
                    spectra[i / MEL_BANDS * MEL_BINS + k] * weights[i % MEL_BANDS * MEL_BINS + k];
            return log(sum + 1e-6);
        },
        1e-3, 37);
}

static void mel_dense(Run &run)
{
    mel(run, true);
}

static void mel_bands(Run &run)
{
    mel(run, false);
}

// ---- Additive synthesis of 128 partials: a sine per sample, or a rotation between samples ----

enum { TONE_COUNT = 128, TONE_SAMPLES = 1 << 16, TONE_RUN = 32 };

__global__ void synth_sines_kernel(const float2 *tones, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < TONE_COUNT; k++)
        sum += tones[k].y * sinf(tones[k].x * i);
    out[i] = sum;
}

// A thread makes TONE_RUN consecutive samples.
__global__ void synth_rotation_kernel(const float2 *tones, float *out)
{
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * TONE_RUN;
    float sum[TONE_RUN] = {};
    for (int k = 0; k < TONE_COUNT; k++) {
        float s, c, turn_s, turn_c;
        sincosf(tones[k].x * first, &s, &c);
        sincosf(tones[k].x, &turn_s, &turn_c);
#pragma unroll
        for (int i = 0; i < TONE_RUN; i++) {
            const float old = s;
            sum[i] += tones[k].y * s;
            s = s * turn_c + c * turn_s;
            c = c * turn_c - old * turn_s;
        }
    }
    for (int i = 0; i < TONE_RUN; i++)
        out[first + i] = sum[i];
}

static void synth(Run &run, void (*kernel)(const float2 *, float *), int each, int block)
{
    const std::vector<float> v = floats(2 * TONE_COUNT, 5012, 0.01f, 0.2f);
    std::vector<float2> tones(TONE_COUNT);
    for (int k = 0; k < TONE_COUNT; k++)
        tones[k] = make_float2(v[2 * k] * 0.1f, v[2 * k + 1]);
    float2 *from = run.upload(tones);
    float *to = run.zeros<float>(TONE_SAMPLES);
    run.measure([=] { kernel<<<TONE_SAMPLES / each / block, block>>>(from, to); });
    run.expect_all(
        run.output(to, TONE_SAMPLES),
        [&](int i) {
            double sum = 0;
            for (int k = 0; k < TONE_COUNT; k++)
                sum += tones[k].y * sin((double) (tones[k].x * i));
            return sum;
        },
        1e-2, 43);
}

static void synth_sines(Run &run)
{
    synth(run, synth_sines_kernel, 1, 128);
}

static void synth_rotation(Run &run)
{
    synth(run, synth_rotation_kernel, TONE_RUN, 32);
}

// ---- Echoes, y[t] = x[t] + g y[t - D]: a thread per channel, or one per place in the delay ----

enum { ECHO_CHANNELS = 4096, ECHO_TIME = 2048, ECHO_DELAY = 256 };

__global__ void echo_channel_kernel(const float *in, float *out)
{
    const size_t base = (size_t) (blockIdx.x * blockDim.x + threadIdx.x) * ECHO_TIME;
    for (int t = 0; t < ECHO_TIME; t++) {
        const float past = t >= ECHO_DELAY ? out[base + t - ECHO_DELAY] : 0;
        out[base + t] = in[base + t] + 0.6f * past;
    }
}

__global__ void echo_delay_kernel(const float *in, float *out)
{
    const size_t base = (size_t) blockIdx.x * ECHO_TIME;
    float past = 0;
    for (int t = threadIdx.x; t < ECHO_TIME; t += ECHO_DELAY) {
        past = in[base + t] + 0.6f * past;
        out[base + t] = past;
    }
}

static void echo(Run &run, bool channel)
{
    const int n = ECHO_CHANNELS * ECHO_TIME;
    const std::vector<float> in = floats(n, 5013);
    float *from = run.upload(in), *to = run.zeros<float>(n);
    run.measure([=] {
        if (channel)
            echo_channel_kernel<<<ECHO_CHANNELS / 32, 32>>>(from, to);
        else
            echo_delay_kernel<<<ECHO_CHANNELS, ECHO_DELAY>>>(from, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](int i) {
            double sum = 0, gain = 1;
            for (int t = i % ECHO_TIME, at = i; t >= 0;
                 t -= ECHO_DELAY, at -= ECHO_DELAY, gain *= 0.6)
                sum += gain * in[at];
            return sum;
        },
        1e-4, 509);
}

static void echo_channel(Run &run)
{
    echo(run, true);
}

static void echo_delay(Run &run)
{
    echo(run, false);
}

// ---- Linear prediction of order 16 by Levinson and Durbin: a thread per frame ----

enum { LPC_FRAMES = 100000, LPC_ORDER = 16 };

__host__ __device__ inline float levinson_solve(const float *r, float *a)
{
    float error = r[0], old[LPC_ORDER + 1];
    a[0] = 1;
    for (int i = 1; i <= LPC_ORDER; i++) {
        float sum = r[i];
        for (int j = 1; j < i; j++)
            sum += a[j] * r[i - j];
        const float k = -sum / error;
        for (int j = 1; j < i; j++)
            old[j] = a[j];
        for (int j = 1; j < i; j++)
            a[j] = old[j] + k * old[i - j];
        a[i] = k;
        error *= 1 - k * k;
    }
    return error;
}

__global__ void levinson_kernel(const float *lags, float *coefficients, float *errors)
{
    const int frame = blockIdx.x * blockDim.x + threadIdx.x;
    float r[LPC_ORDER + 1], a[LPC_ORDER + 1];
    if (frame >= LPC_FRAMES)
        return;
    for (int k = 0; k <= LPC_ORDER; k++)
        r[k] = lags[frame * (LPC_ORDER + 1) + k];
    errors[frame] = levinson_solve(r, a);
    for (int k = 1; k <= LPC_ORDER; k++)
        coefficients[frame * LPC_ORDER + k - 1] = a[k];
}

static void levinson(Run &run)
{
    std::vector<float> lags = floats(LPC_FRAMES * (LPC_ORDER + 1), 5014, -0.05f, 0.05f);
    for (int i = 0; i < LPC_FRAMES; i++)
        lags[i * (LPC_ORDER + 1)] = 1;
    float *from = run.upload(lags), *errors = run.zeros<float>(LPC_FRAMES);
    float *to = run.zeros<float>(LPC_FRAMES * LPC_ORDER);
    run.measure([=] { levinson_kernel<<<blocks_for(LPC_FRAMES, 128), 128>>>(from, to, errors); });
    run.output(to, LPC_FRAMES * LPC_ORDER);
    run.expect_all(
        run.output(errors, LPC_FRAMES),
        [&](int i) {
            float a[LPC_ORDER + 1];
            return levinson_solve(&lags[i * (LPC_ORDER + 1)], a);
        },
        1e-4, 71);
}

#endif
