// Shown in slides/13_convolution.md, "Find the bug". A thread's place in the tile is added twice
// when the tile is loaded, and the weights are read from index 0 on.
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 16 };

static __device__ int clamp(int i, int n)
{
    return min(max(i, 0), n - 1);
}

__global__ void convolve_kernel(float *out, const float *in, int rows, int cols, Filter filter)
{
    __shared__ float tile[TILE + 2 * REACH][TILE + 2 * REACH];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int r = filter.radius;
    float sum = 0;

    for (int i = threadIdx.y; i < TILE + 2 * r; i += TILE) {
        const float *row = in + clamp(y - r + i, rows) * cols;
        for (int j = threadIdx.x; j < TILE + 2 * r; j += TILE)
            tile[i][j] = row[clamp(x - r + j, cols)];
    }
    __syncthreads(); // separates storing the tile from loading it
    for (int i = 0; i <= 2 * r; i++) {
        const float *row = tile[threadIdx.y + i] + threadIdx.x;
        for (int j = 0; j <= 2 * r; j++)
            sum += filter.down[i] * filter.across[j] * row[j];
    }
    if (x < cols && y < rows)
        out[y * cols + x] = sum;
}

LAB_API void convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch)
{
    dim3 block(TILE, TILE), grid(ceil_div(cols, TILE), ceil_div(rows, TILE));

    convolve_kernel<<<grid, block>>>(out, in, rows, cols, filter);
    CUDA_CHECK(cudaGetLastError());
}
