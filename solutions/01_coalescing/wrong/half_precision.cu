// expect: wrong - computes in half precision: 11 bits instead of 24
#include "cudalab.cuh"
#include "kernel.h"

#include <cuda_fp16.h>

enum { BLOCK = 256, ITEMS = 4 };

// in and out are rows x cols, row-major. A thread takes ITEMS rows. It loads all of them before it
// stores the first, so that ITEMS loads are in flight at once.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int col = threadIdx.x;
    int step = blockDim.y;
    int first_row = blockIdx.x * step * ITEMS + threadIdx.y;
    __half m = __float2half(mean[col]), s = __float2half(scale[col]);
    float x[ITEMS];

    for (int j = 0; j < ITEMS; j++) {
        int row = first_row + j * step;
        if (row < rows)
            x[j] = in[row * cols + col];
    }
    for (int j = 0; j < ITEMS; j++) {
        int row = first_row + j * step;
        if (row < rows)
            out[row * cols + col] = __half2float((__float2half(x[j]) - m) * s);
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);

    standardise_kernel<<<ceil_div(rows, block.y * ITEMS), block>>>(out, in, mean, scale, rows,
                                                                   cols);
    CUDA_CHECK(cudaGetLastError());
}
