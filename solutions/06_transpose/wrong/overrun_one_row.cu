// expect: stray - correct, but also writes the beginning of a row after the output's last
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// One thread per element, in the order of the output.
__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < rows * cols)
        out[i] = in[i % rows * cols + i / rows];

    // At most 4096 elements, so that tall matrices stay inside their guard zone and do not fault.
    if (i < rows && i < 4096)
        out[cols * rows + i] = 0;
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_kernel<<<ceil_div(rows * cols, BLOCK), BLOCK>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
