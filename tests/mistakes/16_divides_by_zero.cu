// lab: coalescing
// mistake: host code divides by 0
#include "cudalab.cuh"
#include "kernel.h"

__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, col = threadIdx.x;

    if (row < rows)
        out[(long) row * cols + col] = (in[(long) row * cols + col] - mean[col]) * scale[col];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    dim3 block(cols, 256 / cols);

    standardise_kernel<<<ceil_div(rows, block.y), block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
