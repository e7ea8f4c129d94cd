// expect: wrong - the block is limited to 256 threads: no thread processes the other columns
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
    int width = cols < BLOCK ? cols : BLOCK;
    dim3 block(width, BLOCK / width);

    standardise_kernel<<<ceil_div(rows, block.y * ITEMS), block>>>(out, in, mean, scale, rows,
                                                                   cols);
    CUDA_CHECK(cudaGetLastError());
}
