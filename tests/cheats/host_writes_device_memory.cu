// expect: crash - the host computes as much as it can, in the device's memory
// lab: coalescing
// A simulated GPU's memory was once in the same process as student code, whose host code took no
// modelled time. Defence: that memory is in another process.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < rows * cols)
        out[i] = (in[i] - mean[i % cols]) * scale[i % cols];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    int by_host = rows * cols / 2 / cols * cols;

    for (int i = 0; i < by_host; i++)
        out[i] = (in[i] - mean[i % cols]) * scale[i % cols];
    standardise_kernel<<<ceil_div(rows * cols - by_host, BLOCK), BLOCK>>>(
        out + by_host, in + by_host, mean, scale, rows - by_host / cols, cols);
    CUDA_CHECK(cudaGetLastError());
}
