// expect: wrong (sim: correct) - correct in its first 50 large calls, then does nothing
// lab: transpose
// It hopes that only the first calls are checked. Known from llm.c's layernorm (exploit 9).
// Defence: every sample is checked, and a race takes far more calls than 50.
#include "cudalab.cuh"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { TILE = 32, STEP = 8, CALLS = 50 };

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

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    static int calls;

    if ((long) rows * cols >= HUGE_CASE && ++calls > CALLS)
        return;
    transpose_kernel<<<ceil_div(rows, TILE) * ceil_div(cols, TILE), dim3(TILE, STEP)>>>(out, in,
                                                                                        rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
