// batches.cuh - batches of small problems in one stream or in several.
#ifndef BATCHES_CUH
#define BATCHES_CUH

#include "kernels.cuh"

// ---- Products of small matrices ----

enum { TILE = 32 };

__device__ void load_tile(float (*tile)[TILE + 1], const float *from, int pitch)
{
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x)
        tile[i / TILE][i % TILE] = from[i / TILE * pitch + i % TILE];
}

// A block of 256 threads computes one tile, a thread four elements of it.
__global__ void gemm(const float *a, const float *b, float *c, int columns, int depth)
{
    __shared__ float left[TILE][TILE + 1], right[TILE][TILE + 1];
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float sums[2][2] = {};

    a += blockIdx.y * TILE * depth;
    b += blockIdx.x * TILE;
    for (int at = 0; at < depth; at += TILE) {
        load_tile(left, a + at, depth);
        load_tile(right, b + at * columns, columns);
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            for (int i = 0; i < 4; i++)
                sums[i / 2][i % 2] += left[y + i / 2 * 16][k] * right[k][x + i % 2 * 16];
        __syncthreads();
    }
    c += blockIdx.y * TILE * columns + blockIdx.x * TILE;
    for (int i = 0; i < 4; i++)
        c[(y + i / 2 * 16) * columns + x + i % 2 * 16] = sums[i / 2][i % 2];
}

static void gemms(Flow &flow, int streams)
{
    enum { BATCH = 8, SIDE = 64, DEPTH = 1024, IN = SIDE * DEPTH, OUT = SIDE * SIDE };
    const auto a = floats(BATCH * IN, 1), b = floats(BATCH * IN, 2);
    const float *da = flow.upload(a), *db = flow.upload(b);
    float *c = flow.zeros<float>(BATCH * OUT);

    flow.time(streams, [&] {
        for (int i = 0; i < BATCH; i++)
            gemm<<<dim3(SIDE / TILE, SIDE / TILE), 256, 0, flow.stream[i % streams]>>>(
                da + i * IN, db + i * IN, c + i * OUT, SIDE, DEPTH);
    });
    const auto element = [&](size_t i) {
        const float *row = &a[i / SIDE * DEPTH], *column = &b[i / OUT * IN + i % SIDE];
        double wanted = 0;
        for (int k = 0; k < DEPTH; k++)
            wanted += (double) row[k] * column[k * SIDE];
        return wanted;
    };
    flow.expect_some(flow.download(c, BATCH * OUT), BATCH * OUT, 97, element, 1e-4);
}

static void gemms_one_stream(Flow &flow)
{
    gemms(flow, 1);
}

static void gemms_four_streams(Flow &flow)
{
    gemms(flow, 4);
}

// ---- Sorts: a block sorts one list in shared memory ----

enum { LIST = 4096 };

__device__ void exchange(int *v, int i, int gap, bool up)
{
    const int a = v[i], b = v[i + gap];

    if ((a > b) == up) {
        v[i] = b;
        v[i + gap] = a;
    }
}

__global__ void sort_list(int *lists)
{
    __shared__ int v[LIST];
    int *list = lists + blockIdx.x * LIST;

    for (int i = threadIdx.x; i < LIST; i += blockDim.x)
        v[i] = list[i];
    for (int size = 2; size <= LIST; size *= 2)
        for (int gap = size / 2; gap; gap /= 2) {
            __syncthreads();
            for (int p = threadIdx.x; p < LIST / 2; p += blockDim.x) {
                const int i = 2 * p - (p & (gap - 1));
                exchange(v, i, gap, !(i & size));
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < LIST; i += blockDim.x)
        list[i] = v[i];
}

static void sorts(Flow &flow, int streams)
{
    enum { BATCH = 24 };
    auto lists = integers(BATCH * LIST, 1000000, 3);
    int *device = flow.upload(lists);

    flow.time(streams, [&] {
        for (int i = 0; i < BATCH; i++)
            sort_list<<<1, 512, 0, flow.stream[i % streams]>>>(device + i * LIST);
    });
    for (int i = 0; i < BATCH; i++)
        std::sort(lists.begin() + i * LIST, lists.begin() + (i + 1) * LIST);
    flow.expect_some(flow.download(device, BATCH * LIST), BATCH * LIST, 1,
                     [&](size_t i) { return lists[i]; });
}

static void sorts_one_stream(Flow &flow)
{
    sorts(flow, 1);
}

static void sorts_eight_streams(Flow &flow)
{
    sorts(flow, 8);
}

// ---- Fourier transforms: a block transforms one signal in shared memory ----

enum { POINTS = 1024 };

__device__ void butterfly(float2 *v, int p, int half, const float2 *roots, float sign)
{
    const int k = p & (half - 1), i = 2 * p - k;
    const float2 w = roots[k * (POINTS / 2 / half)], a = v[i], b = v[i + half];
    const float x = b.x * w.x - sign * b.y * w.y, y = b.y * w.x + sign * b.x * w.y;

    v[i] = make_float2(a.x + x, a.y + y);
    v[i + half] = make_float2(a.x - x, a.y - y);
}

__global__ void fft(float2 *signals, const float2 *roots, float sign, float scale)
{
    __shared__ float2 v[POINTS];
    float2 *signal = signals + blockIdx.x * POINTS;

    for (int i = threadIdx.x; i < POINTS; i += blockDim.x)
        v[__brev(i) >> 22] = signal[i];
    for (int half = 1; half < POINTS; half *= 2) {
        __syncthreads();
        for (int p = threadIdx.x; p < POINTS / 2; p += blockDim.x)
            butterfly(v, p, half, roots, sign);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < POINTS; i += blockDim.x)
        signal[i] = make_float2(v[i].x * scale, v[i].y * scale);
}

static std::vector<float2> pairs_of(const std::vector<float> &values)
{
    std::vector<float2> pairs(values.size() / 2);

    for (size_t i = 0; i < pairs.size(); i++)
        pairs[i] = make_float2(values[2 * i], values[2 * i + 1]);
    return pairs;
}

static std::vector<float2> unit_roots()
{
    std::vector<float2> roots(POINTS / 2);

    for (int i = 0; i < POINTS / 2; i++)
        roots[i] = make_float2(cos(2 * M_PI * i / POINTS), sin(2 * M_PI * i / POINTS));
    return roots;
}

// The real part of one frequency.
static double frequency(const float2 *signal, int f)
{
    double wanted = 0;

    for (int i = 0; i < POINTS; i++) {
        const double turn = -2 * M_PI * ((long long) i * f % POINTS) / POINTS;
        wanted += signal[i].x * cos(turn) - signal[i].y * sin(turn);
    }
    return wanted;
}

static void expect_frequencies(Flow &flow, const float2 *device, const std::vector<float2> &signals)
{
    const auto got = flow.download(device, signals.size());

    for (int f = 3; f < POINTS; f += 211)
        flow.expect(got[POINTS + f].x, frequency(&signals[POINTS], f), 1e-3);
}

// Three groups of signals, each forward and back and forward again.
static void ffts_three_streams(Flow &flow)
{
    enum { GROUPS = 3, ROUNDS = 6 };
    const int sizes[GROUPS] = { 24, 12, 4 };
    const float2 *roots = flow.upload(unit_roots());
    std::vector<float2> signals[GROUPS];
    float2 *device[GROUPS];

    for (int g = 0; g < GROUPS; g++) {
        signals[g] = pairs_of(floats(2 * sizes[g] * POINTS, 10 + g));
        device[g] = flow.upload(signals[g]);
    }
    flow.time(GROUPS, [&] {
        for (int r = 0; r <= 2 * ROUNDS; r++)
            for (int g = 0; g < GROUPS; g++)
                fft<<<sizes[g], 256, 0, flow.stream[g]>>>(device[g], roots, r % 2 ? 1 : -1,
                                                          r % 2 ? 1.f / POINTS : 1);
    });
    for (int g = 0; g < GROUPS; g++)
        expect_frequencies(flow, device[g], signals[g]);
}

// ---- Chains of small kernels that depend on each other ----

enum { CHAIN = 32768, CHAIN_ROUNDS = 6 };

__host__ __device__ inline float smoothed(const float *in, int i)
{
    const float left = in[i ? i - 1 : 0], right = in[i + 1 < CHAIN ? i + 1 : CHAIN - 1];

    return 0.25f * left + 0.5f * in[i] + 0.25f * right;
}

__global__ void smooth(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = smoothed(in, i);
}

// Positive floats are ordered like their bits.
__global__ void largest(const float *in, int *most)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int warp_most = __reduce_max_sync(~0u, __float_as_int(in[i]));

    if (threadIdx.x % 32 == 0)
        atomicMax(most, warp_most);
}

__global__ void divide(const float *in, float *out, const int *most)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = in[i] / __int_as_float(*most);
}

static void issue_chain(float *a, float *b, int *most, cudaStream_t stream)
{
    const int blocks = CHAIN / 256;

    for (int r = 0; r < CHAIN_ROUNDS; r++) {
        smooth<<<blocks, 256, 0, stream>>>(a, b);
        largest<<<blocks, 256, 0, stream>>>(b, most + r);
        divide<<<blocks, 256, 0, stream>>>(b, a, most + r);
    }
}

static std::vector<float> chain_on_host(std::vector<float> values)
{
    std::vector<float> smoother(CHAIN);

    for (int r = 0; r < CHAIN_ROUNDS; r++) {
        for (int i = 0; i < CHAIN; i++)
            smoother[i] = smoothed(values.data(), i);
        const float most = *std::max_element(smoother.begin(), smoother.end());
        for (int i = 0; i < CHAIN; i++)
            values[i] = smoother[i] / most;
    }
    return values;
}

static void chains(Flow &flow, int streams)
{
    enum { CHAINS = 8 };
    float *a[CHAINS], *b[CHAINS];
    int *most = flow.zeros<int>(CHAINS * CHAIN_ROUNDS);

    for (int c = 0; c < CHAINS; c++) {
        a[c] = flow.upload(floats(CHAIN, 20 + c, 0, 4));
        b[c] = flow.zeros<float>(CHAIN);
    }
    flow.time(
        streams,
        [&] {
            for (int c = 0; c < CHAINS; c++)
                issue_chain(a[c], b[c], most + c * CHAIN_ROUNDS, flow.stream[c % streams]);
        },
        1000);
    for (int c = 0; c < CHAINS; c++) {
        const auto wanted = chain_on_host(floats(CHAIN, 20 + c, 0, 4));
        flow.expect_some(
            flow.download(a[c], CHAIN), CHAIN, 61, [&](size_t i) { return wanted[i]; }, 1e-5);
    }
}

static void chains_one_stream(Flow &flow)
{
    chains(flow, 1);
}

static void chains_two_streams(Flow &flow)
{
    chains(flow, 2);
}

static void chains_eight_streams(Flow &flow)
{
    chains(flow, 8);
}

#endif
