// expect: unsafe - nothing orders a block's sum before the news that it is there: right by luck
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WARP = 32, WARPS = BLOCK / WARP, BLOCKS_A_SM = 8 };

// The sum of what the lanes of a warp hold, in lane 0. All 32 must call it.
static __device__ float warp_sum(float value)
{
    for (int s = WARP / 2; s > 0; s /= 2)
        value += __shfl_down_sync(0xffffffff, value, s);
    return value;
}

// The sum of what the threads of a block hold, in thread 0. All of them must call it.
static __device__ float block_sum(float value)
{
    __shared__ float part[WARPS];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;

    value = warp_sum(value);
    if (lane == 0)
        part[warp] = value;

    // Between writing a sum a warp and the first warp's reading of them all.
    __syncthreads();

    if (warp == 0)
        value = warp_sum(lane < WARPS ? part[lane] : 0);
    return value;
}

static __device__ unsigned finished;

// *out becomes the sum of in[0 .. n - 1], put together by the block that finishes last.
__global__ void sum_kernel(float *out, const float *in, long n, float *sums)
{
    __shared__ bool last;
    long step = gridDim.x * (long) BLOCK;
    float total = 0;

    for (long i = blockIdx.x * (long) BLOCK + threadIdx.x; i < n; i += step)
        total += in[i];

    total = block_sum(total);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = total;
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }

    // Between thread 0's finding out and all threads' knowing.
    __syncthreads();
    if (!last)
        return;

    total = 0;
    for (int b = threadIdx.x; b < gridDim.x; b += BLOCK)
        total += __ldcg(&sums[b]);
    total = block_sum(total);
    if (threadIdx.x == 0)
        *out = total;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    int device, sms, blocks;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));

    blocks = (int) min((long) BLOCKS_A_SM * sms, scratch_count);
    sum_kernel<<<blocks, BLOCK>>>(out, in, n, scratch);
    CUDA_CHECK(cudaGetLastError());
}
