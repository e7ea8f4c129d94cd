// rung: 5, expect: device - a warp per row of up to 1024 columns, which keeps it in registers
// Such a row is read once, and no barrier is needed. With the row at hand, the maximum comes first,
// and the sum needs no rescaling. Longer rows: as in rung 4.
#include "cudalab.cuh"
#include "kernel.h"
#include <cfloat>

enum { BLOCK = 256, WARP = 32, WARPS = BLOCK / WARP };

// The sum of exp(x - max) over some elements x, and their maximum. No elements: { -FLT_MAX, 0 }.
struct Part {
    float max, sum;
};

static __device__ Part add(Part a, float x)
{
    float max = fmaxf(a.max, x);

    return { max, a.sum * expf(a.max - max) + expf(x - max) };
}

static __device__ Part merge(Part a, Part b)
{
    float max = fmaxf(a.max, b.max);

    return { max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max) };
}

// Merges the parts of `lanes` neighbouring lanes, a power of two; each gets the result. All 32
// lanes must call it.
static __device__ Part merge_lanes(Part a, int lanes)
{
    for (int s = lanes / 2; s > 0; s /= 2) {
        Part other = { __shfl_xor_sync(0xffffffff, a.max, s),
                       __shfl_xor_sync(0xffffffff, a.sum, s) };
        a = merge(a, other);
    }
    return a;
}

// The whole block's part, in all its threads.
static __device__ Part block_part(Part mine)
{
    __shared__ Part part[WARPS];

    mine = merge_lanes(mine, WARP);
    if (threadIdx.x % WARP == 0)
        part[threadIdx.x / WARP] = mine;

    // Separates storing each warp's part from the loads of all parts.
    __syncthreads();

    return merge_lanes(part[threadIdx.x % WARPS], WARPS);
}

static __device__ float warp_max(float x)
{
    for (int s = WARP / 2; s > 0; s /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, s));
    return x;
}

static __device__ float warp_sum(float x)
{
    for (int s = WARP / 2; s > 0; s /= 2)
        x += __shfl_xor_sync(0xffffffff, x, s);
    return x;
}

// Each warp takes one row of at most 32 * EACH columns, each lane every 32nd element.
template <int EACH>
__global__ void softmax_of_short_rows(float *out, const float *in, int rows, int cols)
{
    int row = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    float x[EACH], max = -FLT_MAX, sum = 0;

    if (row >= rows) // a whole warp
        return;
    in += row * (size_t) cols;
    out += row * (size_t) cols;

    for (int k = 0; k < EACH; k++)
        x[k] = lane + k * WARP < cols ? in[lane + k * WARP] : -INFINITY;
    for (int k = 0; k < EACH; k++)
        max = fmaxf(max, x[k]);
    max = warp_max(max);
    for (int k = 0; k < EACH; k++)
        sum += x[k] = expf(x[k] - max);
    sum = warp_sum(sum);
    for (int k = 0; k < EACH; k++)
        if (lane + k * WARP < cols)
            out[lane + k * WARP] = x[k] / sum;
}

__global__ void softmax_of_long_rows(float *out, const float *in, int cols)
{
    Part mine = { -FLT_MAX, 0 };

    in += blockIdx.x * (size_t) cols;
    out += blockIdx.x * (size_t) cols;
    for (int j = threadIdx.x; j < cols; j += BLOCK)
        mine = add(mine, in[j]);

    Part row = block_part(mine);
    for (int j = threadIdx.x; j < cols; j += BLOCK)
        out[j] = expf(in[j] - row.max) / row.sum;
}

LAB_API void softmax(float *out, const float *in, int rows, int cols, float *scratch)
{
    int blocks = ceil_div(rows, WARPS);

    if (cols <= 4 * WARP)
        softmax_of_short_rows<4><<<blocks, BLOCK>>>(out, in, rows, cols);
    else if (cols <= 32 * WARP)
        softmax_of_short_rows<32><<<blocks, BLOCK>>>(out, in, rows, cols);
    else
        softmax_of_long_rows<<<rows, BLOCK>>>(out, in, cols);
    CUDA_CHECK(cudaGetLastError());
}
