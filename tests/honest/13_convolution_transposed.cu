// expect: slow - two passes that store their results transposed, so that one kernel serves both
// lab: convolution
#include "cudalab.cuh"
#include "kernel.h"

namespace
{

constexpr int tile = 32, lanes_y = 8;

struct Weights {
    float of[2 * REACH + 1];
};

__device__ int nearest(int i, int n)
{
    return min(max(i, 0), n - 1);
}

// out is cols x rows: the sums across, transposed through a tile of shared memory.
template <int R>
__global__ void sum_and_transpose(float *out, const float *in, int rows, int cols, Weights weights)
{
    __shared__ float sums[tile][tile + 1];
    const int left = blockIdx.x * tile, top = blockIdx.y * tile;
    const int x = left + threadIdx.x;

    for (int k = threadIdx.y; k < tile; k += lanes_y) {
        const float *row = in + nearest(top + k, rows) * (size_t) cols;
        float sum = 0;
#pragma unroll
        for (int j = -R; j <= R; j++)
            sum += weights.of[REACH + j] * row[nearest(x + j, cols)];
        sums[k][threadIdx.x] = sum;
    }

    // Separates storing the rows of the tile from loading its columns.
    __syncthreads();

    for (int k = threadIdx.y; k < tile; k += lanes_y)
        if (left + k < cols && top + (int) threadIdx.x < rows)
            out[(left + k) * (size_t) rows + top + threadIdx.x] = sums[threadIdx.x][k];
}

template <int R> void pass(float *out, const float *in, int rows, int cols, const float *weights)
{
    const dim3 grid(ceil_div(cols, tile), ceil_div(rows, tile)), block(tile, lanes_y);
    Weights by_value;

    for (int i = 0; i <= 2 * REACH; i++)
        by_value.of[i] = weights[i];
    sum_and_transpose<R><<<grid, block>>>(out, in, rows, cols, by_value);
    CUDA_CHECK(cudaGetLastError());
}

template <int R>
void both(float *out, const float *in, int rows, int cols, const Filter &filter, float *scratch)
{
    pass<R>(scratch, in, rows, cols, filter.across);
    pass<R>(out, scratch, cols, rows, filter.down);
}

} // namespace

LAB_API void convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch)
{
    if (filter.radius <= 2)
        both<2>(out, in, rows, cols, filter, scratch);
    else if (filter.radius <= 8)
        both<8>(out, in, rows, cols, filter, scratch);
    else
        both<REACH>(out, in, rows, cols, filter, scratch);
}
