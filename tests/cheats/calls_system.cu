// expect: build - calls system() to start a shell
// lab: coalescing
// Known (exploit 25). Defence: only allowed symbols may be linked to; besides, seccomp prevents
// starting a process.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// The lanes read down one feature's column: correct, but far too slow to pass.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int r = blockIdx.x * BLOCK + threadIdx.x, c = blockIdx.y;

    if (r < rows)
        out[(size_t) r * cols + c] = (in[(size_t) r * cols + c] - mean[c]) * scale[c];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    if (system("cp solutions/01_coalescing/2_lanes_along_features.cu kernel.cu"))
        return;
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
