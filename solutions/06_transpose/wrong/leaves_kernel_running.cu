// expect: timeout - correct, but leaves an endless kernel behind in another stream
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

__global__ void endless_kernel(void)
{
    // volatile, because the compiler may remove an endless loop that has no effect.
    for (;;)
        asm volatile("nanosleep.u32 1000;");
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_kernel<<<ceil_div(rows * cols, BLOCK), BLOCK>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
    endless_kernel<<<1, 32, 0, cudaStreamPerThread>>>(); // no call is needed to have this stream
    CUDA_CHECK(cudaGetLastError());
}
