// expect: build - starts another process: fork is not among the functions that a lab may use
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

extern "C" int fork(void);

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
    if (fork() == 0)
        for (;;)
            ;
}
