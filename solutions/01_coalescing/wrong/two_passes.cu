// expect: slow - correct and coalesced, but centred first, then scaled: all bytes move twice
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, ITEMS = 4 };

// in and out are rows x cols, row-major. A thread takes ITEMS rows.
__global__ void centre_kernel(float *out, const float *in, const float *mean, int rows, int cols)
{
    int col = threadIdx.x;
    int step = blockDim.y;
    int first_row = blockIdx.x * step * ITEMS + threadIdx.y;
    float m = mean[col], x[ITEMS];

    for (int j = 0; j < ITEMS; j++) {
        int row = first_row + j * step;
        if (row < rows)
            x[j] = in[row * cols + col];
    }
    for (int j = 0; j < ITEMS; j++) {
        int row = first_row + j * step;
        if (row < rows)
            out[row * cols + col] = x[j] - m;
    }
}

__global__ void scale_kernel(float *out, const float *scale, int rows, int cols)
{
    int col = threadIdx.x;
    int step = blockDim.y;
    int first_row = blockIdx.x * step * ITEMS + threadIdx.y;
    float s = scale[col], x[ITEMS];

    for (int j = 0; j < ITEMS; j++) {
        int row = first_row + j * step;
        if (row < rows)
            x[j] = out[row * cols + col];
    }
    for (int j = 0; j < ITEMS; j++) {
        int row = first_row + j * step;
        if (row < rows)
            out[row * cols + col] = x[j] * s;
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);
    int blocks = ceil_div(rows, block.y * ITEMS);

    centre_kernel<<<blocks, block>>>(out, in, mean, rows, cols);
    scale_kernel<<<blocks, block>>>(out, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
