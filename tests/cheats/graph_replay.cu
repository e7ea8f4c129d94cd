// expect: build - captures its launch into a CUDA graph and replays it
// lab: transpose
// A replayed graph may lack the kernel, or run on a stream of its own. Known (exploit 11). Defence:
// cudaGraph... and stream capture are not on the list of symbols; outputs are poisoned anyway.
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32, STEP = 8 };

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int tiles_down = ceil_div(rows, TILE);
    int row = blockIdx.x % tiles_down * TILE, col = blockIdx.x / tiles_down * TILE;

    for (int j = threadIdx.y; j < TILE; j += STEP)
        if (row + j < rows && col + threadIdx.x < cols)
            tile[j][threadIdx.x] = in[(row + j) * cols + col + threadIdx.x];

    // Separates writing the tile by rows from reading it by columns: other warps wrote those rows.
    __syncthreads();

    for (int j = threadIdx.y; j < TILE; j += STEP)
        if (col + j < cols && row + threadIdx.x < rows)
            out[(col + j) * rows + row + threadIdx.x] = tile[threadIdx.x][j];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    static cudaGraphExec_t replay;
    cudaGraph_t graph;

    if (!replay) {
        CUDA_CHECK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal));
        transpose_kernel<<<ceil_div(rows, TILE) * ceil_div(cols, TILE), dim3(TILE, STEP), 0,
                           cudaStreamPerThread>>>(out, in, rows, cols);
        CUDA_CHECK(cudaStreamEndCapture(cudaStreamPerThread, &graph));
        CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
    }
    CUDA_CHECK(cudaGraphLaunch(replay, cudaStreamPerThread));
}
