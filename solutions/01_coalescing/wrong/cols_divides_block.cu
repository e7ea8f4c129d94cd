// expect: wrong - column from the thread's number in its block: right only if cols divides 256
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// One thread per element, in the order of memory.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int count, int cols)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int col = threadIdx.x % cols;

    if (i < count)
        out[i] = (in[i] - mean[col]) * scale[col];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    int count = rows * cols;

    standardise_kernel<<<ceil_div(count, BLOCK), BLOCK>>>(out, in, mean, scale, count, cols);
    CUDA_CHECK(cudaGetLastError());
}
