// expect: slow (sim: device) - correct, but one block does everything: only one SM works
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024, WARP = 32, WARPS = BLOCK / WARP };

// The sum of the values of a warp's lanes, in lane 0. All 32 lanes must call it.
static __device__ float warp_sum(float value)
{
    for (int s = WARP / 2; s > 0; s /= 2)
        value += __shfl_down_sync(0xffffffff, value, s);
    return value;
}

// The sum of the values of a block's threads, in thread 0. All threads must call it.
static __device__ float block_sum(float value)
{
    __shared__ float part[WARPS];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;

    value = warp_sum(value);
    if (lane == 0)
        part[warp] = value;

    // Separates storing each warp's sum from the first warp's loads of all sums.
    __syncthreads();

    if (warp == 0)
        value = warp_sum(lane < WARPS ? part[lane] : 0);
    return value;
}

// out[b] becomes the sum of the elements of block b, which advances in steps of the whole grid.
__global__ void sum_kernel(float *out, const float *in, long n)
{
    long step = gridDim.x * (long) BLOCK;
    float total = 0;

    for (long i = blockIdx.x * (long) BLOCK + threadIdx.x; i < n; i += step)
        total += in[i];

    total = block_sum(total);
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    sum_kernel<<<1, BLOCK>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
