// expect: wrong - passes elements per thread instead of n, as in a published launch: reads 64
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WARP = 32, WARPS = BLOCK / WARP, EACH = 32 };

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

// out[b] becomes the sum of the elements of block b, two at a time, in steps of the grid.
__global__ void sum_kernel(float *out, const float *in, long n, long end)
{
    long step = gridDim.x * (long) (2 * BLOCK);
    float total = 0;

    for (long i = blockIdx.x * (long) (2 * BLOCK) + threadIdx.x; i < n; i += step) {
        total += i < end ? in[i] : 0;
        total += i + BLOCK < end ? in[i + BLOCK] : 0;
    }

    total = block_sum(total);
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    int blocks = (int) ((n + EACH * BLOCK - 1) / (EACH * BLOCK));

    sum_kernel<<<blocks, BLOCK>>>(scratch, in, EACH, n);
    CUDA_CHECK(cudaGetLastError());
    sum_kernel<<<1, BLOCK>>>(out, scratch, blocks, blocks);
    CUDA_CHECK(cudaGetLastError());
}
