// expect: pass - one warp for eight rows, all eight loaded before the first is stored
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

enum { WARP = 32, ROWS = 8, WARPS = 4 };

__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    const int first = (blockIdx.x * WARPS + threadIdx.y) * ROWS;

    for (int col = threadIdx.x; col < cols; col += WARP) {
        float v[ROWS];
#pragma unroll
        for (int k = 0; k < ROWS; ++k)
            v[k] = first + k < rows ? in[(first + k) * cols + col] : 0.f;
#pragma unroll
        for (int k = 0; k < ROWS; ++k)
            if (first + k < rows)
                out[(first + k) * cols + col] = (v[k] - mean[col]) * scale[col];
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    const int blocks = ceil_div(rows, WARPS * ROWS);

    standardise_kernel<<<blocks, dim3(WARP, WARPS)>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
