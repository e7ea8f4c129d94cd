// tracking.cuh - estimates over time: particle filters, Kalman filters, assignments, smoothing.
#ifndef BLIND_TRACKING_CUH
#define BLIND_TRACKING_CUH

#include "blind.cuh"

// ---- Resampling of particles: each finds its parent by bisection, or each parent writes children
// ----

enum { PARENTS = 851968 };

// `ends[i]`: how many children particles 0 to i have together.
__global__ void parents_search_kernel(const int *ends, const float4 *in, float4 *out)
{
    const int child = blockIdx.x * blockDim.x + threadIdx.x;
    int low = 0, high = PARENTS - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (ends[middle] > child)
            high = middle;
        else
            low = middle + 1;
    }
    out[child] = in[low];
}

__global__ void parents_spread_kernel(const int *ends, const float4 *in, float4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 mine = in[i];
    for (int child = i ? ends[i - 1] : 0; child < ends[i]; child++)
        out[child] = mine;
}

static void parents(Run &run, void (*kernel)(const int *, const float4 *, float4 *))
{
    const std::vector<float> state = floats(4 * (size_t) PARENTS, 11040);
    const std::vector<int> drawn = integers(PARENTS, PARENTS, 11041);
    std::vector<int> ends(PARENTS), chosen;
    for (int i : drawn)
        ends[i]++;
    for (int i = 0; i < PARENTS; i++)
        chosen.insert(chosen.end(), ends[i], i);
    for (int i = 1; i < PARENTS; i++)
        ends[i] += ends[i - 1];
    const int *de = run.upload(ends);
    const float4 *from = (const float4 *) run.upload(state);
    float4 *to = run.zeros<float4>(PARENTS);
    run.measure([=] { kernel<<<PARENTS / 256, 256>>>(de, from, to); });
    const std::vector<float4> got = run.output(to, PARENTS);
    for (int i = 0; i < PARENTS; i += 503) {
        run.expect(got[i].x, state[4 * (size_t) chosen[i]], 0);
        run.expect(got[i].w, state[4 * (size_t) chosen[i] + 3], 0);
    }
}

static void offspring_search(Run &run)
{
    parents(run, parents_search_kernel);
}

static void offspring_spread(Run &run)
{
    parents(run, parents_spread_kernel);
}

// ---- Likelihoods of particles that see 32 beacons: constant memory, or one by one from global
// ----

enum { SEEKERS = 196608, BEACONS = 32 };

__constant__ float4 beacon_constants[BEACONS]; // place, range, inverse deviation

template <bool LOGS>
__device__ __host__ inline float beacon_likelihood(float3 at, const float4 *beacons)
{
    float result = LOGS ? 0 : 1;
    for (int k = 0; k < BEACONS; k++) {
        const float dx = at.x - beacons[k].x, dy = at.y - beacons[k].y;
        const float miss = (sqrtf(dx * dx + dy * dy) - beacons[k].z) * beacons[k].w;
        if (LOGS)
            result -= 0.5f * miss * miss;
        else
            result *= 0.05f + expf(-0.5f * miss * miss);
    }
    return LOGS ? result : logf(result + 1e-30f);
}

template <bool LOGS> __global__ void beacons_kernel(const float *x, const float *y, float *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < SEEKERS; i += gridDim.x * blockDim.x)
        out[i] = beacon_likelihood<LOGS>(make_float3(x[i], y[i], 0), beacon_constants);
}

template <bool LOGS> static void beacons(Run &run)
{
    const std::vector<float> x = floats(SEEKERS, 11042), y = floats(SEEKERS, 11043);
    const std::vector<float> v = floats(4 * BEACONS, 11044, 0.2f, 2);
    std::vector<float4> list(BEACONS);
    for (int k = 0; k < BEACONS; k++)
        list[k] = make_float4(v[4 * k] - 1, v[4 * k + 1] - 1, v[4 * k + 2], v[4 * k + 3]);
    const float *dx = run.upload(x), *dy = run.upload(y);
    float *to = run.zeros<float>(SEEKERS);
    CHECK(cudaMemcpyToSymbol(beacon_constants, list.data(), sizeof beacon_constants));
    run.measure([=] { beacons_kernel<LOGS><<<132, 64>>>(dx, dy, to); });
    run.expect_all(
        run.output(to, SEEKERS),
        [&](size_t i) { return beacon_likelihood<LOGS>(make_float3(x[i], y[i], 0), list.data()); },
        2e-4, 83);
}

static void beacons_products(Run &run)
{
    beacons<false>(run);
}

static void beacons_logs(Run &run)
{
    beacons<true>(run);
}

// ---- Kalman filters of four states: a thread per target, or a lane per matrix element ----

enum { TARGETS = 2048, TARGET_STEPS = 112 };

// One step with motion x += v and a measured place; `p` is the 4x4 covariance.
__host__ __device__ inline void target_step(float *x, float *p, float mx, float my)
{
    for (int i = 0; i < 2; i++) {
        x[i] += x[i + 2];
        for (int j = 0; j < 4; j++)
            p[i * 4 + j] += p[(i + 2) * 4 + j];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++)
            p[i * 4 + j] += p[i * 4 + j + 2];
    for (int i = 0; i < 4; i++)
        p[i * 5] += 0.01f;
    const float measured[2] = { mx, my };
    for (int m = 0; m < 2; m++) {
        const float inverse = 1 / (p[m * 5] + 0.25f), miss = measured[m] - x[m];
        float gain[4], row[4];
        for (int i = 0; i < 4; i++) {
            gain[i] = p[i * 4 + m] * inverse;
            row[i] = p[m * 4 + i];
        }
        for (int i = 0; i < 4; i++) {
            x[i] += gain[i] * miss;
            for (int j = 0; j < 4; j++)
                p[i * 4 + j] -= gain[i] * row[j];
        }
    }
}

__global__ void targets_thread_kernel(const float2 *seen, float *out)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    float x[4] = { 0, 0, 0, 0 }, p[16];
    for (int i = 0; i < 16; i++)
        p[i] = i % 5 ? 0 : 1;
    for (int s = 0; s < TARGET_STEPS; s++) {
        const float2 at = seen[t * TARGET_STEPS + s];
        target_step(x, p, at.x, at.y);
    }
    for (int i = 0; i < 4; i++)
        out[t * 4 + i] = x[i];
}

// Lane 4 i + j of 16 holds p[i][j]; the lanes of row i hold x[i], too.
__global__ void targets_lanes_kernel(const float2 *seen, float *out)
{
    const int t = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
    const int i = lane / 4, j = lane % 4;
    float x = 0, p = i == j;
    for (int s = 0; s < TARGET_STEPS; s++) {
        const float2 at = seen[t * TARGET_STEPS + s];
        const float speed = __shfl_sync(~0u, x, (lane + 8) % 16, 16);
        const float below = __shfl_sync(~0u, p, (lane + 8) % 16, 16);
        x += i < 2 ? speed : 0;
        p += i < 2 ? below : 0;
        const float right = __shfl_sync(~0u, p, i * 4 + (j + 2) % 4, 16);
        p += (j < 2 ? right : 0) + (i == j ? 0.01f : 0);
        for (int m = 0; m < 2; m++) {
            const float inverse = 1 / (__shfl_sync(~0u, p, m * 5, 16) + 0.25f);
            const float gain = __shfl_sync(~0u, p, i * 4 + m, 16) * inverse;
            const float row = __shfl_sync(~0u, p, m * 4 + j, 16);
            x += gain * ((m ? at.y : at.x) - __shfl_sync(~0u, x, m * 4, 16));
            p -= gain * row;
        }
    }
    if (j == 0)
        out[t * 4 + i] = x;
}

static void targets(Run &run, bool lanes)
{
    const std::vector<float> seen = floats(2 * TARGETS * TARGET_STEPS, 11045);
    const float2 *from = (const float2 *) run.upload(seen);
    float *to = run.zeros<float>(4 * TARGETS);
    run.measure([=] {
        if (lanes)
            targets_lanes_kernel<<<TARGETS / 16, 256>>>(from, to);
        else
            targets_thread_kernel<<<TARGETS / 64, 64>>>(from, to);
    });
    const std::vector<float> got = run.output(to, 4 * TARGETS);
    for (int t = 0; t < TARGETS; t += 13) {
        float x[4] = { 0, 0, 0, 0 }, p[16];
        for (int i = 0; i < 16; i++)
            p[i] = i % 5 ? 0 : 1;
        for (int s = 0; s < TARGET_STEPS; s++) {
            const float *at = &seen[2 * (t * TARGET_STEPS + s)];
            target_step(x, p, at[0], at[1]);
        }
        for (int i = 0; i < 4; i++)
            run.expect(got[4 * t + i], x[i], 1e-3);
    }
}

static void targets_thread(Run &run)
{
    targets(run, false);
}

static void targets_lanes(Run &run)
{
    targets(run, true);
}

// ---- Exponential smoothing of sensors' series: sensors in rows, or in columns ----

enum { SENSORS = 8192, READINGS = 1024 };

template <bool COLUMNS> __global__ void smoothing_kernel(const float *in, float *out)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    float level = 0, trend = 0;
    for (int t = 0; t < READINGS; t++) {
        const float v = in[COLUMNS ? t * SENSORS + s : s * READINGS + t];
        const float next = 0.25f * v + 0.75f * (level + trend);
        trend = 0.125f * (next - level) + 0.875f * trend;
        level = next;
        out[COLUMNS ? t * SENSORS + s : s * READINGS + t] = level;
    }
}

template <bool COLUMNS> static void smoothing(Run &run)
{
    const std::vector<float> in = floats(SENSORS * READINGS, 11046);
    const float *from = run.upload(in);
    float *to = run.zeros<float>(SENSORS * READINGS);
    run.measure([=] { smoothing_kernel<COLUMNS><<<SENSORS / 64, 64>>>(from, to); });
    const std::vector<float> got = run.output(to, SENSORS * READINGS);
    for (int s = 0; s < SENSORS; s += 67) {
        double level = 0, trend = 0;
        for (int t = 0; t < READINGS; t++) {
            const int at = COLUMNS ? t * SENSORS + s : s * READINGS + t;
            const double next = 0.25 * in[at] + 0.75 * (level + trend);
            trend = 0.125 * (next - level) + 0.875 * trend;
            level = next;
            run.expect(got[at], level, 1e-4);
        }
    }
}

static void sensors_rows(Run &run)
{
    smoothing<false>(run);
}

static void sensors_columns(Run &run)
{
    smoothing<true>(run);
}

#endif
