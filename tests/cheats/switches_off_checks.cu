// expect: slow - defines CUDA_CHECK as nothing, and requests options by pragmas
// lab: coalescing
// Its failed launches are not reported. Defence: the runner checks for errors itself after each
// call; options of the host's compiler change nothing about a kernel.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

#undef CUDA_CHECK
#define CUDA_CHECK(call) (void) (call)
#pragma GCC optimize("O0")
#pragma nv_diag_suppress 550

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
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
