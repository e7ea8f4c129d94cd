// expect: build - calls a function that is not defined anywhere
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

extern "C" void transpose_of_a_friend(float *out, const float *in, int rows, int cols);

// One thread per element, in the order of the output.
__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < rows * cols)
        out[i] = in[i % rows * cols + i / rows];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_of_a_friend(out, in, rows, cols);
    transpose_kernel<<<ceil_div(rows * cols, BLOCK), BLOCK>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
