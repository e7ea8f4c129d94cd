// units.cuh - parts of neural networks: Winograd's convolution, factorisation machines, LSTM gates,
// sampling of the likeliest, gradients that overflow.
#ifndef BLIND_UNITS_CUH
#define BLIND_UNITS_CUH

#include "blind.cuh"

#include <cuda_fp16.h>

// ---- Convolution of 3 x 3, 16 channels to 64: directly, or by Winograd with 2 x 2 outputs ----

enum { WINO_IN = 16, WINO_OUT = 64, WINO_SIZE = 56, WINO_PITCH = WINO_SIZE + 2 };

__global__ void conv3_direct_kernel(const float *in, const float *weight, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int k = blockIdx.z;
    float sum = 0;
    if (x >= WINO_SIZE || y >= WINO_SIZE)
        return;
    for (int c = 0; c < WINO_IN; c++)
        for (int dy = 0; dy < 3; dy++)
            for (int dx = 0; dx < 3; dx++)
                sum += in[(c * WINO_PITCH + y + dy) * WINO_PITCH + x + dx] *
                       weight[(k * WINO_IN + c) * 9 + dy * 3 + dx];
    out[(k * WINO_SIZE + y) * WINO_SIZE + x] = sum;
}

// One line of the input's transform, with `step` between its values.
__device__ inline void wino_line(float *d, int step)
{
    const float a = d[0], b = d[step], c = d[2 * step], e = d[3 * step];
    d[0] = a - c;
    d[step] = b + c;
    d[2 * step] = c - b;
    d[3 * step] = b - e;
}

__global__ void conv3_winograd_kernel(const float *in, const float *weight, float *out)
{
    const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int y = 2 * (blockIdx.y * blockDim.y + threadIdx.y), k = blockIdx.z;
    float sum[16] = {}, d[16];
    if (x >= WINO_SIZE || y >= WINO_SIZE)
        return;
    for (int c = 0; c < WINO_IN; c++) {
#pragma unroll
        for (int i = 0; i < 16; i++)
            d[i] = in[(c * WINO_PITCH + y + i / 4) * WINO_PITCH + x + i % 4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            wino_line(d + i, 4);
#pragma unroll
        for (int i = 0; i < 4; i++)
            wino_line(d + 4 * i, 1);
#pragma unroll
        for (int i = 0; i < 16; i++)
            sum[i] += d[i] * weight[(k * WINO_IN + c) * 16 + i];
    }
    float half[8];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        half[i] = sum[i] + sum[4 + i] + sum[8 + i];
        half[4 + i] = sum[4 + i] - sum[8 + i] - sum[12 + i];
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float *h = half + 4 * r;
        float *to = &out[(k * WINO_SIZE + y + r) * WINO_SIZE + x];
        to[0] = h[0] + h[1] + h[2];
        to[1] = h[1] - h[2] - h[3];
    }
}

// Winograd's form of the 3 x 3 weights.
static void wino_weights(const float *g, float *out)
{
    const float m[4][3] = { { 1, 0, 0 }, { .5f, .5f, .5f }, { .5f, -.5f, .5f }, { 0, 0, 1 } };
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            float sum = 0;
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    sum += m[i][a] * g[3 * a + b] * m[j][b];
            out[4 * i + j] = sum;
        }
}

static void conv3(Run &run, void (*kernel)(const float *, const float *, float *), bool winograd)
{
    const int n = WINO_OUT * WINO_SIZE * WINO_SIZE, filters = WINO_OUT * WINO_IN;
    const std::vector<float> in = floats(WINO_IN * WINO_PITCH * WINO_PITCH, 3051);
    const std::vector<float> weight = floats(9 * filters, 3052);
    std::vector<float> turned(16 * filters);
    for (int f = 0; f < filters; f++)
        wino_weights(&weight[9 * f], &turned[16 * f]);
    float *di = run.upload(in), *dw = run.upload(winograd ? turned : weight);
    float *to = run.zeros<float>(n);
    const int size = winograd ? WINO_SIZE / 2 : WINO_SIZE;
    const dim3 block(winograd ? 14 : 28, winograd ? 14 : 8);
    const dim3 grid(size / block.x, blocks_for(size, block.y), WINO_OUT);
    run.measure([=] { kernel<<<grid, block>>>(di, dw, to); });
    run.expect_all(
        run.output(to, n),
        [&](int i) {
            const int x = i % WINO_SIZE, y = i / WINO_SIZE % WINO_SIZE;
            const int k = i / WINO_SIZE / WINO_SIZE;
            double sum = 0;
            for (int c = 0; c < WINO_IN; c++)
                for (int t = 0; t < 9; t++)
                    sum += in[(c * WINO_PITCH + y + t / 3) * WINO_PITCH + x + t % 3] *
                           weight[(k * WINO_IN + c) * 9 + t];
            return sum;
        },
        1e-3, 13);
}

static void conv3_direct(Run &run)
{
    conv3(run, conv3_direct_kernel, false);
}

static void conv3_winograd(Run &run)
{
    conv3(run, conv3_winograd_kernel, true);
}

// ---- Factorisation machines: products of all pairs of 22 fields, or the square of their sum ----

enum { FM_FIELDS = 22, FM_SIZE = 16, FM_WORDS = 20000 };

// The sum of 16 lanes.
__device__ inline float fm_sum(float v)
{
    for (int apart = 8; apart; apart /= 2)
        v += __shfl_xor_sync(~0u, v, apart);
    return v;
}

__global__ void fm_pairs_kernel(const int *fields, const float *table, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, k = i % FM_SIZE;
    const int *mine = fields + i / FM_SIZE * FM_FIELDS;
    float sum = 0;
    for (int a = 0; a < FM_FIELDS; a++)
        for (int b = a + 1; b < FM_FIELDS; b++)
            sum += table[mine[a] * FM_SIZE + k] * table[mine[b] * FM_SIZE + k];
    sum = fm_sum(sum);
    if (k == 0)
        out[i / FM_SIZE] = sum;
}

__global__ void fm_squares_kernel(const int *fields, const float *table, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, k = i % FM_SIZE;
    const int *mine = fields + i / FM_SIZE * FM_FIELDS;
    float sum = 0, squares = 0;
    for (int a = 0; a < FM_FIELDS; a++) {
        const float v = table[mine[a] * FM_SIZE + k];
        sum += v;
        squares += v * v;
    }
    sum = fm_sum(0.5f * (sum * sum - squares));
    if (k == 0)
        out[i / FM_SIZE] = sum;
}

static void fm(Run &run, void (*kernel)(const int *, const float *, float *))
{
    const int n = 7680;
    const std::vector<int> fields = integers(n * FM_FIELDS, FM_WORDS, 3053);
    const std::vector<float> table = floats(FM_WORDS * FM_SIZE, 3054);
    int *df = run.upload(fields);
    float *dt = run.upload(table), *to = run.zeros<float>(n);
    run.measure([=] { kernel<<<n * FM_SIZE / 128, 128>>>(df, dt, to); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double total = 0;
            for (int k = 0; k < FM_SIZE; k++) {
                double sum = 0, squares = 0;
                for (int a = 0; a < FM_FIELDS; a++) {
                    const double v = table[fields[i * FM_FIELDS + a] * FM_SIZE + k];
                    sum += v;
                    squares += v * v;
                }
                total += 0.5 * (sum * sum - squares);
            }
            return total;
        },
        1e-3, 5);
}

static void fm_pairs(Run &run)
{
    fm(run, fm_pairs_kernel);
}

static void fm_squares(Run &run)
{
    fm(run, fm_squares_kernel);
}

// ---- The gates of an LSTM: four values side by side, or four rows per sample ----

enum { LSTM_SIZE = 640, LSTM_BATCH = 1200 };

__host__ __device__ inline float2 lstm_cell(float in, float forget, float cell, float out,
                                            float old)
{
    const float kept = old / (1 + expf(-forget)) + tanhf(cell) / (1 + expf(-in));
    return make_float2(kept, tanhf(kept) / (1 + expf(-out)));
}

__global__ void lstm_together_kernel(const float *gates, float *cell, float *hidden)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LSTM_SIZE * LSTM_BATCH)
        return;
    const float4 g = ((const float4 *) gates)[i];
    const float2 now = lstm_cell(g.x, g.y, g.z, g.w, cell[i]);
    cell[i] = now.x;
    hidden[i] = now.y;
}

__global__ void lstm_rows_kernel(const float *gates, float *cell, float *hidden)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LSTM_SIZE * LSTM_BATCH)
        return;
    const float *g = gates + i / LSTM_SIZE * 4 * LSTM_SIZE + i % LSTM_SIZE;
    const float2 now = lstm_cell(g[0], g[LSTM_SIZE], g[2 * LSTM_SIZE], g[3 * LSTM_SIZE], cell[i]);
    cell[i] = now.x;
    hidden[i] = now.y;
}

static void lstm(Run &run, void (*kernel)(const float *, float *, float *), int step, int stride)
{
    const int n = LSTM_SIZE * LSTM_BATCH;
    const std::vector<float> gates = floats(4 * n, 3055, -2, 2), old = floats(n, 3056);
    float *dg = run.upload(gates), *from = run.upload(old), *cell = run.zeros<float>(n);
    float *hidden = run.zeros<float>(n);
    run.measure(
        [=] { kernel<<<blocks_for(n, 256), 256>>>(dg, cell, hidden); },
        [=] { CHECK(cudaMemcpy(cell, from, n * sizeof(float), cudaMemcpyDeviceToDevice)); });
    run.expect_all(
        run.output(hidden, n),
        [&](size_t i) {
            const float *g = &gates[i / LSTM_SIZE * 4 * LSTM_SIZE + i % LSTM_SIZE * step];
            return lstm_cell(g[0], g[stride], g[2 * stride], g[3 * stride], old[i]).y;
        },
        1e-4, 7);
}

static void lstm_together(Run &run)
{
    lstm(run, lstm_together_kernel, 4, 1);
}

static void lstm_rows(Run &run)
{
    lstm(run, lstm_rows_kernel, 1, LSTM_SIZE);
}

// ---- The likeliest tokens that hold 90 % of a row's probability: the bound by bisection ----

enum { NUCLEUS_WORDS = 6000, NUCLEUS_BLOCK = 256 };

__device__ inline float nucleus_sum(float v, float *parts)
{
    for (int apart = 16; apart; apart /= 2)
        v += __shfl_xor_sync(~0u, v, apart);
    __syncthreads(); // the parts of the sum before are used up
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = v;
    __syncthreads(); // the warps' sums are complete
    v = 0;
    for (int w = 0; w < NUCLEUS_BLOCK / 32; w++)
        v += parts[w];
    return v;
}

__global__ void nucleus_kernel(const float *scores, float2 *out)
{
    __shared__ float weight[NUCLEUS_WORDS], parts[NUCLEUS_BLOCK / 32];
    const float *row = scores + blockIdx.x * NUCLEUS_WORDS;
    float total = 0, low = 0, high = 1, count = 0;
    for (int i = threadIdx.x; i < NUCLEUS_WORDS; i += NUCLEUS_BLOCK)
        total += weight[i] = expf(row[i] - 4);
    total = nucleus_sum(total, parts);
    for (int round = 0; round < 16; round++) {
        const float middle = 0.5f * (low + high);
        float above = 0;
        for (int i = threadIdx.x; i < NUCLEUS_WORDS; i += NUCLEUS_BLOCK)
            above += weight[i] >= middle ? weight[i] : 0;
        if (nucleus_sum(above, parts) >= 0.9f * total)
            low = middle;
        else
            high = middle;
    }
    for (int i = threadIdx.x; i < NUCLEUS_WORDS; i += NUCLEUS_BLOCK)
        count += weight[i] >= low;
    count = nucleus_sum(count, parts);
    if (threadIdx.x == 0)
        out[blockIdx.x] = make_float2(low, count);
}

static void nucleus(Run &run)
{
    const int rows = 120;
    const std::vector<float> scores = floats(rows * NUCLEUS_WORDS, 3057, -4, 4);
    float *from = run.upload(scores);
    float2 *to = run.zeros<float2>(rows);
    run.measure([=] { nucleus_kernel<<<rows, NUCLEUS_BLOCK>>>(from, to); });
    const std::vector<float2> got = run.output(to, rows);
    for (int r = 0; r < rows; r += 3) {
        double total = 0, above = 0;
        int count = 0;
        for (int i = 0; i < NUCLEUS_WORDS; i++) {
            const double w = exp(scores[r * NUCLEUS_WORDS + i] - 4.0);
            total += w;
            above += w >= got[r].x ? w : 0;
            count += w >= got[r].x;
        }
        run.expect(above / total, 0.9, 2e-3);
        run.expect(got[r].y, count, 2e-3);
    }
}

// ---- Gradients in half precision: scaled back to float; is one of them not finite? ----

__global__ void unscale_kernel(const __half2 *in, float2 *out, int *overflow, float scale, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float2 v = __half22float2(in[i]);
    if (!isfinite(v.x) || !isfinite(v.y))
        *overflow = 1;
    out[i] = make_float2(v.x * scale, v.y * scale);
}

static void unscale_gradients(Run &run)
{
    const int n = 3000000;
    const std::vector<float> drawn = floats(2 * n, 3058, -1000, 1000);
    std::vector<__half> in(2 * n);
    for (int i = 0; i < 2 * n; i++)
        in[i] = __float2half(i % 300001 == 5 ? INFINITY : drawn[i]);
    __half *from = run.upload(in);
    float *to = run.zeros<float>(2 * n);
    int *overflow = run.zeros<int>(1);
    run.measure(
        [=] {
            unscale_kernel<<<blocks_for(n, 256), 256>>>((__half2 *) from, (float2 *) to, overflow,
                                                        1.0f / 1024, n);
        },
        [=] { CHECK(cudaMemset(overflow, 0, sizeof(int))); });
    const std::vector<float> got = run.output(to, 2 * n);
    for (int i = 0; i < 2 * n; i += 101)
        if (i % 300001 != 5)
            run.expect(got[i], __half2float(in[i]) / 1024, 1e-6);
    run.expect(run.output(overflow, 1)[0], 1, 0);
}

#endif
