// radio.cuh - receivers: LDPC check nodes, soft bits of QAM, beams of delayed channels, detection
// by a constant rate of false alarms.
#ifndef BLIND_RADIO_CUH
#define BLIND_RADIO_CUH

#include "blind.cuh"

// ---- LDPC check nodes by min-sum: for each edge a loop over the others, or the two minima once
// ----

enum { LDPC_DEGREE = 12, LDPC_CHECKS = 150000 };

__global__ void ldpc_others_kernel(const float *in, float *out, int n)
{
    const int check = blockIdx.x * blockDim.x + threadIdx.x;
    if (check >= n)
        return;
    for (int e = 0; e < LDPC_DEGREE; e++) {
        float least = 1e30f, sign = 1;
        for (int o = 0; o < LDPC_DEGREE; o++)
            if (o != e) {
                const float v = in[o * n + check];
                least = fminf(least, fabsf(v));
                sign = v < 0 ? -sign : sign;
            }
        out[e * n + check] = 0.75f * sign * least;
    }
}

__global__ void ldpc_minima_kernel(const float *in, float *out, int n)
{
    const int check = blockIdx.x * blockDim.x + threadIdx.x;
    float v[LDPC_DEGREE], first = 1e30f, second = 1e30f, sign = 1;
    int at = 0;
    if (check >= n)
        return;
#pragma unroll
    for (int e = 0; e < LDPC_DEGREE; e++) {
        v[e] = in[e * n + check];
        const float size = fabsf(v[e]);
        sign = v[e] < 0 ? -sign : sign;
        if (size < first) {
            second = first;
            first = size;
            at = e;
        } else
            second = fminf(second, size);
    }
#pragma unroll
    for (int e = 0; e < LDPC_DEGREE; e++)
        out[e * n + check] = 0.75f * (v[e] < 0 ? -sign : sign) * (e == at ? second : first);
}

static void ldpc(Run &run, void (*kernel)(const float *, float *, int))
{
    const int n = LDPC_CHECKS;
    const std::vector<float> in = floats(n * LDPC_DEGREE, 4001, -8, 8);
    float *from = run.upload(in), *to = run.zeros<float>(n * LDPC_DEGREE);
    run.measure([=] { kernel<<<blocks_for(n, 192), 192>>>(from, to, n); });
    run.expect_all(
        run.output(to, n * LDPC_DEGREE),
        [&](size_t i) {
            float least = 1e30f, sign = 1;
            for (int o = 0; o < LDPC_DEGREE; o++) {
                const float v = in[o * n + i % n];
                if (o == (int) i / n)
                    continue;
                least = std::min(least, fabsf(v));
                sign = v < 0 ? -sign : sign;
            }
            return 0.75f * sign * least;
        },
        1e-6, 13);
}

static void ldpc_others(Run &run)
{
    ldpc(run, ldpc_others_kernel);
}

static void ldpc_minima(Run &run)
{
    ldpc(run, ldpc_minima_kernel);
}

// ---- Soft bits of 64-QAM: distances to all 64 points, or to the 8 levels of each axis ----

__host__ __device__ inline float qam_level(int k)
{
    return 2 * k - 7;
}

__global__ void qam_all_kernel(const float2 *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float zero[6], one[6];
    if (i >= n)
        return;
    const float2 v = in[i];
    for (int b = 0; b < 6; b++)
        zero[b] = one[b] = 1e30f;
    for (int p = 0; p < 64; p++) {
        const int x = p & 7, y = p >> 3, bits = (x ^ x >> 1) | (y ^ y >> 1) << 3;
        const float dx = v.x - qam_level(x), dy = v.y - qam_level(y), d = dx * dx + dy * dy;
#pragma unroll
        for (int b = 0; b < 6; b++)
            if (bits >> b & 1)
                one[b] = fminf(one[b], d);
            else
                zero[b] = fminf(zero[b], d);
    }
    for (int b = 0; b < 6; b++)
        out[i * 6 + b] = one[b] - zero[b];
}

__host__ __device__ inline void qam_axis(float v, float *soft)
{
    float zero[3] = { 1e30f, 1e30f, 1e30f }, one[3] = { 1e30f, 1e30f, 1e30f };
    for (int x = 0; x < 8; x++) {
        const float d = (v - qam_level(x)) * (v - qam_level(x));
        for (int b = 0; b < 3; b++) {
            float &least = (x ^ x >> 1) >> b & 1 ? one[b] : zero[b];
            least = d < least ? d : least;
        }
    }
    for (int b = 0; b < 3; b++)
        soft[b] = one[b] - zero[b];
}

__global__ void qam_axes_kernel(const float2 *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    qam_axis(in[i].x, out + i * 6);
    qam_axis(in[i].y, out + i * 6 + 3);
}

static void qam(Run &run, void (*kernel)(const float2 *, float *, int))
{
    const int n = 200000;
    const std::vector<float> values = floats(2 * n, 4002, -9, 9);
    std::vector<float2> in(n);
    for (int i = 0; i < n; i++)
        in[i] = make_float2(values[2 * i], values[2 * i + 1]);
    float2 *from = run.upload(in);
    float *to = run.zeros<float>(6 * n);
    run.measure([=] { kernel<<<blocks_for(n, 128), 128>>>(from, to, n); });
    const std::vector<float> got = run.output(to, 6 * n);
    for (int i = 0; i < n; i += 11) {
        float soft[6];
        qam_axis(in[i].x, soft);
        qam_axis(in[i].y, soft + 3);
        for (int b = 0; b < 6; b++)
            run.expect(got[6 * i + b], soft[b], 1e-3);
    }
}

static void qam_all(Run &run)
{
    qam(run, qam_all_kernel);
}

static void qam_axes(Run &run)
{
    qam(run, qam_axes_kernel);
}

// ---- 8 beams of 16 channels with delays: each sample from global memory, or tiles for all beams
// ----

enum {
    BEAM_COUNT = 8,
    BEAM_CHANNELS = 16,
    BEAM_DELAYS = 64,
    BEAM_SAMPLES = 102400,
    BEAM_BLOCK = 256
};
enum { BEAM_PITCH = BEAM_SAMPLES + BEAM_DELAYS };

__global__ void beams_global_kernel(const float *in, const int *delays, const float *weights,
                                    float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, beam = blockIdx.y;
    float sum = 0;
    for (int c = 0; c < BEAM_CHANNELS; c++)
        sum += weights[c] * in[c * BEAM_PITCH + i + delays[beam * BEAM_CHANNELS + c]];
    out[beam * BEAM_SAMPLES + i] = sum;
}

__global__ void beams_shared_kernel(const float *in, const int *delays, const float *weights,
                                    float *out)
{
    __shared__ float tile[BEAM_BLOCK + BEAM_DELAYS];
    const int t = threadIdx.x, first = blockIdx.x * BEAM_BLOCK;
    float sum[BEAM_COUNT] = {};
    for (int c = 0; c < BEAM_CHANNELS; c++) {
        for (int k = t; k < BEAM_BLOCK + BEAM_DELAYS; k += BEAM_BLOCK)
            tile[k] = in[c * BEAM_PITCH + first + k];
        __syncthreads(); // the tile is complete
#pragma unroll
        for (int b = 0; b < BEAM_COUNT; b++)
            sum[b] += weights[c] * tile[t + delays[b * BEAM_CHANNELS + c]];
        __syncthreads(); // the tile may be overwritten
    }
    for (int b = 0; b < BEAM_COUNT; b++)
        out[b * BEAM_SAMPLES + first + t] = sum[b];
}

static void beams(Run &run, bool shared)
{
    const std::vector<float> in = floats(BEAM_CHANNELS * BEAM_PITCH, 4003);
    const std::vector<float> weights = floats(BEAM_CHANNELS, 4004, 0, 1);
    const std::vector<int> delays = integers(BEAM_COUNT * BEAM_CHANNELS, BEAM_DELAYS, 4005);
    float *di = run.upload(in), *dw = run.upload(weights);
    float *to = run.zeros<float>(BEAM_COUNT * BEAM_SAMPLES);
    int *dd = run.upload(delays);
    const int blocks = BEAM_SAMPLES / BEAM_BLOCK;
    run.measure([=] {
        if (shared)
            beams_shared_kernel<<<blocks, BEAM_BLOCK>>>(di, dd, dw, to);
        else
            beams_global_kernel<<<dim3(blocks, BEAM_COUNT), BEAM_BLOCK>>>(di, dd, dw, to);
    });
    run.expect_all(
        run.output(to, BEAM_COUNT * BEAM_SAMPLES),
        [&](size_t i) {
            double sum = 0;
            for (int c = 0; c < BEAM_CHANNELS; c++)
                sum += weights[c] * in[c * BEAM_PITCH + i % BEAM_SAMPLES +
                                       delays[i / BEAM_SAMPLES * BEAM_CHANNELS + c]];
            return sum;
        },
        1e-4, 17);
}

static void beams_global(Run &run)
{
    beams(run, false);
}

static void beams_shared(Run &run)
{
    beams(run, true);
}

// ---- Detection against the mean of 16 cells per side: by sums per cell, or by a row's prefix ----

enum { CFAR_ROWS = 1000, CFAR_CELLS = 1024, CFAR_WINDOW = 16, CFAR_GUARD = 2 };

__host__ __device__ inline bool cfar_found(uint32_t cell, uint32_t noise)
{
    return cell * (2 * CFAR_WINDOW) > noise + noise / 2 + noise / 4;
}

__global__ void cfar_window_kernel(const uint32_t *power, unsigned char *found)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t *row = power + blockIdx.y * CFAR_CELLS;
    uint32_t noise = 0;
    for (int d = CFAR_GUARD + 1; d <= CFAR_GUARD + CFAR_WINDOW; d++) {
        if (x - d >= 0)
            noise += row[x - d];
        if (x + d < CFAR_CELLS)
            noise += row[x + d];
    }
    found[blockIdx.y * CFAR_CELLS + x] = cfar_found(row[x], noise);
}

// The sum of the cells in [first, end) of a row whose prefix sums are inclusive.
__device__ inline uint32_t cfar_between(const uint32_t *prefix, int first, int end)
{
    first = max(first, 0);
    end = min(end, (int) CFAR_CELLS);
    return first >= end ? 0 : prefix[end - 1] - (first ? prefix[first - 1] : 0);
}

__global__ void cfar_prefix_kernel(const uint32_t *power, unsigned char *found)
{
    __shared__ uint32_t prefix[CFAR_CELLS];
    const int x = threadIdx.x, at = blockIdx.x * CFAR_CELLS + x;
    prefix[x] = power[at];
    __syncthreads(); // the row is here
    for (int apart = 1; apart < CFAR_CELLS; apart *= 2) {
        const uint32_t before = x >= apart ? prefix[x - apart] : 0;
        __syncthreads(); // all have read
        prefix[x] += before;
        __syncthreads(); // all have written
    }
    const uint32_t left = cfar_between(prefix, x - CFAR_GUARD - CFAR_WINDOW, x - CFAR_GUARD);
    const uint32_t right =
        cfar_between(prefix, x + CFAR_GUARD + 1, x + CFAR_GUARD + CFAR_WINDOW + 1);
    found[at] = cfar_found(power[at], left + right);
}

static void cfar(Run &run, bool prefix)
{
    const int n = CFAR_ROWS * CFAR_CELLS;
    std::vector<uint32_t> power = words(n, 4006);
    for (uint32_t &v : power)
        v &= 1023;
    uint32_t *from = run.upload(power);
    unsigned char *to = run.zeros<unsigned char>(n);
    run.measure([=] {
        if (prefix)
            cfar_prefix_kernel<<<CFAR_ROWS, CFAR_CELLS>>>(from, to);
        else
            cfar_window_kernel<<<dim3(CFAR_CELLS / 128, CFAR_ROWS), 128>>>(from, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            const int x = i % CFAR_CELLS;
            uint32_t noise = 0;
            for (int d = CFAR_GUARD + 1; d <= CFAR_GUARD + CFAR_WINDOW; d++)
                noise += (x >= d ? power[i - d] : 0) + (x + d < CFAR_CELLS ? power[i + d] : 0);
            return cfar_found(power[i], noise);
        },
        0, 7);
}

static void cfar_window(Run &run)
{
    cfar(run, false);
}

static void cfar_prefix(Run &run)
{
    cfar(run, true);
}

#endif
