// rung: 3, expect: device - threadIdx.x runs along the output: writes coalesced, reads strided
// A block reads eight columns of 32 rows: 32 sectors, each fully used, but by eight different
// instructions. L1 keeps them in the meantime. L1 does not keep stores, so it is better if the
// reads are strided. On a GPU whose DRAM is slow compared with L1, this is already near the rate of
// a copy.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK_COLS = 8, BLOCK_ROWS = 32 };

// in is rows x cols, out is cols x rows; both are row-major.
__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    // The grid has one dimension, since a grid's y may not exceed 65,535 and rows / 32 may.
    int blocks_across = ceil_div(cols, BLOCK_COLS);
    int row = blockIdx.x / blocks_across * BLOCK_ROWS + threadIdx.x;
    int col = blockIdx.x % blocks_across * BLOCK_COLS + threadIdx.y;

    // rows * cols is below 2^31, so an int can hold every index.
    if (row < rows && col < cols)
        out[col * rows + row] = in[row * cols + col];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    dim3 block(BLOCK_ROWS, BLOCK_COLS);
    int blocks = ceil_div(rows, BLOCK_ROWS) * ceil_div(cols, BLOCK_COLS);

    transpose_kernel<<<blocks, block>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
