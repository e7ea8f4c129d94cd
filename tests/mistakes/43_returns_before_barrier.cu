// lab: transpose
// mistake: threads outside the array return before the barrier
#include "cudalab.cuh"
#include "kernel.h"

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int tiles_across = ceil_div(cols, 32);
    int first_row = blockIdx.x / tiles_across * 32, first_col = blockIdx.x % tiles_across * 32;
    int x = threadIdx.x, y = threadIdx.y;

    if (first_row + y >= rows || first_col + x >= cols)
        return;
    tile[y][x] = in[(first_row + y) * cols + first_col + x];
    __syncthreads();
    if (first_col + y < cols && first_row + x < rows)
        out[(first_col + y) * rows + first_row + x] = tile[x][y];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_kernel<<<ceil_div(rows, 32) * ceil_div(cols, 32), dim3(32, 32)>>>(out, in, rows,
                                                                                cols);
    CUDA_CHECK(cudaGetLastError());
}
