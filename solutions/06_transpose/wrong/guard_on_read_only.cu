// expect: stray - the read is guarded, the write is not: the last block writes past the end
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// One thread per element, in the order of the output.
__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float value = 0;

    if (i < rows * cols)
        value = in[i % rows * cols + i / rows];
    out[i] = value;
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_kernel<<<ceil_div(rows * cols, BLOCK), BLOCK>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
