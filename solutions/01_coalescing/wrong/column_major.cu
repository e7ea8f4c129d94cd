// expect: wrong - reads the table as column-major: fast, but it is another table
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// A block works on one feature.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int col = blockIdx.y;
    int row = blockIdx.x * BLOCK + threadIdx.x;

    if (row < rows)
        out[row * cols + col] = (in[col * rows + row] - mean[col]) * scale[col];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    dim3 grid(ceil_div(rows, BLOCK), cols);

    standardise_kernel<<<grid, BLOCK>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
