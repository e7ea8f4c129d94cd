// expect: unsafe - mean and scale in shared memory, and no barrier after they are written
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, ITEMS = 4 };

enum { COLS_MOST = 1024 };

// in and out are rows x cols, row-major. A thread takes ITEMS rows. It loads all of them before it
// stores the first, so that ITEMS loads are in flight at once.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    __shared__ float shared_mean[COLS_MOST], shared_scale[COLS_MOST];

    int col = threadIdx.x;
    int step = blockDim.y;
    int first_row = blockIdx.x * step * ITEMS + threadIdx.y;
    float x[ITEMS];

    if (threadIdx.y == 0) {
        shared_mean[col] = mean[col];
        shared_scale[col] = scale[col];
    }
    for (int j = 0; j < ITEMS; j++) {
        int row = first_row + j * step;
        if (row < rows)
            x[j] = in[row * cols + col];
    }
    for (int j = 0; j < ITEMS; j++) {
        int row = first_row + j * step;
        if (row < rows)
            out[row * cols + col] = (x[j] - shared_mean[col]) * shared_scale[col];
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
