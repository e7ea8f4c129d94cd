// expect: wrong - subtracts the row's first element instead of its maximum
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 64 };

__global__ void softmax_kernel(float *out, const float *in, int rows, int cols)
{
    int row = blockIdx.x * BLOCK + threadIdx.x;
    float first, sum = 0;

    if (row >= rows)
        return;
    in += row * (size_t) cols;
    out += row * (size_t) cols;
    first = in[0];

    for (int j = 0; j < cols; j++)
        sum += expf(in[j] - first);
    for (int j = 0; j < cols; j++)
        out[j] = expf(in[j] - first) / sum;
}

LAB_API void softmax(float *out, const float *in, int rows, int cols, float *scratch)
{
    softmax_kernel<<<ceil_div(rows, BLOCK), BLOCK>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
