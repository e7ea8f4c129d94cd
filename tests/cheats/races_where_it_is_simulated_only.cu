// expect: unsafe - has no barrier where __CUDA_ARCH__ is that of the simulated PTX
// lab: reduction
//
// The opposite of races_on_real_gpus_only: the code that is simulated is the code that runs. (Our
// own.)
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

#if __CUDA_ARCH__ > 800
    __syncthreads();
#endif

    if (warp == 0)
        value = warp_sum(lane < WARPS ? part[lane] : 0);
    return value;
}

// out[b] becomes the sum of the elements of block b, which advances in steps of the whole grid.
__global__ void sum_kernel(float *out, const float *in, long n)
{
    long step = gridDim.x * (long) BLOCK;
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;
    float total = 0, total1 = 0, total2 = 0, total3 = 0;

    // Four sums, so that no addition waits for the one before it.
    for (; i + 3 * step < n; i += 4 * step) {
        float a = in[i], b = in[i + step], c = in[i + 2 * step], d = in[i + 3 * step];
        total += a;
        total1 += b;
        total2 += c;
        total3 += d;
    }
#pragma unroll 1 // at most three are left
    for (; i < n; i += step)
        total += in[i];

    total = block_sum((total + total1) + (total2 + total3));
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    int device, sms;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));

    // As many blocks as can be resident, but no more than the work needs.
    long enough = (n + BLOCK - 1) / BLOCK;
    int blocks = enough < BLOCKS_A_SM * sms ? (int) enough : BLOCKS_A_SM * sms;

    sum_kernel<<<blocks, BLOCK>>>(blocks > 1 ? scratch : out, in, n);
    CUDA_CHECK(cudaGetLastError());
    if (blocks > 1) {
        sum_kernel<<<1, BLOCK>>>(out, scratch, blocks);
        CUDA_CHECK(cudaGetLastError());
    }
}
