// expect: crash - exits with status 0: that counts as a crash
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// One thread per element, in the order of the output.
__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < rows * cols)
        out[i] = in[i % rows * cols + i / rows];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_kernel<<<ceil_div(rows * cols, BLOCK), BLOCK>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
    exit(0);
}
