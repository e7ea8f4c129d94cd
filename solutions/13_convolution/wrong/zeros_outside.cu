// expect: wrong - takes 0 for pixels outside the image, not the nearest one
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK_X = 32, BLOCK_Y = 8 };

static __device__ bool is_inside(int i, int n)
{
    return i >= 0 && i < n;
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
        const float *row = in + (y + i) * (ptrdiff_t) cols;
        float across = 0;
        for (int j = -radius; j <= radius; j++)
            across += is_inside(y + i, rows) && is_inside(x + j, cols)
                          ? filter.across[REACH + j] * row[x + j]
                          : 0;
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
