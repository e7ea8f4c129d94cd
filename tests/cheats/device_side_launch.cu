// expect: build - lets a kernel launch the kernel that does the work
// lab: transpose
// Work launched on the device is not in any stream that the host knows. Defence: such launches need
// relocatable device code, and the grader sets the flags.
#include "cudalab.cuh"
#include "kernel.h"

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

__global__ void launch_kernel(float *out, const float *in, int rows, int cols)
{
    transpose_kernel<<<ceil_div(rows, TILE) * ceil_div(cols, TILE), dim3(TILE, STEP)>>>(out, in,
                                                                                        rows, cols);
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    launch_kernel<<<1, 1>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
