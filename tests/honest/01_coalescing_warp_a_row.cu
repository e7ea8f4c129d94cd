// expect: device - one warp per row: at 16 columns half of its lanes have nothing to do
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;

    if (warp >= rows)
        return;
    for (int col = lane; col < cols; col += 32)
        out[warp * cols + col] = (in[warp * cols + col] - mean[col]) * scale[col];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    standardise_kernel<<<ceil_div(rows, 8), 256>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
