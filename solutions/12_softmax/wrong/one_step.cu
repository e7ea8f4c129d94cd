// expect: wrong - one step of the block only: right up to 16 floats per thread
#include "cudalab.cuh"
#include "kernel.h"
#include <cfloat>

enum { WARP = 32, BLOCK = 256, LARGEST = 1024, WARPS_MOST = LARGEST / WARP, HELD = 16 };

// ---- A thread's share of a row: HELD floats in registers ----

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
template <int V>
static __device__ void load_share(float *x, const float *in, int first, int step, int cols)
{
#pragma unroll
    for (int k = 0; k < HELD; k += V) {
        int j = (first + k / V * step) * V;
        for (int i = 0; i < V; i++)
            x[k + i] = -INFINITY;
        if (j < cols)
            load<V>(x + k, in + j);
    }
}

template <int V>
static __device__ void store_share(float *out, const float *x, int first, int step, int cols)
{
#pragma unroll
    for (int k = 0; k < HELD; k += V) {
        int j = (first + k / V * step) * V;
        if (j < cols)
            store<V>(out + j, x + k);
    }
}

static __device__ float share_max(const float *x)
{
    float max = -FLT_MAX;

#pragma unroll
    for (int k = 0; k < HELD; k++)
        max = fmaxf(max, x[k]);
    return max;
}

// Replaces the share by its exponentials; returns their sum.
static __device__ float share_exp(float *x, float max)
{
    float sum = 0;

#pragma unroll
    for (int k = 0; k < HELD; k++)
        sum += x[k] = expf(x[k] - max);
    return sum;
}

static __device__ void scale_share(float *x, float factor)
{
#pragma unroll
    for (int k = 0; k < HELD; k++)
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

template <int V>
__global__ void softmax_by_lanes(float *out, const float *in, int rows, int cols, int lanes)
{
    int lane = threadIdx.x & (lanes - 1);
    size_t row = (blockIdx.x * (size_t) BLOCK + threadIdx.x) / lanes, first = row * cols;
    int length = row < rows ? cols : 0; // lanes without a row take part in the shuffles
    float x[HELD];

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

// ---- Longer rows are read twice ----

// The sum of exp(x - max) over some elements x, and their maximum. No elements: { -FLT_MAX, 0 }.
struct Part {
    float max, sum;
};

template <int V> static __device__ Part add(Part a, const float *x)
{
    float max = a.max;

    for (int i = 0; i < V; i++)
        max = fmaxf(max, x[i]);
    a.sum *= expf(a.max - max);
    for (int i = 0; i < V; i++)
        a.sum += expf(x[i] - max);
    return { max, a.sum };
}

template <int V> __global__ void softmax_read_twice(float *out, const float *in, int cols)
{
    Part mine = { -FLT_MAX, 0 };
    float x[V];

    in += blockIdx.x * (size_t) cols;
    out += blockIdx.x * (size_t) cols;
    for (int j = threadIdx.x * V; j < cols; j += LARGEST * V) {
        load<V>(x, in + j);
        mine = add<V>(mine, x);
    }

    float max = block_max(mine.max);
    float factor = 1 / block_sum(mine.sum * expf(mine.max - max));
    for (int j = threadIdx.x * V; j < cols; j += LARGEST * V) {
        load<V>(x, in + j);
        for (int i = 0; i < V; i++)
            x[i] = expf(x[i] - max) * factor;
        store<V>(out + j, x);
    }
}

template <int V> static void launch(float *out, const float *in, int rows, int cols)
{
    int threads = ceil_div(cols, HELD), lanes = 1;

    while (lanes < threads)
        lanes *= 2;
    if (lanes <= WARP)
        softmax_by_lanes<V><<<(int) (((long) rows * lanes + BLOCK - 1) / BLOCK), BLOCK>>>(
            out, in, rows, cols, lanes);
    else
        softmax_by_block<V><<<rows, min(LARGEST, ceil_div(threads, WARP) * WARP)>>>(out, in, cols);
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
