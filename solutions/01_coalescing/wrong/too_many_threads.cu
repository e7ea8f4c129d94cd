// expect: crash - blocks of four whole rows: more than 1024 threads above 256 columns
#include "cudalab.cuh"
#include "kernel.h"

enum { DOWN = 4 };

// One thread per element; a block is as wide as the table and DOWN rows high.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int col = threadIdx.x;
    int row = blockIdx.x * DOWN + threadIdx.y;

    if (row < rows)
        out[row * cols + col] = (in[row * cols + col] - mean[col]) * scale[col];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    dim3 block(cols, DOWN);

    standardise_kernel<<<ceil_div(rows, DOWN), block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
