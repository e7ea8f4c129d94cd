// lessons.cuh - training: dropout with its random numbers, causal convolution, advantages of
// episodes, weights of which two of four remain, regions of interest.
#ifndef BLIND_LESSONS_CUH
#define BLIND_LESSONS_CUH

#include "blind.cuh"

// ---- Dropout with Philox: numbers drawn per value, or all four of a draw used ----

enum { DROP_VALUES = 1 << 21 };

__host__ __device__ inline uint4 drop_philox(uint32_t counter)
{
    uint4 c = { counter, 0, 17, 0 };
    uint32_t k0 = 0xa511e9b3u, k1 = 0x1b56c4e9u;
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t) 0xd2511f53u * c.x, b = (uint64_t) 0xcd9e8d57u * c.z;
        c = { (uint32_t) (b >> 32) ^ c.y ^ k0, (uint32_t) b, (uint32_t) (a >> 32) ^ c.w ^ k1,
              (uint32_t) a };
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return c;
}

__host__ __device__ inline float drop_value(float v, uint32_t random)
{
    return random < 0x33333333u ? 0 : v * 1.25f;
}

__host__ __device__ inline uint32_t drop_word(uint4 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
}

__global__ void dropout_each_kernel(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = drop_value(in[i], drop_word(drop_philox(i / 4), i % 4));
}

__global__ void dropout_four_kernel(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 r = drop_philox(i);
    const float4 v = ((const float4 *) in)[i];
    ((float4 *) out)[i] = make_float4(drop_value(v.x, r.x), drop_value(v.y, r.y),
                                      drop_value(v.z, r.z), drop_value(v.w, r.w));
}

static void dropout(Run &run, void (*kernel)(const float *, float *), int each)
{
    const int n = DROP_VALUES;
    const std::vector<float> in = floats(n, 4031);
    float *from = run.upload(in), *to = run.zeros<float>(n);
    run.measure([=] { kernel<<<n / each / 256, 256>>>(from, to); });
    run.expect_all(
        run.output(to, n),
        [&](int i) { return drop_value(in[i], drop_word(drop_philox(i / 4), i % 4)); }, 1e-6, 53);
}

static void dropout_each(Run &run)
{
    dropout(run, dropout_each_kernel, 1);
}

static void dropout_four(Run &run)
{
    dropout(run, dropout_four_kernel, 4);
}

// ---- Causal convolution of width 4, then SiLU: a thread per value, or along 64 steps of time ----

enum { CAUSAL_BATCH = 4, CAUSAL_TIME = 512, CAUSAL_CHANNELS = 1024, CAUSAL_CHUNK = 64 };

__host__ __device__ inline float causal_silu(float v)
{
    return v / (1 + expf(-v));
}

__global__ void causal_each_kernel(const float *in, const float4 *weights, float *out)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y;
    const float *mine = in + blockIdx.z * CAUSAL_TIME * CAUSAL_CHANNELS + c;
    const float4 w = weights[c];
    float sum = w.w * mine[t * CAUSAL_CHANNELS];
    if (t >= 1)
        sum += w.z * mine[(t - 1) * CAUSAL_CHANNELS];
    if (t >= 2)
        sum += w.y * mine[(t - 2) * CAUSAL_CHANNELS];
    if (t >= 3)
        sum += w.x * mine[(t - 3) * CAUSAL_CHANNELS];
    out[(blockIdx.z * CAUSAL_TIME + t) * CAUSAL_CHANNELS + c] = causal_silu(sum);
}

__global__ void causal_rolling_kernel(const float *in, const float4 *weights, float *out)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * CAUSAL_CHUNK;
    const int batch = blockIdx.z * CAUSAL_TIME * CAUSAL_CHANNELS + c;
    const float4 w = weights[c];
    float a = 0, b = 0, d = 0;
    if (first) {
        a = in[batch + (first - 3) * CAUSAL_CHANNELS];
        b = in[batch + (first - 2) * CAUSAL_CHANNELS];
        d = in[batch + (first - 1) * CAUSAL_CHANNELS];
    }
    for (int t = first; t < first + CAUSAL_CHUNK; t++) {
        const float v = in[batch + t * CAUSAL_CHANNELS];
        out[batch + t * CAUSAL_CHANNELS] = causal_silu(w.x * a + w.y * b + w.z * d + w.w * v);
        a = b;
        b = d;
        d = v;
    }
}

static void causal(Run &run, bool rolling)
{
    const int n = CAUSAL_BATCH * CAUSAL_TIME * CAUSAL_CHANNELS;
    const std::vector<float> in = floats(n, 4032), w = floats(4 * CAUSAL_CHANNELS, 4033);
    std::vector<float4> weights(CAUSAL_CHANNELS);
    for (int c = 0; c < CAUSAL_CHANNELS; c++)
        weights[c] = make_float4(w[4 * c], w[4 * c + 1], w[4 * c + 2], w[4 * c + 3]);
    float *from = run.upload(in), *to = run.zeros<float>(n);
    float4 *dw = run.upload(weights);
    run.measure([=] {
        const int x = CAUSAL_CHANNELS / 128;
        if (rolling)
            causal_rolling_kernel<<<dim3(x, CAUSAL_TIME / CAUSAL_CHUNK, CAUSAL_BATCH), 128>>>(
                from, dw, to);
        else
            causal_each_kernel<<<dim3(x, CAUSAL_TIME, CAUSAL_BATCH), 128>>>(from, dw, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](int i) {
            const int c = i % CAUSAL_CHANNELS, t = i / CAUSAL_CHANNELS % CAUSAL_TIME;
            double sum = 0;
            for (int k = 0; k < 4 && k <= t; k++)
                sum += w[4 * c + 3 - k] * in[i - k * CAUSAL_CHANNELS];
            return sum / (1 + exp(-sum));
        },
        1e-4, 59);
}

static void causal_each(Run &run)
{
    causal(run, false);
}

static void causal_rolling(Run &run)
{
    causal(run, true);
}

// ---- Generalised advantages of episodes, backwards in time: time or episode outermost ----

enum { GAE_EPISODES = 8192, GAE_STEPS = 256 };

template <bool by_time>
__global__ void advantage_kernel(const float *rewards, const float *values,
                                 const unsigned char *ended, float *out)
{
    const int episode = blockIdx.x * blockDim.x + threadIdx.x;
    float next = 0, advantage = 0;
    for (int t = GAE_STEPS - 1; t >= 0; t--) {
        const int at = by_time ? t * GAE_EPISODES + episode : episode * GAE_STEPS + t;
        const float goes_on = ended[at] ? 0 : 1;
        const float delta = rewards[at] + 0.99f * next * goes_on - values[at];
        advantage = delta + 0.99f * 0.95f * goes_on * advantage;
        next = values[at];
        out[at] = advantage;
    }
}

template <bool by_time> static void advantages(Run &run)
{
    const int n = GAE_EPISODES * GAE_STEPS;
    const std::vector<float> rewards = floats(n, 4034), values = floats(n, 4035);
    std::vector<unsigned char> ended(n);
    for (int i = 0; i < n; i++)
        ended[i] = mix(i + 4036) % 40 == 0;
    float *dr = run.upload(rewards), *dv = run.upload(values), *to = run.zeros<float>(n);
    unsigned char *de = run.upload(ended);
    run.measure([=] { advantage_kernel<by_time><<<GAE_EPISODES / 64, 64>>>(dr, dv, de, to); });
    const std::vector<float> got = run.output(to, n);
    for (int e = 0; e < GAE_EPISODES; e += 61) {
        double next = 0, advantage = 0;
        for (int t = GAE_STEPS - 1; t >= 0; t--) {
            const int at = by_time ? t * GAE_EPISODES + e : e * GAE_STEPS + t;
            const double goes_on = !ended[at];
            advantage = rewards[at] + 0.99 * next * goes_on - values[at] +
                        0.99 * 0.95 * goes_on * advantage;
            next = values[at];
            run.expect(got[at], advantage, 1e-4);
        }
    }
}

static void advantage_times(Run &run)
{
    advantages<true>(run);
}

static void advantage_episodes(Run &run)
{
    advantages<false>(run);
}

// ---- The two largest of four weights remain: by ranks of each, or by a sort of four ----

enum { PRUNE_GROUPS = 900000 };

__global__ void prune_ranks_kernel(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 4 * n)
        return;
    const float *group = in + i / 4 * 4, mine = fabsf(in[i]);
    int rank = 0;
    for (int k = 0; k < 4; k++) {
        const float other = fabsf(group[k]);
        rank += other > mine || (other == mine && k < i % 4);
    }
    out[i] = rank < 2 ? in[i] : 0;
}

__global__ void prune_sort_kernel(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value[4], kept[4] = {};
    int order[4] = { 0, 1, 2, 3 };
    if (i >= n)
        return;
    for (int k = 0; k < 4; k++)
        value[k] = in[4 * i + k];
    for (int a = 1; a < 4; a++)
        for (int b = a; b > 0 && fabsf(value[order[b]]) > fabsf(value[order[b - 1]]); b--) {
            const int swap = order[b];
            order[b] = order[b - 1];
            order[b - 1] = swap;
        }
    kept[order[0]] = value[order[0]];
    kept[order[1]] = value[order[1]];
    for (int k = 0; k < 4; k++)
        out[4 * i + k] = kept[k];
}

static void prune(Run &run, void (*kernel)(const float *, float *, int), int each)
{
    const int n = PRUNE_GROUPS;
    const std::vector<float> in = floats(4 * n, 4037);
    float *from = run.upload(in), *to = run.zeros<float>(4 * n);
    run.measure([=] { kernel<<<blocks_for(4 * n / each, 256), 256>>>(from, to, n); });
    run.expect_all(
        run.output(to, 4 * n),
        [&](int i) {
            int rank = 0;
            for (int k = 0; k < 4; k++) {
                const float other = fabsf(in[i / 4 * 4 + k]), mine = fabsf(in[i]);
                rank += other > mine || (other == mine && k < i % 4);
            }
            return rank < 2 ? in[i] : 0;
        },
        0, 67);
}

static void prune_ranks(Run &run)
{
    prune(run, prune_ranks_kernel, 1);
}

static void prune_sort(Run &run)
{
    prune(run, prune_sort_kernel, 4);
}

// ---- Regions of interest: each of 7 x 7 bins averages four interpolated samples ----

enum { ROI_REGIONS = 96, ROI_CHANNELS = 64, ROI_MAP = 64, ROI_BINS = 7 };

__host__ __device__ inline float roi_sample(const float *map, float x, float y)
{
    const int x0 = (int) x, y0 = (int) y;
    const int x1 = x0 + 1 < ROI_MAP ? x0 + 1 : x0, y1 = y0 + 1 < ROI_MAP ? y0 + 1 : y0;
    const float fx = x - x0, fy = y - y0;
    return (1 - fy) * ((1 - fx) * map[y0 * ROI_MAP + x0] + fx * map[y0 * ROI_MAP + x1]) +
           fy * ((1 - fx) * map[y1 * ROI_MAP + x0] + fx * map[y1 * ROI_MAP + x1]);
}

__host__ __device__ inline float roi_bin(const float *maps, const float4 *regions, int i)
{
    const int bx = i % ROI_BINS, by = i / ROI_BINS % ROI_BINS;
    const int c = i / (ROI_BINS * ROI_BINS) % ROI_CHANNELS;
    const float4 r = regions[i / (ROI_BINS * ROI_BINS * ROI_CHANNELS)];
    const float w = r.z / ROI_BINS, h = r.w / ROI_BINS;
    float sum = 0;
    for (int s = 0; s < 4; s++)
        sum += roi_sample(maps + c * ROI_MAP * ROI_MAP, r.x + (bx + 0.25f + s % 2 * 0.5f) * w,
                          r.y + (by + 0.25f + s / 2 * 0.5f) * h);
    return sum / 4;
}

__global__ void roi_kernel(const float *maps, const float4 *regions, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = roi_bin(maps, regions, i);
}

static void roi_align(Run &run)
{
    const int n = ROI_REGIONS * ROI_CHANNELS * ROI_BINS * ROI_BINS;
    const std::vector<float> maps = floats(ROI_CHANNELS * ROI_MAP * ROI_MAP, 4038);
    const std::vector<float> v = floats(4 * ROI_REGIONS, 4039, 2, 30);
    std::vector<float4> regions(ROI_REGIONS);
    for (int i = 0; i < ROI_REGIONS; i++)
        regions[i] = make_float4(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]);
    float *dm = run.upload(maps), *to = run.zeros<float>(n);
    float4 *dr = run.upload(regions);
    run.measure([=] { roi_kernel<<<blocks_for(n, 512), 512>>>(dm, dr, to, n); });
    run.expect_all(
        run.output(to, n), [&](int i) { return roi_bin(maps.data(), regions.data(), i); }, 1e-4,
        71);
}

#endif
