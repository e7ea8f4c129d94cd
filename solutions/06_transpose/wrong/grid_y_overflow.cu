// expect: crash - tiles of rows in gridDim.y, whose limit is 65,535: tall matrices do not launch
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32, PITCH = TILE + 1, BLOCK_ROWS = 8 };

// in is rows x cols, out is cols x rows; both are row-major. A block of TILE x BLOCK_ROWS threads
// transposes one tile. Each thread moves TILE / BLOCK_ROWS elements, so it computes its indices
// once for all of them.
__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[TILE][PITCH]; // as in the input: tile[row][col]

    int first_row = blockIdx.y * TILE;
    int first_col = blockIdx.x * TILE;

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
    dim3 grid(ceil_div(cols, TILE), ceil_div(rows, TILE));

    transpose_kernel<<<grid, block>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
