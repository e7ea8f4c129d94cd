// rung: 1, expect: slow - one thread per element, in the order of the input
// Each block of 256 threads covers part of one row of the input, one thread per element.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// in is rows x cols, out is cols x rows; both are row-major.
__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    // The grid has one dimension, since a grid's y may not exceed 65,535 and rows may.
    int blocks_across = ceil_div(cols, BLOCK);
    int row = blockIdx.x / blocks_across;
    int col = blockIdx.x % blocks_across * BLOCK + threadIdx.x;

    // rows * cols is below 2^31, so an int can hold every index.
    if (col < cols)
        out[col * rows + row] = in[row * cols + col];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_kernel<<<rows * ceil_div(cols, BLOCK), BLOCK>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
