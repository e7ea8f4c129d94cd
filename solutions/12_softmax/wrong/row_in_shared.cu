// expect: crash - keeps any row in shared memory, however long it is
#include "cudalab.cuh"
#include "kernel.h"
#include <cfloat>

enum { BLOCK = 256, WARP = 32, WARPS = BLOCK / WARP };

static __device__ float block_max(float x)
{
    __shared__ float part[WARPS];

    for (int s = WARP / 2; s > 0; s /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, s));
    if (threadIdx.x % WARP == 0)
        part[threadIdx.x / WARP] = x;
    __syncthreads(); // all warps' maxima are stored
    x = part[threadIdx.x % WARPS];
    for (int s = WARPS / 2; s > 0; s /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, s));
    return x;
}

static __device__ float block_sum(float x)
{
    __shared__ float part[WARPS];

    for (int s = WARP / 2; s > 0; s /= 2)
        x += __shfl_xor_sync(0xffffffff, x, s);
    if (threadIdx.x % WARP == 0)
        part[threadIdx.x / WARP] = x;
    __syncthreads(); // all warps' sums are stored
    x = part[threadIdx.x % WARPS];
    for (int s = WARPS / 2; s > 0; s /= 2)
        x += __shfl_xor_sync(0xffffffff, x, s);
    return x;
}

__global__ void softmax_kernel(float *out, const float *in, int cols)
{
    extern __shared__ float row[];
    float max = -FLT_MAX, sum = 0;

    in += blockIdx.x * (size_t) cols;
    out += blockIdx.x * (size_t) cols;
    for (int j = threadIdx.x; j < cols; j += BLOCK) {
        row[j] = in[j];
        max = fmaxf(max, row[j]);
    }
    max = block_max(max);
    for (int j = threadIdx.x; j < cols; j += BLOCK)
        sum += row[j] = expf(row[j] - max);
    sum = block_sum(sum);
    for (int j = threadIdx.x; j < cols; j += BLOCK)
        out[j] = row[j] / sum;
}

LAB_API void softmax(float *out, const float *in, int rows, int cols, float *scratch)
{
    int bytes = cols * (int) sizeof(float);

    if (bytes > 48 * 1024)
        CUDA_CHECK(cudaFuncSetAttribute(softmax_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        bytes));
    softmax_kernel<<<rows, BLOCK, bytes>>>(out, in, cols);
    CUDA_CHECK(cudaGetLastError());
}
