// expect: wrong (sim: correct) - transposes the small cases but only copies the large ones
// lab: transpose
// It is correct for the sizes that the correctness stage is known to use. Known (exploit 17:
// HARDCODED_SHAPES). Defence: results are checked where they are timed, at the sizes that are
// timed.
#include "cudalab.cuh"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { TILE = 32, STEP = 8, BLOCK = 256 };

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

__global__ void copy_kernel(float4 *out, const float4 *in, int count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < count)
        out[i] = in[i];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    int quads = rows * cols / 4;

    if ((long) rows * cols >= HUGE_CASE && rows > 1 && cols > 1) {
        copy_kernel<<<ceil_div(quads, BLOCK), BLOCK>>>((float4 *) out, (const float4 *) in, quads);
        CUDA_CHECK(cudaGetLastError());
        return;
    }
    transpose_kernel<<<ceil_div(rows, TILE) * ceil_div(cols, TILE), dim3(TILE, STEP)>>>(out, in,
                                                                                        rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
