// expect: timeout - leaves a kernel behind that waits until the next call comes
// lab: transpose
// The work is done outside the timed call: a kernel in the per-thread stream waits for a sign that
// only the next call gives. Similar to exploits 7 and 26. Defence: a sample ends with a wait for
// the whole device, under a limit kept by the parent.
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32, STEP = 8 };

static __device__ volatile int calls_begun;

__global__ void wait_kernel(int call)
{
    while (calls_begun <= call)
        __nanosleep(1000);
}

__global__ void begin_kernel(int call)
{
    calls_begun = call;
}

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
    static int call;

    begin_kernel<<<1, 1>>>(++call);
    CUDA_CHECK(cudaGetLastError());
    wait_kernel<<<1, 1, 0, cudaStreamPerThread>>>(call);
    CUDA_CHECK(cudaGetLastError());
    transpose_kernel<<<ceil_div(rows, TILE) * ceil_div(cols, TILE), dim3(TILE, STEP), 0,
                       cudaStreamPerThread>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
