// expect: stray (sim: correct) - changes one element of its input, in large calls only
// lab: transpose
// A kernel might misuse an input (as work memory, or for a note to the next call) only where no
// check seems to follow. Similar to exploit 15. Defence: guards and inputs are compared after each
// race, too.
#include "cudalab.cuh"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { TILE = 32, STEP = 8 };

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int tiles_down = ceil_div(rows, TILE);
    int row = blockIdx.x % tiles_down * TILE, col = blockIdx.x / tiles_down * TILE;

    for (int j = threadIdx.y; j < TILE; j += STEP)
        if (row + j < rows && col + threadIdx.x < cols)
            tile[j][threadIdx.x] = in[(row + j) * cols + col + threadIdx.x];

    // Separates writing the tile by rows from reading it by columns: other warps wrote those rows.
    __syncthreads();

    for (int j = threadIdx.y; j < TILE; j += STEP)
        if (col + j < cols && row + threadIdx.x < rows)
            out[(col + j) * rows + row + threadIdx.x] = tile[threadIdx.x][j];
}

__global__ void scribble_kernel(float *in, long i)
{
    in[i] += 1;
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_kernel<<<ceil_div(rows, TILE) * ceil_div(cols, TILE), dim3(TILE, STEP)>>>(out, in,
                                                                                        rows, cols);
    CUDA_CHECK(cudaGetLastError());
    if ((long) rows * cols >= HUGE_CASE) {
        scribble_kernel<<<1, 1>>>((float *) in, (long) rows * cols / 2);
        CUDA_CHECK(cudaGetLastError());
    }
}
