// lab: transpose
// mistake: the grid has too many blocks in y
#include "cudalab.cuh"
#include "kernel.h"

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y;

    if (col < cols)
        out[(long) col * rows + row] = in[(long) row * cols + col];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_kernel<<<dim3(ceil_div(cols, 32), rows), 32>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
