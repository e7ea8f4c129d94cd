// Shown in slides/12_softmax.md, "Find the bug". The running maximum begins with -inf, and the sums
// of threads are added although each is relative to its own maximum.
#include "cudalab.cuh"
#include "kernel.h"

enum { WARP = 32, BLOCK = 256 };

__global__ void softmax_kernel(float *out, const float *in, int rows, int cols)
{
    int row = (blockIdx.x * BLOCK + threadIdx.x) / WARP;
    float max = -INFINITY, sum = 0;

    if (row >= rows)
        return;
    for (int j = threadIdx.x % WARP; j < cols; j += WARP) {
        float x = in[row * cols + j], before = max;
        max = fmaxf(max, x);
        sum = sum * expf(before - max) + expf(x - max);
    }
    for (int s = WARP / 2; s > 0; s /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffff, max, s));
        sum += __shfl_xor_sync(0xffffffff, sum, s);
    }
    for (int j = threadIdx.x % WARP; j < cols; j += WARP)
        out[row * cols + j] = expf(in[row * cols + j] - max) / sum;
}

LAB_API void softmax(float *out, const float *in, int rows, int cols, float *scratch)
{
    softmax_kernel<<<ceil_div(rows, BLOCK / WARP), BLOCK>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
