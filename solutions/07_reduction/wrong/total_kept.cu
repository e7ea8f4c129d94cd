// expect: wrong - adds into a __device__ variable that is never cleared: right once
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WARP = 32, WARPS = BLOCK / WARP, BLOCKS_A_SM = 8 };

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

static __device__ float collected;

// Adds the sum of in[0 .. n - 1] to collected.
__global__ void sum_kernel(const float *in, long n)
{
    long step = gridDim.x * (long) BLOCK;
    float total = 0;

    for (long i = blockIdx.x * (long) BLOCK + threadIdx.x; i < n; i += step)
        total += in[i];

    total = block_sum(total);
    if (threadIdx.x == 0)
        atomicAdd(&collected, total);
}

__global__ void hand_over_kernel(float *out)
{
    *out = collected;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    int device, sms;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));

    sum_kernel<<<BLOCKS_A_SM * sms, BLOCK>>>(in, n);
    hand_over_kernel<<<1, 1>>>(out);
    CUDA_CHECK(cudaGetLastError());
}
