// expect: pass - x * s + b with b = -m * s computed once, __ldg, eight rows per thread
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

#define ROWS_PER_THREAD 8

__global__ void __launch_bounds__(1024)
    affine(float *__restrict__ out, const float *__restrict__ in, const float *__restrict__ mean,
           const float *__restrict__ scale, int rows, int cols)
{
    const int c = threadIdx.x;
    const float s = __ldg(scale + c);
    const float b = -__ldg(mean + c) * s;
    const int r0 = blockIdx.x * blockDim.y * ROWS_PER_THREAD + threadIdx.y;
    float v[ROWS_PER_THREAD];

#pragma unroll
    for (int k = 0; k < ROWS_PER_THREAD; ++k) {
        const int r = r0 + k * blockDim.y;
        v[k] = r < rows ? __ldg(in + r * cols + c) : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < ROWS_PER_THREAD; ++k) {
        const int r = r0 + k * blockDim.y;
        if (r < rows)
            out[r * cols + c] = fmaf(v[k], s, b);
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    const dim3 block(cols, cols > 128 ? 1 : 128 / cols);
    const int rows_per_block = block.y * ROWS_PER_THREAD;

    affine<<<(rows + rows_per_block - 1) / rows_per_block, block>>>(out, in, mean, scale, rows,
                                                                    cols);
    CUDA_CHECK(cudaGetLastError());
}
