// Shown in slides/01_coalescing.md, "Find the bug". The loop tests the row of the round before.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, BLOCKS = 16 };

__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int col = threadIdx.x, row = threadIdx.y;
    int step = gridDim.x * blockDim.y;

    for (int first = blockIdx.x * blockDim.y; row < rows; first += step) {
        row = first + threadIdx.y;
        out[row * cols + col] = (in[row * cols + col] - mean[col]) * scale[col];
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);

    standardise_kernel<<<BLOCKS, block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
