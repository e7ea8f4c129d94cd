// Shown in slides/06_transpose.md, "Find the bug". The row stride of out is wrong: right for square
// matrices only.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK_COLS = 32, BLOCK_ROWS = 8 };

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    int blocks_across = ceil_div(cols, BLOCK_COLS);
    int row = blockIdx.x / blocks_across * BLOCK_ROWS + threadIdx.y;
    int col = blockIdx.x % blocks_across * BLOCK_COLS + threadIdx.x;

    if (row < rows && col < cols)
        out[col * cols + row] = in[row * cols + col];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    dim3 block(BLOCK_COLS, BLOCK_ROWS);
    int blocks = ceil_div(rows, BLOCK_ROWS) * ceil_div(cols, BLOCK_COLS);

    transpose_kernel<<<blocks, block>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
