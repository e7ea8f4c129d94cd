// expect: pass - grid stride over rows, __restrict__, unrolled by the compiler
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

#define BLOCK_SIZE 256
#define MAX_BLOCKS 4096

__global__ void standardise_rows(float *__restrict__ out, const float *__restrict__ in,
                                 const float *__restrict__ mean, const float *__restrict__ scale,
                                 int rows, int cols)
{
    int c = threadIdx.x;
    float mu = mean[c], sc = scale[c];
    int stride = gridDim.x * blockDim.y;

#pragma unroll 4
    for (int r = blockIdx.x * blockDim.y + threadIdx.y; r < rows; r += stride) {
        float v = in[r * cols + c];
        out[r * cols + c] = (v - mu) * sc;
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    int rows_per_block = BLOCK_SIZE / cols > 0 ? BLOCK_SIZE / cols : 1;
    int blocks = (rows + rows_per_block - 1) / rows_per_block;
    if (blocks > MAX_BLOCKS)
        blocks = MAX_BLOCKS;

    standardise_rows<<<blocks, dim3(cols, rows_per_block)>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
