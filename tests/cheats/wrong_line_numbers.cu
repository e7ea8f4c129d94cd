// expect: build - gives the compiler's messages another location, by #line
// lab: coalescing
// Then a mistake seems to be the grader's. Defence: such a build fails like any other, and the
// grader builds a kernel of its own to see whether the machine is at fault.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

#line 1 "/grader/runner/device_cuda.cu"
int device_fill = "nvcc fatal: the machine is broken";

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
