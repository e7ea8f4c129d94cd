// expect: stray - stores the sums across in the input
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK_X = 32, BLOCK_Y = 8 };

// The nearest index that exists, of n.
static __device__ int clamp(int i, int n)
{
    return min(max(i, 0), n - 1);
}

__global__ void sum_across(float *sums, const float *in, int rows, int cols, Filter filter)
{
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    int radius = filter.radius;
    float sum = 0;

    if (y >= rows || x >= cols)
        return;
    for (int j = -radius; j <= radius; j++)
        sum += filter.across[REACH + j] * in[y * cols + clamp(x + j, cols)];
    sums[y * cols + x] = sum;
}

// Neighbouring lanes take neighbouring columns here, too: each load is contiguous.
__global__ void sum_down(float *out, const float *sums, int rows, int cols, Filter filter)
{
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    int radius = filter.radius;
    float sum = 0;

    if (y >= rows || x >= cols)
        return;
    for (int i = -radius; i <= radius; i++)
        sum += filter.down[REACH + i] * sums[clamp(y + i, rows) * cols + x];
    out[y * cols + x] = sum;
}

LAB_API void convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch)
{
    dim3 block(BLOCK_X, BLOCK_Y), grid(ceil_div(cols, BLOCK_X), ceil_div(rows, BLOCK_Y));

    sum_across<<<grid, block>>>((float *) in, in, rows, cols, filter);
    CUDA_CHECK(cudaGetLastError());
    sum_down<<<grid, block>>>(out, in, rows, cols, filter);
    CUDA_CHECK(cudaGetLastError());
}
