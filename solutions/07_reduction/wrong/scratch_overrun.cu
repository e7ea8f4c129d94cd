// expect: stray - stores the sum of the sums in the float after the last one of scratch
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

__global__ void copy_kernel(float *out, const float *in)
{
    *out = *in;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    int device, sms;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));

    // As many blocks as can be resident, but no more than the work needs.
    long enough = (n + BLOCK - 1) / BLOCK;
    int blocks = enough < BLOCKS_A_SM * sms ? (int) enough : BLOCKS_A_SM * sms;

    sum_kernel<<<blocks, BLOCK>>>(scratch, in, n);
    CUDA_CHECK(cudaGetLastError());
    sum_kernel<<<1, BLOCK>>>(scratch + scratch_count, scratch, blocks);
    CUDA_CHECK(cudaGetLastError());
    copy_kernel<<<1, 1>>>(out, scratch + scratch_count);
    CUDA_CHECK(cudaGetLastError());
}
