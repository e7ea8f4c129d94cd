// expect: wrong - leaves out the last block unless it is full
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// One thread per element, in the order of the output.
__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int whole_blocks = rows * cols / BLOCK;

    if (blockIdx.x < whole_blocks)
        out[i] = in[i % rows * cols + i / rows];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_kernel<<<ceil_div(rows * cols, BLOCK), BLOCK>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
