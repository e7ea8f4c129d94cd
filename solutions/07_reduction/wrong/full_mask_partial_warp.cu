// expect: unsafe - the mask contains 32 lanes, but those past the end never reach the shuffle
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WARP = 32, WARPS = BLOCK / WARP };

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

// out[b] becomes the sum of the elements of block b; in has n elements.
__global__ void sum_kernel(float *out, const float *in, long n)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;
    float total = 0;

    if (i < n)
        total = warp_sum(in[i]);

    // Only lane 0 of each warp has the sum; the other lanes' values are not used.
    total = block_sum(threadIdx.x % WARP ? 0 : total);
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    // Each pass stores its sums in scratch after those of the previous pass; they are the input of
    // the next pass.
    for (;;) {
        int blocks = (int) ((n + BLOCK - 1) / BLOCK);

        sum_kernel<<<blocks, BLOCK>>>(blocks > 1 ? scratch : out, in, n);
        CUDA_CHECK(cudaGetLastError());
        if (blocks == 1)
            return;
        in = scratch;
        n = blocks;
        scratch += blocks;
    }
}
