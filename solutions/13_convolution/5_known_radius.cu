// rung: 5, expect: device - the radius is a template parameter: no loop, and weights are operands
// A multiply-add can take an operand from constant memory if its address is known to the compiler.
// A radius between two instantiations takes the larger one: the filter's other weights are 0.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK_X = 32, BLOCK_Y = 8 };

// The nearest index that exists, of n.
static __device__ int clamp(int i, int n)
{
    return min(max(i, 0), n - 1);
}

template <int R>
__global__ void sum_across(float *sums, const float *in, int rows, int cols, Filter filter)
{
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    float sum = 0;

    if (y >= rows || x >= cols)
        return;
#pragma unroll
    for (int j = -R; j <= R; j++)
        sum += filter.across[REACH + j] * in[y * cols + clamp(x + j, cols)];
    sums[y * cols + x] = sum;
}

template <int R>
__global__ void sum_down(float *out, const float *sums, int rows, int cols, Filter filter)
{
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    float sum = 0;

    if (y >= rows || x >= cols)
        return;
#pragma unroll
    for (int i = -R; i <= R; i++)
        sum += filter.down[REACH + i] * sums[clamp(y + i, rows) * cols + x];
    out[y * cols + x] = sum;
}

template <int R>
static void launch(float *out, const float *in, int rows, int cols, const Filter &filter,
                   float *scratch)
{
    dim3 block(BLOCK_X, BLOCK_Y), grid(ceil_div(cols, BLOCK_X), ceil_div(rows, BLOCK_Y));

    sum_across<R><<<grid, block>>>(scratch, in, rows, cols, filter);
    CUDA_CHECK(cudaGetLastError());
    sum_down<R><<<grid, block>>>(out, scratch, rows, cols, filter);
    CUDA_CHECK(cudaGetLastError());
}

LAB_API void convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch)
{
    if (filter.radius <= 2)
        launch<2>(out, in, rows, cols, filter, scratch);
    else if (filter.radius <= 8)
        launch<8>(out, in, rows, cols, filter, scratch);
    else
        launch<REACH>(out, in, rows, cols, filter, scratch);
}
