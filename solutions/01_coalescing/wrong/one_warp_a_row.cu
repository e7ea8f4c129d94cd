// expect: wrong - one warp per row and one column per lane: columns from 32 on are left out
#include "cudalab.cuh"
#include "kernel.h"

enum { WARP = 32, WARPS = 8 };

// A block is WARPS rows; a lane takes a column.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int row = blockIdx.x * WARPS + threadIdx.y;
    int col = threadIdx.x;

    if (row < rows && col < cols)
        out[row * cols + col] = (in[row * cols + col] - mean[col]) * scale[col];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    dim3 block(WARP, WARPS);

    standardise_kernel<<<ceil_div(rows, WARPS), block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
