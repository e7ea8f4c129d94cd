// rung: 1, expect: slow - one feature per block: the lanes of a warp go down a column
// Each block works on one feature, so it needs only one mean and one scale.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, ITEMS = 4 };

// in and out are rows x cols, row-major. A thread takes ITEMS rows. It loads all of them before it
// stores the first, so that ITEMS loads are in flight at once.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int col = blockIdx.y;
    int step = BLOCK;
    int first_row = blockIdx.x * step * ITEMS + threadIdx.x;
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
    dim3 grid(ceil_div(rows, BLOCK * ITEMS), cols);

    standardise_kernel<<<grid, BLOCK>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
