// Shown in slides/01_coalescing.md, "Find the bug". The loop tests the row of the previous round.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, BLOCKS = 16 };

__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int col = blockIdx.y, row = threadIdx.x;
    float m = mean[col], s = scale[col];

    for (int first = blockIdx.x * BLOCK; row < rows; first += BLOCKS * BLOCK) {
        row = first + threadIdx.x;
        out[row * cols + col] = (in[row * cols + col] - m) * s;
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    dim3 grid(BLOCKS, cols);

    standardise_kernel<<<grid, BLOCK>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
