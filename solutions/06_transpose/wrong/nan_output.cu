// expect: wrong - writes NaN everywhere: a comparison that NaN passes would let it through
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// One thread per element, in the order of the output.
__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < rows * cols)
        out[i] = __int_as_float(0x7fc00000);
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_kernel<<<ceil_div(rows * cols, BLOCK), BLOCK>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
