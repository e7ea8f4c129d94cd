// expect: device - the textbooks' tile, with a loop for the limit of the grid's y: 0.67 on an H200
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

const int TILE_DIM = 32;
const int BLOCK_ROWS = 8;
const int MAX_GRID_Y = 65535;

__global__ void transposeCoalesced(float *odata, const float *idata, int height, int width)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];

    for (long by = blockIdx.y; by * TILE_DIM < height; by += gridDim.y) {
        size_t x = (size_t) blockIdx.x * TILE_DIM + threadIdx.x;
        size_t y = (size_t) by * TILE_DIM + threadIdx.y;

        for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
            if (x < width && y + j < height)
                tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];

        __syncthreads(); // the whole tile is written before any thread reads a column of it

        x = (size_t) by * TILE_DIM + threadIdx.x;
        y = (size_t) blockIdx.x * TILE_DIM + threadIdx.y;

        for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
            if (x < height && y + j < width)
                odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];

        __syncthreads(); // all of it is read before the next round overwrites it
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    int down = ceil_div(rows, TILE_DIM);
    dim3 dimGrid(ceil_div(cols, TILE_DIM), down < MAX_GRID_Y ? down : MAX_GRID_Y, 1);
    dim3 dimBlock(TILE_DIM, BLOCK_ROWS, 1);

    transposeCoalesced<<<dimGrid, dimBlock>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
