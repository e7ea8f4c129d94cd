// expect: pass - 64 x 64 tiles with 256 threads, 16 elements per thread, pointer arithmetic
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

static constexpr int side = 64;
static constexpr int rows_at_once = 4;

__global__ void big_tiles(float *out, const float *in, size_t rows, size_t cols)
{
    __shared__ float tile[side][side + 1];
    const size_t tiles_down = (rows + side - 1) / side;
    const size_t row0 = blockIdx.x % tiles_down * side, col0 = blockIdx.x / tiles_down * side;
    const int tx = threadIdx.x, ty = threadIdx.y;

    if (col0 + tx < cols) {
        const int count = rows - row0 < side ? (int) (rows - row0) : side;
        const float *from = in + (row0 + ty) * cols + col0 + tx;
#pragma unroll
        for (int r = 0; r < side; r += rows_at_once) {
            if (r + ty < count)
                tile[r + ty][tx] = *from;
            from += rows_at_once * cols;
        }
    }

    __syncthreads(); // the loop below reads other threads' elements

    if (row0 + tx < rows) {
        const int count = cols - col0 < side ? (int) (cols - col0) : side;
        float *to = out + (col0 + ty) * rows + row0 + tx;
#pragma unroll
        for (int c = 0; c < side; c += rows_at_once) {
            if (c + ty < count)
                *to = tile[tx][c + ty];
            to += rows_at_once * rows;
        }
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    const int tiles = ceil_div(rows, side) * ceil_div(cols, side);

    big_tiles<<<tiles, dim3(side, rows_at_once)>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
