// rung: 7, expect: pass - long rows: registers, then shared memory; only the rest is read twice
// On an H200 two blocks of an SM hold a row of 32,768 columns each: 8192 floats in registers, three
// pieces of 8192 in shared memory. A longer row has the SM to itself: 16,384 floats in registers,
// six pieces in shared memory, so that a row of 65,536 columns is read once.
#include "cudalab.cuh"
#include "kernel.h"
#include <cfloat>
#include <cuda_pipeline.h>

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

// Starts to copy a share to shared memory, at the same places.
template <int V>
static __device__ void copy_share(float *to, const float *from, int first, int step, int cols)
{
#pragma unroll
    for (int k = 0; k < SHARE; k += V) {
        int j = (first + k / V * step) * V;
        if (j < cols)
            __pipeline_memcpy_async(to + j, from + j, V * sizeof(float));
    }
}

// Starts to copy the first `kept` pieces, each as a group. The others' groups are empty.
template <int V, int PIECES>
static __device__ void copy_pieces(float *to, const float *from, int kept, int cols)
{
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
        if (k < kept)
            copy_share<V>(to + k * PIECE, from + k * PIECE, threadIdx.x, LARGEST, cols - k * PIECE);
        __pipeline_commit();
    }
}

// Adds each of these pieces as soon as it has arrived.
template <int V, int PIECES>
static __device__ Part add_pieces(Part a, const float *from, int kept, int cols)
{
    float y[SHARE];

#pragma unroll
    for (int k = 0; k < PIECES; k++) {
        __pipeline_wait_prior(PIECES - 1 - k);
        if (k < kept) {
            load_share<V>(y, from + k * PIECE, threadIdx.x, LARGEST, cols - k * PIECE);
            a = add_share(a, y);
        }
    }
    return a;
}

// Shared memory has room for so many pieces at most: 227 KiB are seven, and half of that three.
template <int BLOCKS> constexpr int pieces_most = 7 / BLOCKS;

// The beginning of a row waits in FIRST registers per thread, the next `kept` pieces in shared
// memory: a thread reads there only what it has copied itself, so no barrier is needed. All are in
// flight before the first exponential. Where BLOCKS = 2 fit on an SM, one loads while the other
// stores.
template <int V, int FIRST, int BLOCKS>
__global__ void __launch_bounds__(LARGEST, BLOCKS)
    softmax_of_long_rows(float *out, const float *in, int cols, int kept)
{
    extern __shared__ float4 shared[];
    float *middle = (float *) shared;
    const int longer = cols - FIRST * LARGEST, tid = threadIdx.x;
    float x[FIRST], y[SHARE];
    int j;

    in += blockIdx.x * (size_t) cols;
    out += blockIdx.x * (size_t) cols;
    load_share<V>(x, in, tid, LARGEST, cols);
    in += FIRST * LARGEST;
    copy_pieces<V, pieces_most<BLOCKS>>(middle, in, kept, longer);
    Part mine = add_share({ -FLT_MAX, 0 }, x);
    mine = add_pieces<V, pieces_most<BLOCKS>>(mine, middle, kept, longer);
    for (j = kept * PIECE; j < longer; j += PIECE) {
        load_share<V>(y, in + j, tid, LARGEST, longer - j);
        mine = add_share(mine, y);
    }

    const float max = block_max(mine.max);
    const float factor = 1 / block_sum(mine.sum * __expf(mine.max - max));

    share_exp(x, max, factor);
    store_share<V>(out, x, tid, LARGEST, cols);
    out += FIRST * LARGEST;
    for (j = 0; j < longer; j += PIECE) {
        load_share<V>(y, (j < kept * PIECE ? middle : in) + j, tid, LARGEST, longer - j);
        share_exp(y, max, factor);
        store_share<V>(out + j, y, tid, LARGEST, longer - j);
    }
}

// How many pieces each of the SM's blocks can keep in shared memory. The system, and the maximum
// and the sum of each warp, need up to 2 KB.
template <int BLOCKS> static int pieces_kept()
{
    int device, sm_bytes, block_bytes;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&sm_bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&block_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    sm_bytes /= BLOCKS;
    const int bytes = (sm_bytes < block_bytes ? sm_bytes : block_bytes) - 2048;
    const int pieces = bytes / (PIECE * (int) sizeof(float));
    return pieces < pieces_most<BLOCKS> ? pieces : pieces_most<BLOCKS>;
}

static bool has_room_for_two()
{
    int device, threads;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    return threads >= 2 * LARGEST;
}

template <int V, int FIRST, int BLOCKS>
static void launch_long(float *out, const float *in, int rows, int cols)
{
    const int pieces = ceil_div(cols - FIRST * LARGEST, PIECE), most = pieces_kept<BLOCKS>();
    const int kept = pieces < most ? pieces : most, bytes = kept * PIECE * (int) sizeof(float);

    CUDA_CHECK(cudaFuncSetAttribute(softmax_of_long_rows<V, FIRST, BLOCKS>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    softmax_of_long_rows<V, FIRST, BLOCKS><<<rows, LARGEST, bytes>>>(out, in, cols, kept);
}

template <int V, int N> static void launch_lanes(float *out, const float *in, int rows, int cols)
{
    int lanes = 1;

    while (lanes * N < cols)
        lanes *= 2;
    softmax_by_lanes<V, N>
        <<<(int) (((long) rows * lanes + BLOCK - 1) / BLOCK), BLOCK>>>(out, in, rows, cols, lanes);
}

template <int V> static void launch(float *out, const float *in, int rows, int cols)
{
    if (cols <= 8 * V)
        launch_lanes<V, V>(out, in, rows, cols);
    else if (cols <= WARP * HELD)
        launch_lanes<V, HELD>(out, in, rows, cols);
    else if (cols <= LARGEST * HELD)
        softmax_by_block<V><<<rows, ceil_div(cols, WARP * HELD) * WARP>>>(out, in, cols);
    else if (has_room_for_two() && cols <= SHARE * LARGEST + pieces_kept<2>() * PIECE)
        launch_long<V, SHARE, 2>(out, in, rows, cols);
    else
        launch_long<V, HELD, 1>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}

// A float4 needs an address that is a multiple of 16 bytes, in each row.
LAB_API void softmax(float *out, const float *in, int rows, int cols, float *scratch)
{
    if (cols % 4 == 0)
        launch<4>(out, in, rows, cols);
    else
        launch<1>(out, in, rows, cols);
}
