// expect: pass (sim: slow) - no padding: a warp writes 4 whole sectors, 8 rows by 4 columns
// lab: transpose
// 8-way conflicts: in the model they are the limit (0.50), on an H200 they are not.
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32, THREADS = 256, SECTOR = 8, SECTORS = 4 };

__global__ void transpose_by_sectors(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];
    int tiles_across = ceil_div(cols, TILE);
    int row0 = blockIdx.x / tiles_across * TILE, col0 = blockIdx.x % tiles_across * TILE;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    // A warp takes rows warp, warp + 8, ...
    for (int k = 0; k < TILE; k += THREADS / 32) {
        int r = warp + k;
        if (row0 + r < rows && col0 + lane < cols)
            tile[r][lane] = in[(row0 + r) * cols + col0 + lane];
    }

    __syncthreads(); // rows are complete before pieces of 8 x 4 are read

    // A warp takes the four columns from 4 * warp on. Eight lanes fill a sector of the output,
    // which is enough for a store; a longer run would only conflict in one bank.
    int c = warp * SECTORS + lane / SECTOR;
    for (int k = 0; k < TILE; k += SECTOR) {
        int r = lane % SECTOR + k;
        if (row0 + r < rows && col0 + c < cols)
            out[(col0 + c) * rows + row0 + r] = tile[r][c];
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    int tiles = ceil_div(rows, TILE) * ceil_div(cols, TILE);

    transpose_by_sectors<<<tiles, THREADS>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
