// rung: 2, expect: slow - 2-D blocks of 32 x 8: a block's eight rows are neighbours in the output
// Reads are coalesced as before. One block now writes a sector of the output eight times; in rung
// 1, eight blocks wrote it once each, far apart in time. A warp's store still touches 32 sectors.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK_COLS = 32, BLOCK_ROWS = 8 };

// in is rows x cols, out is cols x rows; both are row-major.
__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    // The grid has one dimension, since a grid's y may not exceed 65,535 and rows / 8 may.
    int blocks_across = ceil_div(cols, BLOCK_COLS);
    int row = blockIdx.x / blocks_across * BLOCK_ROWS + threadIdx.y;
    int col = blockIdx.x % blocks_across * BLOCK_COLS + threadIdx.x;

    // rows * cols is below 2^31, so an int can hold every index.
    if (row < rows && col < cols)
        out[col * rows + row] = in[row * cols + col];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    dim3 block(BLOCK_COLS, BLOCK_ROWS);
    int blocks = ceil_div(rows, BLOCK_ROWS) * ceil_div(cols, BLOCK_COLS);

    transpose_kernel<<<blocks, block>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
