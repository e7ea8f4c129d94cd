// expect: unsafe_or_stray (sim: unsafe) - tests an unsigned number for i < 0, which is never true
// The left and the upper border read outside the image, as in a published kernel.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK_X = 32, BLOCK_Y = 8 };

static __device__ int limit(unsigned i, int n)
{
    if (i < 0)
        return 0;
    return (int) i < n ? (int) i : n - 1;
}

// All lanes of a warp need the same weight at the same time: one word of constant memory serves
// them, and the load units see only the pixels.
__global__ void convolve_kernel(float *out, const float *in, int rows, int cols, Filter filter)
{
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    int radius = filter.radius;
    unsigned column = x, line = y;
    float sum = 0;

    if (y >= rows || x >= cols)
        return;
    for (int i = -radius; i <= radius; i++) {
        const float *row = in + limit(line + i, rows) * cols;
        float across = 0;
        for (int j = -radius; j <= radius; j++)
            across += filter.across[REACH + j] * row[limit(column + j, cols)];
        sum += filter.down[REACH + i] * across;
    }
    out[y * cols + x] = sum;
}

LAB_API void convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch)
{
    dim3 block(BLOCK_X, BLOCK_Y), grid(ceil_div(cols, BLOCK_X), ceil_div(rows, BLOCK_Y));

    convolve_kernel<<<grid, block>>>(out, in, rows, cols, filter);
    CUDA_CHECK(cudaGetLastError());
}
