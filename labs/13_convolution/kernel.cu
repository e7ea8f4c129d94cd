// The formula as it is written down: one thread computes one pixel from all its taps.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK_X = 32, BLOCK_Y = 8 };

// The weight of each of the n x n taps, n = 2 * radius + 1; one block per row of the table.
__global__ void fill_table(float *table, Filter filter)
{
    int i = (int) blockIdx.x - filter.radius, j = (int) threadIdx.x - filter.radius;

    table[blockIdx.x * blockDim.x + threadIdx.x] =
        filter.down[REACH + i] * filter.across[REACH + j];
}

// The nearest index that exists, of n.
static __device__ int clamp(int i, int n)
{
    return min(max(i, 0), n - 1);
}

__global__ void convolve_kernel(float *out, const float *in, int rows, int cols, int radius,
                                const float *table)
{
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    float sum = 0;

    if (y >= rows || x >= cols)
        return;
    // TODO: count loads and multiply-adds per pixel, at radius 2 and at radius 16. Which loads
    // TODO: fetch what this thread, or another one of the block, has already had? A weight is a
    // TODO: product of two factors: what need not be computed for every i and every j?
    for (int i = -radius; i <= radius; i++) {
        const float *row = in + clamp(y + i, rows) * cols;
        for (int j = -radius; j <= radius; j++)
            sum += *table++ * row[clamp(x + j, cols)];
    }
    out[y * cols + x] = sum;
}

LAB_API void convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch)
{
    int taps = 2 * filter.radius + 1;
    dim3 block(BLOCK_X, BLOCK_Y), grid(ceil_div(cols, BLOCK_X), ceil_div(rows, BLOCK_Y));

    fill_table<<<taps, taps>>>(scratch, filter);
    CUDA_CHECK(cudaGetLastError());
    convolve_kernel<<<grid, block>>>(out, in, rows, cols, filter.radius, scratch);
    CUDA_CHECK(cudaGetLastError());
}
