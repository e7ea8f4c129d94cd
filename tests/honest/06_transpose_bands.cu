// expect: pass - a 1-D grid in another order: bands, eight tiles wide, from top to bottom
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

enum { SIDE = 32, STEP = 8, BAND = 8 };

struct Corner {
    int row, col;
};

// Tiles follow the rows of a band. The bands lie side by side; the last one may be narrower.
static __device__ Corner corner_of(int tile, int tiles_down, int tiles_across)
{
    int band = tile / (BAND * tiles_down);
    int inside = tile - band * BAND * tiles_down;
    int width = min(BAND, tiles_across - band * BAND);

    return Corner{ inside / width * SIDE, (band * BAND + inside % width) * SIDE };
}

__global__ void transpose_bands(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[SIDE][SIDE + 1];
    Corner at = corner_of(blockIdx.x, ceil_div(rows, SIDE), ceil_div(cols, SIDE));
    int x = threadIdx.x, y = threadIdx.y;

    for (int k = 0; k < SIDE; k += STEP) {
        if (at.row + y + k < rows && at.col + x < cols)
            tile[y + k][x] = in[(at.row + y + k) * cols + (at.col + x)];
    }
    __syncthreads(); // separates filling by rows from reading by columns
    for (int k = 0; k < SIDE; k += STEP) {
        if (at.col + y + k < cols && at.row + x < rows)
            out[(at.col + y + k) * rows + (at.row + x)] = tile[x][y + k];
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_bands<<<ceil_div(rows, SIDE) * ceil_div(cols, SIDE), dim3(SIDE, STEP)>>>(out, in,
                                                                                       rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
