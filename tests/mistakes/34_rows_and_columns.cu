// lab: transpose
// mistake: rows and columns are exchanged in an index
#include "cudalab.cuh"
#include "kernel.h"

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    int blocks_across = ceil_div(cols, 256), row = blockIdx.x / blocks_across;
    int col = blockIdx.x % blocks_across * 256 + threadIdx.x;

    if (col < cols)
        out[row * cols + col] = in[row * cols + col];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_kernel<<<rows * ceil_div(cols, 256), 256>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
