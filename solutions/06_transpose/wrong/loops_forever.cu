// expect: timeout - a kernel that never ends
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    // volatile, because the compiler may remove an endless loop that has no effect.
    for (;;)
        asm volatile("nanosleep.u32 1000;");
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_kernel<<<1, 1>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
