// expect: crash - rows in gridDim.y, whose limit is 65,535: long tables do not launch
#include "cudalab.cuh"
#include "kernel.h"

enum { ACROSS = 32, DOWN = 8 };

// One thread per element, in blocks of ACROSS columns and DOWN rows.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int col = blockIdx.x * ACROSS + threadIdx.x;
    int row = blockIdx.y * DOWN + threadIdx.y;

    if (row < rows && col < cols)
        out[row * cols + col] = (in[row * cols + col] - mean[col]) * scale[col];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    dim3 block(ACROSS, DOWN);
    dim3 grid(ceil_div(cols, ACROSS), ceil_div(rows, DOWN));

    standardise_kernel<<<grid, block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
