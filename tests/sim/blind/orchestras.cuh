// orchestras.cuh - orchestras: plucked strings, rough chords, a mixing desk, brass.
#ifndef BLIND_ORCHESTRAS_CUH
#define BLIND_ORCHESTRAS_CUH

#include "blind.cuh"

#include <cuda_fp16.h>

// ---- Plucked strings, whose samples are means of two neighbours of the period before (Karplus and
// Strong): a thread per string with the period in local memory, or a warp per string with 32
// samples at once in shared memory. Low strings, at the end, have long periods ----

enum { ORCHESTRA_STRINGS = 4096, ORCHESTRA_PERIOD = 512, ORCHESTRA_ROUNDS = 12 };

__host__ __device__ inline float orchestra_damped(float a, float b)
{
    return 0.499f * (a + b);
}

// The first period of a string is noise.
__host__ __device__ inline float orchestra_noise(const float *noise, int string, int at)
{
    return noise[(at + string * 7) % ORCHESTRA_PERIOD];
}

__global__ void orchestra_pluck_thread_kernel(const int *periods, const float *noise, float *peaks)
{
    const int string = blockIdx.x * blockDim.x + threadIdx.x, period = periods[string];
    float ring[ORCHESTRA_PERIOD];
    for (int i = 0; i < period; i++)
        ring[i] = orchestra_noise(noise, string, i);
    for (int round = 0; round < ORCHESTRA_ROUNDS; round++) {
        float peak = 0, now = ring[0];
        for (int i = 0; i < period; i++) {
            const float next = ring[i + 1 < period ? i + 1 : 0];
            ring[i] = orchestra_damped(now, next);
            peak = fmaxf(peak, fabsf(ring[i]));
            now = next;
        }
        peaks[round * ORCHESTRA_STRINGS + string] = peak;
    }
}

__global__ void orchestra_pluck_warp_kernel(const int *periods, const float *noise, float *peaks)
{
    __shared__ float rings[8][ORCHESTRA_PERIOD];
    const int lane = threadIdx.x % 32, string = blockIdx.x * 8 + threadIdx.x / 32;
    const int period = periods[string];
    float *ring = rings[threadIdx.x / 32];
    for (int i = lane; i < period; i += 32)
        ring[i] = orchestra_noise(noise, string, i);
    __syncwarp();
    for (int round = 0; round < ORCHESTRA_ROUNDS; round++) {
        float peak = 0;
        for (int first = 0; first < period; first += 32) {
            const int i = first + lane;
            float sample = 0;
            if (i < period)
                sample = orchestra_damped(ring[i], ring[i + 1 < period ? i + 1 : 0]);
            __syncwarp();
            if (i < period)
                ring[i] = sample;
            __syncwarp();
            peak = fmaxf(peak, fabsf(sample));
        }
        for (int step = 16; step; step /= 2)
            peak = fmaxf(peak, __shfl_xor_sync(~0u, peak, step));
        if (lane == 0)
            peaks[round * ORCHESTRA_STRINGS + string] = peak;
    }
}

static void orchestra_pluck_expect(Run &run, const std::vector<float> &peaks, int string,
                                   int period, const std::vector<float> &noise)
{
    std::vector<float> ring(period);
    for (int i = 0; i < period; i++)
        ring[i] = orchestra_noise(noise.data(), string, i);
    for (int round = 0; round < ORCHESTRA_ROUNDS; round++) {
        float peak = 0;
        for (int i = 0; i < period; i++) {
            ring[i] = orchestra_damped(ring[i], ring[(i + 1) % period]);
            peak = std::max(peak, std::fabs(ring[i]));
        }
        run.expect(peaks[round * ORCHESTRA_STRINGS + string], peak, 1e-6);
    }
}

static void orchestra_pluck(Run &run, bool warp)
{
    std::vector<int> periods = integers(ORCHESTRA_STRINGS, ORCHESTRA_PERIOD - 48, 22500);
    for (int &period : periods)
        period += 48;
    std::sort(periods.begin(), periods.end());
    const std::vector<float> noise = floats(ORCHESTRA_PERIOD, 22501);
    const int *dp = run.upload(periods);
    const float *dn = run.upload(noise);
    float *to = run.zeros<float>(ORCHESTRA_STRINGS * ORCHESTRA_ROUNDS);
    run.measure([=] {
        if (warp)
            orchestra_pluck_warp_kernel<<<ORCHESTRA_STRINGS / 8, 256>>>(dp, dn, to);
        else
            orchestra_pluck_thread_kernel<<<ORCHESTRA_STRINGS / 64, 64>>>(dp, dn, to);
    });
    const std::vector<float> got = run.output(to, ORCHESTRA_STRINGS * ORCHESTRA_ROUNDS);
    for (int i = 0; i < ORCHESTRA_STRINGS; i += 15)
        orchestra_pluck_expect(run, got, i, periods[i], noise);
}

static void orchestra_pluck_thread(Run &run)
{
    orchestra_pluck(run, false);
}

static void orchestra_pluck_warp(Run &run)
{
    orchestra_pluck(run, true);
}

// ---- How rough chords sound, by all pairs of their tones, a warp per chord: each warp takes its
// share of neighbouring chords, or the next chord by a ticket. At the climax, all play ----

enum { ORCHESTRA_CHORDS = 6000, ORCHESTRA_DESKS = 132 };

// A tone: frequency and loudness.
template <class T> __host__ __device__ inline T orchestra_beating(float2 a, float2 b)
{
    const T low = a.x < b.x ? a.x : b.x, apart = a.x < b.x ? T(b.x) - a.x : T(a.x) - b.x;
    const T x = apart / (T(0.021) * low + 19);
    return T(a.y) * b.y * (exp(T(-3.5) * x) - exp(T(-5.75) * x));
}

__device__ inline void orchestra_chord(const int *starts, const float2 *tones, int chord,
                                       float *out)
{
    const int end = starts[chord + 1];
    float sum = 0;
    for (int i = starts[chord] + threadIdx.x % 32; i < end; i += 32) {
        const float2 tone = tones[i];
        for (int k = i + 1; k < end; k++)
            sum += orchestra_beating<float>(tone, tones[k]);
    }
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0)
        out[chord] = sum;
}

__global__ void orchestra_rough_shares_kernel(const int *starts, const float2 *tones, float *out,
                                              int *)
{
    const int warps = gridDim.x * blockDim.x / 32;
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int share = (ORCHESTRA_CHORDS + warps - 1) / warps;
    const int end = min((warp + 1) * share, (int) ORCHESTRA_CHORDS);
    for (int chord = warp * share; chord < end; chord++)
        orchestra_chord(starts, tones, chord, out);
}

__global__ void orchestra_rough_tickets_kernel(const int *starts, const float2 *tones, float *out,
                                               int *tickets)
{
    for (;;) {
        int chord = 0;
        if (threadIdx.x % 32 == 0)
            chord = atomicAdd(tickets, 1);
        chord = __shfl_sync(~0u, chord, 0);
        if (chord >= ORCHESTRA_CHORDS)
            return;
        orchestra_chord(starts, tones, chord, out);
    }
}

static void orchestra_rough(Run &run, bool by_tickets)
{
    const std::vector<int> draws = integers(ORCHESTRA_CHORDS, 1000, 22510);
    std::vector<int> starts(1, 0);
    for (int i = 0; i < ORCHESTRA_CHORDS; i++)
        starts.push_back(starts[i] + (i / 60 == 78 ? 150 + draws[i] * 3 / 20 : 12 + draws[i] / 20));
    const int n = starts[ORCHESTRA_CHORDS];
    const std::vector<float> pitches = floats(n, 22511, 5, 11), loud = floats(n, 22512, 0.1f, 1);
    std::vector<float2> tones(n);
    for (int i = 0; i < n; i++)
        tones[i] = { exp2f(pitches[i]), loud[i] };
    const int *ds = run.upload(starts);
    const float2 *dt = run.upload(tones);
    float *to = run.zeros<float>(ORCHESTRA_CHORDS);
    int *tickets = run.zeros<int>(1);
    run.measure(
        [=] {
            if (by_tickets)
                orchestra_rough_tickets_kernel<<<ORCHESTRA_DESKS, 256>>>(ds, dt, to, tickets);
            else
                orchestra_rough_shares_kernel<<<ORCHESTRA_DESKS, 256>>>(ds, dt, to, tickets);
        },
        [=] { CHECK(cudaMemset(tickets, 0, sizeof(int))); });
    run.expect_all(
        run.output(to, ORCHESTRA_CHORDS),
        [&](size_t chord) {
            double sum = 0;
            for (int i = starts[chord]; i < starts[chord + 1]; i++)
                for (int k = i + 1; k < starts[chord + 1]; k++)
                    sum += orchestra_beating<double>(tones[i], tones[k]);
            return sum;
        },
        1e-4, 7);
}

static void orchestra_rough_shares(Run &run)
{
    orchestra_rough(run, false);
}

static void orchestra_rough_tickets(Run &run)
{
    orchestra_rough(run, true);
}

// ---- 48 microphones mixed to stereo, samples interleaved: each thread reads its 48 samples, or
// the block reads all its samples in order, through shared memory ----

enum { ORCHESTRA_MICS = 48, ORCHESTRA_SAMPLES = 262144, ORCHESTRA_TILE = 128 };

__constant__ int2 orchestra_gains[ORCHESTRA_MICS];

__host__ __device__ inline short orchestra_clipped(int sum)
{
    sum >>= 15;
    return (short) (sum < -32768 ? -32768 : sum > 32767 ? 32767 : sum);
}

__global__ void orchestra_mix_direct_kernel(const short *samples, short2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int left = 0, right = 0;
    for (int mic = 0; mic < ORCHESTRA_MICS; mic++) {
        const int sample = samples[i * ORCHESTRA_MICS + mic];
        left += sample * orchestra_gains[mic].x;
        right += sample * orchestra_gains[mic].y;
    }
    out[i] = make_short2(orchestra_clipped(left), orchestra_clipped(right));
}

// Two samples lie in a word. A row of the tile has one word more, against bank conflicts.
__global__ void orchestra_mix_tile_kernel(const int4 *samples, short2 *out)
{
    __shared__ int tile[ORCHESTRA_TILE][ORCHESTRA_MICS / 2 + 1];
    const int row = ORCHESTRA_MICS / 8;
    for (int i = threadIdx.x; i < ORCHESTRA_TILE * row; i += ORCHESTRA_TILE) {
        const int4 eight = samples[blockIdx.x * ORCHESTRA_TILE * row + i];
        int *to = &tile[i / row][i % row * 4];
        to[0] = eight.x;
        to[1] = eight.y;
        to[2] = eight.z;
        to[3] = eight.w;
    }
    __syncthreads();
    int left = 0, right = 0;
    for (int k = 0; k < ORCHESTRA_MICS / 2; k++) {
        const int two = tile[threadIdx.x][k], first = (short) two, second = two >> 16;
        left += first * orchestra_gains[2 * k].x + second * orchestra_gains[2 * k + 1].x;
        right += first * orchestra_gains[2 * k].y + second * orchestra_gains[2 * k + 1].y;
    }
    out[blockIdx.x * ORCHESTRA_TILE + threadIdx.x] =
        make_short2(orchestra_clipped(left), orchestra_clipped(right));
}

static void orchestra_mix(Run &run, bool tile)
{
    const std::vector<uint32_t> draws = words((size_t) ORCHESTRA_SAMPLES * ORCHESTRA_MICS, 22520);
    std::vector<short> samples(draws.size());
    for (size_t i = 0; i < draws.size(); i++)
        samples[i] = (short) (draws[i] >> 16);
    const std::vector<int> volumes = integers(ORCHESTRA_MICS * 2, 1200, 22521);
    std::vector<int2> gains(ORCHESTRA_MICS);
    for (int mic = 0; mic < ORCHESTRA_MICS; mic++)
        gains[mic] = { 600 + volumes[mic * 2], 600 + volumes[mic * 2 + 1] };
    CHECK(cudaMemcpyToSymbol(orchestra_gains, gains.data(), sizeof orchestra_gains));
    const short *from = run.upload(samples);
    short2 *to = run.zeros<short2>(ORCHESTRA_SAMPLES);
    run.measure([=] {
        const int blocks = ORCHESTRA_SAMPLES / ORCHESTRA_TILE;
        if (tile)
            orchestra_mix_tile_kernel<<<blocks, ORCHESTRA_TILE>>>((const int4 *) from, to);
        else
            orchestra_mix_direct_kernel<<<blocks, ORCHESTRA_TILE>>>(from, to);
    });
    const std::vector<short2> got = run.output(to, ORCHESTRA_SAMPLES);
    for (int i = 0; i < ORCHESTRA_SAMPLES; i += 5) {
        int left = 0, right = 0;
        for (int mic = 0; mic < ORCHESTRA_MICS; mic++) {
            left += samples[i * ORCHESTRA_MICS + mic] * gains[mic].x;
            right += samples[i * ORCHESTRA_MICS + mic] * gains[mic].y;
        }
        run.expect(got[i].x, orchestra_clipped(left), 0);
        run.expect(got[i].y, orchestra_clipped(right), 0);
    }
}

static void orchestra_mix_direct(Run &run)
{
    orchestra_mix(run, false);
}

static void orchestra_mix_tile(Run &run)
{
    orchestra_mix(run, true);
}

// ---- The harmonics of brass, by Chebyshev polynomials of sine waves: in floats, or two samples at
// once in half2 ----

enum { ORCHESTRA_BRASS = 1 << 21, ORCHESTRA_HARMONICS = 16 };

__constant__ float orchestra_harmonics[ORCHESTRA_HARMONICS];
__constant__ half2 orchestra_half_harmonics[ORCHESTRA_HARMONICS];

template <class T> __host__ __device__ inline T orchestra_shaped(const float *harmonics, T x)
{
    T one = 0, two = 0;
    for (int k = ORCHESTRA_HARMONICS - 1; k; k--) {
        const T next = harmonics[k] + 2 * x * one - two;
        two = one;
        one = next;
    }
    return harmonics[0] + x * one - two;
}

__global__ void orchestra_brass_float_kernel(const half2 *in, half2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 x = __half22float2(in[i]);
    out[i] = __floats2half2_rn(orchestra_shaped<float>(orchestra_harmonics, x.x),
                               orchestra_shaped<float>(orchestra_harmonics, x.y));
}

__global__ void orchestra_brass_half2_kernel(const half2 *in, half2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const half2 x = in[i], twice = __hadd2(x, x);
    half2 one = __float2half2_rn(0), two = one;
    for (int k = ORCHESTRA_HARMONICS - 1; k; k--) {
        const half2 next = __hfma2(twice, one, __hsub2(orchestra_half_harmonics[k], two));
        two = one;
        one = next;
    }
    out[i] = __hfma2(x, one, __hsub2(orchestra_half_harmonics[0], two));
}

static void orchestra_brass(Run &run, bool halves)
{
    const std::vector<float> waves = floats(ORCHESTRA_BRASS, 22530, -0.95f, 0.95f);
    std::vector<half> in(ORCHESTRA_BRASS);
    for (int i = 0; i < ORCHESTRA_BRASS; i++)
        in[i] = __float2half(waves[i]);
    std::vector<float> harmonics(ORCHESTRA_HARMONICS);
    std::vector<half2> half_harmonics(ORCHESTRA_HARMONICS);
    for (int k = 0; k < ORCHESTRA_HARMONICS; k++) {
        harmonics[k] = k ? 0.4f / k : 0;
        half_harmonics[k] = __float2half2_rn(harmonics[k]);
    }
    CHECK(cudaMemcpyToSymbol(orchestra_harmonics, harmonics.data(), sizeof orchestra_harmonics));
    CHECK(cudaMemcpyToSymbol(orchestra_half_harmonics, half_harmonics.data(),
                             sizeof orchestra_half_harmonics));
    const half2 *from = (const half2 *) run.upload(in);
    half *to = run.zeros<half>(ORCHESTRA_BRASS);
    run.measure([=] {
        const int blocks = ORCHESTRA_BRASS / 2 / 256;
        if (halves)
            orchestra_brass_half2_kernel<<<blocks, 256>>>(from, (half2 *) to);
        else
            orchestra_brass_float_kernel<<<blocks, 256>>>(from, (half2 *) to);
    });
    const std::vector<half> got = run.output(to, ORCHESTRA_BRASS);
    for (int i = 0; i < ORCHESTRA_BRASS; i += 3)
        run.expect(__half2float(got[i]),
                   orchestra_shaped<double>(harmonics.data(), __half2float(in[i])), 0.03);
}

static void orchestra_brass_float(Run &run)
{
    orchestra_brass(run, false);
}

static void orchestra_brass_half2(Run &run)
{
    orchestra_brass(run, true);
}

#endif
