// expect: slow - correct, but a block of 512 threads for any row: 384 are idle at 128 columns
#include "cudalab.cuh"
#include "kernel.h"
#include <cfloat>

enum { BLOCK = 512, WARP = 32, WARPS = BLOCK / WARP };

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

__global__ void softmax_kernel(float *out, const float *in, int cols)
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
    softmax_kernel<<<rows, BLOCK>>>(out, in, cols);
    CUDA_CHECK(cudaGetLastError());
}
