// expect: stray - correct, but subtracts the mean in the input itself
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, ITEMS = 4 };

// Subtracts the mean in place.
__global__ void centre_kernel(float *in, const float *mean, int count, int cols)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < count)
        in[i] -= mean[i % cols];
}

__global__ void scale_kernel(float *out, const float *in, const float *scale, int count, int cols)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < count)
        out[i] = in[i] * scale[i % cols];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    int count = rows * cols, blocks = ceil_div(count, BLOCK);

    centre_kernel<<<blocks, BLOCK>>>((float *) in, mean, count, cols);
    scale_kernel<<<blocks, BLOCK>>>(out, in, scale, count, cols);
    CUDA_CHECK(cudaGetLastError());
}
