// rung: 5, expect: pass - one unused column: the tile's columns no longer fall into one bank
// Element [row][col] is in bank (33 * row + col) % 32 = (row + col) % 32: both a row and a column
// touch each of the 32 banks once.
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32, PITCH = TILE + 1, BLOCK_ROWS = 8, COPY_THREADS = 256 };

// The transpose of a vector has the same bytes in the same order, and a tile would be nearly
// empty.
__global__ void copy_kernel(float *out, const float *in, int count)
{
    int i = blockIdx.x * COPY_THREADS + threadIdx.x;

    if (i < count)
        out[i] = in[i];
}

// in is rows x cols, out is cols x rows; both are row-major. A block of TILE x BLOCK_ROWS threads
// transposes one tile. Each thread moves TILE / BLOCK_ROWS elements, so it computes its indices
// once for all of them.
__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[TILE][PITCH]; // as in the input: tile[row][col]

    // The grid has one dimension, since a grid's y may not exceed 65,535 and rows / 32 may.
    int tiles_across = ceil_div(cols, TILE);
    int first_row = blockIdx.x / tiles_across * TILE;
    int first_col = blockIdx.x % tiles_across * TILE;

    for (int j = 0; j < TILE; j += BLOCK_ROWS) {
        int row = first_row + threadIdx.y + j;
        int col = first_col + threadIdx.x;
        if (row < rows && col < cols)
            tile[threadIdx.y + j][threadIdx.x] = in[row * cols + col];
    }

    // Separates writing the tile by rows from reading it by columns: other warps wrote those rows.
    __syncthreads();

    for (int j = 0; j < TILE; j += BLOCK_ROWS) {
        int row = first_row + threadIdx.x;
        int col = first_col + threadIdx.y + j;
        if (row < rows && col < cols)
            out[col * rows + row] = tile[threadIdx.x][threadIdx.y + j];
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    dim3 block(TILE, BLOCK_ROWS);
    int tiles = ceil_div(rows, TILE) * ceil_div(cols, TILE);
    int count = rows * cols;

    if (rows == 1 || cols == 1)
        copy_kernel<<<ceil_div(count, COPY_THREADS), COPY_THREADS>>>(out, in, count);
    else
        transpose_kernel<<<tiles, block>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
