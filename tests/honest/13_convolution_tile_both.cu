// expect: device - a tile with its apron, both passes in shared memory, four results per thread
// lab: convolution
#include "cudalab.cuh"
#include "kernel.h"

constexpr int WIDTH = 32, HEIGHT = 64, LINES = 8;

template <int R> struct Tile {
    float pixels[HEIGHT + 2 * R][WIDTH + 2 * R];
    float sums[HEIGHT + 2 * R][WIDTH];
};

template <int R>
__global__ void convolve_tile(float *__restrict__ out, const float *__restrict__ in, int rows,
                              int cols, const Filter filter)
{
    extern __shared__ float memory[];
    Tile<R> &tile = *reinterpret_cast<Tile<R> *>(memory);
    const int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT, x = threadIdx.x;

    for (int y = threadIdx.y; y < HEIGHT + 2 * R; y += LINES) {
        const int row = max(0, min(rows - 1, top + y - R));
        for (int c = x; c < WIDTH + 2 * R; c += WIDTH)
            tile.pixels[y][c] = in[row * (size_t) cols + max(0, min(cols - 1, left + c - R))];
    }
    __syncthreads(); // separates loading the tile from summing across

    for (int y = threadIdx.y; y < HEIGHT + 2 * R; y += LINES) {
        float sum = 0;
#pragma unroll
        for (int j = 0; j <= 2 * R; j++)
            sum = fmaf(filter.across[REACH - R + j], tile.pixels[y][x + j], sum);
        tile.sums[y][x] = sum;
    }
    __syncthreads(); // separates the sums across from those down

    for (int y = 4 * threadIdx.y; y < HEIGHT; y += 4 * LINES) {
        float sum[4] = {};
#pragma unroll
        for (int i = 0; i < 4 + 2 * R; i++) {
            const float value = tile.sums[y + i][x];
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (i >= k && i - k <= 2 * R)
                    sum[k] = fmaf(filter.down[REACH - R + i - k], value, sum[k]);
        }
        for (int k = 0; k < 4; k++)
            if (top + y + k < rows && left + x < cols)
                out[(top + y + k) * (size_t) cols + left + x] = sum[k];
    }
}

template <int R>
static void launch(float *out, const float *in, int rows, int cols, const Filter &filter)
{
    const dim3 grid(ceil_div(cols, WIDTH), ceil_div(rows, HEIGHT)), block(WIDTH, LINES);

    convolve_tile<R><<<grid, block, sizeof(Tile<R>)>>>(out, in, rows, cols, filter);
    CUDA_CHECK(cudaGetLastError());
}

LAB_API void convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch)
{
    switch ((filter.radius + 3) / 4) {
    case 0:
    case 1:
        return filter.radius <= 2 ? launch<2>(out, in, rows, cols, filter)
                                  : launch<4>(out, in, rows, cols, filter);
    case 2:
        return launch<8>(out, in, rows, cols, filter);
    default:
        return launch<REACH>(out, in, rows, cols, filter);
    }
}
