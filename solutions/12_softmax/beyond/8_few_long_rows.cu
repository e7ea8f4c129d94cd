// rung: beyond, expect: pass - a few very long rows: several blocks per row, with scratch between
// With fewer rows than SMs, one block per row leaves SMs idle. Here each block takes 16,384
// columns. A first launch leaves maximum and sum of each piece in scratch; a second one merges
// those of its row and writes the results. The row is read twice, but by the whole GPU. All else:
// as in rung 7.
#include "cudalab.cuh"
#include "kernel.h"
#include <cfloat>

enum { WARP = 32, BLOCK = 256, LARGEST = 1024, WARPS_MOST = LARGEST / WARP, HELD = 16 };

// ---- A thread's share of a row: N floats in registers, V of them in each load ----

// V floats at an address that is a multiple of V floats.
template <int V> static __device__ void load(float *x, const float *from)
{
    if (V == 4) {
        float4 four = *(const float4 *) from;
        x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
    } else
        x[0] = *from;
}

template <int V> static __device__ void store(float *to, const float *x)
{
    if (V == 4)
        *(float4 *) to = make_float4(x[0], x[1], x[2], x[3]);
    else
        *to = x[0];
}

// The share begins with vector `first` and continues `step` vectors further on. What lies past the
// end of the row is -inf.
template <int V, int N>
static __device__ void load_share(float (&x)[N], const float *in, int first, int step, int cols)
{
#pragma unroll
    for (int k = 0; k < N; k += V) {
        int j = (first + k / V * step) * V;
        for (int i = 0; i < V; i++)
            x[k + i] = -INFINITY;
        if (j < cols)
            load<V>(x + k, in + j);
    }
}

template <int V, int N>
static __device__ void store_share(float *out, const float (&x)[N], int first, int step, int cols)
{
#pragma unroll
    for (int k = 0; k < N; k += V) {
        int j = (first + k / V * step) * V;
        if (j < cols)
            store<V>(out + j, x + k);
    }
}

template <int N> static __device__ float share_max(const float (&x)[N])
{
    float max = -FLT_MAX;

#pragma unroll
    for (int k = 0; k < N; k++)
        max = fmaxf(max, x[k]);
    return max;
}

// Replaces each x of the share by exp(x - max) * factor; returns their sum.
template <int N> static __device__ float share_exp(float (&x)[N], float max, float factor = 1)
{
    float sum = 0;

#pragma unroll
    for (int k = 0; k < N; k++)
        sum += x[k] = __expf(x[k] - max) * factor;
    return sum;
}

template <int N> static __device__ void scale_share(float (&x)[N], float factor)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        x[k] *= factor;
}

// ---- Between threads ----

// The maximum, or sum, over `lanes` neighbouring lanes, a power of two; each of them gets it. All
// 32 lanes must call these.
static __device__ float lanes_max(float x, int lanes)
{
    for (int s = lanes / 2; s > 0; s /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, s));
    return x;
}

static __device__ float lanes_sum(float x, int lanes)
{
    for (int s = lanes / 2; s > 0; s /= 2)
        x += __shfl_xor_sync(0xffffffff, x, s);
    return x;
}

// The same over a block of at most 1024 threads, whole warps.
static __device__ float block_max(float x)
{
    __shared__ float part[WARPS_MOST];
    int lane = threadIdx.x % WARP;

    x = lanes_max(x, WARP);
    if (lane == 0)
        part[threadIdx.x / WARP] = x;

    // Separates storing each warp's maximum from the loads of all of them.
    __syncthreads();

    return lanes_max(lane < blockDim.x / WARP ? part[lane] : -FLT_MAX, WARP);
}

static __device__ float block_sum(float x)
{
    __shared__ float part[WARPS_MOST];
    int lane = threadIdx.x % WARP;

    x = lanes_sum(x, WARP);
    if (lane == 0)
        part[threadIdx.x / WARP] = x;

    // Separates storing each warp's sum from the loads of all of them.
    __syncthreads();

    return lanes_sum(lane < blockDim.x / WARP ? part[lane] : 0, WARP);
}

// ---- Rows of up to 512 columns: a few lanes each; of up to 16,384: a block each ----

template <int V, int N>
__global__ void softmax_by_lanes(float *out, const float *in, int rows, int cols, int lanes)
{
    int lane = threadIdx.x & (lanes - 1);
    size_t row = (blockIdx.x * (size_t) BLOCK + threadIdx.x) / lanes, first = row * cols;
    int length = row < rows ? cols : 0; // lanes without a row take part in the shuffles
    float x[N];

    load_share<V>(x, in + first, lane, lanes, length);
    float max = lanes_max(share_max(x), lanes);
    float sum = lanes_sum(share_exp(x, max), lanes);
    scale_share(x, 1 / sum);
    store_share<V>(out + first, x, lane, lanes, length);
}

template <int V> __global__ void softmax_by_block(float *out, const float *in, int cols)
{
    size_t first = blockIdx.x * (size_t) cols;
    float x[HELD];

    load_share<V>(x, in + first, threadIdx.x, blockDim.x, cols);
    float max = block_max(share_max(x));
    float sum = block_sum(share_exp(x, max));
    scale_share(x, 1 / sum);
    store_share<V>(out + first, x, threadIdx.x, blockDim.x, cols);
}

// ---- Longer rows: registers, then shared memory; the rest is read twice ----

enum { SHARE = 8, PIECE = LARGEST * SHARE };

// The sum of exp(x - max) over some elements x, and their maximum. No elements: { -FLT_MAX, 0 }.
struct Part {
    float max, sum;
};

template <int N> static __device__ Part add_share(Part a, const float (&x)[N])
{
    float max = fmaxf(a.max, share_max(x));

    a.sum *= __expf(a.max - max);
#pragma unroll
    for (int k = 0; k < N; k++)
        a.sum += __expf(x[k] - max);
    return { max, a.sum };
}

// After the first HELD * LARGEST elements the row continues in pieces. The first `kept` of them
// wait in shared memory: a thread reads there only what it has written itself, so no barrier is
// needed.
template <int V>
__global__ void __launch_bounds__(LARGEST)
    softmax_of_long_rows(float *out, const float *in, int cols, int kept)
{
    extern __shared__ float4 shared[];
    float *middle = (float *) shared;
    const int longer = cols - HELD * LARGEST, tid = threadIdx.x;
    float x[HELD], y[SHARE];
    int j;

    in += blockIdx.x * (size_t) cols;
    out += blockIdx.x * (size_t) cols;
    load_share<V>(x, in, tid, LARGEST, cols);
    Part mine = add_share({ -FLT_MAX, 0 }, x);
    in += HELD * LARGEST;
    for (j = 0; j < longer; j += PIECE) {
        load_share<V>(y, in + j, tid, LARGEST, longer - j);
        mine = add_share(mine, y);
        if (j < kept * PIECE)
            store_share<V>(middle + j, y, tid, LARGEST, longer - j);
    }

    const float max = block_max(mine.max);
    const float factor = 1 / block_sum(mine.sum * __expf(mine.max - max));

    share_exp(x, max, factor);
    store_share<V>(out, x, tid, LARGEST, cols);
    out += HELD * LARGEST;
    for (j = 0; j < kept * PIECE; j += PIECE) {
        load_share<V>(y, middle + j, tid, LARGEST, longer - j);
        share_exp(y, max, factor);
        store_share<V>(out + j, y, tid, LARGEST, longer - j);
    }
    for (; j < longer; j += PIECE) {
        load_share<V>(y, in + j, tid, LARGEST, longer - j);
        share_exp(y, max, factor);
        store_share<V>(out + j, y, tid, LARGEST, longer - j);
    }
}

template <int V> static void launch_long(float *out, const float *in, int rows, int cols)
{
    const int pieces = ceil_div(cols - HELD * LARGEST, PIECE), piece_bytes = PIECE * sizeof(float);
    int device, bytes, kept;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));

    // The maximum and the sum of each warp need a few bytes, too.
    kept = (bytes - 1024) / piece_bytes;
    kept = pieces < kept ? pieces : kept;
    CUDA_CHECK(cudaFuncSetAttribute(
        softmax_of_long_rows<V>, cudaFuncAttributeMaxDynamicSharedMemorySize, kept * piece_bytes));
    softmax_of_long_rows<V><<<rows, LARGEST, kept * piece_bytes>>>(out, in, cols, kept);
}

// ---- Fewer long rows than SMs: several blocks per row ----

template <int V>
__global__ void __launch_bounds__(LARGEST)
    parts_of_pieces(Part *parts, const float *in, int cols, int pieces)
{
    const int piece = HELD * LARGEST, begin = blockIdx.x % pieces * piece;
    float x[HELD];

    in += blockIdx.x / pieces * (size_t) cols + begin;
    load_share<V>(x, in, threadIdx.x, LARGEST, cols - begin);
    Part mine = add_share({ -FLT_MAX, 0 }, x);
    float max = block_max(mine.max);
    float sum = block_sum(mine.sum * __expf(mine.max - max));
    if (threadIdx.x == 0)
        parts[blockIdx.x] = { max, sum };
}

template <int V>
__global__ void __launch_bounds__(LARGEST)
    results_of_pieces(float *out, const Part *parts, const float *in, int cols, int pieces)
{
    const int piece = HELD * LARGEST, begin = blockIdx.x % pieces * piece;
    const size_t first = blockIdx.x / pieces * (size_t) cols + begin;
    float x[HELD], max = -FLT_MAX, sum = 0;

    load_share<V>(x, in + first, threadIdx.x, LARGEST, cols - begin);
    parts += blockIdx.x / pieces * pieces;
    for (int i = threadIdx.x; i < pieces; i += LARGEST)
        max = fmaxf(max, parts[i].max);
    max = block_max(max);
    for (int i = threadIdx.x; i < pieces; i += LARGEST)
        sum += parts[i].sum * __expf(parts[i].max - max);
    sum = block_sum(sum);
    share_exp(x, max, 1 / sum);
    store_share<V>(out + first, x, threadIdx.x, LARGEST, cols - begin);
}

template <int V>
static void launch_pieces(float *out, const float *in, int rows, int cols, float *scratch)
{
    int pieces = ceil_div(cols, HELD * LARGEST);
    Part *parts = (Part *) scratch;

    parts_of_pieces<V><<<rows * pieces, LARGEST>>>(parts, in, cols, pieces);
    CUDA_CHECK(cudaGetLastError());
    results_of_pieces<V><<<rows * pieces, LARGEST>>>(out, parts, in, cols, pieces);
}

static int count_sms()
{
    int device, sms;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    return sms;
}

template <int V, int N> static void launch_lanes(float *out, const float *in, int rows, int cols)
{
    int lanes = 1;

    while (lanes * N < cols)
        lanes *= 2;
    softmax_by_lanes<V, N>
        <<<(int) (((long) rows * lanes + BLOCK - 1) / BLOCK), BLOCK>>>(out, in, rows, cols, lanes);
}

template <int V> static void launch(float *out, const float *in, int rows, int cols, float *scratch)
{
    if (cols <= 8 * V)
        launch_lanes<V, V>(out, in, rows, cols);
    else if (cols <= WARP * HELD)
        launch_lanes<V, HELD>(out, in, rows, cols);
    else if (cols <= LARGEST * HELD)
        softmax_by_block<V><<<rows, ceil_div(cols, WARP * HELD) * WARP>>>(out, in, cols);
    else if (rows < count_sms())
        launch_pieces<V>(out, in, rows, cols, scratch);
    else
        launch_long<V>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}

// A float4 needs an address that is a multiple of 16 bytes, in each row.
LAB_API void softmax(float *out, const float *in, int rows, int cols, float *scratch)
{
    if (cols % 4 == 0)
        launch<4>(out, in, rows, cols, scratch);
    else
        launch<1>(out, in, rows, cols, scratch);
}
