// expect: device - one element per thread, blocks as wide as the table: few bytes in flight
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int col = threadIdx.x;
    int row = blockIdx.x * blockDim.y + threadIdx.y;

    if (row < rows)
        out[row * cols + col] = (in[row * cols + col] - mean[col]) * scale[col];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    dim3 block(cols, cols <= 512 ? 512 / cols : 1);

    standardise_kernel<<<ceil_div(rows, block.y), block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
