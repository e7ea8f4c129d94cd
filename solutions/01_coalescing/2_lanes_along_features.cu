// rung: 2, expect: pass - lanes along the features: neighbours in a warp are neighbours in memory
// A block is as wide as the table and several rows high. So its threads cover contiguous memory in
// the order of their numbers, for any cols.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, ITEMS = 4 };

// in and out are rows x cols, row-major. A thread takes ITEMS rows. It loads all of them before it
// stores the first, so that ITEMS loads are in flight at once.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int col = threadIdx.x;
    int step = blockDim.y;
    int first_row = blockIdx.x * step * ITEMS + threadIdx.y;
    float m = mean[col], s = scale[col], x[ITEMS];

    // rows * cols is at most 2^30, so an int can hold every index.
    for (int j = 0; j < ITEMS; j++) {
        int row = first_row + j * step;
        if (row < rows)
            x[j] = in[row * cols + col];
    }
    for (int j = 0; j < ITEMS; j++) {
        int row = first_row + j * step;
        if (row < rows)
            out[row * cols + col] = (x[j] - m) * s;
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    // In wide tables a block is one row, of up to 1024 threads. The grid has one dimension, since a
    // grid's y may not exceed 65,535 and there may be more blocks.
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);
    int blocks = ceil_div(rows, block.y * ITEMS);

    standardise_kernel<<<blocks, block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
