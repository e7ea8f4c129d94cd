// expect: stray - keeps the exponentials in the input, as in a published version that works in
// place
#include "cudalab.cuh"
#include "kernel.h"
#include <cfloat>

enum { BLOCK = 64 };

__global__ void softmax_kernel(float *out, float *in, int rows, int cols)
{
    int row = blockIdx.x * BLOCK + threadIdx.x;
    float max = -FLT_MAX, sum = 0;

    if (row >= rows)
        return;
    in += row * (size_t) cols;
    out += row * (size_t) cols;

    for (int j = 0; j < cols; j++) {
        float x = in[j], before = max;
        max = fmaxf(max, x);
        sum = sum * expf(before - max) + expf(x - max);
    }
    for (int j = 0; j < cols; j++)
        in[j] = expf(in[j] - max);
    for (int j = 0; j < cols; j++)
        out[j] = in[j] / sum;
}

LAB_API void softmax(float *out, const float *in, int rows, int cols, float *scratch)
{
    softmax_kernel<<<ceil_div(rows, BLOCK), BLOCK>>>(out, (float *) in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
