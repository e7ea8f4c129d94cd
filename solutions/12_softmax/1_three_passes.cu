// rung: 1, expect: slow - one thread per row, three passes: maximum, sum, results
// The formula as it is written down: one thread computes one row.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 64 };

__global__ void softmax_kernel(float *out, const float *in, int rows, int cols)
{
    int row = blockIdx.x * BLOCK + threadIdx.x;
    float max = -INFINITY, sum = 0;

    if (row >= rows)
        return;
    in += row * (size_t) cols;
    out += row * (size_t) cols;

    for (int j = 0; j < cols; j++)
        max = fmaxf(max, in[j]);
    for (int j = 0; j < cols; j++)
        sum += expf(in[j] - max);
    for (int j = 0; j < cols; j++)
        out[j] = expf(in[j] - max) / sum;
}

LAB_API void softmax(float *out, const float *in, int rows, int cols, float *scratch)
{
    softmax_kernel<<<ceil_div(rows, BLOCK), BLOCK>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
