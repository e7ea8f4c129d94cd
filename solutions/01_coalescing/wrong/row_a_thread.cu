// expect: device - correct, one row per thread, as on a CPU: 32 sectors per load; caches may help
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// A thread goes along its own row, so neighbouring threads are a whole row apart.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int row = blockIdx.x * BLOCK + threadIdx.x;

    if (row >= rows)
        return;
    for (int col = 0; col < cols; col++)
        out[row * cols + col] = (in[row * cols + col] - mean[col]) * scale[col];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    standardise_kernel<<<ceil_div(rows, BLOCK), BLOCK>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
