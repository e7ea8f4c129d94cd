// expect: slow - marks its object as one that needs an executable stack; the kernel is slow
// lab: coalescing
// The loader then makes all stacks of the process executable. That gains nothing, since student
// code runs anyway. Defence: none is needed, since another process computes the verdict.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

asm(".pushsection .note.GNU-stack,\"x\",@progbits\n.popsection\n");

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
