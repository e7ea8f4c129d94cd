// expect: unsafe_or_stray - a tile with room for a radius of 8: larger ones overrun it
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE_X = 32, TILE_Y = 16 };

// The nearest index that exists, of n.
static __device__ int clamp(int i, int n)
{
    return min(max(i, 0), n - 1);
}

// The tile of the block and `radius` pixels around it. It has more pixels than the block has
// threads, so all threads step through it: no thread exists only for the apron.
static __device__ void load_tile(float (*tile)[TILE_X + 2 * 8], const float *in, int rows, int cols,
                                 int radius)
{
    int left = blockIdx.x * TILE_X - radius, top = blockIdx.y * TILE_Y - radius;

    for (int y = threadIdx.y; y < TILE_Y + 2 * radius; y += TILE_Y) {
        const float *row = in + clamp(top + y, rows) * cols;
        for (int x = threadIdx.x; x < TILE_X + 2 * radius; x += TILE_X)
            tile[y][x] = row[clamp(left + x, cols)];
    }
}

__global__ void convolve_kernel(float *out, const float *in, int rows, int cols, Filter filter)
{
    __shared__ float tile[TILE_Y + 2 * 8][TILE_X + 2 * 8];
    int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    int radius = filter.radius;
    float sum = 0;

    load_tile(tile, in, rows, cols, radius);

    // Separates storing the tile from the loads of its pixels by other threads.
    __syncthreads();

    if (y >= rows || x >= cols)
        return;
    for (int i = 0; i <= 2 * radius; i++) {
        float across = 0;
        for (int j = 0; j <= 2 * radius; j++)
            across += filter.across[REACH - radius + j] * tile[threadIdx.y + i][threadIdx.x + j];
        sum += filter.down[REACH - radius + i] * across;
    }
    out[y * cols + x] = sum;
}

LAB_API void convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch)
{
    dim3 block(TILE_X, TILE_Y), grid(ceil_div(cols, TILE_X), ceil_div(rows, TILE_Y));

    convolve_kernel<<<grid, block>>>(out, in, rows, cols, filter);
    CUDA_CHECK(cudaGetLastError());
}
