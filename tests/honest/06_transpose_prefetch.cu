// expect: pass - four tiles per block: the next is loaded into registers while one is written
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32, THREAD_ROWS = 8, EACH = TILE / THREAD_ROWS, TILES_A_BLOCK = 4 };

// Reads this thread's share of a tile; elements outside the matrix stay unchanged.
static __device__ void fetch(float next[EACH], const float *in, int rows, int cols, int row,
                             int col)
{
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        int r = row + threadIdx.y + k * THREAD_ROWS, c = col + threadIdx.x;
        if (r < rows && c < cols)
            next[k] = in[r * cols + c];
    }
}

__global__ void transpose_strip(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int across = ceil_div(cols, TILE), tiles = ceil_div(rows, TILE) * across;
    int first = blockIdx.x * TILES_A_BLOCK, end = min(tiles, first + TILES_A_BLOCK);
    float next[EACH] = {};

    fetch(next, in, rows, cols, first / across * TILE, first % across * TILE);
    for (int t = first; t < end; t++) {
        int row = t / across * TILE, col = t % across * TILE;

#pragma unroll
        for (int k = 0; k < EACH; k++)
            tile[threadIdx.y + k * THREAD_ROWS][threadIdx.x] = next[k];
        if (t + 1 < end)
            fetch(next, in, rows, cols, (t + 1) / across * TILE, (t + 1) % across * TILE);

        __syncthreads(); // tile t has been stored by rows before it is read by columns

#pragma unroll
        for (int k = 0; k < EACH; k++) {
            int r = row + threadIdx.x, c = col + threadIdx.y + k * THREAD_ROWS;
            if (r < rows && c < cols)
                out[c * rows + r] = tile[threadIdx.x][threadIdx.y + k * THREAD_ROWS];
        }

        __syncthreads(); // tile t has been read before tile t + 1 replaces it
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    int tiles = ceil_div(rows, TILE) * ceil_div(cols, TILE);

    transpose_strip<<<ceil_div(tiles, TILES_A_BLOCK), dim3(TILE, THREAD_ROWS)>>>(out, in, rows,
                                                                                 cols);
    CUDA_CHECK(cudaGetLastError());
}
