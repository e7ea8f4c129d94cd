// embed.cuh - layers of networks: similarity of embeddings, pooling, shuffled pixels, low-rank
// updates.
#ifndef BLIND_EMBED_CUH
#define BLIND_EMBED_CUH

#include "blind.cuh"

// ---- Cosines between rows of two tables: a thread or a warp per pair ----

enum { COSINE_SIZE = 128 };

__global__ void cosine_thread_kernel(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float dot = 0, aa = 0, bb = 0;
    if (i >= n)
        return;
    for (int k = 0; k < COSINE_SIZE; k++) {
        float x = a[i * COSINE_SIZE + k], y = b[i * COSINE_SIZE + k];
        dot += x * y;
        aa += x * x;
        bb += y * y;
    }
    out[i] = dot / fmaxf(sqrtf(aa) * sqrtf(bb), 1e-8f);
}

__global__ void cosine_warp_kernel(const float4 *a, const float4 *b, float *out, int n)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n)
        return;
    const float4 x = a[i * 32 + lane], y = b[i * 32 + lane];
    float dot = x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    float aa = x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
    float bb = y.x * y.x + y.y * y.y + y.z * y.z + y.w * y.w;
    for (int apart = 16; apart; apart /= 2) {
        dot += __shfl_xor_sync(~0u, dot, apart);
        aa += __shfl_xor_sync(~0u, aa, apart);
        bb += __shfl_xor_sync(~0u, bb, apart);
    }
    if (lane == 0)
        out[i] = dot * rsqrtf(fmaxf(aa * bb, 1e-16f));
}

template <class Launch> static void cosine(Run &run, Launch launch)
{
    const int n = 40000;
    const std::vector<float> a = floats(n * COSINE_SIZE, 2011), b = floats(n * COSINE_SIZE, 2012);
    float *da = run.upload(a), *db = run.upload(b), *to = run.zeros<float>(n);
    run.measure([=] { launch(da, db, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double dot = 0, aa = 0, bb = 0;
            for (size_t k = i * COSINE_SIZE; k < (i + 1) * COSINE_SIZE; k++) {
                dot += (double) a[k] * b[k];
                aa += (double) a[k] * a[k];
                bb += (double) b[k] * b[k];
            }
            return dot / sqrt(aa * bb);
        },
        1e-5, 19);
}

static void cosine_thread(Run &run)
{
    cosine(run, [](float *a, float *b, float *to, int n) {
        cosine_thread_kernel<<<blocks_for(n, 128), 128>>>(a, b, to, n);
    });
}

static void cosine_warp(Run &run)
{
    cosine(run, [](float *a, float *b, float *to, int n) {
        cosine_warp_kernel<<<blocks_for(n * 32, 256), 256>>>((float4 *) a, (float4 *) b, to, n);
    });
}

// ---- The maximum of 3x3 windows, stride 2: channels as planes, or the channels of a pixel
// together ----

enum { WINDOW_IMAGES = 6, WINDOW_CHANNELS = 64, WINDOW_IN = 112, WINDOW_OUT = 55 };

__global__ void pool_planes_kernel(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= WINDOW_IMAGES * WINDOW_CHANNELS * WINDOW_OUT * WINDOW_OUT)
        return;
    const int x = i % WINDOW_OUT, y = i / WINDOW_OUT % WINDOW_OUT,
              plane = i / WINDOW_OUT / WINDOW_OUT;
    const float *from = in + (plane * WINDOW_IN + 2 * y) * WINDOW_IN + 2 * x;
    float most = from[0];
    for (int b = 0; b < 3; b++)
        for (int a = 0; a < 3; a++)
            most = fmaxf(most, from[b * WINDOW_IN + a]);
    out[i] = most;
}

__global__ void pool_channels_kernel(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= WINDOW_IMAGES * WINDOW_CHANNELS * WINDOW_OUT * WINDOW_OUT)
        return;
    const int c = i % WINDOW_CHANNELS, x = i / WINDOW_CHANNELS % WINDOW_OUT;
    const int y = i / WINDOW_CHANNELS / WINDOW_OUT % WINDOW_OUT;
    const int image = i / WINDOW_CHANNELS / WINDOW_OUT / WINDOW_OUT;
    const float *from =
        in + ((image * WINDOW_IN + 2 * y) * WINDOW_IN + 2 * x) * WINDOW_CHANNELS + c;
    float most = from[0];
    for (int b = 0; b < 3; b++)
        for (int a = 0; a < 3; a++)
            most = fmaxf(most, from[(b * WINDOW_IN + a) * WINDOW_CHANNELS]);
    out[i] = most;
}

static void pool(Run &run, void (*kernel)(const float *, float *), bool planes)
{
    const int n = WINDOW_IMAGES * WINDOW_CHANNELS * WINDOW_OUT * WINDOW_OUT, c = WINDOW_CHANNELS;
    const std::vector<float> in = floats(WINDOW_IMAGES * c * WINDOW_IN * WINDOW_IN, 2013);
    float *di = run.upload(in), *to = run.zeros<float>(n);
    run.measure([=] { kernel<<<blocks_for(n, 256), 256>>>(di, to); });
    run.expect_all(
        run.output(to, n),
        [&](int i) {
            const int across = planes ? 1 : c;
            const int x = i / across % WINDOW_OUT, y = i / across / WINDOW_OUT % WINDOW_OUT;
            const int plane = i / across / WINDOW_OUT / WINDOW_OUT;
            float most = -1e30f;
            for (int k = 0; k < 9; k++) {
                const int at = (plane * WINDOW_IN + 2 * y + k / 3) * WINDOW_IN + 2 * x + k % 3;
                most = std::max(most, in[at * across + i % across]);
            }
            return most;
        },
        0, 43);
}

static void pool_planes(Run &run)
{
    pool(run, pool_planes_kernel, true);
}

static void pool_channels(Run &run)
{
    pool(run, pool_channels_kernel, false);
}

// ---- Pixel shuffle by 4: 16 planes become one of 4 times the width and height: by output or input
// ----

enum { PIXEL_R = 4, PIXEL_C = 22, PIXEL_W = 128, PIXEL_H = 120, PIXEL_WIDE = PIXEL_W * PIXEL_R };

enum { PIXEL_COUNT = PIXEL_C * PIXEL_R * PIXEL_R * PIXEL_W * PIXEL_H };

__host__ __device__ inline int pixel_source(int to)
{
    const int x = to % PIXEL_WIDE, y = to / PIXEL_WIDE % (PIXEL_H * PIXEL_R);
    const int c = to / PIXEL_WIDE / (PIXEL_H * PIXEL_R);
    const int plane = (c * PIXEL_R + y % PIXEL_R) * PIXEL_R + x % PIXEL_R;
    return (plane * PIXEL_H + y / PIXEL_R) * PIXEL_W + x / PIXEL_R;
}

__global__ void shuffle_to_kernel(const float *in, float *out)
{
    int to = blockIdx.x * blockDim.x + threadIdx.x;
    if (to < PIXEL_COUNT)
        out[to] = in[pixel_source(to)];
}

__global__ void shuffle_from_kernel(const float *in, float *out)
{
    const int from = blockIdx.x * blockDim.x + threadIdx.x;
    if (from >= PIXEL_COUNT)
        return;
    const int x = from % PIXEL_W, y = from / PIXEL_W % PIXEL_H, plane = from / PIXEL_W / PIXEL_H;
    const int c = plane / (PIXEL_R * PIXEL_R), dy = plane / PIXEL_R % PIXEL_R, dx = plane % PIXEL_R;
    out[((c * PIXEL_H + y) * PIXEL_R + dy) * PIXEL_WIDE + x * PIXEL_R + dx] = in[from];
}

static void pixel_shuffle(Run &run, void (*kernel)(const float *, float *))
{
    const std::vector<float> in = floats(PIXEL_COUNT, 2014);
    float *di = run.upload(in), *to = run.zeros<float>(PIXEL_COUNT);
    run.measure([=] { kernel<<<blocks_for(PIXEL_COUNT, 512), 512>>>(di, to); });
    run.expect_all(
        run.output(to, PIXEL_COUNT), [&](int i) { return in[pixel_source(i)]; }, 0, 101);
}

static void shuffle_to(Run &run)
{
    pixel_shuffle(run, shuffle_to_kernel);
}

static void shuffle_from(Run &run)
{
    pixel_shuffle(run, shuffle_from_kernel);
}

// ---- y += B (A x) of rank 8: two kernels or a block per row ----

enum { LORA_SIZE = 256, LORA_RANK = 8 };

__global__ void lora_down_kernel(const float *x, const float *a, float *mid, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / LORA_RANK, r = i % LORA_RANK;
    float sum = 0;
    if (row >= rows)
        return;
    for (int k = 0; k < LORA_SIZE; k++)
        sum += x[row * LORA_SIZE + k] * a[r * LORA_SIZE + k];
    mid[i] = sum;
}

__global__ void lora_up_kernel(const float *mid, const float *b, float *y, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / LORA_SIZE, column = i % LORA_SIZE;
    float sum = 0;
    if (row >= rows)
        return;
    for (int r = 0; r < LORA_RANK; r++)
        sum += mid[row * LORA_RANK + r] * b[column * LORA_RANK + r];
    y[i] += sum;
}

__global__ void __launch_bounds__(LORA_SIZE)
    lora_fused_kernel(const float *x, const float *a, const float *b, float *y)
{
    __shared__ float part[LORA_SIZE / 32][LORA_RANK], mid[LORA_RANK];
    const int t = threadIdx.x, i = blockIdx.x * LORA_SIZE + t;
    const float v = x[i];
    for (int r = 0; r < LORA_RANK; r++) {
        float sum = v * a[r * LORA_SIZE + t];
        for (int apart = 16; apart; apart /= 2)
            sum += __shfl_down_sync(~0u, sum, apart);
        if (t % 32 == 0)
            part[t / 32][r] = sum;
    }
    __syncthreads(); // the warps' parts are complete
    if (t < LORA_RANK) {
        float sum = 0;
        for (int w = 0; w < LORA_SIZE / 32; w++)
            sum += part[w][t];
        mid[t] = sum;
    }
    __syncthreads(); // the row's eight values are complete
    float sum = 0;
    for (int r = 0; r < LORA_RANK; r++)
        sum += mid[r] * b[t * LORA_RANK + r];
    y[i] += sum;
}

template <class Launch> static void lora(Run &run, Launch launch)
{
    const int rows = 3000, n = rows * LORA_SIZE;
    const std::vector<float> x = floats(n, 2015), y = floats(n, 2016);
    const std::vector<float> a = floats(LORA_SIZE * LORA_RANK, 2017, -0.1f, 0.1f);
    const std::vector<float> b = floats(LORA_SIZE * LORA_RANK, 2018);
    float *dx = run.upload(x), *da = run.upload(a), *db = run.upload(b), *dy = run.upload(y);
    float *first = run.upload(y), *mid = run.zeros<float>(rows * LORA_RANK);
    run.measure([=] { launch(dx, da, db, mid, dy, rows); },
                [=] { CHECK(cudaMemcpy(dy, first, n * sizeof(float), cudaMemcpyDeviceToDevice)); });
    run.expect_all(
        run.output(dy, n),
        [&](size_t i) {
            const size_t row = i / LORA_SIZE, column = i % LORA_SIZE;
            double sum = y[i];
            for (int r = 0; r < LORA_RANK; r++) {
                double dot = 0;
                for (int k = 0; k < LORA_SIZE; k++)
                    dot += (double) x[row * LORA_SIZE + k] * a[r * LORA_SIZE + k];
                sum += dot * b[column * LORA_RANK + r];
            }
            return sum;
        },
        1e-4, 499);
}

static void lora_apart(Run &run)
{
    lora(run, [](float *x, float *a, float *b, float *mid, float *y, int rows) {
        lora_down_kernel<<<blocks_for(rows * LORA_RANK, 256), 256>>>(x, a, mid, rows);
        lora_up_kernel<<<blocks_for(rows * LORA_SIZE, 256), 256>>>(mid, b, y, rows);
    });
}

static void lora_fused(Run &run)
{
    lora(run, [](float *x, float *a, float *b, float *, float *y, int rows) {
        lora_fused_kernel<<<rows, LORA_SIZE>>>(x, a, b, y);
    });
}

#endif
