// expect: wrong - tiles go to their transposed places, but are not transposed inside
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32, PITCH = TILE + 1, BLOCK_ROWS = 8 };

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
        // Zero outside, so that this kernel's only mistake is the one named in its first line.
        bool inside = row < rows && col < cols;
        tile[threadIdx.y + j][threadIdx.x] = inside ? in[row * cols + col] : 0;
    }

    // Separates writing the tile by rows from reading it by columns: other warps wrote those rows.
    __syncthreads();

    for (int j = 0; j < TILE; j += BLOCK_ROWS) {
        int row = first_row + threadIdx.x;
        int col = first_col + threadIdx.y + j;
        if (row < rows && col < cols)
            out[col * rows + row] = tile[threadIdx.y + j][threadIdx.x];
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    dim3 block(TILE, BLOCK_ROWS);
    int tiles = ceil_div(rows, TILE) * ceil_div(cols, TILE);

    transpose_kernel<<<tiles, block>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
