// A block works on one feature, so that it needs one mean and one scale only.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, ITEMS = 4 };

// in and out are rows x cols, row-major. A thread takes ITEMS rows, all loaded before the first is
// stored, so that as many accesses are under way at once.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int col = blockIdx.y;
    int step = BLOCK;
    int first_row = blockIdx.x * step * ITEMS + threadIdx.x;
    float m = mean[col], s = scale[col], x[ITEMS];

    // TODO: which addresses do the 32 threads of a warp read in one of these loads? How many pieces
    // TODO: of 32 bytes is that? Then let other threads do the same elements: neighbours in a warp
    // TODO: should be neighbours in memory. Keep four rows a thread, and stay right for any shape.
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
    dim3 grid(ceil_div(rows, BLOCK * ITEMS), cols);

    standardise_kernel<<<grid, BLOCK>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
