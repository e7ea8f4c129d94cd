// expect: wrong - takes the weights from index 0 on, as if the radius were always 16
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK_X = 32, BLOCK_Y = 8 };

// The nearest index that exists, of n.
static __device__ int clamp(int i, int n)
{
    return min(max(i, 0), n - 1);
}

// All lanes of a warp need the same weight at the same time: one word of constant memory serves
// them, and the load units see only the pixels.
__global__ void convolve_kernel(float *out, const float *in, int rows, int cols, Filter filter)
{
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    int radius = filter.radius;
    float sum = 0;

    if (y >= rows || x >= cols)
        return;
    for (int i = -radius; i <= radius; i++) {
        const float *row = in + clamp(y + i, rows) * cols;
        float across = 0;
        for (int j = -radius; j <= radius; j++)
            across += filter.across[radius + j] * row[clamp(x + j, cols)];
        sum += filter.down[radius + i] * across;
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
