// expect: pass - blocks of 32 x 8 over the image, as is common in image processing
// lab: tail_effect
#include "cudalab.cuh"
#include "kernel.h"

#define BLOCK_COLS 32
#define BLOCK_ROWS 8

__global__ void advance_kernel(unsigned *out, const unsigned *in, int rows, int cols,
                               int blocks_across, int rounds)
{
    int col = blockIdx.x % blocks_across * BLOCK_COLS + threadIdx.x;
    int row = blockIdx.x / blocks_across * BLOCK_ROWS + threadIdx.y;

    if (row >= rows || col >= cols)
        return;

    unsigned seed = in[row * cols + col], state = seed;
    for (int k = 0; k < rounds; ++k)
        state = (state ^ (state >> 15)) * 0x2c1b3c6du + seed;
    out[row * cols + col] = state;
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    int across = ceil_div(cols, BLOCK_COLS), down = ceil_div(rows, BLOCK_ROWS);

    advance_kernel<<<across * down, dim3(BLOCK_COLS, BLOCK_ROWS)>>>(out, in, rows, cols, across,
                                                                    rounds);
    CUDA_CHECK(cudaGetLastError());
}
