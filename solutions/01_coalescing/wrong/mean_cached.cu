// expect: wrong - keeps the means and scales of the first call, as if there were only one table
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, ITEMS = 4 };

enum { COLS_MOST = 1024 };

__device__ float kept_mean[COLS_MOST], kept_scale[COLS_MOST];

__global__ void keep_kernel(const float *mean, const float *scale, int cols)
{
    int col = threadIdx.x;

    if (col < cols) {
        kept_mean[col] = mean[col];
        kept_scale[col] = scale[col];
    }
}

// in and out are rows x cols, row-major. A thread takes ITEMS rows. It loads all of them before it
// stores the first, so that ITEMS loads are in flight at once.
__global__ void standardise_kernel(float *out, const float *in, int rows, int cols)
{
    int col = threadIdx.x;
    int step = blockDim.y;
    int first_row = blockIdx.x * step * ITEMS + threadIdx.y;
    float m = kept_mean[col], s = kept_scale[col], x[ITEMS];

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
    static bool kept;
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);

    if (!kept)
        keep_kernel<<<1, COLS_MOST>>>(mean, scale, cols);
    kept = true;
    standardise_kernel<<<ceil_div(rows, block.y * ITEMS), block>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
