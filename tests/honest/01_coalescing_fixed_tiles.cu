// expect: pass - blocks of 32 x 8 whatever the width, tiles of 32 columns by 64 rows
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

const int TILE_COLS = 32;
const int TILE_ROWS = 64;
const int BLOCK_ROWS = 8;
const int STEPS = TILE_ROWS / BLOCK_ROWS;

__global__ void standardise_tile(float *out, const float *in, const float *mean, const float *scale,
                                 int rows, int cols)
{
    int col = blockIdx.y * TILE_COLS + threadIdx.x;
    int row0 = blockIdx.x * TILE_ROWS + threadIdx.y;
    float reg[STEPS];

    if (col >= cols)
        return;
    float mu = mean[col];
    float sigma = scale[col];
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        int row = row0 + step * BLOCK_ROWS;
        if (row < rows)
            reg[step] = in[(size_t) row * cols + col];
    }
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        int row = row0 + step * BLOCK_ROWS;
        if (row < rows)
            out[(size_t) row * cols + col] = (reg[step] - mu) * sigma;
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    dim3 threads(TILE_COLS, BLOCK_ROWS);
    dim3 grid((rows + TILE_ROWS - 1) / TILE_ROWS, (cols + TILE_COLS - 1) / TILE_COLS);

    standardise_tile<<<grid, threads>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
