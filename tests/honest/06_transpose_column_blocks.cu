// expect: slow - blocks of 256 threads down a column: writes coalesced, most threads idle if flat
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

#define BLOCK_SIZE 256

__global__ void copyVector(float *dst, const float *src, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dst[i] = src[i];
}

// Block b works on column b % cols, so blocks that run together read neighbouring columns.
__global__ void transposeColumns(float *dst, const float *src, int rows, int cols)
{
    int col = blockIdx.x % cols;
    int row = blockIdx.x / cols * BLOCK_SIZE + threadIdx.x;

    if (row < rows)
        dst[(size_t) col * rows + row] = src[(size_t) row * cols + col];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    if (rows == 1 || cols == 1)
        copyVector<<<ceil_div(rows * cols, BLOCK_SIZE), BLOCK_SIZE>>>(out, in, rows * cols);
    else
        transposeColumns<<<ceil_div(rows, BLOCK_SIZE) * cols, BLOCK_SIZE>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
